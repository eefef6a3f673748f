//! The path guard, in a workspace with links that lead out of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use triplane_interception::Presence;

use crate::fuzz::watch::timed;
use crate::path::{Bounds, Judged, judge};
use crate::tool::PathOp;

/// Judges `input` as a path: its first byte chooses the operation and the working folder.
///
/// # Panics
///
/// Panics when the guard does, or when it allows what the kernel finds outside the workspace.
pub fn paths(input: &[u8]) -> Duration {
    let (choice, text) = input.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(text);
    let world = world();
    let op = match choice % 3 {
        0 => PathOp::Read,
        1 => PathOp::Write,
        _ => PathOp::Delete,
    };
    let cwd = if choice & 4 == 0 { "" } else { "src" };
    let mut bounds = Bounds {
        root: world.join("root"),
        temporary: world.join("temporary"),
        cwd: world.join("root").join(cwd),
        presence: Presence::Here,
    };
    let text = text.replace("{ROOT}", &bounds.root.to_string_lossy());
    let (judged, took) = timed(|| judge(op, &text, &bounds));
    if let Judged::Opened(opened) = judged {
        let allowed =
            |path: &Path| path.starts_with(&bounds.root) || path.starts_with(&bounds.temporary);
        assert!(
            allowed(opened.path()),
            "{op:?} {text:?} leads to {}",
            opened.path().display()
        );
        let asked = bounds.cwd.join(&text);
        // What removes a link leaves what it points at alone.
        if op != PathOp::Delete
            && let Ok(found) = fs::canonicalize(&asked)
        {
            assert!(allowed(&found), "{op:?} {text:?} is {}", found.display());
        }
        let protected = opened.path().starts_with(bounds.root.join(".git"));
        assert!(op == PathOp::Read || !protected, "{op:?} {text:?}");
    }
    // Told of a workspace elsewhere, the guard reads the text alone and panics no more.
    bounds.presence = Presence::Elsewhere;
    let (_, as_text) = timed(|| judge(op, &text, &bounds));
    took.max(as_text)
}

/// The folder of the workspace; it is built once and left to the system's temporary folder.
fn world() -> &'static Path {
    static WORLD: OnceLock<PathBuf> = OnceLock::new();
    WORLD.get_or_init(|| {
        let temporary = fs::canonicalize(std::env::temp_dir()).expect("a temporary folder");
        let world = temporary.join(format!("triplane-fuzz-{}", std::process::id()));
        let root = world.join("root");
        for folder in ["root/src/deep", "root/.git/hooks", "temporary", "outside"] {
            fs::create_dir_all(world.join(folder)).expect("a folder");
        }
        for file in [
            "root/a.rs",
            "root/src/b.rs",
            "root/.env",
            "root/.git/config",
            "outside/x",
        ] {
            fs::write(world.join(file), "x").expect("a file");
        }
        let links = [
            ("../outside", "out"),
            ("/", "top"),
            ("out/x", "two"),
            ("loop", "loop"),
            ("src", "in"),
            ("../temporary", "tmp"),
            ("nowhere", "dangling"),
            ("../outside/new", "new"),
            (".git", "git"),
        ];
        for (target, name) in links {
            let link = root.join(name);
            if fs::symlink_metadata(&link).is_err() {
                symlink(target, link).expect("a link");
            }
        }
        world
    })
}
