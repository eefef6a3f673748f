//! Planted secrets: nothing that is stored or sent holds one, and a file that others could read is
//! told.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Place, denial, shell_question, text};
use crate::rows::Rows;

/// Thirty secrets, each in the text that it stands in. They are put together here, so that no
/// scanner of this source takes them for real ones.
fn planted() -> Vec<(String, String)> {
    let secret = |parts: &[&str]| parts.concat();
    let shapes: [(&[&str], &str); 30] = [
        (
            &["AKIA", "Q3EGRSMKTJ4WXYZ2"],
            "aws configure set aws_access_key_id {}",
        ),
        (
            &["wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzzzzzzKEY1"],
            "aws_secret_access_key = {}",
        ),
        (
            &["AIza", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"],
            "maps?key={}&x=1",
        ),
        (&["ya29.", "a0AfH6SMBx3kQ9vT1uZr7wYp"], "token {} ends"),
        (
            &["lJzRc1YdHaAA2KCNJJ1tkYwF/+mKK6Ygw0NGe170", "Xu592euJv2wY=="],
            "AccountName=a;AccountKey={};EndpointSuffix=e",
        ),
        (
            &[
                "dop_v1_",
                "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            ],
            "doctl {}",
        ),
        (
            &["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"],
            "git clone https://{}@github.com/a/b",
        ),
        (
            &["github_pat_", "11ABCDEFG0123456789abcd_efghijklmnop"],
            "gh {}",
        ),
        (&["glpat-", "ABCdef0123456789ghij"], "PRIVATE-TOKEN: {}"),
        (
            &["npm_", "0123456789abcdefghijABCDEFGHIJ0123ab"],
            "//registry.npmjs.org/:_authToken={}",
        ),
        (
            &[
                "pypi-AgE",
                "IcHlwaS5vcmcCJDAxMjM0NTY3LTg5YWItY2RlZi0wMTIzLTQ1Njc4OWFiY2RlZg",
            ],
            "twine {}",
        ),
        (
            &[
                "sk-ant-api03-",
                "0123456789abcdefghij-ABCDEFGHIJ_0123456789-AA",
            ],
            "key {}",
        ),
        (&["sk-proj-", "0123456789abcdefghijABCDEFGHIJ"], "key {}"),
        (&["hf_", "0123456789abcdefghijABCDEFGHIJ0123"], "login {}"),
        (&["xoxb-", "123456789012-abcdefGHIJKL"], "slack {}"),
        (
            &["T00000000/B00000000/", "XXXXXXXXXXXXXXXXXXXXXXXX"],
            "curl https://hooks.slack.com/services/{}",
        ),
        (
            &["123456789:AA", "HdqTcvCH1vGWJxfSeofSAs0K5PALDsawx"],
            "https://api.telegram.org/bot{}/x",
        ),
        (
            &[
                "SG.",
                "0123456789abcdefghijAB.0123456789abcdefghijABCDEFGHIJ0123456789abc",
            ],
            "mail {}",
        ),
        (&["sk_live_", "0123456789abcdefghijABCD"], "stripe {}"),
        (&["shpat_", "0123456789abcdef0123456789abcdef"], "shop {}"),
        (
            &["MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn", "ygWyF8PbnGy0AHB7MqZ3"],
            "-----BEGIN RSA PRIV¦ATE KEY-----\n{}\n-----END RSA PRIV¦ATE KEY-----",
        ),
        (
            &[
                "eyJhbGciOiJIUzI1NiJ9.eyJ",
                "zdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
            ],
            "id {}",
        ),
        (
            &["dXNlcjpwYXNz", "d29yZDEyMw=="],
            "curl -H 'Authorization: Basic {}'",
        ),
        (&["0123456789", "abcdef-zz"], "curl -H \"X-Api-Key: {}\""),
        (
            &["s3cr3t", "-of-db"],
            "psql postgres://app:{}@db.internal/shop",
        ),
        (
            &["Correct", ".Horse7"],
            "Server=a;User ID=u;Password={};Encrypt=True",
        ),
        (&["hunter2", "-curl"], "curl -u admin:{} https://a.example"),
        (&["correct", "horsebattery"], "DB_PASSWORD={}\nDEBUG=1"),
        (&["abcd1234", "efgh!"], "client = connect(password=\"{}\")"),
        (&["hunter2", "yaml99"], "db:\n  password: {}\n  host: a"),
    ];
    shapes
        .iter()
        .map(|(parts, place)| {
            let secret = secret(parts);
            let text = place.replace('¦', "").replace("{}", &secret);
            (secret, text)
        })
        .collect()
}

/// A secret that only its field tells, with the answer that echoes it.
fn field_secret() -> String {
    ["plain", "words", "only"].concat()
}

/// A session of hook events: each secret in a command, in its output, and in a prompt.
fn hooks(planted: &[(String, String)]) -> String {
    let mut lines = Vec::new();
    for (n, (_, told)) in planted.iter().enumerate() {
        let base = json!({"session_id": "s", "cwd": "/srv/app", "tool_name": "Bash",
            "tool_use_id": format!("t{n}"), "tool_input": {"command": told}});
        for (name, response) in [
            ("PreToolUse", Value::Null),
            ("PostToolUse", json!({"stdout": told})),
        ] {
            let mut event = base.clone();
            event["hook_event_name"] = name.into();
            if !response.is_null() {
                event["tool_response"] = response;
            }
            lines.push(event.to_string());
        }
        lines.push(
            json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": told})
                .to_string(),
        );
    }
    lines.push(
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/app",
            "tool_name": "mcp__db__login", "tool_use_id": "f", "tool_input": {"password": field_secret()}})
        .to_string(),
    );
    lines.join("\n") + "\n"
}

/// The same as a transcript.
fn transcript(planted: &[(String, String)]) -> String {
    let mut lines = Vec::new();
    let entry = |n: usize, kind: &str, content: Value| {
        json!({"sessionId": "s", "cwd": "/srv/app", "type": kind, "uuid": format!("{kind}{n}"),
            "timestamp": "2026-11-17T08:12:24.454Z", "version": "2.1.290",
            "message": {"role": kind, "content": content}})
        .to_string()
    };
    for (n, (_, told)) in planted.iter().enumerate() {
        let id = format!("toolu_{n}");
        lines.push(entry(
            n,
            "assistant",
            json!([{"type": "tool_use", "id": id, "name": "Bash",
            "input": {"command": told}}]),
        ));
        lines.push(entry(
            n,
            "user",
            json!([{"type": "tool_result", "tool_use_id": id,
            "content": told}]),
        ));
    }
    lines.push(entry(
        99,
        "assistant",
        json!([{"type": "tool_use", "id": "toolu_f", "name": "mcp__db__login",
        "input": {"password": field_secret()}}]),
    ));
    lines.join("\n") + "\n"
}

/// Every TEXT of every table, as raw SQL gives it.
async fn every_text(store: &Path) -> String {
    let mut rows = Rows::open(store).await;
    let columns = rows
        .texts(
            "SELECT 'SELECT \"' || c.name || '\" FROM \"' || t.name || '\" WHERE typeof(\"' || c.name || '\") = ''text'''
                FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'",
        )
        .await;
    assert!(columns.len() > 30, "{columns:?}");
    let mut all = String::new();
    for column in columns {
        all.push_str(&rows.texts(&column).await.join("\n"));
    }
    all
}

fn holds_none(what: &str, bytes: &[u8], planted: &[(String, String)]) {
    let all = text(bytes);
    for secret in planted
        .iter()
        .map(|(secret, _)| secret)
        .chain([&field_secret()])
    {
        assert!(!all.contains(secret.as_str()), "{what} holds {secret}");
    }
}

/// What stands in the store, its log and the sink, byte by byte and row by row.
async fn check_place(place: &Place, planted: &[(String, String)]) {
    let files = std::fs::read_dir(place.path("")).expect("a folder");
    for file in files {
        let path = file.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if name.starts_with("state.db") || name == "deliveries.jsonl" {
            holds_none(&name, &std::fs::read(&path).expect("bytes"), planted);
        }
    }
    holds_none(
        "a row",
        every_text(&place.store()).await.as_bytes(),
        planted,
    );
}

#[tokio::test]
async fn a_replayed_session_leaves_no_secret_behind() {
    let planted = planted();
    for session in [hooks(&planted), transcript(&planted)] {
        let place = Place::new();
        let file = place.file("session.jsonl", &session);
        let file = file.to_str().expect("a path");
        let first = place.run(&["replay", file, "--json"]);
        assert!(first.status.success(), "{}", text(&first.stderr));
        // Whoever has the store open keeps its log in place, so that its bytes can be looked at.
        let reader = Rows::open(&place.store()).await;
        let second = place.run(&["replay", file, "--json"]);
        assert!(second.status.success(), "{}", text(&second.stderr));
        check_place(&place, &planted).await;
        holds_none("standard output", &first.stdout, &planted);
        drop(reader);
        let mut rows = Rows::open(&place.store()).await;
        let clean = rows
            .number("SELECT count(*) FROM signal_log WHERE payload LIKE '%hook_event_name%' AND payload NOT LIKE '%\"redacted\":[%' AND payload LIKE '%\"tool_input\"%'")
            .await;
        assert_eq!(clean, 0, "each call says what was redacted");
    }
}

#[tokio::test]
async fn the_log_of_a_store_in_use_holds_no_secret() {
    let planted = planted();
    let place = Place::new();
    assert!(
        place
            .hook(&[], shell_question("ls").as_bytes())
            .status
            .success()
    );
    let mut reader = Rows::open(&place.store()).await;
    reader.count("operation").await;
    for (_, told) in &planted {
        let output = place.hook(&[], shell_question(told).as_bytes());
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let log = std::fs::read(place.path("state.db-wal")).expect("a log");
    assert!(!log.is_empty());
    check_place(&place, &planted).await;
}

#[tokio::test]
async fn the_answer_is_told_what_the_record_is_not() {
    let place = Place::new();
    let key = ["AKIA", "Q3EGRSMKTJ4WXYZ2"].concat();
    let policy = place.file(
        "p.json",
        &json!({"version": 1, "rewrite": [{"tool": "Bash", "argument": "command",
            "pattern": "^deploy ", "replace": "deploy --dry-run "}]})
        .to_string(),
    );
    let policy = policy.to_str().expect("a path");
    let question = shell_question(&format!("deploy {key}"));
    let output = place.hook(&["--policy", policy], question.as_bytes());
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        answer["hookSpecificOutput"]["updatedInput"]["command"],
        format!("deploy --dry-run {key}")
    );
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!(
        rows.texts("SELECT arguments_before || arguments_after FROM audit")
            .await,
        [
            r#"{"command":"deploy [redacted:aws.access-key]"}{"command":"deploy --dry-run [redacted:aws.access-key]"}"#
        ]
    );
    let body = rows.texts("SELECT payload FROM signal_log").await.concat();
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(
        body["redaction"]["redacted"],
        json!([
            {"at": "/event/tool_input/command", "shape": "aws.access-key", "count": 1},
            {"at": "/judgement/arguments_before/command", "shape": "aws.access-key", "count": 1},
            {"at": "/judgement/arguments_after/command", "shape": "aws.access-key", "count": 1},
        ])
    );
}

#[tokio::test]
async fn a_redaction_file_adds_and_off_is_on_record() {
    let place = Place::new();
    let file = place.file(
        "r.toml",
        "version = 1\nfields = [\"pin\"]\n[[shape]]\nid = \"acme\"\nanchors = [\"acme_\"]\npattern = 'acme_[a-z]{8}'\n",
    );
    let file = file.to_str().expect("a path");
    let asked = |arguments: &[&str]| {
        let output = place.hook(arguments, shell_question("echo acme_abcdefgh").as_bytes());
        assert!(output.status.success() && denial(&output).is_none());
    };
    asked(&["--redact", file]);
    asked(&["--redact", "off"]);
    let mut rows = Rows::open(&place.store()).await;
    let off = "signal_log WHERE payload LIKE '%\"redaction\":\"off\"%' AND payload LIKE '%acme_abcdefgh%'";
    assert_eq!(rows.count(off).await, 1);
    assert_eq!(
        rows.count("signal_log WHERE payload LIKE '%echo [redacted:acme]%'")
            .await,
        1
    );
}

#[test]
fn a_redaction_file_with_a_mistake_is_refused_with_its_place() {
    let place = Place::new();
    let file = place.file("r.toml", "version = 1\nfield = [\"pin\"]\n");
    let file = file.to_str().expect("a path");
    let session = place.file("s.jsonl", &shell_question("ls"));
    let session = session.to_str().expect("a path");
    let output = place.run(&["replay", session, "--redact", file]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("r.toml") && errors.contains("line 2") && errors.contains("`field`"),
        "{errors}"
    );
    assert!(!place.store().exists());
    let output = place.hook(&["--redact", file], shell_question("ls").as_bytes());
    assert!(denial(&output).is_some_and(|reason| reason.contains("r.toml")));
}

#[test]
fn a_store_that_others_could_read_is_told_once_by_every_command() {
    let commands: [&[&str]; 5] = [
        &["signals", "ls"],
        &["outbox", "ls"],
        &["session", "ls"],
        &["deliver", "--once"],
        &["replay", "s.jsonl"],
    ];
    let place = Place::new();
    place.file("s.jsonl", &(shell_question("ls") + "\n"));
    assert!(
        place
            .hook(&[], shell_question("ls").as_bytes())
            .status
            .success()
    );
    let widen = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(place.store(), mode).expect("sets");
    };
    let told = "warning: ";
    for command in commands {
        widen(0o644);
        let errors = text(&place.run(command).stderr);
        assert!(
            errors.contains(told) && errors.contains("0644"),
            "{command:?}: {errors}"
        );
        let again = text(&place.run(command).stderr);
        assert!(!again.contains(told), "{command:?}: {again}");
    }
    widen(0o660);
    let output = place.hook(&[], shell_question("ls").as_bytes());
    assert!(
        text(&output.stderr).contains("0660"),
        "{}",
        text(&output.stderr)
    );
    assert!(output.status.success() && output.stdout.is_empty());
}
