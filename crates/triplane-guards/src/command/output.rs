//! What is known of the output of a command, for those whose output follows from their text.

use crate::command::expand::ansi_c;
use crate::command::state::ShellState;
use crate::command::word::{Part, Word};
use crate::place::{Place, absolute};

/// Stands in a text for the lines of the crontab that is there already.
pub(crate) const CRONTAB_KEPT: &str = "# the crontab as it is\n";

/// The output of `program`, as parts: an unknown part stands for what is not known.
pub(crate) fn output(
    program: &str,
    args: &[Word],
    input: Option<&Word>,
    state: &ShellState,
    place: &Place,
) -> Vec<Part> {
    match program {
        "echo" => echo(args),
        "printf" => printf(args),
        "cat" => cat(args, input, state),
        "tee" => input.map_or_else(unknown, |input| input.parts.clone()),
        "pwd" => match &*state.cwd {
            [Some(cwd)] => text(cwd),
            _ => unknown(),
        },
        "which" | "command" | "type" | "whereis" => located(args),
        "mktemp" => temporary(args),
        "basename" => match args.iter().find_map(Word::literal) {
            Some(path) => text(path.trim_end_matches('/').rsplit('/').next().unwrap_or("")),
            None => unknown(),
        },
        "dirname" => match args.iter().find_map(Word::literal) {
            Some(path) => text(path.rsplit_once('/').map_or(".", |(folder, _)| folder)),
            None => unknown(),
        },
        "realpath" | "readlink" => match (args.iter().rev().find_map(Word::literal), &*state.cwd) {
            (Some(path), [Some(cwd)]) => text(&absolute(path, cwd)),
            _ => unknown(),
        },
        "git" => {
            let words: Vec<&str> = args.iter().filter_map(Word::literal).collect();
            match words.as_slice() {
                ["rev-parse", "--show-toplevel"] => text(&place.root),
                [
                    "rev-parse",
                    "--git-dir" | "--absolute-git-dir" | "--git-common-dir",
                ] => text(&format!("{}/.git", place.root)),
                ["rev-parse", rest @ ..] if rest.iter().all(|word| names_a_commit(word)) => {
                    vec![Part::Token]
                }
                // Every file that git knows, unless a pattern or an option picks some.
                ["ls-files"] | ["ls-files", "-z" | "-c" | "--cached"] => {
                    vec![Part::Glob("*".to_owned())]
                }
                ["rev-list", "--count", ..] | ["describe", ..] => vec![Part::Token],
                _ => unknown(),
            }
        }
        "crontab" if args.iter().any(|word| word.literal() == Some("-l")) => text(CRONTAB_KEPT),
        "nproc" | "whoami" | "hostname" | "uname" | "arch" | "id" | "uuidgen" | "wc" | "expr" => {
            vec![Part::Token]
        }
        "date" => {
            let harmless = args.iter().all(|word| {
                word.literal()
                    .is_some_and(|text| !text.contains(['/', ' ']))
            });
            if harmless {
                vec![Part::Token]
            } else {
                unknown()
            }
        }
        "true" | "false" | ":" | "touch" | "sleep" | "test" | "[" | "wait" | "exit" => Vec::new(),
        _ => unknown(),
    }
}

/// Whether `rev-parse` answers this argument with a name and no path.
fn names_a_commit(word: &str) -> bool {
    !word.starts_with('-')
        || matches!(
            word,
            "-q" | "--quiet" | "--verify" | "--short" | "--abbrev-ref"
        )
        || word.starts_with("--short=")
}

fn unknown() -> Vec<Part> {
    vec![Part::Unknown]
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text(text.to_owned())]
}

fn echo(args: &[Word]) -> Vec<Part> {
    let mut escapes = false;
    let mut args = args;
    while let Some((first, rest)) = args.split_first() {
        match first.literal() {
            Some(option @ ("-n" | "-e" | "-E" | "-ne" | "-en")) => {
                escapes |= option.contains('e');
                args = rest;
            }
            _ => break,
        }
    }
    let mut line = Word::default();
    for (nth, arg) in args.iter().enumerate() {
        if nth > 0 {
            line.push_str(" ");
        }
        for part in &arg.parts {
            match part {
                Part::Text(text) if escapes => match ansi_c(text) {
                    Some(text) => line.push_str(&text),
                    None => line.push(Part::Unknown),
                },
                part => line.push(part.clone()),
            }
        }
    }
    line.push_str("\n");
    line.parts
}

fn printf(args: &[Word]) -> Vec<Part> {
    let args = match args.first().and_then(Word::literal) {
        Some("--") => &args[1..],
        _ => args,
    };
    let Some((format, mut values)) = args.split_first() else {
        return Vec::new();
    };
    let Some(format) = format.literal() else {
        return unknown();
    };
    let mut line = Word::default();
    loop {
        let before = values.len();
        let mut chars = format.chars().peekable();
        let mut literal = String::new();
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    literal.push('\\');
                    literal.extend(chars.next());
                }
                '%' if chars.peek() == Some(&'%') => {
                    chars.next();
                    literal.push('%');
                }
                '%' => {
                    flush(&mut literal, &mut line);
                    let mut conversion = None;
                    for c in chars.by_ref() {
                        if c.is_ascii_alphabetic() {
                            conversion = Some(c);
                            break;
                        }
                    }
                    let value = values.split_first();
                    if let Some((_, rest)) = value {
                        values = rest;
                    }
                    match (conversion, value) {
                        (Some('s'), Some((value, _))) => {
                            for part in &value.parts {
                                line.push(part.clone());
                            }
                        }
                        (Some('b'), Some((value, _))) => match value.literal().and_then(ansi_c) {
                            Some(text) => line.push_str(&text),
                            None => line.push(Part::Unknown),
                        },
                        (Some('d' | 'i' | 'u' | 'x' | 'o' | 'f'), Some(_)) => {
                            line.push(Part::Token);
                        }
                        (Some('c'), Some((value, _))) => {
                            let first: String = value.prefix().chars().take(1).collect();
                            line.push_str(&first);
                        }
                        (Some(_), None) => {}
                        (Some(_) | None, _) => line.push(Part::Unknown),
                    }
                }
                c => literal.push(c),
            }
        }
        flush(&mut literal, &mut line);
        // The format is used again while there are values left that it takes.
        if values.is_empty() || values.len() == before {
            break;
        }
    }
    line.parts
}

fn flush(literal: &mut String, line: &mut Word) {
    if !literal.is_empty() {
        match ansi_c(literal) {
            Some(text) => line.push_str(&text),
            None => line.push(Part::Unknown),
        }
        literal.clear();
    }
}

fn cat(args: &[Word], input: Option<&Word>, state: &ShellState) -> Vec<Part> {
    let mut line = Word::default();
    let files: Vec<&Word> = args
        .iter()
        .filter(|word| !word.prefix().starts_with('-') || word.literal() == Some("-"))
        .collect();
    if files.is_empty() {
        return input.map_or_else(unknown, |input| input.parts.clone());
    }
    for file in files {
        let content = match file.literal() {
            Some("-") => input,
            Some(path) => match &*state.cwd {
                [Some(cwd)] => state
                    .files
                    .get(absolute(path, cwd).as_str())
                    .map(AsRef::as_ref),
                _ => None,
            },
            None => None,
        };
        match content {
            Some(content) => content
                .parts
                .iter()
                .for_each(|part| line.push(part.clone())),
            None => line.push(Part::Unknown),
        }
    }
    line.parts
}

/// Where a program would be found: its path ends in its name.
fn located(args: &[Word]) -> Vec<Part> {
    let name = args
        .iter()
        .filter_map(Word::literal)
        .find(|text| !text.starts_with('-'));
    match name {
        Some(name) if name.starts_with('/') => text(name),
        Some(name) => text(&format!("/usr/bin/{name}")),
        None => unknown(),
    }
}

/// A name that did not exist before, below the temporary folder or the one that is named.
fn temporary(args: &[Word]) -> Vec<Part> {
    let mut folder = "/tmp".to_owned();
    let mut args = args.iter();
    while let Some(word) = args.next() {
        let Some(text) = word.literal() else {
            return unknown();
        };
        if matches!(text, "-p" | "--tmpdir") {
            match args.next().and_then(Word::literal) {
                Some(named) => named.clone_into(&mut folder),
                None => return unknown(),
            }
        } else if let Some(named) = text.strip_prefix("--tmpdir=") {
            named.clone_into(&mut folder);
        } else if !text.starts_with('-') {
            folder = match text.rsplit_once('/') {
                Some((named, _)) => named.to_owned(),
                None if folder == "/tmp" => ".".to_owned(),
                None => folder,
            };
        }
    }
    vec![Part::Text(folder), Part::Below]
}
