//! Every labelled command gets its label.

use serde::Deserialize;
use triplane_guards::commands;
use triplane_interception::Verdict;

use crate::support::{bash, explained, refused_by, rows};

#[derive(Deserialize)]
struct Row {
    id: String,
    command: String,
    verdict: String,
    why: String,
}

#[test]
fn every_labelled_command_gets_its_verdict() {
    let rows: Vec<Row> = rows("commands.jsonl");
    assert!(rows.len() >= 296);
    let misses: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let rule = refused_by(&row.command);
            (rule.is_some() != (row.verdict == "deny")).then(|| {
                format!(
                    "{} {:?} is {}: {} ({rule:?})",
                    row.id, row.command, row.verdict, row.why
                )
            })
        })
        .collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn every_denial_points_into_the_command() {
    for row in rows::<Row>("commands.jsonl") {
        for objection in explained(&row.command).objections {
            assert!(
                row.command
                    .get(objection.span.clone())
                    .is_some_and(|text| !text.is_empty()),
                "{} {:?}: {} at {:?}",
                row.id,
                row.command,
                objection.rule.id,
                objection.span
            );
        }
    }
}

#[test]
fn a_finding_names_the_rule_the_part_and_a_safer_way() {
    let Verdict::HardDeny(finding) =
        commands().judge_blocking(&bash("cd /tmp && sudo rm -rf /etc"))
    else {
        panic!("a catastrophic command is refused in every mode");
    };
    assert_eq!(finding.rule, "rm.recursive-system");
    let offence = finding.offence.unwrap();
    assert_eq!(
        (offence.text.as_str(), offence.span),
        ("/etc", Some(23..27))
    );
    assert!(finding.safer.is_some());
}

#[derive(Deserialize)]
struct Unexplained {
    id: String,
    command: String,
    verdict: String,
}

#[test]
fn every_further_command_gets_its_verdict() {
    let misses: Vec<String> = rows::<Unexplained>("commands-more.jsonl")
        .iter()
        .filter_map(|row| {
            let rule = refused_by(&row.command);
            (rule.is_some() != (row.verdict == "deny"))
                .then(|| format!("{} {:?} is {} ({rule:?})", row.id, row.command, row.verdict))
        })
        .collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// Texts that a commit message may hold, and that are no shell.
const MESSAGES: [&str; 20] = [
    "don't",
    "a :) smile",
    "1) first\n2) second",
    "(unbalanced",
    "never `rm -rf /`",
    "say \"hi",
    "#123 fix",
    "# remark (x",
    "cost $5 and $HOME",
    "case x in a) b;; esac",
    "if then fi",
    "{ brace",
    "} brace",
    "it's (it's)",
    "don't say \"don't\" ) ( ` '",
    "<<EOF2",
    "$(rm -rf /)",
    "\\ backslash",
    "日本 don't",
    "- bar's\n- baz (x)\n\nCo-Authored-By: A <a@b.test>",
];

#[test]
fn a_message_in_a_quoted_heredoc_is_data_whatever_it_holds() {
    for message in MESSAGES {
        for command in [
            format!("git commit -m \"$(cat <<'EOF'\n{message}\nEOF\n)\""),
            format!("git add -A && git commit -m \"$(cat <<'EOF'\n{message}\nEOF\n)\" && git push"),
            format!("X=$(cat <<'EOF'\n{message}\nEOF\n)\necho \"$X\""),
            format!("cat > notes.md <<'EOF'\n{message}\nEOF"),
            format!("git commit -F - <<'EOF'\n{message}\nEOF"),
            format!(
                "echo \"$(cat <<-'EOF'\n\t{}\n\tEOF\n)\"",
                message.replace('\n', "\n\t")
            ),
        ] {
            assert_eq!(refused_by(&command), None, "{command}");
        }
    }
}

#[test]
fn what_looks_like_the_end_of_a_substitution_hides_nothing_behind_it() {
    for command in [
        "echo \"$(ls; # )\nrm -rf /data\n)\"",
        "echo $(ls # )\nrm -rf /data\n)",
        "echo \"$(cat <<'E'\n)\nE\nrm -rf /data)\"",
        "echo \"$(case x in x) rm -rf /data;; esac)\"",
        "echo \"$(echo ')'; rm -rf /data)\"",
        "echo \"$(echo \")\"; rm -rf /data)\"",
        "echo \"$(echo \\); rm -rf /data)\"",
        "echo \"`echo \\`rm -rf /data\\``\"",
        "echo \"`rm -rf \\\"/data\\\"`\"",
        "echo $((1 + $(rm -rf /data)))",
        "echo $((rm -rf /data) | cat)",
        "cat <<E\n$(ls # )\nrm -rf /data\n)\nE",
        "x=${y:-$(ls # )\nrm -rf /data\n)}",
        "echo ${x#$(rm -rf /data)}",
        "eval \"$(<script)\"",
    ] {
        assert!(refused_by(command).is_some(), "{command}");
    }
}
