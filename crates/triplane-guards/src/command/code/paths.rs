//! Paths that a one-line program builds by calls: `Path('a') / 'b'`, `os.path.join('a', 'b')`,
//! `glob('a/*')`.

use crate::command::code::act::Language;
use crate::command::code::read::Reader;
use crate::command::code::token::Token;
use crate::command::word::{Part, Word};

/// Calls that make a path, or walk over one.
const MAKERS: [&str; 19] = [
    "Path",
    "PurePath",
    "PosixPath",
    "Pathname",
    "str",
    "abspath",
    "realpath",
    "normpath",
    "join",
    "glob",
    "iglob",
    "listdir",
    "scandir",
    "walk",
    "readdirSync",
    "mkdtemp",
    "mkdtempSync",
    "tmpdir",
    "gettempdir",
];

impl Reader {
    /// The path that the call at `start` makes or walks over, and where it ends.
    pub(crate) fn path_call(&self, start: usize) -> Option<(Word, usize)> {
        // `glob "a/*"`: a call without parentheses.
        if matches!(self.language, Language::Perl | Language::Ruby)
            && let Some([Token::Name(name), Token::Text(pattern)]) =
                self.tokens.get(start..start + 2)
            && name == "glob"
        {
            return Some((below(pattern), start + 2));
        }
        let (name, open) = self.callee(start)?;
        // Nothing is read twice for a call that makes no path: calls nest.
        if !MAKERS.contains(&name) {
            return None;
        }
        let args = self.arguments(open + 1);
        let first = || match args.first().map(Vec::as_slice) {
            Some([word]) => Some(word.clone()),
            Some(_) | None => None,
        };
        let mut end = self.closing(open)? + 1;
        let mut path = match name {
            "Path" | "PurePath" | "PosixPath" | "Pathname" | "str" | "abspath" | "realpath"
            | "normpath" => first()?,
            "join" if self.tokens.get(open.checked_sub(2)?) == Some(&Token::Sign('.')) => {
                // A text joins the items of a list; a module joins the parts of a path.
                match self.tokens.get(open.checked_sub(3)?) {
                    Some(Token::Name(module)) if module == "path" || module == "File" => {
                        joined(&args)?
                    }
                    _ => return None,
                }
            }
            "tmpdir" | "gettempdir" if args.is_empty() => Word::text("/tmp", self.span.clone()),
            // A new folder: in the temporary one, unless it says where.
            "mkdtemp" | "mkdtempSync" if args.is_empty() => {
                let named = Token::Name("dir".to_owned());
                if self.tokens[open..end].contains(&named) {
                    return None;
                }
                let mut folder = Word::text("/tmp", self.span.clone());
                folder.push(Part::Below);
                folder
            }
            "mkdtempSync" => {
                let mut folder = first()?;
                folder.push(Part::Token);
                folder
            }
            "glob" | "iglob" => below(&first()?),
            "listdir" | "scandir" | "walk" | "readdirSync" if args.is_empty() => {
                below(&Word::default())
            }
            "listdir" | "scandir" | "walk" | "readdirSync" => {
                let mut folder = first()?;
                folder.push(Part::Below);
                folder
            }
            _ => return None,
        };
        loop {
            match self.tokens.get(end..) {
                Some([Token::Sign('/'), Token::Text(text), ..]) => {
                    path.push_str("/");
                    text.parts.iter().for_each(|part| path.push(part.clone()));
                    end += 2;
                }
                Some([Token::Sign('.'), Token::Name(method), Token::Sign('('), ..]) => {
                    match method.as_str() {
                        "glob" | "rglob" | "iterdir" | "walk" | "children" | "each_child" => {
                            path.push(Part::Below);
                        }
                        "resolve" | "absolute" | "expanduser" => {}
                        _ => return None,
                    }
                    end = self.closing(end + 2)? + 1;
                }
                _ => return Some((path, end)),
            }
        }
    }

    /// The last name of a dotted chain that is called, and where its parenthesis stands.
    fn callee(&self, start: usize) -> Option<(&str, usize)> {
        let mut at = start;
        loop {
            match self.tokens.get(at..)? {
                [Token::Name(name), Token::Sign('('), ..] => return Some((name, at + 1)),
                [Token::Name(_), Token::Sign('.'), ..] => at += 2,
                _ => return None,
            }
        }
    }

    /// Where the parenthesis at `open` is closed.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token {
                Token::Sign('(') => depth += 1,
                Token::Sign(')') => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Whether nothing can follow that would change the value before it.
pub(crate) fn ends(token: &Token) -> bool {
    match token {
        Token::LineEnd => true,
        Token::Sign(sign) => matches!(sign, ',' | ';' | ')' | ']' | '}' | ':'),
        Token::Name(name) => matches!(name.as_str(), "for" | "if" | "in" | "else"),
        Token::Text(_) | Token::Command(_) | Token::Number(_) => false,
    }
}

/// The parts of a path in one word; an absolute part starts again.
fn joined(args: &[Vec<Word>]) -> Option<Word> {
    let mut path = Word::default();
    for words in args {
        let [word] = words.as_slice() else {
            return None;
        };
        if word.prefix().starts_with('/') {
            path = word.clone();
            continue;
        }
        if !path.parts.is_empty() && !path.prefix().ends_with('/') {
            path.push_str("/");
        }
        word.parts.iter().for_each(|part| path.push(part.clone()));
    }
    Some(path)
}

/// Something below the folder that a pattern starts with.
pub(crate) fn below(pattern: &Word) -> Word {
    let text = pattern.prefix();
    let fixed = &text[..text.find(['*', '?', '[']).unwrap_or(text.len())];
    let folder = match fixed.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => "",
    };
    let mut word = Word {
        parts: Vec::new(),
        span: pattern.span.clone(),
    };
    if !folder.is_empty() {
        word.push_str(folder);
    }
    if pattern.literal().is_none() {
        word.push(Part::Unknown);
    }
    word.push(Part::Below);
    word
}
