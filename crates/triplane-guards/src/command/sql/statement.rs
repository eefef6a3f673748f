//! Tokens to statements, and what a client's own commands run.

use crate::command::sql::predicate::is_filtered;
use crate::command::sql::token::{Dialect, Token, tokens};
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

/// Whether `ALTER … DROP` of this takes no data away.
fn loosens(what: &str) -> bool {
    matches!(
        what,
        "not"
            | "default"
            | "identity"
            | "expression"
            | "constraint"
            | "index"
            | "key"
            | "check"
            | "foreign"
            | "primary"
            | "unique"
            | "trigger"
            | "rule"
            | "policy"
            | "generated"
    )
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
        // What only loosens a table drops no data.
        Some("alter") => {
            let before = words.clone();
            let mut at = 0;
            words.retain(|word| {
                at += 1;
                word != "drop" || !before.get(at).is_some_and(|next| loosens(next))
            });
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
    let filtered = is_filtered(statement);
    acts.push(SqlAct::Statement { words, filtered });
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
