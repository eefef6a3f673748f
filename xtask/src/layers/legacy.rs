//! Legacy names are adapters: none of them runs handlers by itself.
//!
//! A legacy loop is reproduced by a named profile of the kernel. A module that spawned, joined or
//! selected on its own would be a second dispatcher, with rules that no profile states.

use std::fs;
use std::path::Path;

use crate::finding::Finding;
use crate::rust::lexer::{Token, tokens};
use crate::rust::source_files::rust_files;
use crate::rust::test_items::part;
use crate::workspace::Workspace;

const FOLDER: &str = "crates/triplane/src/legacy";

const TYPES: &str = "JoinSet FuturesUnordered FuturesOrdered LocalPoolHandle";
const MACROS: &str = "select select_biased join try_join";
const FUNCTIONS: &str = "spawn spawn_blocking spawn_local join join3 join4 join5 join_all \
                         try_join try_join_all select select_all select_ok buffered \
                         buffer_unordered for_each_concurrent try_for_each_concurrent";

/// Checks the files of the legacy folder, if there is one.
pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in rust_files(&workspace.root, Path::new(FOLDER))? {
        let source = fs::read_to_string(workspace.root.join(&file))?;
        let all = tokens(&source);
        let shipped = part(&all).shipped;
        for at in 0..shipped.len() {
            if runs_handlers(&shipped, at) {
                let Token { text, line, .. } = shipped[at];
                let message =
                    format!("`{text}` in a legacy adapter; only the kernel runs handlers");
                findings.push(Finding::fails(&file, line, message));
            }
        }
    }
    Ok(findings)
}

fn runs_handlers(tokens: &[Token<'_>], at: usize) -> bool {
    let token = tokens[at];
    let among = |words: &str| words.split_whitespace().any(|word| token.is(word));
    let next_is = |text| tokens.get(at + 1).is_some_and(|next| next.is(text));
    let is_declared = at > 0 && tokens[at - 1].is("fn");
    // `path.join("x")` and `parts.join(",")` join texts, not tasks.
    let joins_text = token.is("join") && at > 0 && tokens[at - 1].is(".");
    let called = (next_is("(") || next_is("::")) && !joins_text && !is_declared;
    among(TYPES) || among(MACROS) && next_is("!") || among(FUNCTIONS) && called
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::fixture;

    fn check(source: &str, wanted: &[&str]) {
        let file = format!("{FOLDER}/bus.rs");
        let root = ("Cargo.toml", "[workspace]\nmembers = []\n");
        let fixture = fixture::workspace(&[root, (&file, source)]);
        let findings = super::check(&fixture.workspace).expect("readable");
        let got: Vec<_> = findings
            .iter()
            .filter_map(|finding| finding.message.split('`').nth(1))
            .collect();
        assert_eq!(got, wanted, "{source}");
    }

    #[test]
    fn an_adapter_that_runs_handlers_is_refused() {
        check("fn f() { tokio::spawn(g()); }", &["spawn"]);
        check("fn f() { handle.spawn_blocking(g); }", &["spawn_blocking"]);
        check(
            "async fn f() { tokio::select! { } futures::join!(a, b); }",
            &["select", "join"],
        );
        check(
            "use futures::stream::FuturesUnordered;",
            &["FuturesUnordered"],
        );
        check(
            "async fn f() { futures::future::join_all(all).await; }",
            &["join_all"],
        );
    }

    #[test]
    fn an_adapter_that_only_passes_on_is_fine() {
        check(
            "fn f() { root.join(\"x\"); kernel.emit(signal, scope) } // spawn(",
            &[],
        );
        check(
            "#[cfg(test)] mod tests { fn f() { tokio::spawn(g()); } }",
            &[],
        );
    }
}
