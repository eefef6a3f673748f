//! A respelled command means the same, and gets the same verdict.

use serde::Deserialize;

use crate::support::{refused_by, rows};

#[derive(Deserialize)]
struct Row {
    id: String,
    command: String,
    verdict: String,
}

/// `text` as one single-quoted word.
fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// `text` as one double-quoted word.
fn double(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

/// `text` with every character as an escape.
fn ansi(text: &str) -> String {
    let escapes: Vec<String> = text.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
    format!("$'{}'", escapes.concat())
}

/// Respellings of any command: what surrounds it does not change what it does.
fn surrounded(command: &str) -> Vec<String> {
    let quoted = single(command);
    let doubled = double(command);
    vec![
        format!("  \t {command}"),
        format!("\n\n{command}\n"),
        format!("# a remark\n{command}"),
        format!("true; {command}"),
        format!("true && {command}"),
        format!("{command}\necho done"),
        format!("(\n{command}\n)"),
        format!("{{ {command}\n}}"),
        format!("if true; then\n{command}\nfi"),
        format!("if false; then :; else\n{command}\nfi"),
        format!("for i in 1; do\n{command}\ndone"),
        format!("while true; do\n{command}\nbreak; done"),
        format!("case x in x)\n{command}\n;; esac"),
        format!("run_it() {{\n{command}\n}}; run_it"),
        format!("sh -c {quoted}"),
        format!("bash -lc {doubled}"),
        format!("/bin/bash -e -c {quoted}"),
        format!("eval {quoted}"),
        format!("C={quoted}; eval \"$C\""),
        format!("C={quoted}; sh -c \"$C\""),
        format!("sh <<< {quoted}"),
        format!("bash <<'END_OF_IT'\n{command}\nEND_OF_IT"),
        format!("printf '%s\\n' {quoted} | sh"),
        format!("cat <<'END_OF_IT' | bash -s\n{command}\nEND_OF_IT"),
        format!("bash <(printf '%s\\n' {quoted})"),
        format!("source <(printf '%s\\n' {doubled})"),
        format!("sudo sh -c {quoted}"),
        format!("sudo -u root -- bash -c {quoted}"),
        format!("env A=1 sh -c {quoted}"),
        format!("timeout -k 5 10 sh -c {quoted}"),
        format!("nice -n 5 nohup sh -c {quoted}"),
        format!("time bash -c {quoted}"),
        format!("S=sh; $S -c {quoted}"),
        format!("$(echo sh) -c {quoted}"),
        format!("s''h -c {quoted}"),
        format!("\\sh -c {quoted}"),
        format!("echo \"$(\n{command}\n)\""),
        format!("printf '%s' {quoted} > it.sh; sh it.sh"),
    ]
}

/// The words of a command that is nothing but words.
fn plain_words(command: &str) -> Option<Vec<&str>> {
    let plain = command
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b" _-./,:=@%+".contains(&byte));
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    let builtin = matches!(
        words.first(),
        None | Some(&("cd" | "history" | "type" | "exec" | "command" | "time" | "pushd"))
    );
    (plain && !builtin && !words[0].contains('=')).then_some(words)
}

/// Respellings of the words themselves.
fn reworded(words: &[&str]) -> Vec<String> {
    let each = |quote: &dyn Fn(&str) -> String| {
        words
            .iter()
            .map(|word| quote(word))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let (program, rest) = words.split_first().unwrap();
    let rest_text = rest.join(" ");
    let all = words.join(" ");
    let mut respelled = vec![
        each(&|word| single(word)),
        each(&|word| double(word)),
        each(&ansi),
        each(&|word| word.chars().flat_map(|c| ['\\', c]).collect()),
        each(&|word| format!("{}''{}", &word[..1], &word[1..])),
        each(&|word| format!("{}\"{}\"", &word[..1], &word[1..])),
        words.join("\t"),
        words.join("   "),
        words.join(" \\\n  "),
        words.join("${IFS}"),
        format!("P={program}; $P {rest_text}"),
        format!("P={program}; ${{P}} {rest_text}"),
        format!(
            "A={} B={}; \"$A$B\" {rest_text}",
            &program[..1],
            &program[1..]
        ),
        format!("L={}; $L", single(&all)),
        format!("L=({all}); \"${{L[@]}}\""),
        format!("set -- {all}; \"$@\""),
        format!("f() {{ \"$@\"; }}; f {all}"),
        format!("f() {{ {program} \"$@\"; }}; f {rest_text}"),
        format!("alias zz='{program}'\nzz {rest_text}"),
        format!("$(echo {program}) {rest_text}"),
        format!("`echo {program}` {rest_text}"),
        format!("\"$(printf '%s' {program})\" {rest_text}"),
        format!(
            "$(which {}) {rest_text}",
            program.rsplit('/').next().unwrap()
        ),
        format!("sudo {all}"),
        format!("sudo -n -u root {all}"),
        format!("doas {all}"),
        format!("env {all}"),
        format!("env -i PATH=/bin {all}"),
        format!("env -S {}", single(&all)),
        format!("nohup {all} &"),
        format!("nice -n 19 {all}"),
        format!("timeout --signal KILL 30s {all}"),
        format!("command {all}"),
        format!("exec {all}"),
        format!("time -p {all}"),
        format!("stdbuf -oL {all}"),
        format!("LC_ALL=C {all}"),
        format!("ionice -c 3 {all}"),
        format!("setsid {all}"),
        format!("! {all}"),
        format!("coproc {all}"),
        format!("{all} 2>&1"),
        format!("{all} > /dev/null 2>&1"),
        format!("{all} </dev/null"),
        format!("echo | {all}"),
    ];
    if !program.contains('/') {
        respelled.push(format!("/usr/bin/{all}"));
    }
    if words.len() > 1 && !all.contains(',') {
        respelled.push(format!("{{{}}}", words.join(",")));
    }
    respelled
}

/// Options that have a short and a long name, by their program and subcommand.
const LONG_FLAGS: [(&str, &str, &str); 26] = [
    ("rm", "-r", "--recursive"),
    ("rm", "-R", "--recursive"),
    ("rm", "-f", "--force"),
    ("rm", "-v", "--verbose"),
    ("chmod", "-R", "--recursive"),
    ("chown", "-R", "--recursive"),
    ("truncate", "-s", "--size"),
    ("wipefs", "-a", "--all"),
    ("tee", "-a", "--append"),
    ("git push", "-f", "--force"),
    ("git push", "-d", "--delete"),
    ("git push", "-u", "--set-upstream"),
    ("git push", "-n", "--dry-run"),
    ("git clean", "-f", "--force"),
    ("git clean", "-n", "--dry-run"),
    ("git checkout", "-f", "--force"),
    ("git switch", "-f", "--force"),
    ("git branch", "-d", "--delete"),
    ("git restore", "-s", "--source"),
    ("git restore", "-S", "--staged"),
    ("git restore", "-W", "--worktree"),
    ("docker compose", "-f", "--file"),
    ("docker rm", "-f", "--force"),
    ("kubectl", "-n", "--namespace"),
    ("helm", "-n", "--namespace"),
    ("rsync", "-n", "--dry-run"),
];

/// Programs whose options may stand anywhere, and whose short ones are bundled.
const FREE_ORDER: [&str; 5] = ["rm", "chmod", "chown", "git push", "git clean"];

/// Respellings of the options: split, bundled the other way round, long, and behind the operands.
fn reflagged(words: &[&str]) -> Vec<String> {
    let two = words.get(..2).map(|words| words.join(" "));
    let named = |name: &str| words[0] == name || two.as_deref() == Some(name);
    let head = if FREE_ORDER
        .iter()
        .any(|name| name.contains(' ') && named(name))
    {
        2
    } else {
        1
    };
    let mut respelled = Vec::new();
    let long: Vec<&str> = words
        .iter()
        .map(|word| {
            LONG_FLAGS
                .iter()
                .find(|(name, short, _)| named(name) && short == word)
                .map_or(*word, |(.., long)| long)
        })
        .collect();
    if long != words {
        respelled.push(long.join(" "));
    }
    if !FREE_ORDER.iter().any(|name| named(name)) || words.contains(&"--") {
        return respelled;
    }
    let bundle = |word: &&str| {
        word.len() > 2
            && word.starts_with('-')
            && word[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    if let Some(at) = words.iter().position(bundle) {
        let letters: Vec<char> = words[at][1..].chars().collect();
        let replaced = |flags: String| {
            let mut all: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            all[at] = flags;
            all.join(" ")
        };
        let split: Vec<String> = letters.iter().map(|letter| format!("-{letter}")).collect();
        let turned: String = letters.iter().rev().collect();
        respelled.push(replaced(split.join(" ")));
        respelled.push(replaced(format!("-{turned}")));
    }
    let (flags, operands): (Vec<&str>, Vec<&str>) = words[head..]
        .iter()
        .partition(|word| word.starts_with('-') && word.len() > 1);
    // A value of an option would come apart from it.
    if flags.iter().all(|flag| !matches!(*flag, "-e" | "-o")) && !flags.is_empty() {
        let start = words[..head].join(" ");
        respelled.push(format!(
            "{start} {} {}",
            operands.join(" "),
            flags.join(" ")
        ));
        respelled.push(format!(
            "{start} {} {}",
            flags.join(" "),
            operands.join(" ")
        ));
        let turned: Vec<&str> = flags.iter().rev().copied().collect();
        respelled.push(format!(
            "{start} {} {}",
            turned.join(" "),
            operands.join(" ")
        ));
    }
    respelled
}

/// Each command with its respellings, except the few whose meaning a respelling would change.
fn respelled(command: &str) -> Vec<String> {
    let mut all = surrounded(command);
    if let Some(words) = plain_words(command) {
        all.extend(reworded(&words));
        all.extend(reflagged(&words));
    }
    all
}

#[test]
fn a_respelled_command_gets_the_verdict_of_the_original() {
    let mut misses = Vec::new();
    let mut tried = 0;
    for row in rows::<Row>("commands.jsonl") {
        let respellings = respelled(&row.command);
        assert!(respellings.len() >= 20);
        for command in respellings {
            tried += 1;
            let rule = refused_by(&command);
            if rule.is_some() != (row.verdict == "deny") {
                misses.push(format!(
                    "{} is {}: {command:?} ({rule:?})",
                    row.id, row.verdict
                ));
            }
        }
    }
    assert!(tried > 13_000, "only {tried} respellings were tried");
    assert!(
        misses.is_empty(),
        "{} of {tried}:\n{}",
        misses.len(),
        misses.join("\n")
    );
}

/// How many respellings of each further row are tried in one run.
const FURTHER_EACH: usize = 4;

#[test]
fn respellings_of_further_commands_get_the_verdict_of_the_original() {
    let mut misses = Vec::new();
    for (nth, row) in rows::<Row>("commands-more.jsonl").iter().enumerate() {
        // Within a script of its own, the words that a shell was started with are others.
        if ["$1", "$@", "select x;"]
            .iter()
            .any(|own| row.command.contains(own))
        {
            continue;
        }
        let respellings = respelled(&row.command);
        // Another choice for each row, so that every respelling meets every kind of command.
        let step = respellings.len() / FURTHER_EACH;
        for turn in 0..FURTHER_EACH {
            let command = &respellings[(nth + turn * step) % respellings.len()];
            let rule = refused_by(command);
            if rule.is_some() != (row.verdict == "deny") {
                misses.push(format!(
                    "{} is {}: {command:?} ({rule:?})",
                    row.id, row.verdict
                ));
            }
        }
    }
    assert!(
        misses.is_empty(),
        "{}:\n{}",
        misses.len(),
        misses.join("\n")
    );
}
