//! From source text to tokens, with comments and white space left out.

/// A token and the line that it starts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    pub(crate) kind: Kind,
    /// The text as it stands; of a raw identifier without `r#`, of a literal with its quotes.
    pub(crate) text: &'s str,
    /// From 1.
    pub(crate) line: u32,
}

/// The kinds of token that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or a keyword.
    Ident,
    /// A lifetime or a label.
    Lifetime,
    /// A string, character or number.
    Literal,
    /// `::`, or one character of punctuation.
    Punct,
    /// A doc comment, without its marker.
    Doc,
}

impl Token<'_> {
    /// Whether this is the identifier or punctuation `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Ident | Kind::Punct) && self.text == text
    }
}

/// The tokens of `source`, doc comments left out.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut all = tokens_with_docs(source);
    all.retain(|token| token.kind != Kind::Doc);
    all
}

/// The tokens of `source`, doc comments included.
pub(crate) fn tokens_with_docs(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer {
        source,
        at: 0,
        line: 1,
    };
    let mut tokens = Vec::with_capacity(source.len() / 5);
    while let Some(token) = lexer.next_token() {
        tokens.push(token);
    }
    tokens
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: u32,
}

impl<'s> Lexer<'s> {
    fn next_token(&mut self) -> Option<Token<'s>> {
        loop {
            let rest = &self.source[self.at..];
            let first = rest.chars().next()?;
            let line = self.line;
            if first.is_whitespace() {
                self.take(first.len_utf8());
                continue;
            }
            if rest.starts_with("//") || rest.starts_with("/*") {
                let comment = self.take(comment_bytes(rest));
                if let Some(text) = doc_text(comment) {
                    let kind = Kind::Doc;
                    return Some(Token { kind, text, line });
                }
                continue;
            }
            let (kind, bytes) = measure(rest, first);
            let taken = self.take(bytes);
            let text = match kind {
                Kind::Ident => taken.strip_prefix("r#").unwrap_or(taken),
                _ => taken,
            };
            return Some(Token { kind, text, line });
        }
    }

    fn take(&mut self, bytes: usize) -> &'s str {
        let taken = &self.source[self.at..self.at + bytes];
        self.at += bytes;
        self.line += u32::try_from(taken.matches('\n').count()).unwrap_or(u32::MAX);
        taken
    }
}

fn comment_bytes(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The text of a doc comment; `None` for one that documents nothing, such as `////`.
fn doc_text(comment: &str) -> Option<&str> {
    if comment.starts_with("////") || comment.starts_with("/***") || comment == "/**/" {
        return None;
    }
    let line = comment.strip_prefix("///");
    if let Some(text) = line.or_else(|| comment.strip_prefix("//!")) {
        return Some(text);
    }
    let block = comment.strip_prefix("/**");
    let text = block.or_else(|| comment.strip_prefix("/*!"))?;
    Some(text.strip_suffix("*/").unwrap_or(text))
}

fn measure(rest: &str, first: char) -> (Kind, usize) {
    if let Some(bytes) = string_bytes(rest) {
        return (Kind::Literal, bytes);
    }
    if first == '\'' {
        return character_or_lifetime(rest);
    }
    if first.is_ascii_digit() {
        return (Kind::Literal, number_bytes(rest));
    }
    let raw = if rest.starts_with("r#") { 2 } else { 0 };
    let word = word_bytes(&rest[raw..]);
    if word > 0 && !first.is_ascii_digit() {
        return (Kind::Ident, raw + word);
    }
    if rest.starts_with("::") {
        return (Kind::Punct, 2);
    }
    (Kind::Punct, first.len_utf8())
}

fn word_bytes(rest: &str) -> usize {
    rest.find(|c: char| c != '_' && !c.is_alphanumeric())
        .unwrap_or(rest.len())
}

/// A number ends where `1..2` or `1.max(2)` goes on with something else.
fn number_bytes(rest: &str) -> usize {
    let whole = word_bytes(rest);
    let fraction = rest[whole..].strip_prefix('.').map_or(0, word_bytes);
    let starts_with_digit = rest[whole..]
        .chars()
        .nth(1)
        .is_some_and(|c| c.is_ascii_digit());
    if fraction > 0 && starts_with_digit {
        return whole + 1 + fraction;
    }
    whole
}

/// The length of a string with any prefix (`b`, `c`, `r`, `br`, `cr`), or `None` for another token.
fn string_bytes(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix)
            .is_some_and(|tail| tail.starts_with('"') || tail.starts_with('#'))
    })?;
    let tail = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = tail.len() - tail.trim_start_matches('#').len();
        let body = tail[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        let end = body.find(&close).map_or(body.len(), |at| at + close.len());
        return Some(prefix.len() + hashes + 1 + end);
    }
    let body = tail.strip_prefix('"')?;
    Some(prefix.len() + 1 + quoted_bytes(body, '"'))
}

/// The length of what follows an opening quote, the closing one included.
fn quoted_bytes(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    body.len()
}

/// `'a'` and `'\n'` are characters, `'a` is a lifetime.
fn character_or_lifetime(rest: &str) -> (Kind, usize) {
    let body = &rest[1..];
    let mut chars = body.chars();
    let first = chars.next();
    if first == Some('\\') || chars.next() == Some('\'') {
        return (Kind::Literal, 1 + quoted_bytes(body, '\''));
    }
    (Kind::Lifetime, 1 + word_bytes(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, wanted: &str) {
        let texts: Vec<_> = tokens(source).iter().map(|token| token.text).collect();
        assert_eq!(texts.join(" "), wanted, "{source}");
    }

    #[test]
    fn text_in_comments_is_no_token() {
        check("a // use b;\nc", "a c");
        check("a /* use /* b */ ; */ c", "a c");
        check("a /// use b;\n/** c */ d", "a d");
        check("/* never closed", "");
    }

    #[test]
    fn a_literal_is_one_token_whatever_it_holds() {
        check(r#"f("use b; // \" x") g"#, r#"f ( "use b; // \" x" ) g"#);
        check(r##"r#"a "b" // c"# d"##, r##"r#"a "b" // c"# d"##);
        check(r#"b"\"" c"x" br"\" d"#, r#"b"\"" c"x" br"\" d"#);
        check("'\"' x '\\'' y 'z'", "'\"' x '\\'' y 'z'");
        check("0..10 1.5e3 1.max(2)", "0 . . 10 1.5e3 1 . max ( 2 )");
    }

    #[test]
    fn a_lifetime_is_no_character() {
        check("&'a str, 'b: loop", "& 'a str , 'b : loop");
        check("b'x' b\"y\"", "b 'x' b\"y\"");
    }

    #[test]
    fn a_raw_identifier_is_its_name_and_a_path_separator_is_one_token() {
        check("r#type::x: y", "type :: x : y");
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let lines: Vec<_> = tokens("a\n/*\n*/ b \"\n\"\nc")
            .iter()
            .map(|t| t.line)
            .collect();
        assert_eq!(lines, [1, 3, 3, 5]);
    }
}
