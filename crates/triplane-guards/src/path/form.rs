//! The form of a path: what is refused before anybody asks the file system.

use unicode_normalization::UnicodeNormalization as _;

/// The longest path that is judged, in bytes.
const PATH_BYTES_MAX: usize = 4096;
/// The longest name of one component, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// Why the text of a path is refused as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Nothing, or blanks only.
    #[error("the path is empty")]
    Empty,
    /// Longer than any file system takes.
    #[error("the path is longer than any file system takes")]
    TooLong,
    /// A control character.
    #[error("the path holds a control character")]
    Control,
    /// A character that turns the direction of the text behind it.
    #[error("the path holds a character that turns the direction of writing")]
    Direction,
    /// A drive, a share or backslashes.
    #[error("the path is written in the syntax of another system")]
    Foreign,
    /// A URL, or percent-encoded separators.
    #[error("the path is a URL, or holds an encoded separator")]
    Url,
    /// A home folder by its short name.
    #[error("the path names a home folder by its short form")]
    Home,
    /// A variable that a shell would expand.
    #[error("the path names a variable")]
    Variable,
    /// A name that becomes a separator or a climb when compatibility forms are folded.
    #[error("the path holds a look-alike of `..` or of a separator")]
    LookAlike,
}

impl Malformed {
    /// The id of the rule that refuses this form.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::Empty => "path.empty",
            Self::TooLong => "path.too-long",
            Self::Control => "path.control-character",
            Self::Direction => "path.direction-character",
            Self::Foreign => "path.foreign-syntax",
            Self::Url => "path.url",
            Self::Home => "path.home",
            Self::Variable => "path.variable",
            Self::LookAlike => "path.look-alike",
        }
    }
}

/// Checks the text of a path.
pub(crate) fn check(path: &str) -> Result<(), Malformed> {
    if path.trim().is_empty() {
        return Err(Malformed::Empty);
    }
    if path.len() > PATH_BYTES_MAX || path.split('/').any(|name| name.len() > NAME_BYTES_MAX) {
        return Err(Malformed::TooLong);
    }
    for c in path.chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            return Err(Malformed::Control);
        }
        if matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            return Err(Malformed::Direction);
        }
    }
    if path.contains('\\') || is_drive(path) {
        return Err(Malformed::Foreign);
    }
    if is_url(path) || holds_encoded_separator(path) {
        return Err(Malformed::Url);
    }
    if path.starts_with('~') {
        return Err(Malformed::Home);
    }
    if names_variable(path) {
        return Err(Malformed::Variable);
    }
    if !path.is_ascii() && path.split('/').any(looks_like_a_climb) {
        return Err(Malformed::LookAlike);
    }
    Ok(())
}

fn is_drive(path: &str) -> bool {
    let mut chars = path.chars();
    let (first, second, third) = (chars.next(), chars.next(), chars.next());
    first.is_some_and(|c| c.is_ascii_alphabetic())
        && second == Some(':')
        && matches!(third, None | Some('/'))
}

fn is_url(path: &str) -> bool {
    let scheme = path
        .split_once(':')
        .map(|(scheme, rest)| (scheme, rest.starts_with("//")));
    match scheme {
        Some((scheme, slashes)) => {
            let named = scheme.len() > 1
                && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
            named
                && (slashes
                    || scheme.eq_ignore_ascii_case("file")
                    || scheme.eq_ignore_ascii_case("data"))
        }
        None => false,
    }
}

fn holds_encoded_separator(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    // Encoded once, or twice.
    let text = lower.replace("%25", "%");
    ["%2e", "%2f", "%5c", "%00"]
        .iter()
        .any(|code| text.contains(code))
}

/// `$NAME`, `${…}`, `$(…)` and `%NAME%`. A lower-case `$id` is how some frameworks name files.
fn names_variable(path: &str) -> bool {
    let dollar = path.match_indices('$').any(|(at, _)| {
        path[at + 1..].starts_with(|c: char| c.is_ascii_uppercase() || matches!(c, '{' | '(' | '_'))
    });
    let percent = path.match_indices('%').any(|(at, _)| {
        path[at + 1..].split_once('%').is_some_and(|(name, _)| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        })
    });
    dollar || percent || path.contains('`')
}

fn looks_like_a_climb(name: &str) -> bool {
    if name.is_ascii() {
        return false;
    }
    let folded: String = name
        .nfkc()
        .filter(|&c| !crate::names::is_ignorable(c))
        .collect();
    matches!(folded.as_str(), "." | ".." | "~") || folded.contains(['/', '\\']) || folded.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_refused_by_its_form() {
        let case = |path: &str, wanted| assert_eq!(check(path).err(), wanted, "{path:?}");
        case("src/lib.rs", None);
        case("docs/100%.md", None);
        case("./~/notes.txt", None);
        case("docs/~draft.md", None);
        case("routes/users.$id.tsx", None);
        case("a:b", None);
        case("", Some(Malformed::Empty));
        case("  ", Some(Malformed::Empty));
        case("a\nb", Some(Malformed::Control));
        case("\u{202e}gnp", Some(Malformed::Direction));
        case("C:\\x", Some(Malformed::Foreign));
        case("C:/x", Some(Malformed::Foreign));
        case("..\\x", Some(Malformed::Foreign));
        case("file:///etc/passwd", Some(Malformed::Url));
        case("%2e%2e/x", Some(Malformed::Url));
        case("%252e%252e/x", Some(Malformed::Url));
        case("~root/x", Some(Malformed::Home));
        case("$HOME/x", Some(Malformed::Variable));
        case("${X}/x", Some(Malformed::Variable));
        case("%APPDATA%/x", Some(Malformed::Variable));
        case("\u{2025}/x", Some(Malformed::LookAlike));
        case("a\u{ff0f}b", Some(Malformed::LookAlike));
    }
}
