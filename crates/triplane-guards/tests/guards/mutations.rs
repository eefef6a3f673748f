//! Broken spellings of real commands: every one gets a verdict, and none makes the guard panic.

use std::panic;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use triplane_guards::command::explain::explain;

use crate::support::{place, rows};

#[derive(Deserialize)]
struct Row {
    command: String,
}

/// A small generator of numbers: the same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    /// A place between two characters of `text`.
    fn place_in(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

const FRAGMENTS: [&str; 40] = [
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "${",
    "}",
    "{",
    ";",
    "|",
    "&",
    "\n",
    "<<E\n",
    "<(",
    ">",
    "<<<",
    "\\",
    "$'",
    "((",
    "))",
    "if ",
    "then ",
    "fi ",
    "case x in ",
    "esac ",
    ";;",
    "do ",
    "done ",
    "*",
    "[",
    "]",
    "~",
    "=",
    "#",
    "$x",
    "${x:-",
    "{a,b}",
    "{1..9}",
    "\u{e9}",
    "\u{1}",
];

fn mutated(seeds: &[String], numbers: &mut Numbers) -> String {
    let mut text = seeds[numbers.below(seeds.len())].clone();
    for _ in 0..=numbers.below(5) {
        let at = numbers.place_in(&text);
        match numbers.below(3) {
            0 => {
                let count = 1 + numbers.below(10);
                text.insert_str(at, &FRAGMENTS[numbers.below(FRAGMENTS.len())].repeat(count));
            }
            1 => {
                let end = at + numbers.place_in(&text[at..]).min(6);
                if text.is_char_boundary(end) {
                    text.replace_range(at..end, "");
                }
            }
            _ => text.insert_str(at, &seeds[numbers.below(seeds.len())]),
        }
    }
    text
}

#[test]
fn no_broken_spelling_makes_the_guard_panic() {
    let panics = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&panics);
    let outer = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // The grammar's own panics end a job and are a refusal.
        let place = info.location().map_or("", |location| location.file());
        if place.contains("triplane-guards/src") {
            seen.lock().unwrap().push(info.to_string());
        }
        if !place.contains("brush-parser") {
            outer(info);
        }
    }));
    let seeds: Vec<String> = rows::<Row>("commands.jsonl")
        .into_iter()
        .chain(rows::<Row>("commands-more.jsonl"))
        .map(|row| row.command)
        .collect();
    let mut numbers = Numbers(0x5eed);
    for _ in 0..4_000 {
        let command = mutated(&seeds, &mut numbers);
        if let Ok(explanation) = explain(&command, &place()) {
            for objection in explanation.objections {
                assert!(command.get(objection.span).is_some(), "{command:?}");
            }
        }
    }
    assert_eq!(*panics.lock().unwrap(), Vec::<String>::new());
}
