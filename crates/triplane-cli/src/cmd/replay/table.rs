//! The decisions that matter, a row each, as they are committed.

use serde::Serialize;
use triplane::{Decided, Finding, Redaction, ToolCallDecision};
use triplane_external_hooks::HookEvent;

use crate::paint::{Ink, Screen};
use crate::render::{Output, column};

/// What a row says of an event, kept while its commit is awaited.
pub(crate) struct Row {
    line: u64,
    event: String,
    tool: String,
    failure: Option<String>,
}

/// Prints rows, as a table or as JSON lines.
pub(crate) struct Table {
    json: bool,
    screen: Screen,
    /// What is shown may end in a file, too.
    redaction: Redaction,
    any: bool,
}

#[derive(Serialize)]
struct RowJson<'a> {
    line: u64,
    event: &'a str,
    tool: &'a str,
    decision: &'a str,
    rule: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    offence: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    safer: Option<&'a str>,
}

impl Row {
    pub(crate) fn of(event: &HookEvent, line: u64) -> Self {
        let failed = event.name() == "PostToolUseFailure";
        let failure = failed.then(|| event.error().unwrap_or_default().into_owned());
        Self {
            line,
            event: event.name().to_owned(),
            tool: event.tool_name().unwrap_or_default().to_owned(),
            failure,
        }
    }

    pub(crate) fn is_failure(&self) -> bool {
        self.failure.is_some()
    }
}

impl Table {
    pub(crate) fn new(json: bool, screen: Screen, redaction: Redaction) -> Self {
        Self {
            json,
            screen,
            redaction,
            any: false,
        }
    }

    /// Prints the row if the event was denied, rewritten or tells of a failed call.
    pub(crate) fn show(&mut self, out: &mut Output, row: &Row, decided: &Decided) {
        let (decision, rule, reason) = match (&decided.judged.decision, &row.failure) {
            (ToolCallDecision::Denied(finding), _) => {
                ("would deny", finding.rule.as_str(), finding.reason.as_str())
            }
            (ToolCallDecision::Rewritten { rule, reason, .. }, _) => {
                ("would rewrite", rule.as_str(), reason.as_str())
            }
            (ToolCallDecision::Allowed, Some(failure)) => ("failed", "", failure.as_str()),
            (ToolCallDecision::Allowed, None) => return,
        };
        let finding = match &decided.judged.decision {
            ToolCallDecision::Denied(finding) => Some(finding),
            ToolCallDecision::Rewritten { .. } | ToolCallDecision::Allowed => None,
        };
        let offence = finding.and_then(|finding| finding.offence.as_ref());
        let reason = &*self.redaction.text(reason);
        if self.json {
            let decision = match decision {
                "would deny" => "would_deny",
                "would rewrite" => "would_rewrite",
                other => other,
            };
            let Row {
                line, event, tool, ..
            } = row;
            out.json(&RowJson {
                line: *line,
                event,
                tool,
                decision,
                rule,
                reason,
                offence: offence
                    .map(|offence| self.redaction.text(&offence.text))
                    .as_deref(),
                span: offence
                    .and_then(|offence| offence.span.as_ref())
                    .map(|span| [span.start, span.end]),
                safer: finding.and_then(|finding| finding.safer.as_deref()),
            });
            return;
        }
        if self.screen.quiet {
            return;
        }
        if !self.any {
            self.any = true;
            out.line(format_args!(
                "{:>7}  {}  {}  {}  {}",
                "line",
                column("decision", 13),
                column("tool", 14),
                column("rule", 26),
                "reason"
            ));
        }
        out.line(format_args!(
            "{:>7}  {}  {}  {}  {}",
            row.line,
            self.painted(decision),
            column(&row.tool, 14),
            column(rule, 26),
            column(reason, 90).trim_end()
        ));
        if let Some(finding) = finding {
            self.show_way_out(out, finding);
        }
    }

    /// What was pointed at, and the safer way, below the row.
    fn show_way_out(&self, out: &mut Output, finding: &Finding) {
        let mut said = Vec::new();
        if let Some(offence) = &finding.offence {
            let text = self.redaction.text(&offence.text);
            let text = column(&text, 60);
            let text = text.trim_end();
            said.push(match &offence.span {
                Some(span) => format!("at {}..{}: {text}", span.start, span.end),
                None => format!("about {text}"),
            });
        }
        said.extend(
            finding
                .safer
                .as_ref()
                .map(|safer| format!("safer: {safer}")),
        );
        if !said.is_empty() {
            out.line(format_args!("{:>24}  {}", "", said.join("; ")));
        }
    }

    fn painted(&self, decision: &str) -> String {
        let ink = match decision {
            "would deny" => Ink::Red,
            "would rewrite" => Ink::Yellow,
            _failed => Ink::Magenta,
        };
        let shown = column(decision, 13);
        self.screen.paint.dip(ink, &shown).into_owned()
    }
}
