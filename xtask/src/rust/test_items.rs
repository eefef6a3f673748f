//! Telling what is compiled only for tests from the rest.

use crate::rust::lexer::{Kind, Token};

/// The tokens of one file, parted by whether they are compiled outside tests.
#[derive(Debug, Default)]
pub(crate) struct Parted<'s> {
    pub(crate) shipped: Vec<Token<'s>>,
    pub(crate) tests: Vec<Token<'s>>,
}

/// Parts `tokens`: an item under `#[cfg(test)]` or `#[test]` goes to the tests, the rest is shipped.
///
/// A condition that holds `not` counts as shipped, and so does one that holds no `test`.
pub(crate) fn part<'s>(tokens: &[Token<'s>]) -> Parted<'s> {
    let mut parted = Parted::default();
    let mut at = 0;
    while at < tokens.len() {
        let attributes = attributes_end(tokens, at);
        if is_inner_test_attribute(tokens, at) {
            parted.tests.extend_from_slice(&tokens[at..]);
            break;
        }
        if attributes > at && is_for_tests(&tokens[at..attributes]) {
            let end = item_end(tokens, attributes);
            parted.tests.extend_from_slice(&tokens[at..end]);
            at = end;
            continue;
        }
        let end = attributes.max(at + 1);
        parted.shipped.extend_from_slice(&tokens[at..end]);
        at = end;
    }
    parted
}

/// Where the run of outer attributes that starts at `at` ends; `at` itself when there is none.
fn attributes_end(tokens: &[Token<'_>], mut at: usize) -> usize {
    while is(tokens, at, "#") && is(tokens, at + 1, "[") {
        at = group_end(tokens, at + 1);
    }
    at
}

fn is_inner_test_attribute(tokens: &[Token<'_>], at: usize) -> bool {
    is(tokens, at, "#")
        && is(tokens, at + 1, "!")
        && is_for_tests(&tokens[at..group_end(tokens, at + 2)])
}

/// Whether attributes hold a `cfg(test)` in some form, or are `#[test]` or `#[tokio::test]`.
fn is_for_tests(attributes: &[Token<'_>]) -> bool {
    let mut at = 0;
    while at < attributes.len() {
        let open = at + if is(attributes, at + 1, "!") { 2 } else { 1 };
        let end = group_end(attributes, open)
            .max(open + 1)
            .min(attributes.len());
        let inside = &attributes[(open + 1).min(end)..end];
        let holds = |word| inside.iter().any(|token| token.is(word));
        let conditional = inside.first().is_some_and(|token| token.is("cfg"));
        let path: Vec<_> = inside.iter().take_while(|token| !token.is("(")).collect();
        let names_test = path.iter().rev().find(|t| t.kind == Kind::Ident);
        if conditional && holds("test") && !holds("not")
            || names_test.is_some_and(|token| token.is("test"))
        {
            return true;
        }
        at = end;
    }
    false
}

/// Where the item, field, variant or match arm that starts at `at` ends.
fn item_end(tokens: &[Token<'_>], mut at: usize) -> usize {
    while is(tokens, at, "pub") {
        at += 1;
        if is(tokens, at, "(") {
            at = group_end(tokens, at);
        }
    }
    let opens_item = tokens.get(at).is_some_and(|token| {
        const ITEMS: &str = "async const enum extern fn impl macro_rules mod static struct trait \
                             type union unsafe use let";
        token.kind == Kind::Ident && ITEMS.split_whitespace().any(|word| word == token.text)
    });
    let is_use = is(tokens, at, "use");
    while at < tokens.len() {
        if is(tokens, at, ";") {
            return at + 1;
        }
        if is(tokens, at, ",") && !opens_item {
            return at + 1;
        }
        if is(tokens, at, "}") {
            return at;
        }
        if is(tokens, at, "{") && !is_use {
            let end = group_end(tokens, at);
            let has_comma = !opens_item && is(tokens, end, ",");
            return end + usize::from(has_comma);
        }
        at = if opens_group(tokens, at) {
            group_end(tokens, at)
        } else {
            at + 1
        };
    }
    at
}

fn opens_group(tokens: &[Token<'_>], at: usize) -> bool {
    ["(", "[", "{"].into_iter().any(|open| is(tokens, at, open))
}

/// Where the bracketed group that opens at `at` ends, its closing bracket included.
pub(crate) fn group_end(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        if token.kind != Kind::Punct {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

fn is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.is(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust::lexer::tokens;

    fn check(source: &str, shipped: &str) {
        let all = tokens(source);
        let parted = part(&all);
        let texts: Vec<_> = parted.shipped.iter().map(|token| token.text).collect();
        assert_eq!(texts.join(" "), shipped, "{source}");
        assert_eq!(parted.shipped.len() + parted.tests.len(), all.len());
    }

    #[test]
    fn what_is_compiled_for_tests_is_not_shipped() {
        check(
            "#[cfg(test)] mod tests { use a; } fn f() {}",
            "fn f ( ) { }",
        );
        check("#[cfg(test)] mod tests; fn f() {}", "fn f ( ) { }");
        check("#[cfg(test)] use a::{b, c}; use d;", "use d ;");
        check("#[cfg(test)] const A: [u8; 2] = [1, 2]; use d;", "use d ;");
        check(
            "#[cfg(all(test, unix))] #[allow(x)] fn f() -> A<B, C> {} use d;",
            "use d ;",
        );
        check(
            "struct A { a: B, #[cfg(test)] pub(crate) c: D<E>, f: G }",
            "struct A { a : B , f : G }",
        );
        check(
            "match a { #[cfg(test)] B => { c } d => e }",
            "match a { d => e }".replace("=>", "= >").as_str(),
        );
        check(
            "#[test] fn f() {} #[tokio::test(flavor = \"x\")] async fn g() {} a",
            "a",
        );
        check("a #![cfg(test)] b", "a");
    }

    #[test]
    fn other_conditions_are_shipped() {
        check(
            "#[cfg(not(test))] use a;",
            "# [ cfg ( not ( test ) ) ] use a ;",
        );
        check("#[cfg(unix)] use a;", "# [ cfg ( unix ) ] use a ;");
        check(
            "#![deny(a)] use test::b;",
            "# ! [ deny ( a ) ] use test :: b ;",
        );
    }
}
