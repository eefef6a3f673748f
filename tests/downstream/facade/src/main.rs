//! The facade by itself: an action is judged, performed, recorded and observed; no guard and no
//! sink of ours is compiled in.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use triplane::{Outcome, PermissionPolicy, Runtime, SignalFilter};

#[derive(Deserialize)]
struct Search {
    query: String,
}

async fn run() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let policy: PermissionPolicy = serde_json::from_value(json!({
        "version": 1,
        "deny": [{"id": "no-tea", "tool": "search", "argument": "query", "pattern": "tea",
            "reason": "books only"}],
    }))?;
    let rt = Runtime::durable(folder.path().join("state.db"))
        .policy(policy)
        .open()
        .await?;
    let observed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&observed);
    rt.observe("count", SignalFilter::any(), move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    })?;
    let search = rt.action("search", |search: Search, _cx| async move {
        Ok::<_, std::io::Error>(search.query.len())
    })?;
    let found = rt.call(&search, json!({"query": "rust"})).await?;
    assert!(
        matches!(found, Outcome::Succeeded(ref length) if *length == json!(4)),
        "{found}"
    );
    let refused = rt.call(&search, json!({"query": "tea"})).await?;
    assert!(
        matches!(refused, Outcome::Denied(ref denied) if denied.rule == "no-tea"),
        "{refused}"
    );
    assert_eq!(rt.store().signals(None, 0, 10).await?.len(), 2);
    assert_eq!(observed.load(Ordering::Relaxed), 2);
    let left = rt.shutdown(Duration::from_secs(5)).await?;
    assert_eq!(left.pending, 0);
    println!("facade: performed one call, denied another, kept and observed both");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run())
}
