//! The help of every command, held against the files in `tests/snapshots`.
//!
//! `TRIPLANE_SNAPSHOTS=write cargo test -p triplane-cli help` writes the files anew; read what
//! changed before it is committed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory as _};

use crate::args::Cli;

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// Every command with its help, under the name of its file.
fn helps() -> BTreeMap<String, String> {
    fn collect(command: &mut Command, name: &str, helps: &mut BTreeMap<String, String>) {
        let help = command.render_long_help().to_string();
        // Blank lines between options come with the blanks of their column.
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let help = lines.join("\n") + "\n";
        helps.insert(format!("{name}.txt"), help);
        let below = command.get_subcommands_mut();
        for command in below.filter(|command| command.get_name() != "help") {
            let name = format!("{name}-{}", command.get_name());
            collect(command, &name, helps);
        }
    }
    let mut program = Cli::command();
    program.build();
    let mut helps = BTreeMap::new();
    collect(&mut program, "triplane", &mut helps);
    helps
}

#[test]
fn the_help_of_every_command_is_as_it_was_read_last() {
    let (folder, helps) = (snapshots(), helps());
    if std::env::var_os("TRIPLANE_SNAPSHOTS").is_some_and(|what| what == "write") {
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, help) in &helps {
            std::fs::write(folder.join(name), help).expect("a file");
        }
    }
    for (name, help) in &helps {
        let kept = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert_eq!(
            *help, kept,
            "{name} differs; TRIPLANE_SNAPSHOTS=write cargo test -p triplane-cli help writes it anew"
        );
    }
    for file in std::fs::read_dir(&folder).expect("snapshots") {
        let name = file.expect("a file").file_name();
        let name = name.to_str().expect("text");
        assert!(helps.contains_key(name), "{name} is the help of no command");
    }
}

#[test]
fn every_help_has_an_example_that_the_command_line_reads() {
    for (name, help) in helps() {
        let example = help.split_once("Example:\n  ").map(|(_, example)| example);
        let line = example.and_then(|example| example.lines().next());
        let line = line.unwrap_or_else(|| panic!("{name} has no example:\n{help}"));
        let words = line.split_whitespace().take_while(|word| *word != ">");
        let read = Cli::command().try_get_matches_from(words);
        assert!(read.is_ok(), "{name}: {line}: {read:?}");
    }
}
