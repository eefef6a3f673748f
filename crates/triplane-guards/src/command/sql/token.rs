//! SQL text to tokens: comments dropped, strings and quoted names kept apart.

/// How a client reads backslashes and `#`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Standard,
    MySql,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    Quoted(String),
    Text(String),
    Number(String),
    Sign(char),
}

/// The tokens of a text, words in lower case.
pub(crate) fn tokens(text: &str, dialect: Dialect) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut executable_comment = false;
    while at < chars.len() {
        let c = chars[at];
        let next = chars.get(at + 1).copied();
        match (c, next) {
            ('-', Some('-')) => at = line_end(&chars, at),
            ('#', _) if dialect == Dialect::MySql => at = line_end(&chars, at),
            ('/', Some('*')) => {
                at += 2;
                if chars.get(at) == Some(&'M') && chars.get(at + 1) == Some(&'!') {
                    at += 1;
                }
                if chars.get(at) == Some(&'!') {
                    // An executable comment: its content is code for the servers that know it.
                    executable_comment = true;
                    at += 1;
                    while chars.get(at).is_some_and(char::is_ascii_digit) {
                        at += 1;
                    }
                } else {
                    at = comment_end(&chars, at, dialect);
                }
            }
            ('*', Some('/')) if executable_comment => {
                executable_comment = false;
                at += 2;
            }
            ('\'', _) => {
                let escapes = dialect == Dialect::MySql
                    || matches!(tokens.last(), Some(Token::Word(word)) if word == "e");
                let (text, end) = quoted(&chars, at, '\'', escapes);
                tokens.push(Token::Text(text));
                at = end;
            }
            ('"', _) if dialect == Dialect::MySql => {
                let (text, end) = quoted(&chars, at, '"', true);
                tokens.push(Token::Text(text));
                at = end;
            }
            ('"' | '`', _) => {
                let (name, end) = quoted(&chars, at, c, false);
                tokens.push(Token::Quoted(name));
                at = end;
            }
            ('$', _) => {
                if let Some((text, end)) = dollar_quoted(&chars, at) {
                    tokens.push(Token::Text(text));
                    at = end;
                } else {
                    tokens.push(Token::Sign(c));
                    at += 1;
                }
            }
            _ if c.is_alphabetic() || c == '_' => {
                let start = at;
                while chars
                    .get(at)
                    .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
                {
                    at += 1;
                }
                let word: String = chars[start..at].iter().collect();
                tokens.push(Token::Word(word.to_lowercase()));
            }
            _ if c.is_ascii_digit() => {
                let start = at;
                while chars
                    .get(at)
                    .is_some_and(|c| c.is_ascii_alphanumeric() || *c == '.')
                {
                    at += 1;
                }
                tokens.push(Token::Number(chars[start..at].iter().collect()));
            }
            _ => {
                if !c.is_whitespace() {
                    tokens.push(Token::Sign(c));
                }
                at += 1;
            }
        }
    }
    tokens
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..]
        .iter()
        .position(|&c| c == '\n')
        .map_or(chars.len(), |length| at + length)
}

/// Behind a comment; standard comments nest, those of `MySQL` do not.
fn comment_end(chars: &[char], start: usize, dialect: Dialect) -> usize {
    let mut at = start;
    let mut depth = 1;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            ('/', Some('*')) if dialect == Dialect::Standard => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    at
}

fn quoted(chars: &[char], start: usize, quote: char, escapes: bool) -> (String, usize) {
    let mut text = String::new();
    let mut at = start + 1;
    while at < chars.len() {
        let c = chars[at];
        if escapes && c == '\\' {
            text.extend(chars.get(at + 1));
            at += 2;
        } else if c == quote {
            if chars.get(at + 1) == Some(&quote) {
                text.push(quote);
                at += 2;
            } else {
                return (text, at + 1);
            }
        } else {
            text.push(c);
            at += 1;
        }
    }
    (text, at)
}

fn dollar_quoted(chars: &[char], start: usize) -> Option<(String, usize)> {
    let length = chars[start + 1..].iter().position(|&c| c == '$')?;
    let tag = &chars[start..=start + 1 + length];
    if !tag[1..tag.len() - 1]
        .iter()
        .all(|c| c.is_alphanumeric() || *c == '_')
    {
        return None;
    }
    let body = start + tag.len();
    let end = chars[body..]
        .windows(tag.len())
        .position(|window| window == tag)?;
    let text = chars[body..body + end].iter().collect();
    Some((text, body + end + tag.len()))
}
