//! Regular expressions that are surely none that is wrong, told without parsing them.
//!
//! A hook reads each rule file anew, and half of that time went to parsing expressions that nothing
//! asks. Most are plain: letters, anchors, classes, groups, `*`, `+` and `?`. Of those one look from
//! left to right says that they are well formed. All others are parsed.

use std::iter::Peekable;
use std::str::Chars;

/// The deepest group that is followed.
const DEPTH_MAX: usize = 16;

/// What must be escaped, or stands for something, outside a class or in one.
const META: &str = r"\.+*?()|[]{}^$#&-~";

/// Whether `pattern` is plain and well formed. One that is not may be well formed all the same.
pub(crate) fn is_plain(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    let mut depth = 0;
    let mut repeatable = false;
    while let Some(next) = rest.next() {
        repeatable = match next {
            '^' | '$' | '|' => false,
            '(' => {
                if rest.next_if_eq(&'?').is_some() && rest.next() != Some(':') {
                    return false;
                }
                depth += 1;
                if depth > DEPTH_MAX {
                    return false;
                }
                false
            }
            ')' if depth > 0 => {
                depth -= 1;
                true
            }
            '*' | '+' | '?' if repeatable => {
                let _lazy = rest.next_if_eq(&'?');
                false
            }
            '[' => {
                if !is_plain_class(&mut rest) {
                    return false;
                }
                true
            }
            '\\' => match rest.next() {
                Some('b' | 'B') => false,
                Some(escaped) if is_escape(escaped) => true,
                _ => return false,
            },
            ')' | '*' | '+' | '?' | ']' | '{' | '}' => return false,
            _ => true,
        };
    }
    depth == 0
}

/// Whether a class whose bracket was read is plain, to the bracket that ends it.
fn is_plain_class(rest: &mut Peekable<Chars<'_>>) -> bool {
    let _negated = rest.next_if_eq(&'^');
    let mut empty = true;
    loop {
        let from = match rest.next() {
            Some(']') => return !empty,
            Some('-') => return !empty && rest.next() == Some(']'),
            Some('\\') => match rest.next() {
                // Where it could begin a range is left to the parser.
                Some(escaped) if is_escape(escaped) && rest.peek() != Some(&'-') => None,
                _ => return false,
            },
            Some(letter) if is_plain_in_class(letter) => Some(letter),
            _ => return false,
        };
        empty = false;
        let Some(from) = from else { continue };
        if rest.next_if_eq(&'-').is_some() {
            match rest.next() {
                Some(']') => return true,
                Some(to) if is_plain_in_class(to) && from <= to => {}
                _ => return false,
            }
        }
    }
}

fn is_plain_in_class(letter: char) -> bool {
    matches!(letter, '.' | '+' | '*' | '?') || !META.contains(letter)
}

fn is_escape(escaped: char) -> bool {
    matches!(escaped, 'd' | 'D' | 's' | 'S' | 'w' | 'W') || META.contains(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_teams_write_is_plain() {
        for pattern in [
            "",
            "^prod-[a-z]+7$",
            "^(prod|live)(-[a-z0-9]+)*$",
            r"^s3://(?:[^/]+)/backup\.tar\.gz$",
            r"\bmain\b|release/.*?",
            "[^a-c.+-]?ö",
        ] {
            assert!(is_plain(pattern), "{pattern}");
        }
    }

    #[test]
    fn what_needs_a_parser_is_left_to_it() {
        for pattern in [
            "a{2}",
            "a{",
            "(?i)a",
            "(?P<n>a)",
            "(",
            ")",
            "*",
            "a**",
            "^*",
            "(*)",
            "[",
            "[]",
            "[^]",
            "[z-a]",
            "[a&&b]",
            "[[:alpha:]]",
            r"[\d-z]",
            r"\p{L}",
            r"\q",
            r"\",
            "[a",
            r"[\b]",
        ] {
            assert!(!is_plain(pattern), "{pattern}");
        }
        assert!(is_plain(&format!("{}a{}", "(".repeat(16), ")".repeat(16))));
        assert!(!is_plain(&format!("{}a{}", "(".repeat(17), ")".repeat(17))));
    }

    /// Every text of up to four of these, and longer ones as a generator throws them together.
    #[test]
    fn what_is_plain_is_well_formed() {
        const PARTS: [&str; 20] = [
            "a", "z", "-", "]", "[", "[^", "^", "$", "(", "(?:", ")", "|", "*", "?", "\\", "d",
            "b", "&&", "ö", ".",
        ];
        let mut plain = 0;
        let mut check = |pattern: &str| {
            if is_plain(pattern) {
                plain += 1;
                assert_eq!(regex_syntax::parse(pattern).err(), None, "{pattern}");
            }
        };
        let mut shorter = vec![String::new()];
        for _length in 1..=4 {
            let longer = shorter
                .iter()
                .flat_map(|text| PARTS.map(|part| format!("{text}{part}")));
            shorter = longer.collect();
            for text in &shorter {
                check(text);
            }
        }
        let mut state = 7_usize;
        for _text in 0..100_000 {
            let text: String = (0..12)
                .map(|_part| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    PARTS[(state >> 33) % PARTS.len()]
                })
                .collect();
            check(&text);
        }
        assert!(plain > 10_000, "{plain}");
    }
}
