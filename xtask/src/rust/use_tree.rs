//! `use` declarations, taken apart into one import per name.

use crate::rust::lexer::{Kind, Token};

/// One path of a `use` declaration, or one path in the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    /// The segments, `crate`, `self` and `super` included; a leading `::` is an empty segment.
    pub(crate) segments: Vec<String>,
    /// What it brings into scope.
    pub(crate) brings: Brings,
    /// The line of its last segment.
    pub(crate) line: u32,
}

/// What an [`Import`] brings into its module's scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Brings {
    /// This name.
    Name(String),
    /// Everything public.
    Everything,
    /// Nothing: a path in the code, or `as _`.
    Nothing,
}

/// Reads the tree after a `use` at `at`; returns its imports and where the declaration ends.
pub(crate) fn parse(tokens: &[Token<'_>], at: usize) -> (Vec<Import>, usize) {
    let mut imports = Vec::new();
    let end = branch(tokens, at, &[], &mut imports);
    (imports, end)
}

fn branch(tokens: &[Token<'_>], mut at: usize, stem: &[String], out: &mut Vec<Import>) -> usize {
    let mut segments = stem.to_vec();
    if is(tokens, at, "::") {
        if segments.is_empty() {
            segments.push(String::new());
        }
        at += 1;
    }
    let mut line = tokens.get(at).map_or(0, |token| token.line);
    while let Some(token) = tokens.get(at) {
        match token.text {
            "{" => {
                at += 1;
                while at < tokens.len() && !is(tokens, at, "}") {
                    at = branch(tokens, at, &segments, out);
                    at += usize::from(is(tokens, at, ","));
                }
                return at + 1;
            }
            "*" => {
                let brings = Brings::Everything;
                out.push(Import {
                    segments,
                    brings,
                    line: token.line,
                });
                return at + 1;
            }
            "::" => at += 1,
            _ if token.kind == Kind::Ident && token.text != "as" => {
                line = token.line;
                segments.push(token.text.to_owned());
                at += 1;
            }
            _ => break,
        }
    }
    // `a::{self}` means `a`, but a leading `self` is a place to start from.
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
        segments.pop();
    }
    let mut name = segments.last().cloned();
    if is(tokens, at, "as") {
        name = tokens.get(at + 1).map(|token| token.text.to_owned());
        at += 2;
    }
    let brings = match name {
        Some(name) if name != "_" => Brings::Name(name),
        _ => Brings::Nothing,
    };
    if !segments.is_empty() {
        out.push(Import {
            segments,
            brings,
            line,
        });
    }
    // Whatever cannot be read is stepped over, so that the walk always ends.
    if is(tokens, at, ",") || is(tokens, at, "}") || is(tokens, at, ";") {
        at
    } else {
        at + 1
    }
}

fn is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.is(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust::lexer::tokens;

    fn check(tree: &str, wanted: &[&str]) {
        let tokens = tokens(tree);
        let (imports, end) = parse(&tokens, 0);
        let got: Vec<_> = imports
            .iter()
            .map(|import| {
                let path = import.segments.join("::");
                match &import.brings {
                    Brings::Name(name) if import.segments.last() == Some(name) => path,
                    Brings::Name(name) => format!("{path} as {name}"),
                    Brings::Everything => format!("{path}::*"),
                    Brings::Nothing => format!("{path} as _"),
                }
            })
            .collect();
        assert_eq!(got, wanted, "{tree}");
        assert!(is(&tokens, end, ";"), "{tree} ends at {end}");
    }

    #[test]
    fn a_tree_is_one_import_per_name() {
        check("a;", &["a"]);
        check("::a::b;", &["::a::b"]);
        check(
            "crate::a::{b, c::{self, d as e}, f::*,};",
            &[
                "crate::a::b",
                "crate::a::c",
                "crate::a::c::d as e",
                "crate::a::f::*",
            ],
        );
        check("{a::b, c};", &["a::b", "c"]);
        check("a::B as _;", &["a::B as _"]);
        check("super::super::x;", &["super::super::x"]);
    }
}
