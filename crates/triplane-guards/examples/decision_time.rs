//! How long one decision takes, in process: `cargo run --release --example decision_time`.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use triplane_guards::{commands, paths};
use triplane_interception::{Guard as _, Presence, ToolCall, Workspace};
use triplane_kernel::Scope;

const ROUNDS: usize = 20_000;

fn call(tool: &str, arguments: serde_json::Value, presence: Presence) -> ToolCall {
    let root = match presence {
        Presence::Here => std::env::current_dir().unwrap_or_default(),
        Presence::Elsewhere => PathBuf::from("/srv/app"),
    };
    ToolCall {
        session: "s1".to_owned(),
        agent: None,
        tool: tool.to_owned(),
        arguments,
        call_id: None,
        cwd: Some(root.clone()),
        workspace: Workspace {
            root,
            home: Some(PathBuf::from("/home/dev")),
            presence,
        },
    }
}

fn report(name: &str, mut taken: Vec<Duration>) {
    taken.sort_unstable();
    let at = |share: usize| taken[taken.len() * share / 100].as_nanos();
    #[expect(clippy::print_stdout, reason = "the example's purpose")]
    {
        println!(
            "{name:<44} median {:>7} ns   p95 {:>7} ns   p99 {:>7} ns",
            at(50),
            at(95),
            at(99)
        );
    }
}

fn main() {
    let long = "git status --porcelain && cargo test --workspace --all-features 2>&1 | tee build.log; \
                for f in a b c; do echo \"$f\" > out/$f.txt; done; grep -rn 'DROP TABLE' migrations/ \
                | head -20 && python3 -c \"print('x')\"";
    let commands_to_judge = [
        ("git status", "git status"),
        ("rm -rf /", "rm -rf /"),
        ("git commit -m 'a b'", "git commit -m 'a b'"),
        ("echo 'rm -rf /data' | sh", "echo 'rm -rf /data' | sh"),
        ("a command of 200 bytes", long),
    ];
    let guard = commands();
    for (name, command) in commands_to_judge {
        let call = call("Bash", json!({ "command": command }), Presence::Elsewhere);
        let taken = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                let _ = black_box(guard.judge_blocking(black_box(&call)));
                start.elapsed()
            })
            .collect();
        report(
            &format!("{name} ({} bytes), blocking", command.len()),
            taken,
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    for (name, command) in commands_to_judge {
        let call = call("Bash", json!({ "command": command }), Presence::Elsewhere);
        let scope = Scope::new();
        let taken = runtime.block_on(async {
            let mut taken = Vec::with_capacity(ROUNDS);
            for _ in 0..ROUNDS {
                let start = Instant::now();
                let _ = black_box(guard.judge(&call, &scope).resolve().await);
                taken.push(start.elapsed());
            }
            taken
        });
        report(
            &format!("{name} ({} bytes), current thread", command.len()),
            taken,
        );
    }
    for presence in [Presence::Elsewhere, Presence::Here] {
        let guard = paths();
        let call = call("Edit", json!({"file_path": "src/lib.rs"}), presence);
        let taken = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                let _ = black_box(guard.judge_blocking(black_box(&call)));
                start.elapsed()
            })
            .collect();
        report(&format!("path src/lib.rs, {presence:?}"), taken);
    }
}
