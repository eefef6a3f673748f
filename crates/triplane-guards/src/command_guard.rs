//! The command guard as the plan asks it.

use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use triplane_interception::{DeclaredTool, Finding, Guard, ToolCall, Verdict};
use triplane_kernel::{HandlerFailure, Scope, Step};

use crate::command::explain::{Explanation, explain_under};
use crate::command::judge::{Certainty, Judgement, Objection, judge, judge_near};
use crate::command::near::{Beyond, Near};
use crate::command::parse::is_short_and_plain;
use crate::command::parser_thread::{NoAnswer, ParserThread};
use crate::command::power_shell::{self, Against};
use crate::command::rules::{Asked, LetThrough, RuleFile, RuleFileRefused, RuleSet, Set, Tier};
use crate::command::scan::{Found, ScanRefusal, look};
use crate::offence::offence;
use crate::place::Place;
use crate::tool::{self, CommandAsked};

/// The command guard: what a shell command would do, judged before it runs.
///
/// Clones share one warm parser thread, which the first command that needs it starts.
#[derive(Debug, Clone, Default)]
pub struct CommandGuard {
    thread: Arc<ParserThread>,
    rules: Arc<RuleSet>,
    clock: Clock,
    tools: Arc<[DeclaredTool]>,
}

/// Where the guard takes the time from, for entries that end.
#[derive(Clone)]
struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(Timestamp::now))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// A command guard with the default set of rules. Nothing is started before the first command.
pub fn commands() -> CommandGuard {
    CommandGuard::default()
}

impl CommandGuard {
    /// Chooses the shipped set of rules. Default: [`Set::Default`].
    #[must_use]
    pub fn set(mut self, set: Set) -> Self {
        let rules = Arc::unwrap_or_clone(self.rules).with_set(set);
        self.rules = Arc::new(rules);
        self
    }

    /// Adds the rules and entries of the file at `path`.
    ///
    /// # Errors
    ///
    /// Returns [`RuleFileRefused`], which names the place, when the file cannot be read, when it is
    /// wrong, or when it does not go with what was added before.
    pub fn rules(mut self, path: impl AsRef<Path>) -> Result<Self, RuleFileRefused> {
        let mut rules = Arc::unwrap_or_clone(self.rules);
        rules.add(&RuleFile::load(path)?)?;
        self.rules = Arc::new(rules);
        Ok(self)
    }

    /// Judges the tools that `tools` declares as what they are declared to be, beside what the guard
    /// knows by itself.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<Arc<[DeclaredTool]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Takes the time from `clock` instead of the system: an entry that has ended lets nothing
    /// through.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Clock(Arc::new(clock));
        self
    }

    /// The rules and entries that commands are held against.
    pub fn rule_set(&self) -> &RuleSet {
        &self.rules
    }

    /// How many commands have overrun the parser's time since the start.
    pub fn parser_overruns(&self) -> usize {
        self.thread.missed()
    }

    /// What a command comes down to, and every rule that speaks: for people, not for decisions.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] when no thread could be started, or when the parser failed.
    pub fn explain(&self, command: &str, place: &Place) -> Result<Explanation, NoAnswer> {
        explain_under(&self.rules, command, place, (self.clock.0)())
    }

    /// Judges one call and blocks until the verdict is there: a few milliseconds for what is judged on
    /// this thread, and on the parser's at most its patience, or five times that on a machine so busy
    /// that no parser thread takes the command up.
    pub fn judge_blocking(&self, call: &ToolCall) -> Verdict {
        match self.prepare(call) {
            Prepared::Verdict(verdict) => verdict,
            Prepared::Job(command, job) => {
                let answer = self.thread.run_blocking(job);
                self.verdict(&command, answer)
            }
        }
    }

    /// What can be said without the parser, or the job for it.
    fn prepare(&self, call: &ToolCall) -> Prepared {
        let (command, certainty) = match tool::command(&self.tools, &call.tool, &call.arguments) {
            CommandAsked::Nothing => return Prepared::Verdict(Verdict::Allow),
            CommandAsked::Shell(command) => (command, Certainty::Certain),
            CommandAsked::Perhaps(command) => (command, Certainty::Perhaps),
            CommandAsked::PowerShell(command) => {
                return Prepared::Verdict(self.power_shell(&command, call));
            }
            CommandAsked::Unreadable => {
                return Prepared::Verdict(unreadable(&call.arguments));
            }
        };
        let place = Place::of(call);
        // There is nothing to be found in plain words.
        let found = if is_short_and_plain(&command) {
            Found::default()
        } else {
            match look(&command) {
                Ok(found) => found,
                Err(_) if certainty == Certainty::Perhaps => {
                    return Prepared::Verdict(Verdict::Allow);
                }
                Err(refusal) => return Prepared::Verdict(unparsed(&command, refusal)),
            }
        };
        if let Ok(answer) = self.near(&command, &found, &place, certainty) {
            return Prepared::Verdict(verdict(&command, answer));
        }
        let command = command.into_owned();
        let guard = self.clone();
        let judged = command.clone();
        Prepared::Job(
            command,
            Box::new(move || judge(&guard.asked(&judged, &place), found, certainty)),
        )
    }

    /// What a command comes to that is judged here and now, if that is bounded. A panic is caught, as
    /// the parser's thread does.
    fn near(
        &self,
        command: &str,
        found: &Found,
        place: &Place,
        certainty: Certainty,
    ) -> Result<Result<Judgement, NoAnswer>, Beyond> {
        // Before anything is copied for it.
        Near::new().read(command)?;
        let judged = catch_unwind(AssertUnwindSafe(|| {
            judge_near(&self.asked(command, place), found.clone(), certainty)
        }));
        match judged {
            Ok(judgement) => judgement.map(Ok),
            Err(_) => Ok(Err(NoAnswer::Failed)),
        }
    }

    /// The verdict on what the parser's thread answered. One that was late says how often that was.
    fn verdict(&self, command: &str, answer: Result<Judgement, NoAnswer>) -> Verdict {
        let late = matches!(answer, Err(NoAnswer::Late));
        let mut verdict = verdict(command, answer);
        if let (true, Verdict::SoftDeny(finding)) = (late, &mut verdict) {
            let overruns = self.parser_overruns();
            let times = if overruns == 1 { "time" } else { "times" };
            finding.reason = format!("{}; that happened {overruns} {times} here", finding.reason);
        }
        verdict
    }

    fn power_shell(&self, command: &str, call: &ToolCall) -> Verdict {
        let place = Place::of(call);
        let mut let_through = Vec::new();
        match power_shell::judge(&self.asked(command, &place), &mut let_through) {
            None => allowed(&let_through),
            Some(Against::Rule(objection)) => objected(command, objection),
            Some(Against::Cmdlet(span)) => cmdlet(command, span),
        }
    }

    fn asked<'a>(&'a self, command: &'a str, place: &'a Place) -> Asked<'a> {
        Asked {
            command,
            place,
            rules: &self.rules,
            now: (self.clock.0)(),
        }
    }
}

type Job = Box<dyn FnOnce() -> Judgement + Send>;

enum Prepared {
    Verdict(Verdict),
    /// The command, and the job that judges it.
    Job(String, Job),
}

impl Guard for CommandGuard {
    fn name(&self) -> &'static str {
        "guard.commands"
    }

    fn judge<'a>(
        &'a self,
        call: &'a ToolCall,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Verdict, HandlerFailure>> {
        match self.prepare(call) {
            Prepared::Verdict(verdict) => Step::Ready(Ok(verdict)),
            Prepared::Job(command, job) => Step::later(async move {
                let answer = self.thread.run(job).await;
                Ok(self.verdict(&command, answer))
            }),
        }
    }
}

fn unreadable(arguments: &Value) -> Verdict {
    let mut finding = Finding::new(
        "command.unreadable",
        "the call of a shell holds no command that can be read",
    );
    let text = arguments.to_string();
    finding.offence = offence(&text, 0..text.len());
    finding.safer = Some("send the command as one text, or as a list of words".to_owned());
    Verdict::SoftDeny(finding)
}

fn unparsed(command: &str, refusal: ScanRefusal) -> Verdict {
    let mut finding = Finding::new("command.refused-unparsed", refusal.to_string());
    finding.offence = offence(command, 0..command.len());
    finding.safer = Some("write it in simpler shell, or put it into a script file".to_owned());
    Verdict::SoftDeny(finding)
}

fn cmdlet(command: &str, span: Range<usize>) -> Verdict {
    let mut finding = Finding::new(
        "powershell.destructive",
        "the command deletes, formats, stops or runs text in PowerShell, which is not followed",
    );
    finding.offence = offence(command, span);
    finding.safer = Some("do it with a tool whose arguments can be read".to_owned());
    Verdict::SoftDeny(finding)
}

fn verdict(command: &str, answer: Result<Judgement, NoAnswer>) -> Verdict {
    match answer {
        Ok(judgement) => match judgement.objection {
            None => allowed(&judgement.let_through),
            Some(objection) => objected(command, objection),
        },
        Err(error) => {
            let mut finding = Finding::new(
                "command.no-verdict",
                format!("the command could not be judged: {error}"),
            );
            finding.offence = offence(command, 0..command.len());
            finding.safer = Some("write it in simpler shell".to_owned());
            Verdict::SoftDeny(finding)
        }
    }
}

/// Allowed; what an entry let through is noted, so that it goes on record.
fn allowed(let_through: &[LetThrough]) -> Verdict {
    let Some(first) = let_through.first() else {
        return Verdict::Allow;
    };
    let reasons: Vec<String> = let_through
        .iter()
        .map(|through| {
            let LetThrough { rule, entry } = through;
            format!(
                "`{}` was let through by the entry `{}`: {}",
                rule.id, entry.id, entry.reason
            )
        })
        .collect();
    Verdict::Advisory(Finding::new(first.rule.id.clone(), reasons.join("; ")))
}

fn objected(command: &str, objection: Objection) -> Verdict {
    let Objection { rule, span, detail } = objection;
    let reason = match detail {
        Some(detail) => format!("{}: {detail}", rule.reason),
        None => rule.reason.to_string(),
    };
    let finding = Finding {
        rule: rule.id.to_string(),
        reason,
        offence: offence(command, span),
        safer: Some(rule.safer.to_string()),
    };
    match rule.tier {
        Tier::Catastrophic => Verdict::HardDeny(finding),
        Tier::Dangerous => Verdict::SoftDeny(finding),
    }
}
