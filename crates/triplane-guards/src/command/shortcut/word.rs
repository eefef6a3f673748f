//! Words of plain text, quotes and variables.

use brush_parser::word::{Parameter, ParameterExpr, WordPiece, WordPieceWithSource};

/// The pieces that the grammar reads in `raw`, if they can be read without it.
pub(crate) fn pieces(raw: &str) -> Option<Vec<WordPieceWithSource>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(&byte) = raw.as_bytes().get(at) {
        let rest = &raw[at..];
        let (piece, length) = match byte {
            b'\'' => {
                let length = rest[1..].find('\'')?;
                let text = rest[1..=length].to_owned();
                (WordPiece::SingleQuotedText(text), length + 2)
            }
            b'"' => {
                let (inner, length) = double_quoted(rest, at)?;
                (WordPiece::DoubleQuotedSequence(inner), length)
            }
            b'$' => parameter(rest)?,
            _ => {
                let length = rest.bytes().take_while(|&byte| is_plain(byte)).count();
                if length == 0 {
                    return None;
                }
                (WordPiece::Text(rest[..length].to_owned()), length)
            }
        };
        pieces.push(WordPieceWithSource {
            piece,
            start_index: at,
            end_index: at + length,
        });
        at += length;
    }
    Some(pieces)
}

/// Whether a byte stands for itself outside of quotes, wherever it stands.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'-' | b'.' | b'/' | b',' | b':' | b'=' | b'@' | b'%' | b'+' | b'*' | b'?'
        )
}

/// The pieces of the double quotes that `rest` starts with, and how long they are.
fn double_quoted(rest: &str, start: usize) -> Option<(Vec<WordPieceWithSource>, usize)> {
    let mut pieces = Vec::new();
    let mut at = 1;
    loop {
        let inner = &rest[at..];
        let (piece, length) = match inner.as_bytes().first()? {
            b'"' => return Some((pieces, at + 1)),
            b'$' => parameter(inner)?,
            b'\\' | b'`' => return None,
            _ => {
                let length = inner.find(['"', '$', '\\', '`'])?;
                (WordPiece::Text(inner[..length].to_owned()), length)
            }
        };
        pieces.push(WordPieceWithSource {
            piece,
            start_index: start + at,
            end_index: start + at + length,
        });
        at += length;
    }
}

/// The variable that `rest` starts with, if it is no more than a name, and how long that is.
fn parameter(rest: &str) -> Option<(WordPiece, usize)> {
    let (name, around) = if let Some(braced) = rest[1..].strip_prefix('{') {
        (&braced[..braced.find('}')?], 3)
    } else {
        let length = rest.bytes().skip(1).take_while(|&byte| is_of_a_name(byte));
        (&rest[1..=length.count()], 1)
    };
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !name.bytes().all(is_of_a_name) {
        return None;
    }
    let parameter = Parameter::Named(name.to_owned());
    let expr = ParameterExpr::Parameter {
        parameter,
        indirect: false,
    };
    Some((WordPiece::ParameterExpansion(expr), name.len() + around))
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
