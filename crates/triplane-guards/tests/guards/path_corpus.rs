//! Every labelled path gets its label, and no operation reaches what is outside.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tempfile::TempDir;
use triplane_guards::path::Bounds;
use triplane_guards::{PathOp, paths_in};
use triplane_interception::Presence;

use crate::support::rows;

#[derive(Deserialize)]
struct Row {
    id: String,
    op: String,
    path: String,
    #[serde(default)]
    setup: Vec<BTreeMap<String, String>>,
    #[serde(default)]
    between: Vec<BTreeMap<String, String>>,
    cwd: Option<String>,
    workspace_opened_as: Option<String>,
    verdict: String,
    why: String,
}

/// One row's world on disk.
struct World {
    _base: TempDir,
    workspace: PathBuf,
    outside: PathBuf,
    temporary: PathBuf,
}

impl World {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = base.path().canonicalize().unwrap().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        Self {
            workspace: folder("place/ws"),
            outside: folder("outside"),
            temporary: folder("tmp"),
            _base: base,
        }
    }

    /// The placeholders of a text, longest first.
    fn fill(&self, text: &str) -> String {
        let show = |path: &Path| path.to_str().unwrap().to_owned();
        text.replace("$HOME_LITERAL", "\u{1}HOME")
            .replace("$LONG5000", &"a".repeat(5000))
            .replace("$WPARENT", &show(self.workspace.parent().unwrap()))
            .replace("$WNAME", "ws")
            .replace("$OUT", &show(&self.outside))
            .replace("$TMP", &show(&self.temporary))
            .replace("$W", &show(&self.workspace))
            .replace('\u{1}', "$")
    }

    fn build(&self, steps: &[BTreeMap<String, String>]) {
        for step in steps {
            let value = |key: &str| step.get(key).map(|text| PathBuf::from(self.fill(text)));
            let parent = |path: &Path| fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(path) = value("dir") {
                fs::create_dir_all(path).unwrap();
            } else if let Some(path) = value("file") {
                parent(&path);
                fs::write(path, "kept").unwrap();
            } else if let Some(path) = value("fifo") {
                parent(&path);
                rustix::fs::mknodat(
                    rustix::fs::CWD,
                    &path,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::from_raw_mode(0o600),
                    0,
                )
                .unwrap();
            } else if let Some(path) = value("symlink") {
                parent(&path);
                symlink(self.fill(&step["to"]), path).unwrap();
            } else if let Some(path) = value("hardlink") {
                parent(&path);
                fs::hard_link(self.fill(&step["to"]), path).unwrap();
            } else if let Some(path) = value("remove") {
                if path.is_dir() {
                    fs::remove_dir_all(path).unwrap();
                } else {
                    fs::remove_file(path).unwrap();
                }
            } else {
                panic!("an unknown step: {step:?}");
            }
        }
    }

    /// Every file outside the allowed folders, with what it holds.
    fn outside_files(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![
            self.outside.clone(),
            self.workspace.parent().unwrap().to_owned(),
        ];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.workspace || path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), fs::read_to_string(path).unwrap());
                }
            }
        }
        files
    }
}

/// Whether the row got its verdict: by the check, or by the operation through what was checked.
fn run(row: &Row) -> Result<(), String> {
    let world = World::new();
    world.build(&row.setup);
    let root = match row.workspace_opened_as.as_deref() {
        Some("symlink") => {
            let link = world.workspace.with_file_name("link-to-ws");
            symlink(&world.workspace, &link).unwrap();
            link
        }
        _ => world.workspace.clone(),
    };
    let op = match row.op.as_str() {
        "read" => PathOp::Read,
        "write" => PathOp::Write,
        "delete" => PathOp::Delete,
        other => panic!("an unknown operation: {other}"),
    };
    let bounds = Bounds {
        cwd: row
            .cwd
            .as_ref()
            .map_or_else(|| root.clone(), |cwd| PathBuf::from(world.fill(cwd))),
        root: root.clone(),
        temporary: world.temporary.clone(),
        presence: Presence::Here,
    };
    let before = world.outside_files();
    let checked = paths_in(&root).open(op, &world.fill(&row.path), &bounds);
    world.build(&row.between);
    let denied = match checked {
        Err(_) => true,
        Ok(None) => false,
        Ok(Some(opened)) => {
            let done = match op {
                PathOp::Read => opened.read().and_then(|mut file| {
                    let mut text = String::new();
                    file.read_to_string(&mut text).map(drop)
                }),
                PathOp::Write => opened
                    .write()
                    .and_then(|mut file| file.write_all(b"changed")),
                PathOp::Delete => opened.remove(),
            };
            done.is_err()
        }
    };
    if world.outside_files() != before {
        return Err(format!("{}: something outside was reached", row.id));
    }
    if denied == (row.verdict == "deny") {
        Ok(())
    } else {
        Err(format!(
            "{} {} {:?} is {}: {}",
            row.id, row.op, row.path, row.verdict, row.why
        ))
    }
}

#[test]
fn every_labelled_path_gets_its_verdict_and_nothing_outside_is_reached() {
    let rows: Vec<Row> = rows("paths.jsonl");
    assert!(rows.len() >= 99);
    let misses: Vec<String> = rows.iter().filter_map(|row| run(row).err()).collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn every_further_path_gets_its_verdict_too() {
    let rows: Vec<Row> = rows("paths-more.jsonl");
    let misses: Vec<String> = rows.iter().filter_map(|row| run(row).err()).collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
