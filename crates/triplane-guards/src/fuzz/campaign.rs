//! The same functions as property tests: seeds, changed at random, a fixed number of them; or for
//! as long as `TRIPLANE_FUZZ_SECONDS` says, in the release profile, where slow inputs are faults.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::fuzz::{SLOW, listen_to_panics, paths, rules, shell, sql};

/// How many inputs an ordinary test run tries.
const INPUTS: usize = 500;

/// A small generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// Changes seeds by fragments of their own language.
struct Mutator {
    seeds: Vec<Vec<u8>>,
    fragments: &'static [&'static str],
    numbers: Numbers,
}

impl Mutator {
    fn next(&mut self) -> Vec<u8> {
        let numbers = &mut self.numbers;
        let mut input = self.seeds[numbers.below(self.seeds.len())].clone();
        for _ in 0..=numbers.below(6) {
            let at = numbers.below(input.len() + 1);
            match numbers.below(7) {
                0 | 1 => {
                    let count = match numbers.below(20) {
                        0 => 1 + numbers.below(3_000),
                        1..4 => 1 + numbers.below(100),
                        _ => 1 + numbers.below(4),
                    };
                    let fragment = self.fragments[numbers.below(self.fragments.len())];
                    input.splice(at..at, fragment.repeat(count).into_bytes());
                }
                2 => {
                    let end = (at + numbers.below(8)).min(input.len());
                    input.drain(at..end);
                }
                3 => {
                    let other = &self.seeds[numbers.below(self.seeds.len())];
                    input.splice(at..at, other.iter().copied());
                }
                4 => {
                    // A part of it, several times over.
                    let end = (at + numbers.below(24)).min(input.len());
                    let part = input[at..end].to_vec().repeat(1 + numbers.below(40));
                    input.splice(at..at, part);
                }
                5 if !input.is_empty() => {
                    let at = numbers.below(input.len());
                    input[at] = u8::try_from(numbers.below(256)).unwrap();
                }
                _ => {
                    // The beginning of one and the end of another.
                    let other = &self.seeds[numbers.below(self.seeds.len())];
                    let from = numbers.below(other.len() + 1);
                    input.truncate(at);
                    input.extend_from_slice(&other[from..]);
                }
            }
        }
        input.truncate(70_000);
        input
    }
}

/// Tries inputs until the number or the time is reached; prints what it did.
fn run(
    name: &str,
    seeds: impl IntoIterator<Item = String>,
    fragments: &'static [&'static str],
    body: impl Fn(&[u8]) -> Duration,
) {
    listen_to_panics();
    let campaign = std::env::var("TRIPLANE_FUZZ_SECONDS")
        .ok()
        .map(|seconds| Duration::from_secs(seconds.parse().expect("a number of seconds")));
    let mut mutator = Mutator {
        seeds: seeds.into_iter().map(String::into_bytes).collect(),
        fragments,
        numbers: Numbers(0x5eed ^ campaign.map_or(0, |_| u64::from(std::process::id()) << 20)),
    };
    let last = std::env::temp_dir().join(format!("triplane-fuzz-{name}.input"));
    let start = Instant::now();
    let mut tried = 0_usize;
    let mut slowest = Duration::ZERO;
    let mut slow: Vec<String> = Vec::new();
    while campaign.map_or(tried < INPUTS, |time| start.elapsed() < time) {
        let input = mutator.next();
        // So that an input that ends the process, or does not end, is not lost with it.
        fs::write(&last, &input).expect("the system's temporary folder");
        let took = body(&input);
        tried += 1;
        slowest = slowest.max(took);
        if campaign.is_some() && took > SLOW && slow.len() < 20 {
            // The second time there is nothing left to build and to learn.
            let again = body(&input);
            if again > SLOW {
                let text = String::from_utf8_lossy(&input);
                let shown: String = text.chars().take(300).collect();
                slow.push(format!("{again:?}, {} bytes: {shown:?}", input.len()));
            }
        }
    }
    #[expect(
        clippy::print_stdout,
        reason = "a campaign of minutes says what it has tried"
    )]
    {
        println!(
            "{name}: {tried} inputs in {:?}, slowest {slowest:?}",
            start.elapsed()
        );
    }
    assert!(slow.is_empty(), "slow inputs:\n{}", slow.join("\n"));
}

#[derive(Deserialize)]
struct CommandRow {
    command: String,
}

#[derive(Deserialize)]
struct PathRow {
    path: String,
}

fn rows<T: for<'d> Deserialize<'d>>(names: [&str; 2]) -> Vec<T> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let texts = names.map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let lines = texts.iter().flat_map(|text| text.lines());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn any_command_gets_a_verdict() {
    let rows: Vec<CommandRow> = rows(["commands.jsonl", "commands-more.jsonl"]);
    let fragments = &[
        "$(",
        ")",
        "`",
        "\"",
        "'",
        "${",
        "}",
        "{",
        ";",
        "|",
        "&",
        "&&",
        "||",
        "\n",
        "<<E\n",
        "<<-E\n",
        "\nE\n",
        "<(",
        ">(",
        ">",
        ">>",
        "<<<",
        "\\",
        "$'",
        "$\"",
        "((",
        "))",
        "$((",
        "if ",
        "then ",
        "else ",
        "fi ",
        "for x in a b; do ",
        "while true; do ",
        "case x in ",
        "a) ",
        "esac ",
        ";;",
        "do ",
        "done ",
        "select x in a; do ",
        "f() { ",
        "function f { ",
        "*",
        "?",
        "[",
        "]",
        "[[ ",
        " ]]",
        "~",
        "=",
        "+=",
        "#",
        "$x",
        "$@",
        "$*",
        "${x:-",
        "${x//a/b}",
        "${!x}",
        "{a,b}",
        "{1..9}",
        "{a..z}",
        "eval ",
        "sudo ",
        "xargs ",
        "env A=b ",
        "sh -c '",
        "bash <<< ",
        "find . -exec ",
        "timeout 5 ",
        "a=b ",
        "export ",
        "alias a=",
        "set -- ",
        "cd x; ",
        "rm -rf ",
        "/",
        " -",
        "\t",
        "\r",
        "\0",
        "\u{e9}",
        "\u{1}",
        "\u{202e}",
        "python3 -c '",
        "psql -c '",
        "git -c alias.a='!",
        "printf %s ",
        "echo ",
        " | sh",
        "read x; ",
        "IFS=, ",
        "trap 'x' EXIT; ",
        "coproc ",
        "time ",
        "! ",
    ];
    run(
        "shell",
        rows.into_iter().map(|row| row.command),
        fragments,
        shell,
    );
}

#[test]
fn any_text_is_split_into_statements() {
    let seeds = [
        "SELECT 1",
        "DROP TABLE users; -- not really",
        "DELETE FROM users WHERE id = 1 OR 1=1",
        "UPDATE a SET b = 'it''s' WHERE c IN (SELECT d FROM e)",
        "/* DROP */ SELECT \"drop table\" FROM `t`",
        "/*!50000 TRUNCATE t */",
        "CREATE FUNCTION f() RETURNS int AS $body$ BEGIN DELETE FROM t; END $body$ LANGUAGE plpgsql",
        "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
        "EXPLAIN ANALYZE DELETE FROM t",
        "\\! rm -rf /\n.shell ls\nsystem ls",
        "DELIMITER //\nDROP TABLE a //",
        "EXECUTE IMMEDIATE 'DROP TABLE t'",
    ];
    let fragments = &[
        "'",
        "''",
        "\"",
        "`",
        "[",
        "]",
        ";",
        "--",
        "-- ",
        "/*",
        "*/",
        "/*!",
        "/*M!",
        "$$",
        "$a$",
        "#",
        "(",
        ")",
        ",",
        "=",
        "1",
        "\n",
        "\r",
        "\\",
        "\\!",
        "\\'",
        "E'",
        "N'",
        "X'",
        " WHERE ",
        " OR ",
        " AND ",
        " NOT ",
        "DROP TABLE ",
        "TRUNCATE ",
        "DELETE FROM ",
        "UPDATE t SET ",
        "WITH x AS (",
        "BEGIN ",
        "END",
        "EXPLAIN ",
        "PREPARE p AS ",
        "EXECUTE ",
        "DO $$",
        "DELIMITER ",
        "GO\n",
        ".shell ",
        "\u{e9}",
        "\0",
    ];
    run("sql", seeds.map(str::to_owned), fragments, sql);
}

#[test]
fn no_allowed_path_leads_out() {
    let rows: Vec<PathRow> = rows(["paths.jsonl", "paths-more.jsonl"]);
    let fragments = &[
        "/",
        "..",
        "../",
        "./",
        ".",
        "~",
        "$HOME",
        "${PWD}",
        "out",
        "out/",
        "top",
        "two",
        "loop",
        "in/",
        "tmp/",
        "dangling",
        "new",
        "git/",
        ".git",
        ".GIT",
        ".git/hooks",
        "src/",
        "a.rs",
        ".env",
        "{ROOT}",
        "{ROOT}/",
        "/etc/passwd",
        "/proc/self/root",
        "/dev/fd/0",
        "/tmp",
        "\0",
        "\n",
        " ",
        "%2e%2e/",
        "\u{ff0e}",
        "\u{2024}",
        "\u{200d}",
        "\u{e9}",
        "e\u{301}",
        "\\",
        ":",
        "*",
        "file://",
        "a/b/c/",
    ];
    let seeds = rows.into_iter().map(|row| format!("\u{4}{}", row.path));
    run("paths", seeds, fragments, paths);
}

#[test]
fn any_rule_file_is_taken_or_refused_with_its_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let mut seeds: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            // One rule is enough for a seed; ids get a name that is not taken.
            let parts = text.split("\n\n").skip(1);
            let parts =
                parts.map(|part| format!("version = 1\n{part}").replace("id = \"", "id = \"x."));
            parts.collect::<Vec<_>>()
        })
        .collect();
    seeds.push(
        "version = 1\n[[allow]]\nid = \"a\"\nrule = \"git.push-force\"\ncommand = \"git push -f\"\n\
         reason = \"r\"\nexpires = 2027-01-31\n"
            .to_owned(),
    );
    let fragments = &[
        "[",
        "]",
        "[[rule]]\n",
        "[[program]]\n",
        "[[allow]]\n",
        "version = 1\n",
        "version = 2\n",
        "\"",
        "'",
        "\"\"\"",
        "'''",
        "=",
        "\n",
        "#",
        ",",
        "\\",
        "\\u{0}",
        "\\u00e9",
        "id = \"a\"\n",
        "id = \"\"\n",
        "tier = \"catastrophic\"\n",
        "set = \"strict\"\n",
        "text = \"(\"\n",
        "text = \"(a{9}){9}\"\n",
        "scope = [\"device\"]\n",
        "on = \"-x\"\n",
        "flags = [[]]\n",
        "operands_min = 9\n",
        "deny = []\n",
        "allow = [\"ls\"]\n",
        "expires = 1979-05-27T07:32:00Z\n",
        "expires = \"x\"\n",
        "folder = \"/\"\n",
        "sub = \"-\"\n",
        "values = [\"-a\"]\n",
        "{",
        "}",
        "a.b = 1\n",
        "\u{e9}",
        "\0",
        "\r",
    ];
    run("rules", seeds, fragments, rules);
}
