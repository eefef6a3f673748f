//! Which calls are judged, under whatever name and in whatever shape they come.

use serde_json::{Value, json};
use triplane_guards::{commands, paths};
use triplane_interception::{DeclaredPolicy, DeclaredTool, Verdict};

use crate::support::call;

fn refused(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::SoftDeny(_) | Verdict::HardDeny(_) => true,
        Verdict::Allow | Verdict::Advisory(_) => false,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the cases read better")]
fn check_command(tool: &str, arguments: Value, wanted: bool) {
    let verdict = commands().judge_blocking(&call(tool, arguments.clone()));
    assert_eq!(refused(&verdict), wanted, "{tool} {arguments}: {verdict:?}");
}

#[test]
fn a_destructive_command_is_refused_in_every_shape() {
    let rm = "rm -rf /";
    for tool in [
        "Bash",
        "bash",
        "BASH",
        "shell",
        "exec_command",
        "run_shell_command",
        "local_shell",
        "RunCommand",
        "mcp__box__shell",
        "mcp__box__exec",
        "mcp_box_run_command",
        "functions.shell",
    ] {
        check_command(tool, json!({"command": rm}), true);
        check_command(tool, json!({"command": "ls -la"}), false);
        check_command(tool, json!({"cmd": rm}), true);
        check_command(tool, json!({"command": ["rm", "-rf", "/"]}), true);
        check_command(tool, json!({"command": ["bash", "-lc", rm]}), true);
        check_command(tool, json!({"command": ["echo", rm]}), false);
    }
    check_command("Bash", json!(rm), true);
    check_command("shell", json!(["bash", "-c", rm]), true);
    check_command("mcp__unknown__frobnicate", json!({"command": rm}), true);
    check_command("mcp__unknown__frobnicate", json!({"script": rm}), true);
    check_command(
        "PowerShell",
        json!({"command": "Remove-Item -Recurse -Force C:\\"}),
        true,
    );
    check_command("PowerShell", json!({"command": "Get-ChildItem"}), false);
}

#[test]
fn a_text_that_may_be_no_command_is_refused_only_for_what_it_would_do() {
    let script = "document.querySelector('a').click()";
    check_command("mcp__browser__evaluate", json!({"script": script}), false);
    check_command(
        "mcp__notes__ask",
        json!({"input": "don't run rm -rf / here"}),
        false,
    );
    check_command(
        "mcp__box__frobnicate",
        json!({"script": "cd / && rm -rf data"}),
        true,
    );
    check_command("mcp__evil__task", json!({"command": "rm -rf /"}), true);
    check_command("mcp__flow__run", json!({"workflow": "deploy"}), false);
    check_command("Bash", json!({"command": script}), true);
}

#[test]
fn a_shell_call_without_a_readable_command_is_refused() {
    for arguments in [
        json!({}),
        json!(null),
        json!([]),
        json!({"command": null}),
        json!({"command": 7}),
        json!({"command": {"x": 1}}),
    ] {
        check_command("Bash", arguments, true);
    }
}

#[test]
fn text_that_is_content_is_not_run() {
    check_command(
        "Write",
        json!({"file_path": "a.sh", "content": "rm -rf /"}),
        false,
    );
    check_command(
        "Task",
        json!({"prompt": "rm -rf /", "command": "rm -rf /"}),
        false,
    );
    check_command("mcp__notes__add", json!({"text": "rm -rf /"}), false);
}

#[expect(clippy::needless_pass_by_value, reason = "the cases read better")]
fn check_path(tool: &str, arguments: Value, wanted: &str) {
    let verdict = paths().judge_blocking(&call(tool, arguments.clone()));
    let got = match &verdict {
        Verdict::Allow => "allow",
        Verdict::Advisory(finding) | Verdict::SoftDeny(finding) | Verdict::HardDeny(finding) => {
            finding.rule.as_str()
        }
    };
    assert_eq!(got, wanted, "{tool} {arguments}");
}

#[test]
fn every_path_of_a_call_is_judged() {
    check_path(
        "Write",
        json!({"file_path": "/srv/app/.env", "content": ""}),
        "path.secret",
    );
    check_path(
        "Read",
        json!({"file_path": "/home/dev/.ssh/id_rsa"}),
        "path.outside",
    );
    check_path(
        "Read",
        json!({"file_path": "keys/id_ed25519"}),
        "path.secret",
    );
    check_path(
        "Write",
        json!({"file_path": ".claude/settings.json"}),
        "path.switch",
    );
    check_path(
        "Edit",
        json!({"file_path": "src/lib.rs"}),
        "path.judged-as-text",
    );
    check_path("Read", json!({"file_path": "/dev/null"}), "allow");
    check_path("Grep", json!({"pattern": "x"}), "allow");
    check_path("Glob", json!({"pattern": "/etc/**/*.conf"}), "path.outside");
    check_path("Glob", json!({"pattern": "**/*.rs"}), "allow");
    check_path(
        "MultiEdit",
        json!({"file_path": "../x", "edits": []}),
        "path.outside",
    );
    check_path(
        "mcp__fs__read_file",
        json!({"path": "/etc/passwd"}),
        "path.outside",
    );
    check_path(
        "mcp__fs__move_file",
        json!({"source": ".git/config", "destination": "x"}),
        "path.switch",
    );
    check_path(
        "NotebookEdit",
        json!({"notebook_path": "/etc/x.ipynb"}),
        "path.outside",
    );
}

#[test]
fn every_file_of_a_patch_is_judged() {
    let patch = |body: &str| json!({"command": format!("*** Begin Patch\n{body}\n*** End Patch")});
    check_path(
        "apply_patch",
        patch("*** Update File: src/a.rs\n+x"),
        "path.judged-as-text",
    );
    check_path(
        "apply_patch",
        patch("*** Update File: src/a.rs\n*** Delete File: /etc/passwd"),
        "path.outside",
    );
    check_path(
        "apply_patch",
        patch("*** Update File: src/a.rs\n*** Move to: ../../x"),
        "path.outside",
    );
    check_path(
        "apply_patch",
        json!({"input": "*** Begin Patch\n*** Add File: .codex/hooks.json\n+{}\n*** End Patch"}),
        "path.switch",
    );
    check_path(
        "shell",
        json!({"command": ["apply_patch", "*** Begin Patch\n*** Add File: /etc/x\n*** End Patch"]}),
        "path.outside",
    );
    check_path(
        "apply_patch",
        json!("*** Begin Patch\n*** Add File: /etc/x\n*** End Patch"),
        "path.outside",
    );
}

fn declared(tools: &Value) -> Vec<DeclaredTool> {
    let policy = json!({"version": 1, "tools": tools});
    let policy: DeclaredPolicy = serde_json::from_value(policy).unwrap();
    policy.guards.tools
}

#[test]
fn a_declared_tool_is_judged_as_what_it_is_declared_to_be() {
    let tools = declared(&json!([
        {"tool": "mcp__box__*", "kind": "shell", "argument": "job.code"},
        {"tool": "zap", "kind": "shell"},
        {"tool": "Task", "kind": "shell", "argument": "prompt"},
        {"tool": "peek", "kind": "read", "argument": "where"},
        {"tool": "mcp__fs__frob", "kind": "read"},
        {"tool": "mcp__fs__purge", "kind": "delete", "argument": "targets"},
        {"tool": "amend", "kind": "patch", "argument": "text"},
        {"tool": "Bash", "kind": "read", "argument": "note"},
    ]));
    let shell = commands().tools(tools.clone());
    let path = paths().tools(tools);
    let check = |tool: &str, arguments: Value, wanted: Option<&str>| {
        let call = call(tool, arguments);
        let rule = [shell.judge_blocking(&call), path.judge_blocking(&call)]
            .into_iter()
            .find_map(|verdict| match verdict {
                Verdict::SoftDeny(finding) | Verdict::HardDeny(finding) => Some(finding.rule),
                Verdict::Allow | Verdict::Advisory(_) => None,
            });
        assert_eq!(rule.as_deref(), wanted, "{call:?}");
    };
    let system = Some("rm.recursive-system");
    check("mcp__box__go", json!({"job": {"code": "rm -rf /"}}), system);
    check(
        "mcp__box__go",
        json!({"job": {"code": ["rm", "-rf", "/"]}}),
        system,
    );
    check("mcp__box__go", json!({"job": {"code": "ls"}}), None);
    check(
        "mcp__box__go",
        json!({"job": 7}),
        Some("command.unreadable"),
    );
    // What the guards know by themselves stays in force.
    check(
        "mcp__box__go",
        json!({"job": {"code": "ls"}, "command": "rm -rf /"}),
        system,
    );
    check("Bash", json!({"command": "rm -rf /", "note": "x"}), system);
    check("zap", json!({"cmd": "rm -rf /"}), system);
    check("zap", json!("rm -rf /"), system);
    check("Task", json!({"prompt": "rm -rf /"}), system);
    check(
        "peek",
        json!({"where": "/etc/passwd"}),
        Some("path.outside"),
    );
    check("peek", json!({"where": ".git/config"}), None);
    check("mcp__fs__frob", json!({"path": ".git/config"}), None);
    check(
        "mcp__fs__purge",
        json!({"targets": ["a", ".git"]}),
        Some("path.switch"),
    );
    check(
        "amend",
        json!({"text": "--- a/src/a.rs\n+++ b/.codex/hooks.json\n"}),
        Some("path.switch"),
    );
}

#[test]
fn a_finding_about_a_path_says_where_it_stands() {
    let found = |tool: &str, arguments: Value| {
        let verdict = paths().judge_blocking(&call(tool, arguments));
        let (Verdict::SoftDeny(finding) | Verdict::HardDeny(finding)) = verdict else {
            panic!("{tool} was allowed");
        };
        let offence = finding.offence.unwrap();
        (offence.text, offence.span.unwrap())
    };
    let whole = found("Write", json!({"file_path": "../x"}));
    assert_eq!(whole, ("../x".to_owned(), 0..4));
    let text = "*** Begin Patch\n*** Update File: a\n*** Delete File: /etc/x\n*** End Patch";
    let (path, span) = found("apply_patch", json!({"input": text}));
    assert_eq!((path.as_str(), &text[span]), ("/etc/x", "/etc/x"));
    let text = "--- a/x\t2026\r\n+++ b/.git/config\r\n";
    let (path, span) = found("apply_patch", json!({"patch": text}));
    assert_eq!((path.as_str(), &text[span]), (".git/config", ".git/config"));
}

#[test]
fn every_refusal_names_rule_part_position_and_a_safer_way() {
    let long = format!("echo {}", "a".repeat(70_000));
    let calls = [
        call("Bash", json!({"command": "rm -rf /"})),
        call("Bash", json!({"command": long})),
        call("Bash", json!({"command": "echo 'a"})),
        call("Bash", json!({"command": 7})),
        call("Bash", json!({"command": "((((((((((((((((((((((((((((("})),
        call("PowerShell", json!({"command": "Remove-Item x"})),
        call("Write", json!({"file_path": ".env"})),
        call("Read", json!({"file_path": "a\u{7}b"})),
        call("Read", json!({"file_path": "/proc/self/environ"})),
    ];
    for call in calls {
        let verdicts = [
            commands().judge_blocking(&call),
            paths().judge_blocking(&call),
        ];
        let finding = verdicts.into_iter().find_map(|verdict| match verdict {
            Verdict::SoftDeny(finding) | Verdict::HardDeny(finding) => Some(finding),
            Verdict::Allow | Verdict::Advisory(_) => None,
        });
        let finding = finding.unwrap_or_else(|| panic!("{call:?} was allowed"));
        let offence = finding
            .offence
            .as_ref()
            .unwrap_or_else(|| panic!("{finding:?}"));
        assert!(
            offence.span.is_some() && offence.text.len() <= 800,
            "{finding:?}"
        );
        assert!(
            !finding.rule.is_empty() && !finding.reason.is_empty(),
            "{finding:?}"
        );
        assert!(finding.safer.is_some(), "{finding:?}");
    }
}
