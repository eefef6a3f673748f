//! The rows of the shared corpora, as seeds.

use std::fs;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct CommandRow {
    pub(super) command: String,
}

#[derive(Deserialize)]
pub(super) struct PathRow {
    pub(super) path: String,
}

pub(super) fn rows<T: for<'d> Deserialize<'d>>(names: [&str; 2]) -> Vec<T> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let texts = names.map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let lines = texts.iter().flat_map(|text| text.lines());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
