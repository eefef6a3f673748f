//! What is judged near its caller: on the thread that asks.
//!
//! Waking the parser's thread, and being woken by it, takes longer than judging an ordinary command.
//! But the grammar recurses with every nesting, and on some nestings that do not close it takes
//! twice as long for each. So a command is judged near only if that is bounded beforehand: it is
//! short, and it has few *openers*, bytes and words that can open something. They are counted
//! wherever they stand, in quotes and comments too, so that the bound needs no understanding of the
//! text. All texts that the walk reads as scripts, code or SQL share these bounds with the command,
//! and what it expands, repeats and wraps is bounded as well. What goes beyond is judged anew, on
//! the parser's thread.
//!
//! The limits are measured. `fuzz::near` judges with them on a stack of 128 KiB, or half a MiB without
//! optimisation: its tests try the worst families that are known and random changes of all corpora.
//! `TRIPLANE_FUZZ_SECONDS=300 cargo test --release -p triplane-guards --lib near:: -- --nocapture`
//! looks for worse, and says what took longest.

use crate::command::parse::is_short_and_plain;
use crate::command::word::{Part, Word};

/// The most bytes of a command that is judged near, those of the scripts in it included.
pub(crate) const BYTES_MAX: usize = 1024;

/// The most openers of one text. What follows a `(` may be read twice by the grammar: with such levels
/// the time doubles.
pub(crate) const OPENERS_MAX: usize = 10;

/// The most openers of all texts: each is read on top of those that it stands in. A script that stands
/// in the command counts there already, and once more where it is read.
const OPENERS_ALL_MAX: usize = 18;

/// So many bytes of plain words, which no grammar reads, count as one.
const PLAIN_BYTES: usize = 4;

/// What a `case` counts: the grammar reads what is in it twice although it closes, and all of it.
const CASE: usize = 4;

/// What `name[` counts: within words, the grammar tries an element of an array again for every form that
/// a parameter may have.
const ELEMENT: usize = 4;

/// What `$(` and `$[` count, and `${` if it holds more than a name: in the text of a heredoc each takes three
/// times as long as the one around it.
const EXPANSION: usize = 2;

/// How often a byte of a program in another language counts: what it sets is followed to the end of its
/// line, again for each name.
const CODE: usize = 2;

/// How deep commands may run commands. Each level takes some KiB of stack without optimisation.
const WRAPPED_MAX: usize = 8;

/// How deep scripts may hold scripts.
const SCRIPTS_MAX: usize = 6;

/// The most bytes of one value, or of what one command prints: the next command may use it as often as
/// its text has words.
const VALUE_BYTES_MAX: usize = 4096;

/// The most work of the walk, in words.
const WORK_MAX: usize = 4_000;

/// How many bytes of a value are as much work as a word.
const WORD_BYTES: usize = 32;

/// What a word that is expanded costs more than one that is only passed on.
const EXPANDED: usize = 4;

/// What is left of the bounds while a command is judged near.
#[derive(Debug)]
pub(crate) struct Near {
    bytes: usize,
    openers: usize,
    work: usize,
}

/// The bounds are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Beyond;

impl Near {
    pub(crate) fn new() -> Self {
        Self {
            bytes: BYTES_MAX,
            openers: OPENERS_ALL_MAX,
            work: WORK_MAX,
        }
    }

    /// Takes off what reading `text` may cost.
    pub(crate) fn read(&mut self, text: &str) -> Result<(), Beyond> {
        if is_short_and_plain(text) {
            let bytes = text.len() / PLAIN_BYTES;
            self.bytes = self.bytes.checked_sub(bytes).ok_or(Beyond)?;
            return Ok(());
        }
        self.bytes = self.bytes.checked_sub(text.len()).ok_or(Beyond)?;
        let openers = openers(text);
        within(openers, OPENERS_MAX)?;
        self.openers = self.openers.checked_sub(openers).ok_or(Beyond)?;
        Ok(())
    }

    /// As [`read`](Self::read), of all that is known of a word.
    pub(crate) fn read_word(&mut self, word: &Word) -> Result<(), Beyond> {
        word.parts.iter().try_for_each(|part| match part {
            Part::Text(text) | Part::Glob(text) => self.read(text),
            Part::Token | Part::Below | Part::Unknown => Ok(()),
        })
    }

    /// Takes off what reading `code`, a program in another language, may cost.
    pub(crate) fn read_code(&mut self, code: &Word) -> Result<(), Beyond> {
        self.bytes = self
            .bytes
            .checked_sub((CODE - 1) * code.bytes())
            .ok_or(Beyond)?;
        self.read_word(code)
    }

    /// Scripts hold scripts, `depth` of them.
    pub(crate) fn nest(depth: usize) -> Result<(), Beyond> {
        within(depth, SCRIPTS_MAX)
    }

    /// Commands run commands, `depth` of them.
    pub(crate) fn wrap(depth: usize) -> Result<(), Beyond> {
        within(depth, WRAPPED_MAX)
    }

    /// Takes off `work` words.
    pub(crate) fn work(&mut self, work: usize) -> Result<(), Beyond> {
        self.work = self.work.checked_sub(work).ok_or(Beyond)?;
        Ok(())
    }

    /// Takes off what it costs that parts, of so many bytes together, become a value.
    pub(crate) fn value(&mut self, parts: &[Part]) -> Result<(), Beyond> {
        let bytes = parts.iter().map(Part::bytes).sum();
        within(bytes, VALUE_BYTES_MAX)?;
        self.work(bytes / WORD_BYTES)
    }

    /// Takes off what it costs that a raw word was expanded to `words`.
    pub(crate) fn expand(&mut self, words: &[Word]) -> Result<(), Beyond> {
        self.work(EXPANDED * words.len())?;
        words.iter().try_for_each(|word| self.value(&word.parts))
    }

    /// Takes off what it costs to pass `words` on to a command.
    pub(crate) fn pass(&mut self, words: &[Word]) -> Result<(), Beyond> {
        let bytes: usize = words.iter().map(Word::bytes).sum();
        self.work(words.len() + bytes / WORD_BYTES)
    }
}

fn within(amount: usize, max: usize) -> Result<(), Beyond> {
    if amount > max { Err(Beyond) } else { Ok(()) }
}

/// How much `text` can open.
fn openers(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut count = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'a'..=b'z' => {
                let length = bytes[at..]
                    .iter()
                    .take_while(|&&byte| is_of_a_name(byte))
                    .count();
                count += opens(&bytes[at..at + length]);
                at += length;
                continue;
            }
            // What stands behind a letter or a digit begins no word.
            b'A'..=b'Z' | b'0'..=b'9' | b'_' => {
                while bytes.get(at).is_some_and(|&byte| is_of_a_name(byte)) {
                    at += 1;
                }
                continue;
            }
            b'[' if at > 0 && is_of_a_name(bytes[at - 1]) => count += ELEMENT,
            b'(' | b'[' if at > 0 && bytes[at - 1] == b'$' => count += EXPANSION,
            b'{' if at > 0 && bytes[at - 1] == b'$' => count += parameter(&bytes[at + 1..]),
            // `$` opens nothing without one of these behind it.
            b'(' | b'{' | b'[' | b'`' | b'!' => count += 1,
            b'<' if bytes.get(at + 1) == Some(&b'<') => count += 1,
            // It joins what stands on two lines, a reserved word too.
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => count += CASE,
            _ => {}
        }
        at += 1;
    }
    // Within a test, each of these holds what was before it.
    if text.contains("[[") {
        count += bytes
            .windows(2)
            .filter(|two| matches!(two, [b'&', b'&'] | [b'|', b'|']))
            .count();
    }
    count
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What `${` opens, with `rest` behind it.
fn parameter(rest: &[u8]) -> usize {
    let name = rest.iter().take_while(|&&byte| is_of_a_name(byte)).count();
    if rest.get(name) == Some(&b'}') {
        1
    } else {
        EXPANSION
    }
}

/// What a word opens.
fn opens(word: &[u8]) -> usize {
    match word {
        b"case" => CASE,
        b"if" | b"while" | b"until" | b"for" | b"select" | b"function" | b"coproc" => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openers_are_counted_wherever_they_stand() {
        let check = |text: &str, wanted| assert_eq!(openers(text), wanted, "{text}");
        check("git status --porcelain && cargo test", 0);
        check("echo \"$a\" $b > out/$c.txt", 0);
        check("git commit -m \"$(cat <<'EOF'\nif (x) {\nEOF\n)\"", 6);
        check("for f in *; do if [[ -f $f ]]; then echo '('; fi; done", 5);
        check("[[ a && b || c ]] && d", 5);
        check("case x in x) ;; esac", CASE);
        check("i\\\nf true", CASE);
        check("diff notify x_if if_x 1if -if", 1);
        check("`a` ! <<E", 4);
        check("${x[1]} $(y)", 1 + ELEMENT + 2 * EXPANSION - 1);
        check("${x} ${y:-z}", 1 + EXPANSION);
    }

    #[test]
    fn the_bounds_are_shared_by_all_that_is_read() {
        let one = "(".repeat(OPENERS_MAX + 1);
        assert_eq!(Near::new().read(&one), Err(Beyond));
        let mut near = Near::new();
        let rest = OPENERS_ALL_MAX - OPENERS_MAX;
        assert_eq!(near.read(&"(".repeat(OPENERS_MAX)), Ok(()));
        assert_eq!(near.read(&"(".repeat(rest)), Ok(()));
        assert_eq!(near.read("ls; ls"), Ok(()));
        assert_eq!(near.read("(ls)"), Err(Beyond));
        let mut near = Near::new();
        assert_eq!(near.read(&"x".repeat(BYTES_MAX * PLAIN_BYTES)), Ok(()));
        assert_eq!(near.read("ls; ls"), Err(Beyond));
    }
}
