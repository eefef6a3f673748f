//! Inputs that break parsers are refused, soon, and break nothing.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use triplane_guards::command::parser_thread::{PATIENCE, STARVED_ROUNDS};
use triplane_guards::commands;
use triplane_interception::Verdict;

use crate::support::{bash, explained};

/// The longest that a caller may wait, whatever else the machine does: the parser's patience as often
/// as it is granted to a job that no thread takes up, and then for the job, and once more for the
/// caller to wake up.
const WAIT_MAX: Duration = PATIENCE.saturating_mul(STARVED_ROUNDS + 2);

/// The most that the caller works for it itself: it reads the command once, and then it waits. Ten
/// times as much without optimisation.
const WORK_MAX: Duration = if cfg!(debug_assertions) {
    Duration::from_millis(50)
} else {
    Duration::from_millis(5)
};

/// The verdict, which must be there in time.
fn soon(name: &str, input: &str) -> Verdict {
    let guard = commands();
    let call = bash(input);
    let (start, work) = (Instant::now(), worked());
    let verdict = guard.judge_blocking(&call);
    let (waited, work) = (start.elapsed(), worked().saturating_sub(work));
    assert!(waited < WAIT_MAX, "{name} kept its caller for {waited:?}");
    assert!(work < WORK_MAX, "{name} made its caller work for {work:?}");
    verdict
}

/// How long this thread has worked, on the processor's clock.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap(),
        time.tv_nsec.try_into().unwrap(),
    )
}

/// An opener repeated up to the longest command that is read.
fn nested(opener: &str) -> String {
    opener.repeat(64 * 1024 / opener.len())
}

fn hostile() -> Vec<(String, String)> {
    let mut inputs: Vec<(String, String)> = [
        "$(",
        "{ ",
        "if ",
        "while ",
        "case ",
        "${a:-",
        "$((",
        "f(){ ",
        "[[ ( ",
        "[[ ! ",
        "(",
        "`",
        "<(",
        "for x in ",
        "until ",
        "select x in ",
        "case x in (x) ",
        "\"$(",
        "((",
    ]
    .iter()
    .map(|opener| (format!("64 KiB of {opener:?}"), nested(opener)))
    .collect();
    for opener in ["$(", "(", "{ ", "if "] {
        inputs.push((format!("10,000 times {opener:?}"), opener.repeat(10_000)));
    }
    for count in [22, 26] {
        inputs.push((format!("{count} unclosed parentheses"), "(".repeat(count)));
    }
    inputs.push((
        "nested case with a syntax error".to_owned(),
        format!("{}) ;; ) esac", "case x in (x) ".repeat(30)),
    ));
    inputs.push((
        "few nested cases with a syntax error, all closed".to_owned(),
        format!(
            "{} if fi {}",
            "case x in (x) ".repeat(8),
            ";; esac ".repeat(8)
        ),
    ));
    inputs.push((
        "heredoc with $[ in its tag".to_owned(),
        "<<E$[\t\t".to_owned(),
    ));
    // Each wrapper repeats the words behind it.
    for wrapper in ["xargs ", "sudo ", "env a=b ", "timeout 5 "] {
        inputs.push((format!("64 KiB of {wrapper:?}"), nested(wrapper)));
        inputs.push((format!("1,000 times {wrapper:?}"), wrapper.repeat(1_000)));
    }
    for (doubling, end) in [
        ("python3 -c \"a='rm -rf /'\n", "\nimport os; os.system(a)\""),
        (
            "node -e \"a='rm -rf /';",
            ";require('child_process').exec(a)\"",
        ),
    ] {
        let text = format!("{doubling}{}{end}", "a=a+a\n".repeat(60));
        inputs.push((format!("a text that doubles, {doubling:?}"), text));
    }
    inputs.push((
        "a variable that doubles".to_owned(),
        format!("a='rm -rf /';{} sh -c \"$a\"", "a=$a$a;".repeat(60)),
    ));
    inputs.push(("many separators".to_owned(), "a;".repeat(5_001)));
    inputs.push((
        "too long".to_owned(),
        format!("echo {}", "a".repeat(64 * 1024)),
    ));
    inputs.push(("an unclosed quote".to_owned(), "echo 'a".to_owned()));
    inputs.push((
        "an overlong descriptor".to_owned(),
        "99999999999999999999>x".to_owned(),
    ));
    inputs.push((
        "an overlong sequence".to_owned(),
        "rm -rf /x{1..99999999999999999999}".to_owned(),
    ));
    inputs
}

#[test]
fn hostile_inputs_are_refused_and_soon() {
    for (name, input) in hostile() {
        let verdict = soon(&name, &input);
        assert!(
            matches!(verdict, Verdict::SoftDeny(_) | Verdict::HardDeny(_)),
            "{name} was not refused: {verdict:?}"
        );
    }
}

/// What grows with its length more than its reading does: each was quadratic once.
const GROWING: [&str; 22] = [
    "find . -exec ",
    "function f {",
    "coproc ",
    "echo ",
    "eval ",
    "watch ",
    "ssh h ",
    "rm ",
    "rm -rf ",
    "rm a/* ",
    "[",
    "*",
    "cat <(a) ",
    "$(a) ",
    "` ",
    "`a` ",
    "cd a\n",
    "cd a; ",
    "x=$(a)\n",
    "x=$x$(a)\n",
    "a<b>c ",
    "docker run a ",
];

#[test]
fn long_inputs_are_answered_soon() {
    for part in GROWING {
        // Some of them are harmless; what counts is that there is a verdict.
        let _ = soon(&format!("64 KiB of {part:?}"), &nested(part));
    }
}

#[test]
fn what_was_slow_in_a_campaign_is_refused_and_soon() {
    let wide = |open: &str, part: &str, close: &str| {
        let count = (20_000 - open.len()) / part.len();
        format!("{open}{}{close}", part.repeat(count))
    };
    for (open, part, close) in [
        // The parser reads the rest of the word anew for each subscript.
        ("", "a[", ""),
        ("", "coproc x ", ""),
        // Few bytes, many words: each is read and held against rules.
        ("rm ", "{a..z} ", ""),
        ("{a..z}", "*", ""),
        ("", "env A=b ", ""),
        ("", "sudo ", ""),
        ("", "xargs ", ""),
        ("", "eval ! ", ""),
        // Without a line's end, the value of each is all that follows.
        ("python3 -c 'rmtree(x); ", "a=b ", "'"),
        ("python3 -c \"", "alias a=", "\""),
    ] {
        let input = wide(open, part, close);
        let name = format!("{open:?} and {part:?} over and over");
        let verdict = soon(&name, &input);
        assert!(
            matches!(verdict, Verdict::SoftDeny(_) | Verdict::HardDeny(_)),
            "{name} was not refused: {verdict:?}"
        );
    }
    for part in ["$@ ", "cd x; "] {
        let _ = soon(&format!("{part:?} over and over"), &wide("", part, ""));
    }
}

#[test]
fn what_is_read_again_and_again_is_too_much() {
    let long = "a".repeat(40 << 10);
    let deep = format!("sh -c 'sh -c \"sh -c {long}\"'");
    for input in [nested("eval "), deep] {
        let found = explained(&input);
        let mut simples = found.simples.iter();
        let too_much = simples.any(|simple| simple.program == "(too-much)");
        assert!(too_much && found.is_refused(), "{}", &input[..20]);
    }
    let once = format!("sh -c 'echo {long}'");
    assert!(!explained(&once).is_refused());
}

#[test]
fn closed_nesting_up_to_the_limit_does_not_hurt() {
    let guard = commands();
    let balanced = [
        ("$(", ")", "echo x"),
        ("(", ")", "ls"),
        ("{ ", "; }", "ls"),
        ("if true; then ", "; fi", "ls"),
        ("while ", "; do ls; done", "true"),
        ("echo ${a:-", "}", "b"),
        ("echo \"$(", ")\"", "ls"),
        ("[[ ( ", " ) ]]", "-n x"),
        ("f() { ", "; }", "ls"),
        ("case x in x) ", ";; esac", "ls"),
        ("for i in a; do ", "; done", "ls $i"),
        ("echo $((", "))", "1"),
    ];
    for (open, close, inner) in balanced {
        for depth in [2, 5, 8, 20, 30, 60, 99, 120] {
            let input = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            // Any verdict will do: the process is still here to give it.
            let _ = guard.judge_blocking(&bash(&input));
        }
    }
    let verdict = commands().judge_blocking(&bash("echo $(echo ok)"));
    assert_eq!(verdict, Verdict::Allow);
}

#[tokio::test(flavor = "current_thread")]
async fn the_asynchronous_road_gives_the_same_answers() {
    use triplane_interception::Guard as _;
    let guard = commands();
    let scope = triplane_kernel::Scope::new();
    let verdict = async |command: &str| {
        let call = bash(command);
        guard.judge(&call, &scope).resolve().await.unwrap()
    };
    assert_eq!(verdict("git status").await, Verdict::Allow);
    assert_eq!(verdict("echo 'rm -rf /' | grep rm").await, Verdict::Allow);
    assert!(matches!(
        verdict("echo 'rm -rf /' | sh").await,
        Verdict::HardDeny(_)
    ));
    assert!(matches!(
        verdict("((((((((((((((((((((((").await,
        Verdict::SoftDeny(_)
    ));
}
