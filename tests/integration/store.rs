//! `triplane store`: counts, a check, a backup.

use crate::failures::session;
use crate::program::{Place, text};
use crate::rows::Rows;

#[tokio::test]
async fn a_backup_is_a_store_of_its_own_and_takes_no_place() {
    let place = Place::new();
    place.summary(&["replay", &session(&place), "--json"]);
    let stats = place.summary(&["store", "stats", "--json"]);
    let to = place.path("copy.db");
    let to = to.to_str().expect("text");
    let made = place.summary(&["store", "backup", to, "--json"]);
    assert_eq!(made["store_id"], stats["store_id"]);
    assert_ne!(made["store_epoch"], stats["store_epoch"]);
    assert_eq!(made["signals"], stats["stats"]["signals"]);
    let before = std::fs::read(to).expect("a file");
    let again = place.run(&["store", "backup", to]);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        text(&again.stderr).contains("is there already"),
        "{}",
        text(&again.stderr)
    );
    assert_eq!(std::fs::read(to).expect("a file"), before);

    // What the copy says is of the copy: a cursor of the original is refused, with both epochs.
    let last = place.summary(&["signals", "ls", "--json"]);
    let cursor = last["cursor"].as_str().expect("a cursor");
    std::fs::rename(to, place.store()).expect("takes the original's place");
    let refused = place.run(&["signals", "ls", "--after", cursor]);
    assert_eq!(refused.status.code(), Some(2));
    for epoch in [&stats["store_epoch"], &made["store_epoch"]] {
        let epoch = epoch.as_str().expect("text");
        assert!(
            text(&refused.stderr).contains(epoch),
            "{}",
            text(&refused.stderr)
        );
    }
    let good = place.run(&["store", "check"]);
    assert_eq!(good.status.code(), Some(0), "{}", text(&good.stdout));
}

#[tokio::test]
async fn a_check_finds_what_contradicts_and_exits_with_1() {
    let place = Place::new();
    let missing = place.run(&["store", "check"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(!place.store().exists(), "to look makes none");
    assert_eq!(place.run(&["store", "stats"]).status.code(), Some(2));

    place.summary(&["replay", &session(&place), "--json"]);
    let good = place.summary(&["store", "check", "--json"]);
    assert_eq!(good["findings"].as_array().map(Vec::len), Some(0), "{good}");
    let mut rows = Rows::open(&place.store()).await;
    rows.run("UPDATE outbox SET attempt = attempt + 1 WHERE id = 1")
        .await;
    let found = place.run(&["store", "check", "--json"]);
    assert_eq!(found.status.code(), Some(1));
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).expect("JSON");
    let checks: Vec<_> = found["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|finding| finding["check"].as_str().expect("text"))
        .collect();
    assert_eq!(checks, ["replay", "claims"]);
}
