//! Checks the file of token shapes and compiles it, without its cases, into a static table.
//!
//! The table is plain data: a program that meets no secret pays nothing for its patterns at start.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

const SHAPES: &str = "src/redaction/shapes.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    shape: Vec<Shape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    id: String,
    #[serde(default)]
    anchors: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
    also: Option<String>,
    pattern: String,
    check: Option<String>,
    found: Vec<String>,
    kept: Vec<String>,
}

fn main() {
    println!("cargo::rerun-if-changed={SHAPES}");
    let text = fs::read_to_string(SHAPES).unwrap_or_else(|error| panic!("{SHAPES}: {error}"));
    let file: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{SHAPES}: {error}"));
    assert_eq!(file.version, 1, "{SHAPES}: this is the format of version 1");
    let mut ids = BTreeSet::new();
    for shape in &file.shape {
        let id = &shape.id;
        assert!(ids.insert(id), "{SHAPES}: {id} is there twice");
        assert!(
            !shape.found.is_empty() && !shape.kept.is_empty(),
            "{SHAPES}: {id} needs cases of both kinds"
        );
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    fs::write(out.join("shapes.rs"), table(&file)).expect("the folder can be written");
}

fn table(file: &File) -> String {
    let mut code = String::from("pub(crate) static SHIPPED: &[ShippedShape] = &[\n");
    for shape in &file.shape {
        let check = match shape.check.as_deref() {
            None => "Check::None",
            Some("varied") => "Check::Varied",
            Some(other) => panic!("{SHAPES}: {}: there is no check {other:?}", shape.id),
        };
        let _ = writeln!(
            code,
            "    ShippedShape {{ id: {:?}, anchors: &{:?}, also: {:?}, pattern: {:?}, check: {check} }},",
            shape.id,
            anchors(shape),
            shape.also,
            shape.pattern,
        );
    }
    code.push_str("];\n");
    let text = code.clone();
    let _ = writeln!(
        code,
        "/// The table as text, for the digest.\npub(crate) static SHIPPED_TEXT: &str = {text:?};"
    );
    code
}

/// Every anchor, and every word in its three spellings. One that holds another says nothing more.
fn anchors(shape: &Shape) -> Vec<String> {
    let mut all: BTreeSet<String> = shape.anchors.iter().cloned().collect();
    for word in &shape.words {
        let (first, rest) = word.split_at(1);
        all.insert(word.clone());
        all.insert(word.to_ascii_uppercase());
        all.insert(first.to_ascii_uppercase() + rest);
    }
    let shorter = all.clone();
    all.retain(|anchor| {
        !shorter
            .iter()
            .any(|other| other != anchor && anchor.contains(other.as_str()))
    });
    assert!(!all.is_empty(), "{SHAPES}: {} has no anchor", shape.id);
    all.into_iter().collect()
}
