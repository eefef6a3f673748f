//! Programs that nothing is known of: a wrapper that nobody has listed still runs its command.
//!
//! What looks like the start of a destructive command among the arguments is judged as one. That
//! is a guess, so it is not made for programs whose words are data.

use crate::command::layers::layer::{Layer, here, script};
use crate::command::layers::operands::values_of;
use crate::command::word::Word;

/// Programs whose words are text, patterns, names or paths.
const DATA: [&str; 105] = [
    "[",
    "ack",
    "ag",
    "apropos",
    "apt",
    "apt-cache",
    "apt-get",
    "ar",
    "awk",
    "banner",
    "basename",
    "bat",
    "brew",
    "cargo",
    "cat",
    "cd",
    "chgrp",
    "chmod",
    "chown",
    "cmp",
    "code",
    "column",
    "comm",
    "complete",
    "cowsay",
    "cp",
    "curl",
    "cut",
    "dd",
    "delta",
    "diff",
    "dig",
    "dirname",
    "dpkg",
    "echo",
    "egrep",
    "espeak",
    "export",
    "expr",
    "fgrep",
    "figlet",
    "file",
    "find",
    "fold",
    "fzf",
    "gh",
    "git",
    "glab",
    "grep",
    "hash",
    "head",
    "help",
    "history",
    "http",
    "info",
    "install",
    "jq",
    "less",
    "ln",
    "locate",
    "logger",
    "look",
    "ls",
    "lsof",
    "mail",
    "man",
    "mkdir",
    "more",
    "mv",
    "nl",
    "notify-send",
    "paste",
    "pgrep",
    "pkill",
    "printf",
    "pytest",
    "read",
    "rename",
    "rg",
    "rm",
    "rpm",
    "say",
    "sed",
    "sort",
    "stat",
    "strings",
    "systemctl",
    "tail",
    "tee",
    "test",
    "tldr",
    "toilet",
    "touch",
    "tr",
    "trap",
    "triplane",
    "type",
    "uniq",
    "wall",
    "wc",
    "wget",
    "whatis",
    "whereis",
    "which",
    "zgrep",
];

/// Programs by which a destructive command is recognised.
const DESTRUCTIVE: [&str; 10] = [
    "rm",
    "dd",
    "mkfs",
    "shred",
    "wipefs",
    "truncate",
    "blkdiscard",
    "mkswap",
    "dropdb",
    "unlink",
];

/// Options behind which programs take the text of a command.
const TEXTS: [&str; 14] = [
    "-c",
    "-C",
    "-x",
    "-P",
    "-TT",
    "--command",
    "--cmd",
    "--exec",
    "--run",
    "--script",
    "--scripts",
    "--pager",
    "--shell-command",
    "--call",
];

/// The commands that `program` may run with `args`.
pub(crate) fn guessed(program: &str, args: &[Word]) -> Vec<Layer> {
    if DATA.binary_search(&program).is_ok() {
        return Vec::new();
    }
    let start = args
        .iter()
        .position(|word| word.literal().is_some_and(is_destructive));
    let mut layers = match start {
        // A name alone is looked up, documented or built; many tools call a subcommand `rm`.
        Some(at) if is_command(&args[at..]) => here(&args[at..]),
        Some(_) | None => Vec::new(),
    };
    layers.extend(
        values_of(args, &TEXTS)
            .filter(|text| starts_destructively(text.prefix()))
            .map(script),
    );
    layers
}

/// Whether the words behind the program are what it takes when it destroys something.
fn is_command(argv: &[Word]) -> bool {
    let Some((program, args)) = argv.split_first() else {
        return false;
    };
    let name = program.prefix().rsplit('/').next().unwrap_or("");
    match (name, args.first().map(Word::prefix)) {
        (_, None) => false,
        ("rm", Some(first)) => first.starts_with('-') && !first.starts_with("--"),
        ("dd", Some(_)) => args.iter().any(|word| word.prefix().starts_with("of=")),
        (_, Some(_)) => true,
    }
}

/// Whether the text begins with a destructive program, perhaps behind `sudo`.
pub(crate) fn starts_destructively(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = match words.next() {
        Some("sudo" | "exec" | "command") => words.next(),
        first => first,
    };
    first.is_some_and(is_destructive) && words.next().is_some()
}

fn is_destructive(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    DESTRUCTIVE.contains(&name) || name.starts_with("mkfs.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_in_order() {
        assert!(DATA.is_sorted());
    }
}
