//! `cargo xtask downstream`: each layer by itself, as a stranger takes it.
//!
//! `tests/downstream/` holds one small package per layer, outside the workspace: what another
//! member switches on does not reach it. Each is built and run, and its tree of dependencies is held
//! against what its layer may pull.

use std::fs;

use anyhow::{Context as _, bail};

use crate::ci::command::{Invocation, Shop};

/// What one package may pull.
#[derive(Debug)]
struct Layer {
    /// The folder below `tests/downstream`.
    folder: &'static str,
    /// Every crate of ours in its tree.
    ours: &'static [&'static str],
    /// The features of tokio in its tree; `None` when it has a runtime of its own anyway.
    tokio: Option<&'static [&'static str]>,
    /// Whether the embedded store belongs to it.
    database: bool,
}

const KERNEL_TOKIO: Option<&[&str]> = Some(&["rt", "sync", "time"]);

/// The layers, lowest first.
const LAYERS: &[Layer] = &[
    Layer {
        folder: "kernel",
        ours: &["triplane-kernel"],
        tokio: KERNEL_TOKIO,
        database: false,
    },
    Layer {
        folder: "interception",
        ours: &["triplane-kernel", "triplane-interception"],
        tokio: KERNEL_TOKIO,
        database: false,
    },
    Layer {
        folder: "signals",
        ours: &["triplane-kernel", "triplane-signals"],
        tokio: KERNEL_TOKIO,
        database: false,
    },
    Layer {
        folder: "state",
        ours: &["triplane-kernel", "triplane-signals", "triplane-state"],
        tokio: KERNEL_TOKIO,
        database: false,
    },
    Layer {
        folder: "state-sqlite",
        ours: &["triplane-kernel", "triplane-signals", "triplane-state"],
        tokio: None,
        database: true,
    },
    Layer {
        folder: "facade",
        ours: &[
            "triplane-kernel",
            "triplane-interception",
            "triplane-signals",
            "triplane-state",
            "triplane",
        ],
        tokio: None,
        database: true,
    },
];

/// A package by which a database would come in.
const DATABASE: &[&str] = &["libsqlite3-sys", "rusqlite", "sqlx"];

/// Builds and runs every package, and checks what it pulls.
pub(crate) fn downstream(shop: &Shop<'_>) -> anyhow::Result<()> {
    let mut failed = Vec::new();
    for layer in LAYERS {
        if let Err(error) = layer.check(shop) {
            println!("{}: {error:#}", layer.folder);
            failed.push(layer.folder);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("{}", failed.join(", "))
}

impl Layer {
    fn check(&self, shop: &Shop<'_>) -> anyhow::Result<()> {
        let folder = shop.workspace.root.join("tests/downstream");
        let folder = folder.join(self.folder);
        // Not kept there: cargo cuts the copy down to what the package uses, so every version is the
        // one that the workspace is tested with.
        fs::copy(
            shop.workspace.root.join("Cargo.lock"),
            folder.join("Cargo.lock"),
        )
        .context("cannot copy Cargo.lock")?;
        let manifest = folder.join("Cargo.toml");
        let tree = |invocation: Invocation| invocation.arg("--manifest-path").arg(&manifest);
        let pulled = tree(shop.cargo("tree --edges normal,build --prefix none --format {p}|{f}"));
        let faults = self.faults(&pulled.output()?);
        if !faults.is_empty() {
            bail!("{}", faults.join("; "));
        }
        let run = tree(shop.cargo("run --quiet"));
        run.env("CARGO_TARGET_DIR", shop.target_folder.join("downstream"))
            .run()
    }

    /// What stands in `tree` (`name version …|feature,feature`, a package a line) and must not.
    fn faults(&self, tree: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for line in tree.lines() {
            let (package, features) = line.split_once('|').unwrap_or((line, ""));
            let name = package.split(' ').next().unwrap_or_default();
            let features = features.trim_end_matches(" (*)");
            if name.starts_with("triplane") && !self.ours.contains(&name) {
                faults.push(format!("pulls {name}"));
            }
            if DATABASE.contains(&name) && !self.database {
                faults.push(format!("pulls the database {name}"));
            }
            if let ("tokio", Some(allowed)) = (name, self.tokio) {
                let features = features.split(',').filter(|feature| !feature.is_empty());
                faults.extend(
                    features
                        .filter(|feature| !allowed.contains(feature))
                        .map(|feature| format!("switches on tokio's {feature}")),
                );
            }
        }
        faults.sort();
        faults.dedup();
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folder: &str, tree: &str, wanted: &[&str]) {
        let layer = LAYERS.iter().find(|layer| layer.folder == folder);
        let faults = layer.expect("a layer").faults(tree);
        assert_eq!(faults, wanted, "{folder}: {tree}");
    }

    #[test]
    fn what_stands_above_a_layer_is_named_once() {
        let tree = "downstream-kernel v0.0.0 (/w)|\ntokio v1.0.0|rt,sync,time\n";
        check("kernel", tree, &[]);
        let more = "tokio v1.0.0|net,rt\ntokio v1.0.0|net,rt (*)\ntriplane-state v0.1.0 (/w)|sqlite\n\
            sqlx v0.9.0|default (*)\n";
        check(
            "kernel",
            more,
            &[
                "pulls the database sqlx",
                "pulls triplane-state",
                "switches on tokio's net",
            ],
        );
        check("state-sqlite", more, &[]);
    }
}
