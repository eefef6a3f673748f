//! `triplane guard`: a corpus held against the guards, and one command explained.

use std::process::{Command, Output};

use serde_json::Value;

use crate::program::{Place, program, text, workspace};

/// `triplane guard ARGUMENTS` in the workspace's folder.
fn guard(arguments: &[&str]) -> Output {
    Command::new(program())
        .arg("guard")
        .args(arguments)
        .current_dir(workspace())
        .output()
        .expect("the program runs")
}

/// The exit code, the rows and the summary of `guard check --json`.
fn check(corpus: &str) -> (Option<i32>, Vec<Value>, Value) {
    let output = guard(&["check", "--corpus", corpus, "--json"]);
    let stdout = text(&output.stdout);
    let mut lines: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object"))
        .collect();
    let summary = lines
        .pop()
        .unwrap_or_else(|| panic!("{}", text(&output.stderr)));
    (output.status.code(), lines, summary)
}

#[test]
fn every_row_of_the_corpora_is_right() {
    for corpus in ["commands", "paths", "commands-more", "paths-more"] {
        let (code, rows, summary) = check(&format!("tests/corpus/{corpus}.jsonl"));
        let wrong: Vec<&Value> = rows.iter().filter(|row| row["right"] != true).collect();
        assert!(wrong.is_empty(), "{corpus}: {wrong:?}");
        assert_eq!((code, &summary["rows"]), (Some(0), &rows.len().into()));
        assert_eq!(
            (&summary["recall"], &summary["precision"]),
            (&1.0.into(), &1.0.into())
        );
        assert!(
            rows.iter()
                .all(|row| (row["verdict"] == "deny") == row["rule"].is_string())
        );
    }
}

/// Rows of both kinds, of which one is missed, one refused wrongly, and one right.
const WRONG: &str = r#"{"id": "a", "command": "git status", "verdict": "deny"}

{"id": "b", "command": "rm -rf /", "verdict": "allow"}
{"id": "c", "op": "read", "path": "$W/../s", "setup": [{"file": "$W/../s"}], "verdict": "deny"}
"#;

#[test]
fn wrong_rows_are_shown_and_counted() {
    let place = Place::new();
    let file = place.file("corpus.jsonl", WRONG);
    let file = file.to_str().expect("a path");
    let (code, rows, summary) = check(file);
    let shown = |row: &Value| {
        (
            row["id"].clone(),
            row["verdict"].clone(),
            row["right"].clone(),
        )
    };
    assert_eq!(
        rows.iter().map(shown).collect::<Vec<_>>(),
        [
            ("a".into(), "allow".into(), false.into()),
            ("b".into(), "deny".into(), false.into()),
            ("c".into(), "deny".into(), true.into()),
        ]
    );
    assert_eq!(code, Some(1));
    assert_eq!(
        (&summary["missed"], &summary["refused_wrongly"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        (&summary["recall"], &summary["precision"]),
        (&0.5.into(), &0.5.into())
    );
    let output = guard(&["check", "--corpus", file]);
    let stdout = text(&output.stdout);
    assert!(
        stdout.contains("     3  b         allow   deny"),
        "{stdout}"
    );
    assert!(stdout.contains("1 of 3 rows right"), "{stdout}");
    assert!(
        stdout.contains("recall 0.5000, precision 0.5000"),
        "{stdout}"
    );
}

#[test]
fn a_corpus_that_cannot_be_read_is_wrong_input() {
    let place = Place::new();
    let refused = |content: &str, wanted: &str| {
        let file = place.file("corpus.jsonl", content);
        let output = guard(&[
            "check",
            "--corpus",
            file.to_str().expect("a path"),
            "--json",
        ]);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{content}: {errors}");
        assert!(errors.contains(wanted), "{content}: {errors}");
        assert_eq!(text(&output.stdout), "", "{content}");
    };
    let good = r#"{"id": "a", "command": "ls", "verdict": "allow"}"#;
    refused(&format!("{good}\n{{\n"), "line 2: not a row: EOF");
    refused(
        &format!("{good}\n\n{{\"id\": \"x\", \"verdict\": \"deny\"}}"),
        "line 3: the row is of no known kind",
    );
    refused("", "there is no row in it");
    refused(
        r#"{"id": "a", "op": "read", "path": "x", "setup": [{"file": "/etc/triplane-test"}], "verdict": "deny"}"#,
        "line 1: the step at `/etc/triplane-test` would change something outside",
    );
    let missing = guard(&["check", "--corpus", "/nonexistent/corpus.jsonl"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("/nonexistent/corpus.jsonl"));
}

#[test]
fn root_home_and_policy_are_those_that_are_named() {
    let place = Place::new();
    let corpus = concat!(
        r#"{"id": "a", "command": "rm -rf /data/x/build", "verdict": "allow"}"#,
        "\n",
        r#"{"id": "b", "command": "rm -rf /home/me", "verdict": "deny"}"#,
        "\n",
        r#"{"id": "c", "command": "make deploy", "verdict": "deny"}"#,
    );
    let file = place.file("corpus.jsonl", corpus);
    let policy = place.file(
        "policy.toml",
        "version = 1\n[[deny]]\nid = \"no-deploy\"\ntool = \"Bash\"\nargument = \"command\"\npattern = \"deploy\"\n",
    );
    let file = file.to_str().expect("a path");
    let policy = policy.to_str().expect("a path");
    let place = [
        "--root", "/data/x", "--home", "/home/me", "--policy", policy,
    ];
    let output = guard(&[&["check", "--corpus", file][..], &place[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stdout));
    let output = guard(&[&["explain"][..], &place[..], &["--", "make", "deploy"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("denied, by no-deploy"));
}

fn explained(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = guard(&[&["explain", "--json"], arguments].concat());
    let answer = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        answer.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr))),
    )
}

#[test]
fn an_explanation_shows_the_words_and_every_rule_that_spoke() {
    let (code, found) = explained(&["--", "X=/etc; cd build && rm -rf \"$X\" *.o; echo $Y | sh"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        (&found["verdict"], &found["rule"]),
        (&"deny".into(), &"rm.recursive-system".into())
    );
    let rm = &found["commands"][0];
    assert_eq!(
        (&rm["program"], &rm["cwd"][0]),
        (&"rm".into(), &"/srv/app/build".into())
    );
    let words: Vec<(&str, &str)> = rm["words"]
        .as_array()
        .expect("words")
        .iter()
        .map(|word| {
            (
                word["shown"].as_str().expect("text"),
                word["known"].as_str().expect("text"),
            )
        })
        .collect();
    assert_eq!(
        words,
        [
            ("-rf", "literal"),
            ("/etc", "literal"),
            ("*.o", "partly known")
        ]
    );
    assert_eq!(found["commands"][1]["words"][0]["known"], "unknown");
    let finding = &found["findings"][0];
    assert_eq!(
        (&finding["tier"], &finding["offence"]),
        (&"catastrophic".into(), &"\"$X\"".into())
    );
    assert_eq!(finding["span"], serde_json::json!([27, 31]));
    assert!(finding["reason"].is_string() && finding["safer"].is_string());
    let findings = found["findings"].as_array().expect("findings");
    let rules: Vec<_> = findings
        .iter()
        .filter_map(|finding| finding["rule"].as_str())
        .collect();
    assert_eq!(
        rules,
        ["rm.recursive-system", "rm.outside", "shell.unknown-script"]
    );
    let (code, found) = explained(&["--", "git", "commit", "-m", "rm -rf /"]);
    assert_eq!((code, &found["verdict"]), (Some(0), &"allow".into()));
    assert_eq!(found["command"], "git commit -m 'rm -rf /'");
}

#[test]
fn a_path_is_explained_too() {
    let (code, found) = explained(&["--path", ".git/config", "--operation", "write"]);
    assert_eq!((code, &found["rule"]), (Some(1), &"path.switch".into()));
    assert!(found["reason"].is_string() && found["safer"].is_string());
    let root = workspace().to_str().expect("a path");
    let (code, found) = explained(&["--root", root, "--path", "docs/../Cargo.toml"]);
    let leads_to = workspace()
        .canonicalize()
        .expect("a folder")
        .join("Cargo.toml");
    assert_eq!(
        (code, &found["leads_to"]),
        (Some(0), &leads_to.to_str().into())
    );
    let output = guard(&["explain", "--path", "~/x"]);
    assert!(text(&output.stdout).contains("denied, by path.home"));
    assert_eq!(guard(&["explain"]).status.code(), Some(2));
}

/// A question of Claude Code about one call.
fn question(tool: &str, input: &Value) -> Vec<u8> {
    let question = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/srv/app",
        "tool_name": tool, "tool_input": input,
    });
    question.to_string().into_bytes()
}

/// Whether the hook refuses: in the event's form, or by its exit code.
fn refuses(place: &Place, arguments: &[&str], question: &[u8]) -> bool {
    let output = place.hook(arguments, question);
    match output.status.code() {
        Some(2) => !output.stderr.is_empty(),
        Some(0) => {
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let said = &answer["hookSpecificOutput"];
            said["permissionDecision"] == "deny" || said["decision"]["behavior"] == "deny"
        }
        code => panic!("exit code {code:?}: {}", text(&output.stderr)),
    }
}

/// The hard inputs that public guards were tried with; what is destructive is `rm -rf /`.
fn hard_inputs() -> Vec<(String, Vec<u8>)> {
    use serde_json::json;
    let rm = json!({"command": "rm -rf /"});
    let bash = |command: &str| question("Bash", &json!({ "command": command }));
    let whole = text(&bash("rm -rf /"));
    let mut inputs: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |name: &str, question: Vec<u8>| inputs.push((name.to_owned(), question));
    for nothing in ["", "null", "[]", " \n", "{}", "7", "\"rm\""] {
        add(&format!("{nothing:?}"), nothing.as_bytes().to_vec());
    }
    add("cut short", whole.as_bytes()[..whole.len() - 4].to_vec());
    add("trailing text", format!("{whole} x").into_bytes());
    add("two objects", format!("{whole}\n{whole}").into_bytes());
    add("BOM", format!("\u{feff}{whole}").into_bytes());
    add(
        "repeated key",
        whole
            .replace(r#""tool_name":"#, r#""tool_name":"Read","tool_name":"#)
            .into_bytes(),
    );
    add(
        "no tool_input",
        br#"{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash"}"#.to_vec(),
    );
    add("a bare string", question("Bash", &json!("rm -rf /")));
    add(
        "an array",
        question("Bash", &json!({"command": ["rm", "-rf", "/"]})),
    );
    add(
        "an array with a shell",
        question("Bash", &json!({"command": ["bash", "-lc", "rm -rf /"]})),
    );
    add("tool name bash", question("bash", &rm));
    let mut bytes = bash("rm -rf /x");
    let at = bytes
        .windows(2)
        .position(|two| two == b"/x")
        .expect("there");
    bytes[at + 1] = 0xff;
    add("invalid UTF-8", bytes);
    add(
        "a lone surrogate",
        text(&bash("rm -rf /x"))
            .replace("/x", "/\\ud800")
            .into_bytes(),
    );
    add(
        "PowerShell",
        question(
            "PowerShell",
            &json!({"command": "Remove-Item -Recurse -Force C:\\"}),
        ),
    );
    add("an MCP shell", question("mcp__box__run_shell", &rm));
    add("an unknown tool", question("mcp__box__frobnicate", &rm));
    add(
        "write of .env",
        question(
            "Write",
            &json!({"file_path": "/srv/app/.env", "content": "x"}),
        ),
    );
    add(
        "read of a private key",
        question("Read", &json!({"file_path": "/home/dev/.ssh/id_rsa"})),
    );
    add(
        "write of settings",
        question(
            "Write",
            &json!({"file_path": "/srv/app/.claude/settings.json", "content": "{}"}),
        ),
    );
    for kilobytes in [70, 300, 1500] {
        let padded = format!("{}\nrm -rf /", "# padding\n".repeat(kilobytes * 100));
        add(&format!("{kilobytes} KB of padding"), bash(&padded));
    }
    add(
        "400 nested substitutions",
        bash(&format!("{}rm -rf /{}", "$(".repeat(400), ")".repeat(400))),
    );
    add(
        "20,000 nested arrays",
        format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash","tool_input":{}{}}}"#,
            "[".repeat(20_000),
            "]".repeat(20_000)
        )
        .into_bytes(),
    );
    add(
        "a permission request",
        whole
            .replace("PreToolUse", "PermissionRequest")
            .into_bytes(),
    );
    inputs
}

#[test]
fn every_hard_input_is_refused_by_the_hook_of_each_harness() {
    let place = Place::new();
    for (name, question) in hard_inputs() {
        for harness in ["claude", "codex"] {
            assert!(
                refuses(&place, &["--harness", harness], &question),
                "{harness}: {name}"
            );
        }
    }
    let harmless = question("Bash", &serde_json::json!({"command": "git status"}));
    assert!(!refuses(&place, &[], &harmless));
}

#[test]
fn a_refusal_says_which_rule_where_and_what_would_be_safer() {
    let place = Place::new();
    let output = place.hook(
        &[],
        &question(
            "Bash",
            &serde_json::json!({"command": "cd x && rm -rf /etc"}),
        ),
    );
    let reason = crate::program::denial(&output).expect("a denial");
    assert_eq!(
        reason,
        "a recursive delete of the system, of home, or of what holds the workspace \
         [rm.recursive-system] At 15..19: `/etc`. Safer: delete a named folder below the workspace"
    );
    let output = place.hook(
        &[],
        &question("Write", &serde_json::json!({"file_path": "../x"})),
    );
    let reason = crate::program::denial(&output).expect("a denial");
    assert!(
        reason.contains("[path.outside] At 0..4: `../x`. Safer: "),
        "{reason}"
    );
    place.file(
        "events.jsonl",
        &format!("{}\n", crate::program::shell_question("rm -rf /etc")),
    );
    let output = place.run(&["replay", "events.jsonl", "--json"]);
    let stdout = text(&output.stdout);
    let row: Value = serde_json::from_str(stdout.lines().next().expect("a row")).expect("JSON");
    assert_eq!(
        (&row["offence"], &row["span"]),
        (&"/etc".into(), &serde_json::json!([7, 11]))
    );
    assert!(row["safer"].is_string(), "{row}");
}

#[test]
fn a_policy_maps_tools_of_any_name() {
    use serde_json::json;
    let place = Place::new();
    let policy = place.file(
        "policy.toml",
        "version = 1\n[[tools]]\ntool = \"mcp__lab__*\"\nkind = \"shell\"\nargument = \"steps\"\n\
         [[tools]]\ntool = \"peek\"\nkind = \"read\"\nargument = \"at\"\n",
    );
    let policy = policy.to_str().expect("a path");
    for (tool, input, wanted) in [
        ("mcp__lab__go", json!({"steps": "rm -rf /"}), true),
        ("mcp__lab__go", json!({"steps": ["rm", "-rf", "/"]}), true),
        ("mcp__lab__go", json!({"steps": "ls"}), false),
        ("mcp__lab__go", json!({}), true),
        ("peek", json!({"at": "/etc/shadow"}), true),
        ("peek", json!({"at": "src/a.rs"}), false),
    ] {
        let question = question(tool, &input);
        assert_eq!(
            refuses(&place, &["--policy", policy], &question),
            wanted,
            "{tool} {input}"
        );
    }
    assert!(!refuses(
        &place,
        &[],
        &question("mcp__lab__go", &json!({"steps": "rm -rf /"}))
    ));
    let wrong = place.file(
        "wrong.toml",
        "version = 1\n[[tools]]\ntool = \"x\"\nkind = \"fly\"\n",
    );
    let wrong = wrong.to_str().expect("a path");
    let harmless = question("Bash", &json!({"command": "ls"}));
    assert!(refuses(&place, &["--policy", wrong], &harmless));
    let output = guard(&["explain", "--policy", wrong, "--", "ls"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("fly"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn each_harnesss_own_shapes_are_judged() {
    use serde_json::json;
    let place = Place::new();
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n+x\n*** Add File: .codex/hooks.json\n+{}\n*** End Patch";
    for (harness, tool, input) in [
        (
            "claude",
            "Bash",
            json!({"command": "rm -rf /", "timeout": 5}),
        ),
        (
            "claude",
            "Write",
            json!({"file_path": "/srv/app/.git/config", "content": ""}),
        ),
        (
            "claude",
            "Edit",
            json!({"file_path": "/etc/hosts", "old_string": "a", "new_string": "b"}),
        ),
        (
            "claude",
            "MultiEdit",
            json!({"file_path": ".env", "edits": []}),
        ),
        (
            "claude",
            "NotebookEdit",
            json!({"notebook_path": "/etc/x.ipynb", "new_source": ""}),
        ),
        ("claude", "Read", json!({"file_path": "~/.netrc"})),
        ("claude", "Glob", json!({"pattern": "/etc/**"})),
        ("claude", "Grep", json!({"pattern": "x", "path": "/etc"})),
        (
            "claude",
            "mcp__files__edit_file",
            json!({"path": "/etc/x", "edits": []}),
        ),
        (
            "codex",
            "shell",
            json!({"command": ["bash", "-lc", "rm -rf /"]}),
        ),
        ("codex", "shell", json!({"command": ["apply_patch", patch]})),
        ("codex", "exec_command", json!({"cmd": "rm -rf /"})),
        (
            "codex",
            "write_stdin",
            json!({"session_id": 1, "chars": "rm -rf /\n"}),
        ),
        ("codex", "apply_patch", json!({"input": patch})),
        ("codex", "apply_patch", json!({"command": patch})),
        (
            "codex",
            "local_shell",
            json!({"command": ["rm", "-rf", "/"]}),
        ),
    ] {
        let question = question(tool, &input);
        assert!(
            refuses(&place, &["--harness", harness], &question),
            "{harness}: {tool} {input}"
        );
    }
}
