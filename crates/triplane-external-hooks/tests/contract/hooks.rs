//! Recorded hook events, line by line.

use triplane_external_hooks::{Entry, Format, Source, identity};

fn check(file: &[u8], line_bytes_max: usize, wanted: &[&str]) {
    let found: Vec<String> = Source::new(file, Format::Hooks, line_bytes_max)
        .map(|item| {
            let item = item.unwrap();
            match item.what {
                Entry::Event(event) => format!("{} {}", item.line, identity(&event, 1)),
                Entry::WithoutEvent => format!("{} -", item.line),
                Entry::Skipped(skip) => format!("{} skipped: {skip}", item.line),
            }
        })
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_line_that_cannot_be_read_is_skipped_and_the_next_one_read() {
    let file = b"\xef\xbb\xbf{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s\",\"uuid\":\"1\"}\r\n\
        \n\
        {\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Bash\",\"tool_inp\n\
        {\"hook_event_name\":\"Stop\",\"x\":\"\xff\"}\n\
        [1]\n\
        {\"hook_event_name\":\"SessionEnd\",\"session_id\":\"s\",\"uuid\":\"2\"}";
    check(
        file,
        1_000,
        &[
            "1 s/SessionStart/entry.1",
            "3 skipped: the text is cut off (byte 77)",
            "4 skipped: the text is not UTF-8 (byte 31)",
            "5 skipped: expected one JSON object, found an array (byte 0)",
            "6 s/SessionEnd/entry.2",
        ],
    );
}

#[test]
fn a_line_longer_than_the_bound_is_skipped() {
    let long = format!("{{\"hook_event_name\":\"{}\"}}", "x".repeat(100));
    let file =
        format!("{long}\n{{\"hook_event_name\":\"Stop\",\"session_id\":\"s\",\"uuid\":\"1\"}}\n");
    check(
        file.as_bytes(),
        80,
        &[
            "1 skipped: the line is longer than 80 bytes",
            "2 s/Stop/entry.1",
        ],
    );
}
