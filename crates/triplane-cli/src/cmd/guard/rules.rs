//! `triplane guard rules`: rule files held against the cases beside their rules.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::Timestamp;
use serde::Serialize;
use triplane_guards::command::rules::{ListedEntry, ListedRule};
use triplane_guards::{BrokenCase, RuleFile, RuleSet, Set};

use crate::guard_args::GuardRulesArgs;
use crate::paint::{Ink, Screen};
use crate::render::{Output, column, complain};

/// The longest text that is shown of a command or a sentence.
const SHOWN_CHARS_MAX: usize = 160;

pub(crate) fn run(args: &GuardRulesArgs, screen: Screen) -> ExitCode {
    let checked = loaded(&args.files).and_then(|rules| match rules.check() {
        Ok(broken) => Ok((rules, broken)),
        Err(error) => Err(vec![format!("the cases cannot be judged: {error}")]),
    });
    match checked {
        Ok((rules, broken)) => {
            tell(args, screen, &rules, &broken);
            if broken.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(reasons) => {
            for reason in reasons {
                complain(reason);
            }
            ExitCode::from(2)
        }
    }
}

/// The rules of all files; or why some are refused, the first place of each.
fn loaded(files: &[PathBuf]) -> Result<RuleSet, Vec<String>> {
    let mut read = Vec::new();
    let mut refused = Vec::new();
    for file in files {
        match RuleFile::load(file) {
            Ok(file) => read.push(file),
            Err(error) => refused.push(error.to_string()),
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let mut rules = RuleSet::default();
    for file in &read {
        // What comes behind a file that is not taken may build on it, so that file is told alone.
        rules.add(file).map_err(|error| vec![error.to_string()])?;
    }
    Ok(rules)
}

#[derive(Serialize)]
struct RuleJson<'a> {
    kind: &'static str,
    id: &'a str,
    place: &'a str,
    tier: &'static str,
    /// The least set that asks it.
    set: &'static str,
    programs: &'a [String],
    reason: &'a str,
    safer: &'a str,
    deny: &'a [&'a str],
    allow: &'a [&'a str],
    broken: Vec<BrokenJson<'a>>,
}

#[derive(Serialize)]
struct EntryJson<'a> {
    kind: &'static str,
    id: &'a str,
    place: &'a str,
    rule: &'a str,
    command: &'a str,
    folder: &'a Path,
    reason: &'a str,
    expires: Option<String>,
    ended: bool,
    broken: Vec<BrokenJson<'a>>,
}

/// A case that does not hold.
#[derive(Serialize)]
struct BrokenJson<'a> {
    place: &'a str,
    command: &'a str,
    wrong: &'a str,
}

#[derive(Default, Serialize)]
struct Sums {
    summary: bool,
    files: usize,
    rules: usize,
    entries: usize,
    /// Entries that have ended: they let nothing through any more.
    ended: usize,
    cases: usize,
    broken: usize,
}

fn tell(args: &GuardRulesArgs, screen: Screen, rules: &RuleSet, broken: &[BrokenCase]) {
    let report = Report {
        broken,
        now: Timestamp::now(),
        screen,
    };
    let mut out = Output::new();
    let mut sums = Sums {
        summary: true,
        files: rules.files().len(),
        broken: broken.len(),
        ..Sums::default()
    };
    for file in rules.files() {
        for rule in file.listed_rules() {
            sums.rules += 1;
            sums.cases += rule.deny.len() + rule.allow.len();
            if args.json {
                out.json(&report.rule(&rule));
            } else if report.is_told(&rule.rule.id) {
                report.tell_rule(&mut out, &rule);
            }
        }
        for entry in file.listed_entries() {
            sums.entries += 1;
            sums.cases += 1;
            sums.ended += usize::from(entry.entry.is_expired(report.now));
            if args.json {
                out.json(&report.entry(&entry));
            } else if report.is_told(&entry.entry.id) {
                report.tell_entry(&mut out, &entry);
            }
        }
    }
    if args.json {
        out.json(&sums);
    } else if !screen.quiet {
        sums.tell(&mut out, screen);
    }
}

/// What was found out about all files.
struct Report<'a> {
    broken: &'a [BrokenCase],
    now: Timestamp,
    screen: Screen,
}

impl<'a> Report<'a> {
    /// The broken cases beside the rule or the entry `id`, which is unique among the files.
    fn broken(&self, id: &str) -> impl Iterator<Item = &'a BrokenCase> {
        self.broken.iter().filter(move |case| case.id == id)
    }

    /// Whether people are told of the rule or the entry `id`: in a quiet run, only of what is wrong.
    fn is_told(&self, id: &str) -> bool {
        !self.screen.quiet || self.broken(id).next().is_some()
    }

    fn broken_json(&self, id: &str) -> Vec<BrokenJson<'a>> {
        self.broken(id)
            .map(|case| BrokenJson {
                place: &case.place,
                command: &case.command,
                wrong: &case.wrong,
            })
            .collect()
    }

    fn rule(&self, listed: &'a ListedRule<'a>) -> RuleJson<'a> {
        let rule = listed.rule;
        RuleJson {
            kind: "rule",
            id: &rule.id,
            place: &listed.place,
            tier: rule.tier.as_str(),
            set: rule.set.as_str(),
            programs: listed.programs,
            reason: &rule.reason,
            safer: &rule.safer,
            deny: &listed.deny,
            allow: &listed.allow,
            broken: self.broken_json(&rule.id),
        }
    }

    fn entry(&self, listed: &'a ListedEntry<'a>) -> EntryJson<'a> {
        let entry = listed.entry;
        EntryJson {
            kind: "entry",
            id: &entry.id,
            place: &listed.place,
            rule: &entry.rule,
            command: &entry.command,
            folder: entry.folder(),
            reason: &entry.reason,
            expires: entry.expires.map(|end| end.to_string()),
            ended: entry.is_expired(self.now),
            broken: self.broken_json(&entry.id),
        }
    }

    fn tell_rule(&self, out: &mut Output, listed: &ListedRule<'_>) {
        let rule = listed.rule;
        let place = &listed.place;
        out.line(format_args!(
            "{} ({}, {}) at {place}",
            self.head(&rule.id),
            rule.tier.as_str(),
            match rule.set {
                Set::Default => "in every set",
                Set::Strict => "in the set strict",
            }
        ));
        field(out, "about", listed.programs.join(", "));
        field(out, "reason", &rule.reason);
        field(out, "safer", &rule.safer);
        for command in &listed.deny {
            field(out, "deny", command);
        }
        for command in &listed.allow {
            field(out, "allow", command);
        }
        self.tell_broken(out, &rule.id);
    }

    fn tell_entry(&self, out: &mut Output, listed: &ListedEntry<'_>) {
        let entry = listed.entry;
        let place = &listed.place;
        out.line(format_args!(
            "{} (lets {} through) at {place}",
            self.head(&entry.id),
            entry.rule
        ));
        field(out, "command", &entry.command);
        if entry.folder() != Path::new("") {
            field(out, "folder", entry.folder().display());
        }
        field(out, "reason", &entry.reason);
        if let Some(end) = entry.expires {
            if entry.is_expired(self.now) {
                let ended = format!("ended:   {end}, it lets nothing through any more");
                out.line(format_args!(
                    "  {}",
                    self.screen.paint.dip(Ink::Yellow, &ended)
                ));
            } else {
                field(out, "until", end);
            }
        }
        self.tell_broken(out, &entry.id);
    }

    /// The id, in the colour of what became of its cases.
    fn head(&self, id: &str) -> String {
        let ink = match self.broken(id).next() {
            None => Ink::Green,
            Some(_) => Ink::Red,
        };
        self.screen.paint.dip(ink, id).into_owned()
    }

    fn tell_broken(&self, out: &mut Output, id: &str) {
        for case in self.broken(id) {
            out.line(format_args!(
                "  {} {}: {}",
                self.screen.paint.dip(Ink::Red, "wrong:"),
                case.place,
                shown(&format!("`{}`: {}", case.command, case.wrong))
            ));
        }
    }
}

impl Sums {
    fn tell(&self, out: &mut Output, screen: Screen) {
        let ended = match self.ended {
            0 => String::new(),
            ended => format!(" ({ended} ended)"),
        };
        out.line(format_args!(
            "files {}, rules {}, entries {}{ended}; cases {}, {}",
            self.files,
            self.rules,
            self.entries,
            self.cases,
            match self.broken {
                0 => screen.paint.dip(Ink::Green, "all hold").into_owned(),
                broken => screen
                    .paint
                    .dip(Ink::Red, &format!("{broken} do not hold"))
                    .into_owned(),
            }
        ));
    }
}

fn field(out: &mut Output, name: &str, text: impl Display) {
    let name = format!("{name}:");
    out.line(format_args!(
        "  {} {}",
        column(&name, 8),
        shown(&text.to_string())
    ));
}

/// `text` on one line that a terminal takes for text.
fn shown(text: &str) -> String {
    column(text, SHOWN_CHARS_MAX).trim_end().to_owned()
}
