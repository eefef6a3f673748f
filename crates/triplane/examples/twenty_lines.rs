//! The facade in twenty lines: guard a callable, keep what it did, deliver it.
//!
//! `cargo run -p triplane --features guards,sink-file --example twenty_lines`

use std::error::Error;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use triplane::{Outcome, Runtime, guards, sinks};

#[derive(Deserialize)]
struct Search {
    query: String,
}

/// A search that could take a while.
async fn find(query: String) -> Result<Vec<&'static str>, std::io::Error> {
    tokio::task::yield_now().await;
    let shelf = ["the rust book", "tea", "rust for crabs"];
    Ok(shelf
        .into_iter()
        .filter(|title| title.contains(&query))
        .collect())
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows its result")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    let rt = Runtime::durable(root.join(".triplane/state.db"))
        .guard(guards::commands())
        .guard(guards::paths(root))
        .sink("audit", sinks::file(root.join("deliveries.jsonl")))
        .open()
        .await?;
    let search = rt.action("search", |search: Search, _cx| find(search.query))?;
    match rt.call(&search, json!({"query": "rust"})).await? {
        Outcome::Succeeded(hits) => println!("{hits}"),
        Outcome::Denied(denied) => println!("{}: {}", denied.rule, denied.reason),
        other => println!("{other}"),
    }
    let left = rt.shutdown(Duration::from_secs(5)).await?;
    println!(
        "delivered {}, left {}",
        left.delivery.delivered, left.pending
    );
    Ok(())
}
