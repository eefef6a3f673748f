//! Digests are the same in every process, however its maps are seeded.

use std::collections::HashMap;

use triplane_kernel::declare::{Registry, RegistryFragment, SnapshotEnvelope};
use triplane_kernel::profile::ProfileName;

/// One line for each digest.
fn digests() -> String {
    let mut lines: Vec<String> = ProfileName::ALL
        .iter()
        .map(|profile| profile.snapshot().digest().to_string())
        .collect();
    // Its order differs from process to process, and within one from map to map.
    let map: HashMap<String, usize> = (0..100).map(|n| (format!("key {n}"), n)).collect();
    lines.push(
        SnapshotEnvelope::new("test.map", "1", &map)
            .unwrap()
            .digest()
            .to_string(),
    );
    let fragment = RegistryFragment::new("core")
        .item("b", &map)
        .item("a", &map);
    let registry = Registry::compose("test", [fragment]).unwrap();
    lines.push(registry.snapshot().unwrap().digest().to_string());
    lines.join("\n")
}

/// Not a test of its own: the other one runs it in processes of its own.
#[test]
#[ignore = "run by digests_are_the_same_in_every_process"]
fn child_prints_digests() {
    use std::io::Write;
    writeln!(std::io::stderr(), "<<{}>>", digests()).unwrap();
}

#[test]
fn digests_are_the_same_in_every_process() {
    let here = digests();
    for _ in 0..4 {
        #[expect(
            clippy::disallowed_methods,
            reason = "other processes are what is tested"
        )]
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "--nocapture",
                "declared::child_prints_digests",
            ])
            .output()
            .unwrap();
        let text = String::from_utf8(child.stderr).unwrap();
        let printed = text
            .split("<<")
            .nth(1)
            .and_then(|rest| rest.split(">>").next());
        assert_eq!(printed, Some(here.as_str()));
    }
}
