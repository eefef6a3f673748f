//! `triplane signals`: the log read on from where a reader stands, and what it lacks.

use serde_json::Value;

use crate::failures::session;
use crate::program::{Place, shell_question, text};

#[test]
fn a_reader_goes_on_where_it_stood() {
    let place = Place::new();
    place.summary(&["replay", &session(&place), "--json"]);
    let read = |arguments: &[&str]| -> Vec<Value> {
        let output = place.run(&[&["signals", "ls", "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let lines = text(&output.stdout);
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect()
    };
    let all = read(&[]);
    assert!(all.len() > 1);
    let first = all[0]["cursor"].as_str().expect("a cursor");
    assert_eq!(read(&["--after", first]), all[1..]);
    let name = all[0]["session"].as_str().expect("a name");
    let beyond = place.run(&["signals", "ls", "--session", name, "--after", "4000"]);
    assert_eq!(beyond.status.code(), Some(2));
    let said = text(&beyond.stderr);
    assert!(
        said.contains("4000") && said.contains("the log ends at"),
        "{said}"
    );
    let bare = place.run(&["signals", "ls", "--after", "1"]);
    assert_eq!(bare.status.code(), Some(2), "a number of which log?");
    let wrong = place.run(&["signals", "ls", "--after", "x"]);
    assert_eq!(wrong.status.code(), Some(2));

    let id = all[0]["id"].as_str().expect("an id");
    let shown = place.summary(&["signals", "show", id, "--json"]);
    assert_eq!(shown["payload"], all[0]["payload"]);
    let shown = text(&place.run(&["signals", "show", id]).stdout);
    assert!(shown.contains(&format!("signal      {id}")), "{shown}");
    let nobody = place.run(&["signals", "show", "nobody"]);
    assert_eq!(nobody.status.code(), Some(2));
}

#[test]
fn an_event_that_found_no_store_is_a_known_gap() {
    let place = Place::new();
    place.file("state.db", "this is no store, whatever its name says");
    let denied = place.ask(&[], shell_question("ls").as_bytes());
    let denied = denied.wait_with_output().expect("an answer");
    assert!(
        text(&denied.stdout).contains("deny"),
        "{}",
        text(&denied.stdout)
    );
    std::fs::remove_file(place.store()).expect("removes");
    place.summary(&["replay", &session(&place), "--json"]);
    let report = place.summary(&["signals", "gaps", "--json"]);
    assert_eq!(report["known_missing"], 1);
    assert_eq!(report["gaps"][0]["cause"], "store_absent");
    let said = text(&place.run(&["signals", "gaps"]).stdout);
    assert!(said.starts_with("1 fact is known to be missing"), "{said}");
}

#[test]
fn no_known_gap_is_not_printed_as_complete() {
    let place = Place::new();
    place.summary(&["replay", &session(&place), "--json"]);
    let said = text(&place.run(&["signals", "gaps"]).stdout);
    assert!(said.contains("no proof that nothing is missing"), "{said}");
    assert!(said.contains("nothing can be known of"), "{said}");
    assert!(
        said.contains("nobody had opened the store to stay"),
        "{said}"
    );
    assert!(!said.contains("complete"), "{said}");
}
