//! Which calls are judged, under whatever name and in whatever shape they come.

use serde_json::{Value, json};
use triplane_guards::{commands, paths};
use triplane_interception::Verdict;

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
