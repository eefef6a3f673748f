//! SQL text to statements: comments dropped, strings kept apart, predicates recognised.

use crate::command::word::{Part, Word};

/// What an SQL text asks for, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SqlAct {
    /// A statement by its words, lower case; strings and identifiers are no words of it.
    Statement { words: Vec<String>, filtered: bool },
    /// A client's escape to the shell.
    Shell(String),
    /// Text that is not known.
    Unknown,
}

/// How a client reads backslashes and `#`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Standard,
    MySql,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Quoted(String),
    Text(String),
    Number(String),
    Sign(char),
}

/// Reads the text of a word.
pub(crate) fn acts(text: &Word, dialect: Dialect) -> Vec<SqlAct> {
    let mut plain = String::new();
    for part in &text.parts {
        match part {
            Part::Text(text) | Part::Glob(text) => plain.push_str(text),
            Part::Token | Part::Below => plain.push('0'),
            Part::Unknown => return vec![SqlAct::Unknown],
        }
    }
    let mut acts = Vec::new();
    let text = escapes(&plain, &mut acts);
    statements(&tokens(&text, dialect), dialect, 0, &mut acts);
    acts
}

/// Takes the lines out that a client runs in a shell: `\! cmd`, `.shell cmd`, `system cmd`.
fn escapes(text: &str, acts: &mut Vec<SqlAct>) -> String {
    let mut sql = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let shell = ["\\!", ".shell ", ".system ", "system "]
            .iter()
            .find_map(|escape| start.strip_prefix(escape));
        match shell {
            Some(command) => acts.push(SqlAct::Shell(command.trim().to_owned())),
            None => match line.find("\\!") {
                Some(at) => {
                    acts.push(SqlAct::Shell(line[at + 2..].trim().to_owned()));
                    sql.push_str(&line[..at]);
                }
                None => sql.push_str(line),
            },
        }
    }
    sql
}

fn tokens(text: &str, dialect: Dialect) -> Vec<Token> {
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

fn statements(tokens: &[Token], dialect: Dialect, depth: usize, acts: &mut Vec<SqlAct>) {
    if depth > 8 {
        acts.push(SqlAct::Unknown);
        return;
    }
    for statement in tokens.split(|token| *token == Token::Sign(';')) {
        if statement.is_empty() {
            continue;
        }
        // A subquery that changes data is a statement of its own.
        let mut nesting: usize = 0;
        let mut outer = Vec::with_capacity(statement.len());
        let mut start = 0;
        for (at, token) in statement.iter().enumerate() {
            match token {
                Token::Sign('(') => {
                    nesting += 1;
                    if nesting == 1 {
                        start = at + 1;
                    }
                }
                Token::Sign(')') if nesting > 1 => nesting -= 1,
                Token::Sign(')') if nesting == 1 => {
                    nesting = 0;
                    let inner = &statement[start..at];
                    if matches!(inner.first(), Some(Token::Word(verb)) if is_change(verb)) {
                        statements(inner, dialect, depth + 1, acts);
                    }
                    outer.push(&Token::Sign(')'));
                }
                token if nesting == 0 => outer.push(token),
                _ => {}
            }
        }
        one(&outer, statement, dialect, depth, acts);
    }
}

fn is_change(verb: &str) -> bool {
    matches!(
        verb,
        "delete" | "update" | "drop" | "truncate" | "insert" | "merge"
    )
}

fn one(
    outer: &[&Token],
    statement: &[Token],
    dialect: Dialect,
    depth: usize,
    acts: &mut Vec<SqlAct>,
) {
    let mut words: Vec<String> = outer
        .iter()
        .filter_map(|token| match token {
            Token::Word(word) => Some(word.clone()),
            Token::Quoted(_) | Token::Text(_) | Token::Number(_) | Token::Sign(_) => None,
        })
        .collect();
    if let Some(at) = words.iter().position(|word| word == "program")
        && words.first().is_some_and(|word| word == "copy")
    {
        let _ = at;
        if let Some(Token::Text(command)) = statement
            .iter()
            .skip_while(|token| **token != Token::Word("program".to_owned()))
            .nth(1)
        {
            acts.push(SqlAct::Shell(command.clone()));
        }
    }
    match words.first().map(String::as_str) {
        // An explained statement does not run, unless it is analysed.
        Some("explain") => {
            if !words.iter().any(|word| word == "analyze") {
                return;
            }
            words.retain(|word| {
                !matches!(word.as_str(), "explain" | "analyze" | "verbose" | "buffers")
            });
        }
        // The statement behind the common table expressions.
        Some("with") => {
            if let Some(at) = words
                .iter()
                .position(|word| is_change(word) || word == "select")
            {
                words.drain(..at);
            }
        }
        Some("do" | "execute" | "exec" | "call" | "prepare") => {
            for token in statement {
                if let Token::Text(text) = token {
                    statements(&tokens(text, dialect), dialect, depth + 1, acts);
                }
            }
        }
        _ if words.iter().any(|word| word == "execute") => {
            for token in statement {
                if let Token::Text(text) = token {
                    statements(&tokens(text, dialect), dialect, depth + 1, acts);
                }
            }
        }
        Some("begin" | "if" | "then" | "else") => {
            // A block without its dollar quotes: each word may start a statement.
            if let Some(at) = words.iter().position(|word| is_change(word)) {
                words.drain(..at);
            }
        }
        _ => {}
    }
    let filtered = predicate(outer).is_some_and(|tokens| !is_tautology(tokens));
    acts.push(SqlAct::Statement { words, filtered });
}

fn predicate<'a, 'b>(outer: &'b [&'a Token]) -> Option<&'b [&'a Token]> {
    let at = outer
        .iter()
        .position(|token| matches!(token, Token::Word(word) if word == "where"))?;
    Some(&outer[at + 1..])
}

/// Whether a predicate holds for every row on its face.
fn is_tautology(tokens: &[&Token]) -> bool {
    let alone = |rest: &[&Token]| {
        rest.is_empty() || matches!(rest.first(), Some(Token::Word(word)) if word == "or")
    };
    match tokens {
        [] => true,
        [Token::Word(word), rest @ ..] if word == "true" => alone(rest),
        [left, Token::Sign('='), right, rest @ ..] if left == right => alone(rest),
        [Token::Number(number), rest @ ..] if number != "0" => alone(rest),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, wanted: &[(&str, bool)]) {
        let acts = acts(&Word::text(sql, 0..0), Dialect::Standard);
        let got: Vec<(String, bool)> = acts
            .into_iter()
            .map(|act| match act {
                SqlAct::Statement { words, filtered } => (
                    words.into_iter().take(3).collect::<Vec<_>>().join(" "),
                    filtered,
                ),
                SqlAct::Shell(command) => (format!("! {command}"), false),
                SqlAct::Unknown => ("?".to_owned(), false),
            })
            .collect();
        let wanted: Vec<(String, bool)> = wanted
            .iter()
            .map(|(words, filtered)| ((*words).to_owned(), *filtered))
            .collect();
        assert_eq!(got, wanted, "{sql}");
    }

    #[test]
    fn text_is_split_into_statements() {
        check(
            "SELECT 1; DROP  TABLE users",
            &[("select", false), ("drop table users", false)],
        );
        check("DROP/**/TABLE t", &[("drop table t", false)]);
        check("/*!50000 DROP TABLE t */", &[("drop table t", false)]);
        check("SELECT 'a; DROP TABLE t'", &[("select", false)]);
        check("DELETE FROM t -- WHERE id = 1", &[("delete from t", false)]);
        check("DELETE FROM t WHERE id = 1", &[("delete from t", true)]);
        check("DELETE FROM t WHERE 1 = 1", &[("delete from t", false)]);
        check(
            "WITH d AS (DELETE FROM t RETURNING *) SELECT 1",
            &[("delete from t", false), ("select", false)],
        );
        check("\\! rm -rf /data", &[("! rm -rf /data", false)]);
        check(
            "DO $$ BEGIN DROP TABLE t; END $$",
            &[("drop table t", false), ("end", false), ("do", false)],
        );
    }
}
