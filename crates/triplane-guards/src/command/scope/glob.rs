//! Shell patterns.

/// Whether a shell pattern matches a whole name. Linear for each star: no backtracking beyond the
/// last one.
pub(crate) fn glob_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            Some('[') => bracket(&pattern, p, name[n]),
            Some('\\') => (pattern.get(p + 1) == Some(&name[n])).then_some(p + 2),
            Some(&c) => (c == name[n]).then_some(p + 1),
            None => None,
        };
        match (step, retry) {
            (Some(next), _) => {
                p = next;
                n += 1;
            }
            (None, Some((star, from))) => {
                retry = Some((star, from + 1));
                p = star + 1;
                n = from + 1;
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// The position after the bracket expression at `at`, if it matches `c`.
fn bracket(pattern: &[char], at: usize, c: char) -> Option<usize> {
    let mut p = at + 1;
    let negated = matches!(pattern.get(p), Some('!' | '^'));
    if negated {
        p += 1;
    }
    let mut found = false;
    let mut first = true;
    loop {
        match pattern.get(p)? {
            ']' if !first => break,
            &from => {
                if pattern.get(p + 1) == Some(&'-')
                    && pattern.get(p + 2).is_some_and(|&to| to != ']')
                {
                    found |= from <= c && c <= pattern[p + 2];
                    p += 3;
                } else {
                    found |= from == c;
                    p += 1;
                }
            }
        }
        first = false;
    }
    (found != negated).then_some(p + 1)
}
