//! Reading a rule file one table at a time.
//!
//! The TOML reader makes lists of all tokens and all values of a text before the first rule comes of
//! them: for a hundred rules some four hundred KiB of fresh memory, whose pages cost a hook more
//! than reading them does. Of one table they are small, and the next one takes the same memory.
//!
//! A table begins at a line that begins with `[[`. Where that is not so the piece before it does not
//! end well, except in a text of several lines, which is why a file that has one is read whole. So is a
//! file of which any piece is wrong: what is wrong is then told as it is of the whole.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::command::rules::declared::{self, Allow, File, Program, Rule, Wrong};

/// What stands before the first table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    version: Spanned<u32>,
}

/// The tables of one piece.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(default)]
    program: Vec<Program>,
    #[serde(default)]
    rule: Vec<Rule>,
    #[serde(default)]
    allow: Vec<Allow>,
}

/// [`declared::read`], sooner done.
pub(crate) fn read(
    text: &str,
    pattern: impl Fn(&str) -> Result<(), String>,
) -> Result<File, Wrong> {
    match pieces(text) {
        Some(file) => file.checked(pattern),
        None => declared::read(text, pattern),
    }
}

fn pieces(text: &str) -> Option<File> {
    if text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    let end_of = |from: usize| {
        text[from..]
            .find("\n[[")
            .map_or(text.len(), |at| from + at + 1)
    };
    let mut from = end_of(0);
    let head: Head = toml::from_str(&text[..from]).ok()?;
    let mut file = File {
        version: head.version,
        program: Vec::new(),
        rule: Vec::new(),
        allow: Vec::new(),
    };
    while from < text.len() {
        let to = end_of(from);
        let mut tables: Tables = toml::from_str(&text[from..to]).ok()?;
        tables.move_by(from);
        file.program.append(&mut tables.program);
        file.rule.append(&mut tables.rule);
        file.allow.append(&mut tables.allow);
        from = to;
    }
    Some(file)
}

impl Tables {
    /// Moves all places behind what stands before the piece.
    fn move_by(&mut self, by: usize) {
        for program in &mut self.program {
            moved(&mut program.names, by);
        }
        for rule in &mut self.rule {
            moved(&mut rule.id, by);
            moved(&mut rule.programs, by);
            for text in [&mut rule.text, &mut rule.line].into_iter().flatten() {
                moved(text, by);
            }
            moved(&mut rule.reason, by);
            moved(&mut rule.safer, by);
            moved(&mut rule.deny, by);
            for case in rule.deny.get_mut().iter_mut().chain(&mut rule.allow) {
                moved(case, by);
            }
        }
        for entry in &mut self.allow {
            moved(&mut entry.id, by);
            moved(&mut entry.rule, by);
            moved(&mut entry.command, by);
            moved(&mut entry.reason, by);
            if let Some(folder) = &mut entry.folder {
                moved(folder, by);
            }
            if let Some(expires) = &mut entry.expires {
                let Range { start, end } = expires.span();
                *expires = Spanned::new(start + by..end + by, expires.get_ref().clone());
            }
        }
    }
}

fn moved<T: Default>(spanned: &mut Spanned<T>, by: usize) {
    let Range { start, end } = spanned.span();
    let value = std::mem::take(spanned.get_mut());
    *spanned = Spanned::new(start + by..end + by, value);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn whole(text: &str) -> Result<File, Wrong> {
        declared::read(text, |_| Ok(()))
    }

    /// Whether `text` is read in pieces, and then as if it was read whole.
    fn is_read_in_pieces(text: &str) -> bool {
        let Some(file) = pieces(text) else {
            return false;
        };
        let file = file.checked(|_| Ok(()));
        assert_eq!(format!("{file:?}"), format!("{:?}", whole(text)), "{text}");
        true
    }

    const ALL: &str = "# é\nversion = 1\n\n[[program]]\nnames = [\"a\"]\n\n[[rule]]\nid = \"t.a\"\n\
                       tier = \"dangerous\"\nprograms = [\"a\"]\ntext = \"x\"\nline = \"y\"\n\
                       reason = \"r\"\nsafer = \"s\"\ndeny = [\n\"a x\",\n\"a xy\"]\nallow = [\"a\"]\n\
                       [[allow]]\nid = \"e\"\nrule = \"t.a\"\ncommand = \"a x\"\nfolder = \"f\"\n\
                       reason = \"é\"\nexpires = 2027-01-31\n";

    #[test]
    fn what_is_read_in_pieces_is_what_is_read_whole() {
        assert!(is_read_in_pieces("version = 1"));
        assert!(is_read_in_pieces(ALL));
        assert!(is_read_in_pieces(&ALL.replace('\n', "\r\n")));
        assert!(is_read_in_pieces(
            &ALL.replace("[[rule]]", "[[ \"rule\" ]] # one")
        ));
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
        for file in fs::read_dir(rules).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(is_read_in_pieces(&text));
        }
    }

    #[test]
    fn what_only_looks_like_a_table_is_none() {
        for lines in ["\"\"\"\n[[rule]]\n\"\"\"", "'''\n[[rule]]\n'''"] {
            let text = ALL.replace("reason = \"r\"", &format!("reason = {lines}"));
            assert!(!is_read_in_pieces(&text));
            assert_eq!(whole(&text).unwrap().rule[0].reason.get_ref(), "[[rule]]\n");
        }
        let nested = ALL.replace("programs", "flags = [\n[\"-a\"],\n[[\"-b\"]]]\nprograms");
        assert!(!is_read_in_pieces(&nested));
    }

    #[test]
    fn what_is_wrong_is_told_as_of_the_whole() {
        for (right, wrong) in [
            ("version = 1", ""),
            ("version = 1", "version = 1\nrule = []"),
            ("[[allow]]", "[[allows]]"),
            ("[[allow]]", "[version]"),
            ("safer", "safe"),
            ("tier = \"dangerous\"", "tier = \"a\""),
            ("\"a xy\"]", "\"a xy\""),
            ("id = \"e\"", "id = \"t.a\""),
            ("id = \"t.a\"", "id = \"\""),
            ("reason = \"é\"", "reason = \"\""),
            ("deny = [\n\"a x\",", "deny = [\n\"a\","),
        ] {
            let text = ALL.replacen(right, wrong, 1);
            let told = read(&text, |_| Ok(())).unwrap_err();
            assert_eq!(told, whole(&text).unwrap_err(), "{text}");
        }
        let told = read(ALL, |pattern| Err(pattern.to_owned())).unwrap_err();
        assert_eq!((&ALL[told.span], told.message.as_str()), ("\"x\"", "x"));
    }
}
