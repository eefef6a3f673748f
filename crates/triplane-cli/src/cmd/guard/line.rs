//! A command as one line of shell, and a part of it pointed at.

use std::ops::Range;

/// The longest line that is shown around a part.
const SHOWN_CHARS_MAX: usize = 160;

/// One word is the line itself. Several are a program with its arguments: they have been through a
/// shell already, so each is quoted and stays as it is.
pub(crate) fn of(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-./,:=@%+".contains(&byte));
    if plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The line of `text` that `span` begins on, and a line of carets below that part; nothing if the
/// part cannot be shown so.
pub(crate) fn underlined(text: &str, span: Range<usize>) -> Vec<String> {
    let (Some(before), Some(part)) = (text.get(..span.start), text.get(span)) else {
        return Vec::new();
    };
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let blank = before[start..].chars().count();
    let carets = part
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        .max(1);
    if blank + carets > SHOWN_CHARS_MAX {
        return Vec::new();
    }
    let shown: String = line
        .chars()
        .take(SHOWN_CHARS_MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    vec![shown, " ".repeat(blank) + &"^".repeat(carets)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_has_read_stay_as_they_are() {
        let words =
            |words: &[&str]| of(&words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["rm -rf \"$X\""]), "rm -rf \"$X\"");
        assert_eq!(
            words(&["rm", "-rf", "a b", "it's"]),
            r"rm -rf 'a b' 'it'\''s'"
        );
        assert_eq!(words(&["echo", ""]), "echo ''");
    }

    #[test]
    fn a_part_is_pointed_at_on_its_line() {
        assert_eq!(
            underlined("ls\nrm -rf /etc", 10..14),
            ["rm -rf /etc", "       ^^^^"]
        );
        assert_eq!(underlined("rm é /x", 6..8), ["rm é /x", "     ^^"]);
        assert!(underlined("a", 5..9).is_empty());
    }
}
