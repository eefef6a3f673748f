//! The recorded sessions in `examples/sessions` hold what their page promises.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use triplane_external_hooks::source::{LINE_BYTES_MAX, guess};
use triplane_external_hooks::{Entry, Format, Source};

#[derive(Debug, Default, PartialEq)]
struct Counts {
    events: u64,
    proposals: u64,
    failures: u64,
    of_subagents: u64,
    without_event: u64,
    skipped: u64,
}

fn check(name: &str, format: Format, wanted: &Counts) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sessions");
    let open = || BufReader::new(File::open(folder.join(name)).unwrap());
    assert_eq!(guess(open(), LINE_BYTES_MAX).unwrap(), Some(format));
    let mut counts = Counts::default();
    for item in Source::new(open(), format, LINE_BYTES_MAX) {
        match item.unwrap().what {
            Entry::Event(event) => {
                counts.events += 1;
                counts.proposals += u64::from(event.tool_input().is_some());
                counts.failures += u64::from(event.error().is_some());
                counts.of_subagents += u64::from(event.agent_id().is_some());
            }
            Entry::WithoutEvent => counts.without_event += 1,
            Entry::Skipped(_) => counts.skipped += 1,
        }
    }
    assert_eq!(&counts, wanted, "{name}");
}

#[test]
fn the_example_sessions_are_read_as_their_page_says() {
    let wanted = Counts {
        events: 61,
        proposals: 27,
        failures: 5,
        of_subagents: 8,
        without_event: 0,
        skipped: 1,
    };
    check("hooks.jsonl", Format::Hooks, &wanted);
    let wanted = Counts {
        events: 60,
        proposals: 28,
        failures: 8,
        of_subagents: 7,
        without_event: 9,
        skipped: 1,
    };
    check("claude-transcript.jsonl", Format::ClaudeTranscript, &wanted);
}
