//! Many processes on one store: what its callers hear of each other.

use std::path::Path;

use serde_json::{Value, json};

use crate::Asked;
use crate::child::Child;
use crate::row::{Bound, Durability, Row};
use crate::subject::{Unit, open, runtime};

pub(crate) const NAMES: [&str; 1] = ["4 writers, 2 workers: SQLITE_BUSY"];

const WRITERS: usize = 4;
const WORKERS: usize = 2;

pub(crate) fn run(folder: &Path, durability: Durability, asked: Asked) -> anyhow::Result<Vec<Row>> {
    let seconds: u32 = if asked.quick { 3 } else { 60 };
    let path = folder.join("shared.db");
    let runtime = runtime()?;
    runtime.block_on(async {
        let store = open(&path, durability).await?;
        Unit::Append(1).commit(&store).await?;
        anyhow::Ok(store.close().await?)
    })?;
    let length = seconds.to_string();
    let mut children = Vec::new();
    for (role, count) in [("enqueue", WRITERS), ("deliver", WORKERS)] {
        for _ in 0..count {
            children.push((role, Child::start(role, &path, durability, &[&length])?));
        }
    }
    let (mut committed, mut delivered, mut busy, mut failed) = (0.0, 0.0, 0, 0);
    for (role, child) in children {
        let told: Value = child.answer()?;
        let done = told["done"].as_f64().unwrap_or_default();
        match role {
            "enqueue" => committed += done,
            _ => delivered += done,
        }
        busy += told["busy"].as_u64().unwrap_or(1);
        failed += told["failed"].as_u64().unwrap_or(1);
    }
    let unsound = runtime.block_on(async {
        let store = open(&path, durability).await?;
        let found = store.check().await?.len();
        store.close().await?;
        anyhow::Ok(found)
    })?;
    let count = f64::from(u32::try_from(busy + failed)?);
    Ok(vec![Row {
        case: NAMES[0],
        durability,
        unit: "ops_per_s",
        value: committed / f64::from(seconds),
        limit: None,
        ratio: count,
        bound: Bound::AtMost(0.0, 0.0),
        more: vec![
            ("seconds", json!(seconds)),
            ("committed", json!(committed)),
            ("delivered", json!(delivered)),
            ("busy", json!(busy)),
            ("failed", json!(failed)),
            ("unsound", json!(unsound)),
        ],
    }])
}
