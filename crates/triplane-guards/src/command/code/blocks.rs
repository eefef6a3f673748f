//! Names that stand for what a search for files finds: those of blocks, arrow functions and loops.

use crate::command::code::act::Language;
use crate::command::code::paths::below;
use crate::command::code::read::Reader;
use crate::command::code::token::Token;
use crate::command::word::{Part, Word};

impl Reader {
    /// `Dir.glob("a/*").each { |name| … }`, `readdirSync("a").forEach(name => …)`,
    /// `for (const name of readdirSync("a"))`.
    pub(crate) fn blocks(&mut self) {
        if !matches!(self.language, Language::Ruby | Language::JavaScript) {
            return;
        }
        for at in 0..self.tokens.len() {
            if let [Token::Name(name), Token::Name(of), ..] = &self.tokens[at..]
                && of == "of"
                && let Some((word, _)) = self.found_files(self.last_of_chain(at + 2))
            {
                let name = name.clone();
                self.walked(name, word);
            } else if let Some((word, end)) = self.found_files(at) {
                for name in self.names_behind(end) {
                    self.walked(name, word.clone());
                }
            }
        }
    }

    /// Where the last name of `a.b.c` stands.
    fn last_of_chain(&self, start: usize) -> usize {
        let mut at = start;
        while let Some([Token::Name(_), Token::Sign('.'), Token::Name(_)]) =
            self.tokens.get(at..at + 3)
        {
            at += 2;
        }
        at
    }

    /// What the call at `at` finds, and where it ends.
    fn found_files(&self, at: usize) -> Option<(Word, usize)> {
        match self.tokens.get(at..)? {
            [
                Token::Name(dir),
                Token::Sign('['),
                Token::Text(pattern),
                Token::Sign(']'),
                ..,
            ] if dir == "Dir" => Some((below(pattern), at + 4)),
            [Token::Name(name), Token::Sign('('), ..] => {
                let lists = match name.as_str() {
                    "readdirSync" => true,
                    "glob" | "globSync" => false,
                    _ => return None,
                };
                let args = self.arguments(at + 2);
                let [word] = args.first()?.as_slice() else {
                    return None;
                };
                let found = if lists {
                    let mut folder = word.clone();
                    folder.push(Part::Below);
                    folder
                } else {
                    below(word)
                };
                Some((found, self.closing(at + 1)? + 1))
            }
            _ => None,
        }
    }

    /// The names that the methods behind `start` give to what they are called with, one by one.
    fn names_behind(&self, start: usize) -> Vec<String> {
        let mut names = Vec::new();
        let mut at = start;
        while let Some([Token::Sign('.'), Token::Name(_), open, first, second, ..]) =
            self.tokens.get(at..)
        {
            match (open, first, second) {
                (Token::Sign('{'), Token::Sign('|'), Token::Name(name))
                | (Token::Sign('('), Token::Name(name), Token::Sign('='))
                | (Token::Sign('('), Token::Sign('('), Token::Name(name)) => {
                    names.push(name.clone());
                }
                (Token::Name(word), Token::Sign('|'), Token::Name(name)) if word == "do" => {
                    names.push(name.clone());
                }
                _ => {}
            }
            if *open != Token::Sign('(') {
                break;
            }
            match self.closing(at + 2) {
                Some(close) => at = close + 1,
                None => break,
            }
        }
        names
    }
}
