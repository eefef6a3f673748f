//! `triplane guard explain`: one command or path, and everything that was found out about it.

use std::ops::Range;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde::Serialize;
use triplane::Finding;
use triplane_guards::command::explain::Explanation;
use triplane_guards::command::judge::Objection;
use triplane_guards::command::word::{Part, Word};
use triplane_guards::corpus::shell_call;
use triplane_guards::paths_in;

use crate::cmd::guard::jury::Jury;
use crate::cmd::guard::{line, path};
use crate::guard_args::GuardExplainArgs;
use crate::paint::{Ink, Screen};
use crate::render::{Output, chain, column, complain};

pub(crate) fn run(args: &GuardExplainArgs, screen: Screen) -> ExitCode {
    let explained = match &args.path {
        Some(asked) => path::explained(args, asked, screen),
        None => explained(args, screen),
    };
    match explained {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            complain(chain(&error));
            ExitCode::from(2)
        }
    }
}

#[derive(Serialize)]
struct Explained<'a> {
    command: &'a str,
    verdict: &'static str,
    /// The rule that the verdict names.
    rule: Option<&'a str>,
    commands: Vec<SimpleJson<'a>>,
    findings: Vec<Spoke<'a>>,
    /// What entries of rule files let through.
    let_through: Vec<LetThroughJson<'a>>,
}

#[derive(Serialize)]
struct LetThroughJson<'a> {
    rule: &'a str,
    entry: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct SimpleJson<'a> {
    program: &'a str,
    span: [usize; 2],
    /// The folders that it may run in; null is any.
    cwd: &'a [Option<String>],
    remote: bool,
    words: Vec<WordJson>,
}

#[derive(Serialize)]
struct WordJson {
    shown: String,
    known: &'static str,
    span: [usize; 2],
}

/// A rule that spoke.
#[derive(Serialize)]
struct Spoke<'a> {
    rule: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<&'static str>,
    offence: Option<&'a str>,
    span: Option<[usize; 2]>,
    reason: String,
    safer: Option<&'a str>,
}

/// Whether the command is allowed.
fn explained(args: &GuardExplainArgs, screen: Screen) -> Result<bool> {
    let jury = Jury::new(&args.place)?;
    let command = line::of(&args.command);
    let explained = jury.commands.explain(&command, &jury.place);
    let found = explained.context("the command cannot be explained")?;
    let root = &jury.place.root;
    let denied = jury.judge(paths_in(root), shell_call(&command, &jury.place))?;
    let explained = Explained::of(&command, &found, denied.as_ref());
    let mut out = Output::new();
    if args.json {
        out.json(&explained);
    } else {
        explained.tell(&mut out, screen);
    }
    Ok(denied.is_none())
}

impl<'a> Explained<'a> {
    fn of(command: &'a str, found: &'a Explanation, denied: Option<&'a Finding>) -> Self {
        let mut findings: Vec<Spoke<'_>> = found
            .objections
            .iter()
            .map(|objection| Spoke::of(command, objection))
            .collect();
        // What speaks beside the rules: the scan, the policy, a parser that was late.
        if let Some(finding) = denied
            && !findings.iter().any(|spoke| spoke.rule == finding.rule)
        {
            findings.push(Spoke {
                rule: &finding.rule,
                tier: None,
                offence: finding
                    .offence
                    .as_ref()
                    .map(|offence| offence.text.as_str()),
                span: finding
                    .offence
                    .as_ref()
                    .and_then(|offence| offence.span.as_ref().map(bounds)),
                reason: finding.reason.clone(),
                safer: finding.safer.as_deref(),
            });
        }
        Self {
            command,
            verdict: if denied.is_some() { "deny" } else { "allow" },
            rule: denied.map(|finding| finding.rule.as_str()),
            commands: found
                .simples
                .iter()
                .map(|simple| SimpleJson {
                    program: &simple.program,
                    span: bounds(&simple.span),
                    cwd: &simple.cwd,
                    remote: simple.remote,
                    words: simple.args.iter().map(WordJson::of).collect(),
                })
                .collect(),
            findings,
            let_through: found
                .let_through
                .iter()
                .map(|through| LetThroughJson {
                    rule: &through.rule.id,
                    entry: &through.entry.id,
                    reason: &through.entry.reason,
                })
                .collect(),
        }
    }

    fn tell(&self, out: &mut Output, screen: Screen) {
        for simple in &self.commands {
            let cwd = simple.cwd.iter();
            let cwd: Vec<&str> = cwd
                .map(|it| it.as_deref().unwrap_or("any folder"))
                .collect();
            out.line(format_args!(
                "{}  {}..{}, {} {}",
                column(simple.program, 24),
                simple.span[0],
                simple.span[1],
                if simple.remote { "elsewhere, in" } else { "in" },
                cwd.join(" or ")
            ));
            for word in &simple.words {
                out.line(format_args!(
                    "  {}  {}  {}..{}",
                    column(&word.shown, 40),
                    column(word.known, 12),
                    word.span[0],
                    word.span[1]
                ));
            }
        }
        for spoke in &self.findings {
            out.line("");
            let tier = spoke.tier.map(|tier| format!(" ({tier})"));
            out.line(format_args!(
                "{}{}",
                screen.paint.dip(Ink::Red, spoke.rule),
                tier.unwrap_or_default()
            ));
            if let Some([start, end]) = spoke.span {
                for line in line::underlined(self.command, start..end) {
                    out.line(format_args!("  {line}"));
                }
                out.line(format_args!("  at:     {start}..{end}"));
            }
            out.line(format_args!("  reason: {}", spoke.reason));
            if let Some(safer) = spoke.safer {
                out.line(format_args!("  safer:  {safer}"));
            }
        }
        for through in &self.let_through {
            out.line("");
            let LetThroughJson {
                rule,
                entry,
                reason,
            } = through;
            out.line(format_args!(
                "{rule} was let through by the entry {entry}: {reason}"
            ));
        }
        if !self.findings.is_empty() || !self.let_through.is_empty() {
            out.line("");
        }
        out.line(match self.rule {
            Some(rule) => format!("{}, by {rule}", screen.paint.dip(Ink::Red, "denied")),
            None => screen.paint.dip(Ink::Green, "allowed").into_owned(),
        });
    }
}

impl WordJson {
    fn of(word: &Word) -> Self {
        let known = if word.literal().is_some() {
            "literal"
        } else if word.parts.iter().all(|part| *part == Part::Unknown) {
            "unknown"
        } else {
            "partly known"
        };
        Self {
            shown: word.shown().into_owned(),
            known,
            span: bounds(&word.span),
        }
    }
}

impl<'a> Spoke<'a> {
    fn of(command: &'a str, objection: &'a Objection) -> Self {
        let Objection { rule, span, detail } = objection;
        Self {
            rule: &rule.id,
            tier: Some(rule.tier.as_str()),
            offence: command.get(span.clone()),
            span: Some(bounds(span)),
            reason: match detail {
                Some(detail) => format!("{}: {detail}", rule.reason),
                None => rule.reason.to_string(),
            },
            safer: Some(&rule.safer),
        }
    }
}

fn bounds(span: &Range<usize>) -> [usize; 2] {
    [span.start, span.end]
}
