//! Whether a statement picks rows, or says so and means every one.

use crate::command::sql::token::Token;

/// Words that end the predicate of a statement.
const ENDS: [&str; 8] = [
    "returning",
    "limit",
    "order",
    "group",
    "having",
    "union",
    "fetch",
    "for",
];

/// How deep a predicate is read; below that it counts as one that depends on the row.
const DEPTH_MAX: usize = 16;

/// Whether a statement has a predicate that does not hold for every row on its face.
pub(crate) fn is_filtered(statement: &[Token]) -> bool {
    let Some(at) = outermost(statement, |token| is_word(token, "where")).next() else {
        return false;
    };
    let rest = &statement[at + 1..];
    let end = outermost(
        rest,
        |token| matches!(token, Token::Word(word) if ENDS.contains(&word.as_str())),
    )
    .next()
    .unwrap_or(rest.len());
    !rest[..end].is_empty() && holds(&rest[..end], 0) != Some(true)
}

fn is_word(token: &Token, wanted: &str) -> bool {
    matches!(token, Token::Word(word) if word == wanted)
}

/// The places outside of parentheses where `wanted` stands.
fn outermost(tokens: &[Token], wanted: impl Fn(&Token) -> bool) -> impl Iterator<Item = usize> {
    let mut nesting = 0usize;
    tokens.iter().enumerate().filter_map(move |(at, token)| {
        match token {
            Token::Sign('(') => nesting += 1,
            Token::Sign(')') => nesting = nesting.saturating_sub(1),
            _ => {}
        }
        (nesting == 0 && wanted(token)).then_some(at)
    })
}

/// Whether the condition holds for every row, for none, or depends on the row.
fn holds(tokens: &[Token], depth: usize) -> Option<bool> {
    if depth > DEPTH_MAX {
        return None;
    }
    let either = terms(tokens, "or", '|');
    if either.len() > 1 {
        let values: Vec<_> = either.iter().map(|term| holds(term, depth + 1)).collect();
        return if values.contains(&Some(true)) {
            Some(true)
        } else {
            values
                .iter()
                .all(|value| *value == Some(false))
                .then_some(false)
        };
    }
    if tokens.iter().any(|token| is_word(token, "between")) {
        return None;
    }
    let both = terms(tokens, "and", '&');
    if both.len() > 1 {
        let values: Vec<_> = both.iter().map(|term| holds(term, depth + 1)).collect();
        return if values.contains(&Some(false)) {
            Some(false)
        } else {
            values
                .iter()
                .all(|value| *value == Some(true))
                .then_some(true)
        };
    }
    match tokens {
        [Token::Sign('('), inner @ .., Token::Sign(')')] => holds(inner, depth + 1),
        [Token::Word(not), rest @ ..] if not == "not" => holds(rest, depth + 1).map(|value| !value),
        [Token::Sign('!'), rest @ ..] => holds(rest, depth + 1).map(|value| !value),
        [Token::Word(word)] if word == "true" => Some(true),
        [Token::Word(word)] if word == "false" => Some(false),
        [Token::Number(number)] => number.parse::<f64>().ok().map(|number| number != 0.0),
        [
            Token::Word(exists),
            Token::Sign('('),
            Token::Word(select),
            Token::Number(_),
            Token::Sign(')'),
        ] if exists == "exists" && select == "select" => Some(true),
        [_, Token::Word(like), Token::Text(pattern)]
            if matches!(like.as_str(), "like" | "ilike") =>
        {
            (!pattern.is_empty() && pattern.bytes().all(|byte| byte == b'%')).then_some(true)
        }
        [
            Token::Number(_) | Token::Text(_),
            Token::Word(is),
            Token::Word(not),
            Token::Word(null),
        ] if is == "is" && not == "not" && null == "null" => Some(true),
        _ => compared(tokens),
    }
}

/// The terms that `word`, or the sign doubled, joins outside of parentheses.
fn terms<'t>(tokens: &'t [Token], word: &str, sign: char) -> Vec<&'t [Token]> {
    let joins: Vec<usize> = outermost(tokens, |token| {
        is_word(token, word) || *token == Token::Sign(sign)
    })
    .collect();
    let mut terms = Vec::new();
    let mut start = 0;
    for at in joins {
        if at > start {
            terms.push(&tokens[start..at]);
        }
        start = at + 1;
    }
    terms.push(&tokens[start.min(tokens.len())..]);
    terms
}

/// A comparison of literals, or of a thing with itself.
fn compared(tokens: &[Token]) -> Option<bool> {
    let from = tokens
        .iter()
        .position(|token| matches!(token, Token::Sign('=' | '<' | '>' | '!')))?;
    let length = tokens[from..]
        .iter()
        .take_while(|token| matches!(token, Token::Sign('=' | '<' | '>' | '!')))
        .count();
    let (left, right) = (&tokens[..from], &tokens[from + length..]);
    let sign: String = tokens[from..from + length]
        .iter()
        .filter_map(|token| match token {
            Token::Sign(sign) => Some(*sign),
            _ => None,
        })
        .collect();
    let order = match (left, right) {
        (left, right) if left == right && !left.is_empty() => Some(std::cmp::Ordering::Equal),
        ([Token::Number(left)], [Token::Number(right)]) => left
            .parse::<f64>()
            .ok()?
            .partial_cmp(&right.parse::<f64>().ok()?),
        ([Token::Text(left)], [Token::Text(right)]) => Some(left.cmp(right)),
        _ => None,
    }?;
    match sign.as_str() {
        "=" | "==" | "<=>" => Some(order.is_eq()),
        "<>" | "!=" => Some(order.is_ne()),
        "<" => Some(order.is_lt()),
        ">" => Some(order.is_gt()),
        "<=" => Some(order.is_le()),
        ">=" => Some(order.is_ge()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::sql::token::{Dialect, tokens};

    #[test]
    fn a_predicate_that_holds_for_every_row_picks_none() {
        let check = |sql: &str, wanted| {
            assert_eq!(
                is_filtered(&tokens(sql, Dialect::Standard)),
                wanted,
                "{sql}"
            );
        };
        check("delete from t", false);
        check("delete from t where id = 1", true);
        check("delete from t where", false);
        check("delete from t where true", false);
        check("delete from t where (1 = 1)", false);
        check("delete from t where 1=1 or id = 3", false);
        check("delete from t where id = 3 or 'a' = 'a'", false);
        check("delete from t where 1=1 and id = 3", true);
        check("delete from t where not false", false);
        check("delete from t where not (1 = 2)", false);
        check("delete from t where t.id = t.id", false);
        check("delete from t where 2 > 1 limit 5", false);
        check("delete from t where name like '%'", false);
        check("delete from t where name like 'a%'", true);
        check("delete from t where id between 1 and 5", true);
        check(
            "delete from t where id in (select id from u where true)",
            true,
        );
        check("update t set a = (select 1 where id = 2)", false);
        check("delete from t where id = 1 returning *", true);
        check("delete from t where 1", false);
        check("delete from t where 1 <> 2", false);
        check("delete from t where false", true);
    }
}
