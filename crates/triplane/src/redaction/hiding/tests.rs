use std::fmt::Write as _;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

#[derive(Deserialize)]
struct File {
    shape: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    found: Vec<String>,
    kept: Vec<String>,
}

fn cases() -> Vec<Case> {
    let file: File = toml::from_str(include_str!("../shapes.toml")).expect("the file is read");
    file.shape
}

fn policy(text: &str) -> Redaction {
    let policy = serde_json::from_str(text).expect("a policy");
    Redaction::with(&policy).expect("a policy without mistakes")
}

/// The shipped policy, whose patterns are compiled once for all tests.
static SHIPPED_POLICY: LazyLock<Redaction> = LazyLock::new(Redaction::shipped);

/// Redacts a JSON text; answers it and its account.
fn redacted(redaction: &Redaction, tool: Option<&str>, text: &str) -> (String, Value) {
    let mut hiding = Hiding::new(redaction, tool);
    let value = RawValue::from_string(text.to_owned()).expect("JSON");
    let hidden = hiding.json("/event", value).get().to_owned();
    let account = serde_json::to_value(hiding.account()).expect("JSON");
    (hidden, account)
}

fn check(text: &str, wanted: &str) {
    assert_eq!(redacted(&SHIPPED_POLICY, None, text).0, wanted);
}

/// A secret that scanners of this source do not trip over.
fn key() -> String {
    ["AKIA", "IOSFODNN7EXAMPLE"].concat()
}

#[test]
fn every_shape_finds_its_secrets_and_nothing_else() {
    for case in cases() {
        let except: Vec<&str> = SHIPPED
            .iter()
            .map(|it| it.id)
            .filter(|id| *id != case.id)
            .collect();
        let alone = policy(&json!({"version": 1, "except": except}).to_string());
        for found in &case.found {
            let text = found.replace('¦', "");
            let plain = text.replace(['«', '»'], "");
            let mut wanted = String::new();
            for (n, part) in text.split(['«', '»']).enumerate() {
                let mark = format!("[redacted:{}]", case.id);
                wanted.push_str(if n % 2 == 0 { part } else { &mark });
            }
            assert_eq!(alone.text(&plain), wanted, "{}", case.id);
            let all = &*SHIPPED_POLICY;
            for secret in text.split(['«', '»']).skip(1).step_by(2) {
                assert!(!all.text(&plain).contains(secret), "{}: {plain}", case.id);
            }
        }
        for kept in &case.kept {
            let kept = kept.replace('¦', "");
            assert_eq!(SHIPPED_POLICY.text(&kept), kept, "{}", case.id);
        }
    }
}

#[test]
fn what_looks_random_is_not_a_secret() {
    let image: String = (0..200_000_u32)
        .map(|n| {
            let mixed = n.wrapping_mul(2_654_435_761) >> 26;
            char::from(
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[mixed as usize],
            )
        })
        .collect();
    for text in [
        "9f31c2a0d8e7f6b5a4c3d2e1f00918273645abcd",
        "f8ba1161-063f-497e-a549-14f2dbf2e264",
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "checksum = \"d4f7b9e1c2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d\"",
        "h1:Kyc6FmPrYXJZ0v8fB1Wc0r8n0bqM3sPz1l4nQxqXl0I=",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKtQ1Zb2uHnqg0y0f1v0mC2l8nXyqz0a9b8c7d6e5f4g me@here",
        "toolu_01QNPXVPYfDA9yYUUgwHixbg msg_01D5tJ3GvSEMq7Td8kV1RiG9",
        "the password is stored hashed; the token expires; secrets stay secret",
        "git log --oneline | grep -i 'token\\|secret'; export TOKEN; PASSWORD=",
        &format!("data:image/png;base64,{image}"),
    ] {
        assert_eq!(SHIPPED_POLICY.text(text), text);
    }
}

#[test]
fn only_the_string_that_holds_a_secret_changes() {
    let key = key();
    check(
        &format!(
            r#"{{ "z" : 12345678901234567890.10 , "b":"\ud800\/", "a":["x {key}","\u0041"] , "n":1e400 }}"#
        ),
        r#"{ "z" : 12345678901234567890.10 , "b":"\ud800\/", "a":["x [redacted:aws.access-key]","\u0041"] , "n":1e400 }"#,
    );
    // Escapes within a secret do not hide it.
    let escaped = key.replacen('K', r"\u004b", 1).replacen('7', r"\u0037", 1);
    check(
        &format!(r#"["é\n{escaped}\nü"]"#),
        r#"["é\n[redacted:aws.access-key]\nü"]"#,
    );
    check(
        r#"{"u":"postgres:\/\/a:s3cr3t@db"}"#,
        r#"{"u":"postgres:\/\/a:[redacted:url.password]@db"}"#,
    );
}

#[test]
fn a_secret_field_hides_all_that_stands_in_it() {
    check(
        r#"{"password":"p","API_KEY":7,"secret":{"a":[1,"}"]},"token":null,"cookie":true,"passwd":[]}"#,
        r#"{"password":"[redacted:field]","API_KEY":"[redacted:field]","secret":"[redacted:field]","token":null,"cookie":true,"passwd":[]}"#,
    );
    check(
        r#"{"pass\u0077ord" : "p", "token":"${TOKEN}", "input_tokens":7}"#,
        r#"{"pass\u0077ord" : "[redacted:field]", "token":"${TOKEN}", "input_tokens":7}"#,
    );
}

#[test]
fn a_key_that_is_a_secret_is_hidden_and_stays_a_key_of_its_own() {
    let key = key();
    let other = key.replace('7', "6");
    let (hidden, account) = redacted(
        &SHIPPED_POLICY,
        None,
        &format!(r#"{{"{key}":{{"a":"{key}"}},"{other}":2}}"#),
    );
    assert_eq!(
        hidden,
        r#"{"[redacted:aws.access-key]":{"a":"[redacted:aws.access-key]"},"[redacted:aws.access-key] <2>":2}"#
    );
    assert!(!account.to_string().contains("AKIA"), "{account}");
}

#[test]
fn the_account_says_what_was_hidden_where() {
    let key = key();
    let (_, account) = redacted(
        &SHIPPED_POLICY,
        None,
        &format!(
            r#"{{"tool_input":{{"command":"a {key} b {key}","a/b":[0,{{"password":"p"}}]}}}}"#
        ),
    );
    assert_eq!(account["version"], 1);
    assert!(
        account["policy"]
            .as_str()
            .is_some_and(|it| it.starts_with("sha256-v1:"))
    );
    assert_eq!(
        account["redacted"],
        json!([
            {"at": "/event/tool_input/command", "shape": "aws.access-key", "count": 2},
            {"at": "/event/tool_input/a~1b/1/password", "shape": "field", "count": 1},
        ])
    );
    let (_, many) = redacted(
        &SHIPPED_POLICY,
        None,
        &serde_json::to_string(&vec![&key; 1000]).expect("JSON"),
    );
    assert_eq!(many["redacted"].as_array().map(Vec::len), Some(100));
    assert_eq!(many["more"], 900);
    let (text, off) = redacted(&Redaction::off(), None, &format!(r#"["{key}"]"#));
    assert_eq!((text, off), (format!(r#"["{key}"]"#), json!("off")));
}

#[test]
fn a_reason_that_quotes_a_secret_is_hidden_whole_or_cut() {
    let redaction = &*SHIPPED_POLICY;
    let mut hiding = Hiding::new(redaction, None);
    let value = RawValue::from_string(r#"{"password":"hunter2hunter2"}"#.to_owned()).expect("JSON");
    hiding.json("/event", value);
    let mut text = |text: &str| hiding.text("/judgement/reason", text.to_owned());
    assert_eq!(text("no hunter2hunter2 here"), "no [redacted:quoted] here");
    assert_eq!(text("login hunter2hun"), "login [redacted:quoted]");
    assert_eq!(text("hunter"), "[redacted:quoted]");
    assert_eq!(text("hunt"), "hunt");
}

#[test]
fn a_tool_has_fields_and_exceptions_of_its_own() {
    let redaction = policy(
        r#"{"version":1,"fields":["pin"],"tool":[{"name":"mcp__vault__*","fields":["tool_response"],"except":["aws.access-key"]}]}"#,
    );
    let text = format!(
        r#"{{"pin":1234,"tool_response":{{"a":1}},"c":"{}"}}"#,
        key()
    );
    let of = |tool| redacted(&redaction, tool, &text).0;
    let bare =
        r#"{"pin":"[redacted:field]","tool_response":{"a":1},"c":"[redacted:aws.access-key]"}"#;
    assert_eq!(of(None), bare);
    assert_eq!(of(Some("Bash")), bare);
    assert_eq!(
        of(Some("mcp__VAULT__read")),
        format!(
            r#"{{"pin":"[redacted:field]","tool_response":"[redacted:field]","c":"{}"}}"#,
            key()
        )
    );
}

#[test]
fn a_policy_with_a_mistake_is_refused_with_its_place() {
    let check = |text: &str, wanted: &str| {
        let refused = match serde_json::from_str::<RedactionPolicy>(text) {
            Ok(policy) => Redaction::with(&policy)
                .map(|_| ())
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let refused = refused.expect_err(text);
        assert!(refused.contains(wanted), "{refused}");
    };
    let shape = |shape: &str| format!(r#"{{"version":1,"shape":[{shape}]}}"#);
    check(r#"{"version":2}"#, "version: 2 is not 1");
    check(r#"{"version":1,"field":["x"]}"#, "unknown field `field`");
    check(
        r#"{"version":1,"fields":["a","__"]}"#,
        "fields[1]: \"__\" is no name",
    );
    check(
        r#"{"version":1,"except":["x"]}"#,
        "except[0]: there is no shape \"x\"",
    );
    check(r#"{"version":1,"tool":[{"name":""}]}"#, "tool[0].name");
    check(
        &shape(r#"{"id":"A","anchors":["abc"],"pattern":"abc"}"#),
        "shape[0].id: \"A\" is no id",
    );
    check(
        &shape(r#"{"id":"jwt","anchors":["abc"],"pattern":"abc"}"#),
        "is taken by another shape",
    );
    check(
        &shape(r#"{"id":"a","anchors":["ab"],"pattern":"abc"}"#),
        "shape[0].anchors",
    );
    check(
        &shape(r#"{"id":"a","anchors":["abc"],"pattern":"("}"#),
        "shape[0].pattern",
    );
    check(
        &shape(r#"{"id":"a","anchors":["abc"],"pattern":"a*"}"#),
        "matches the empty text",
    );
}

#[test]
fn what_is_added_changes_the_digest() {
    let shipped = Redaction::shipped();
    assert_eq!(shipped.digest(), Redaction::default().digest());
    assert_ne!(
        shipped.digest(),
        policy(r#"{"version":1,"fields":["pin"]}"#).digest()
    );
    assert_eq!(Redaction::off().digest(), None);
}

/// Texts that hold secrets, pieces of secrets, marks, and what stands around them.
fn fragment() -> impl Strategy<Value = String> {
    let secrets: Vec<String> = cases()
        .iter()
        .flat_map(|case| case.found.iter().chain(&case.kept))
        .map(|text| text.replace(['«', '»', '¦'], ""))
        .collect();
    let pieces = [
        "[redacted:jwt]",
        "[redacted:",
        "]",
        "password=",
        "token: ",
        "Bearer ",
        "://",
        "@",
        "\"",
        "\\",
        "\n",
        "-",
        "é",
        "😀",
        "eyJ",
        "AKIA",
        "=",
        ":",
        " ",
        "'",
        "PASSWORD=",
        "sk-",
        "a1b2c3d4e5f6g7h8",
    ];
    prop_oneof![
        proptest::sample::select(secrets),
        proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        "[ -~]{0,12}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(fragment(), 0..6).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![
            text(),
            proptest::sample::select(vec!["password", "a", "token"]).prop_map(str::to_owned)
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Writes a JSON text in one of the ways in which it can be written.
fn written(value: &Value, escape: bool) -> String {
    let text = value.to_string();
    if !escape {
        return text;
    }
    let mut out = String::new();
    let mut in_escape = false;
    for character in text.chars() {
        if character.is_ascii_alphabetic()
            && !in_escape
            && (character as u32).is_multiple_of(3)
            && !"truefalsn".contains(character)
        {
            let _ = write!(out, "\\u{:04x}", character as u32);
        } else {
            out.push(character);
        }
        in_escape = character == '\\' && !in_escape;
    }
    out
}

#[test]
fn secrets_that_run_into_each_other_are_all_hidden() {
    let first = concat!("lin_", "api_0123456789abcdefghijABCDEFGHIJ0123456789");
    let second = concat!("pul", "-0123456789abcdef0123456789abcdef01234567");
    let hidden = SHIPPED_POLICY
        .text(&format!("{first}{second}"))
        .into_owned();
    assert!(!hidden.contains("0123456789"), "{hidden}");
    for joined in [format!("{first}{second}"), format!("{second}{first}")] {
        for many in [
            joined.clone(),
            joined.repeat(40),
            format!("{joined} ").repeat(40),
        ] {
            let hidden = SHIPPED_POLICY.text(&many).into_owned();
            assert_eq!(SHIPPED_POLICY.text(&hidden), hidden);
        }
    }
}

#[test]
fn what_stands_against_a_secret_is_looked_at_when_that_is_hidden() {
    let text = "lin_api_0123456789abcdefghijABCDEFGHIJ0123456789curl -s -u admin:hunter2 https://a.example";
    assert_eq!(
        SHIPPED_POLICY.text(text),
        "[redacted:service.token]curl -s -u admin:[redacted:cli.user-password] https://a.example"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn hiding_twice_is_hiding_once(value in value(), escape in any::<bool>()) {
        let redaction = &*SHIPPED_POLICY;
        let text = written(&value, escape);
        prop_assume!(serde_json::from_str::<Value>(&text).is_ok());
        let (once, account) = redacted(redaction, None, &text);
        prop_assert!(serde_json::from_str::<Value>(&once).is_ok(), "{once}");
        let (twice, nothing) = redacted(redaction, None, &once);
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(&nothing["redacted"], &Value::Null);
        if account["redacted"].is_null() {
            prop_assert_eq!(&once, &text);
        }
    }

    #[test]
    fn a_text_is_hidden_as_a_string_of_json_is(text in text()) {
        let redaction = &*SHIPPED_POLICY;
        let json = serde_json::to_string(&text).expect("JSON");
        let (hidden, _) = redacted(redaction, None, &json);
        let said: String = serde_json::from_str(&hidden).expect("a string");
        prop_assert_eq!(said, redaction.text(&text));
    }
}
