//! The walk over a one-line program: imports, constants, loops and calls.

use std::cell::Cell;
use std::collections::HashMap;

use crate::command::code::act::{CodeAct, Language};
use crate::command::code::deed::is_deed;
use crate::command::code::statements;
use crate::command::code::token::{Lexer, Token};
use crate::command::word::{Part, Word};

/// The most items of a loop that are walked one by one.
const ROUNDS_MAX: usize = 8;

/// The acts of `code`; parts of it that are not known make an unknown act.
pub(crate) fn acts(code: &Word, language: Language) -> Vec<CodeAct> {
    let mut text = String::new();
    for part in &code.parts {
        match part {
            Part::Text(known) | Part::Glob(known) => text.push_str(known),
            Part::Token | Part::Below | Part::Unknown => {
                text.push('\u{1}');
            }
        }
    }
    match language {
        Language::Other => return statements::acts(&text, &code.span),
        Language::Tcl => return statements::tcl(&text, &code.span),
        _ => {}
    }
    let mut acts = Vec::new();
    // Some shells of Python run the rest of a line behind a `!`.
    if language == Language::Python {
        let escapes = text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix('!'));
        acts.extend(escapes.map(|script| CodeAct::Script(Word::text(script, code.span.clone()))));
    }
    let mut reader = Reader {
        tokens: Lexer::new(&text, language, code.span.clone()).tokens(),
        at: 0,
        language,
        constants: HashMap::new(),
        aliases: HashMap::new(),
        runs_commands: language != Language::JavaScript
            || ["child_process", "execa", "shelljs", "zx", "Bun", "Deno"]
                .iter()
                .any(|module| text.contains(module)),
        span: code.span.clone(),
        loops: Vec::new(),
        acts,
        read: Cell::new(0),
    };
    reader.loops();
    reader.blocks();
    // A loop over written items is walked once for each.
    let longest = reader.loops.iter().map(|(_, items)| items.len()).max();
    for round in 0..longest.unwrap_or(1).clamp(1, ROUNDS_MAX) {
        for (name, items) in &reader.loops {
            if let Some(item) = items.get(round.min(items.len() - 1)) {
                reader.constants.insert(name.clone(), vec![item.clone()]);
            }
        }
        reader.at = 0;
        reader.read();
    }
    reader.acts
}

/// The most tokens of expressions that are read, each as often as it is part of one: without a line's
/// end between them, what stands behind one assignment is its value, the next assignment too.
const EXPRESSION_TOKENS_MAX: usize = 200_000;

/// One walk over the tokens of a program.
pub(crate) struct Reader {
    pub(crate) tokens: Vec<Token>,
    pub(crate) at: usize,
    pub(crate) language: Language,
    pub(crate) constants: HashMap<String, Vec<Word>>,
    /// Names under which a call is known, by `import … as …`.
    pub(crate) aliases: HashMap<String, String>,
    /// The names of loops over written items, with the items.
    pub(crate) loops: Vec<(String, Vec<Word>)>,
    pub(crate) runs_commands: bool,
    pub(crate) span: std::ops::Range<usize>,
    pub(crate) acts: Vec<CodeAct>,
    /// How many tokens the expressions that were read had together.
    pub(crate) read: Cell<usize>,
}

impl Reader {
    pub(crate) fn read(&mut self) {
        while self.at < self.tokens.len() {
            if self.is_too_much() {
                let unknown = Word::unknown(self.span.clone());
                self.acts.push(CodeAct::Code(unknown));
                return;
            }
            self.import();
            self.constant();
            self.step();
        }
    }

    /// Whether its expressions hold one another too often to be read on.
    pub(crate) fn is_too_much(&self) -> bool {
        self.read.get() > EXPRESSION_TOKENS_MAX
    }

    pub(crate) fn step(&mut self) {
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return;
        };
        self.at += 1;
        match token {
            Token::Command(command) => self.acts.push(CodeAct::Script(command)),
            Token::Name(name) => {
                let name = self.aliases.get(&name).cloned().unwrap_or(name);
                if self.empties_model(&name) {
                    self.acts.push(CodeAct::DeleteAll);
                }
                if let Some(args) = self.package_call(&name) {
                    self.call("rimraf", args);
                    return;
                }
                match self.tokens.get(self.at) {
                    Some(Token::Sign('(')) => {
                        if self.deletes_all(&name) {
                            self.acts.push(CodeAct::DeleteAll);
                        }
                        let mut args = self.arguments(self.at + 1);
                        if args.is_empty() {
                            args = self.receiver();
                        }
                        // `Path('x').write_text(…)` writes the path that it is a method of.
                        if matches!(name.as_str(), "write_text" | "write_bytes") {
                            let path = self.receiver();
                            self.call("writefile", path);
                            return;
                        }
                        self.call(&name, args);
                    }
                    // A call without parentheses, as Perl and Ruby have it.
                    Some(Token::Text(_) | Token::Name(_) | Token::Sign('['))
                        if self.calls_bare(&name) =>
                    {
                        let args = self.arguments(self.at);
                        self.call(&name, args);
                    }
                    Some(Token::Sign('$' | '@')) if self.calls_bare(&name) => {
                        let unknown = vec![vec![Word::unknown(self.span.clone())]];
                        self.call(&name, unknown);
                    }
                    // What has no argument removes what the loop is at.
                    _ if self.language == Language::Perl
                        && matches!(name.as_str(), "unlink" | "rmdir") =>
                    {
                        self.call(&name, vec![vec![Word::unknown(self.span.clone())]]);
                    }
                    // `Pathname('/data').rmtree`: a method that needs no parentheses.
                    _ if self.language == Language::Ruby
                        && matches!(name.as_str(), "rmtree" | "unlink" | "delete" | "rmdir") =>
                    {
                        let args = self.receiver();
                        if !args.is_empty() {
                            self.call(&name, args);
                        }
                    }
                    _ => {}
                }
            }
            // `object['name'](…)` is a call of `name`.
            Token::Text(word) => {
                let name = word.literal().map(str::to_owned);
                let indexed = self.at >= 2 && self.tokens[self.at - 2] == Token::Sign('[');
                if let Some(name) = name
                    && indexed
                    && self.tokens.get(self.at) == Some(&Token::Sign(']'))
                    && self.tokens.get(self.at + 1) == Some(&Token::Sign('('))
                {
                    let args = self.arguments(self.at + 2);
                    self.call(&name, args);
                } else if self.language == Language::Awk {
                    self.awk_pipe(word);
                }
            }
            Token::Number(_) | Token::Sign(_) | Token::LineEnd => {}
        }
    }

    /// The arguments of a call of a package that deletes: `require('rimraf')(…)`,
    /// `require('rimraf').sync(…)`.
    fn package_call(&self, name: &str) -> Option<Vec<Vec<Word>>> {
        if name != "require" {
            return None;
        }
        let Some([Token::Sign('('), Token::Text(package), Token::Sign(')'), ..]) =
            self.tokens.get(self.at..)
        else {
            return None;
        };
        if !matches!(package.literal(), Some("rimraf" | "del")) {
            return None;
        }
        match self.tokens.get(self.at + 3..)? {
            [Token::Sign('('), ..] => Some(self.arguments(self.at + 4)),
            [Token::Sign('.'), Token::Name(_), Token::Sign('('), ..] => {
                Some(self.arguments(self.at + 6))
            }
            _ => None,
        }
    }

    pub(crate) fn calls_bare(&self, name: &str) -> bool {
        match self.language {
            Language::Perl | Language::Ruby => !matches!(
                name,
                "puts"
                    | "print"
                    | "say"
                    | "p"
                    | "printf"
                    | "warn"
                    | "die"
                    | "use"
                    | "require"
                    | "my"
                    | "our"
                    | "local"
                    | "if"
                    | "unless"
                    | "and"
                    | "or"
                    | "not"
                    | "return"
            ),
            Language::Awk => name == "system",
            Language::Python
            | Language::JavaScript
            | Language::Php
            | Language::Lua
            | Language::Other
            | Language::Tcl => false,
        }
    }

    pub(crate) fn import(&mut self) {
        let as_at = |at: usize| match (
            self.tokens.get(at),
            self.tokens.get(at + 1),
            self.tokens.get(at + 2),
        ) {
            (Some(Token::Name(name)), Some(Token::Name(keyword)), Some(Token::Name(alias)))
                if keyword == "as" =>
            {
                Some((alias.clone(), name.clone()))
            }
            _ => None,
        };
        if let Some((alias, name)) = as_at(self.at) {
            self.aliases.insert(alias, name);
        }
        // `const {execSync: run} = require(…)`
        if let Some([Token::Name(name), Token::Sign(':'), Token::Name(alias)]) =
            self.tokens.get(self.at..self.at + 3)
            && is_deed(name)
        {
            self.aliases.insert(alias.clone(), name.clone());
        }
    }

    /// `for name in …`: the name stands for something below what is walked over. A comprehension
    /// uses it before it says so, so this is read first.
    pub(crate) fn loops(&mut self) {
        for at in 0..self.tokens.len() {
            if let [
                Token::Name(keyword),
                Token::Name(name),
                Token::Name(within),
                ..,
            ] = &self.tokens[at..]
                && keyword == "for"
                && within == "in"
            {
                let name = name.clone();
                if let Some((word, _)) = self.path_call(at + 3) {
                    self.walked(name, word);
                } else if let Some(Token::Sign('(' | '[')) = self.tokens.get(at + 3) {
                    let (items, _) = self.list(at + 4);
                    if (1..=ROUNDS_MAX).contains(&items.len()) {
                        for item in items {
                            self.walked(name.clone(), item);
                        }
                    }
                }
            }
        }
    }

    /// Remembers one more thing that `name` stands for.
    pub(crate) fn walked(&mut self, name: String, word: Word) {
        match self.loops.iter_mut().find(|(known, _)| *known == name) {
            Some((_, items)) => items.push(word),
            None => self.loops.push((name, vec![word])),
        }
    }

    /// `name = 'text'` is remembered.
    pub(crate) fn constant(&mut self) {
        let Some(Token::Name(name)) = self.tokens.get(self.at) else {
            return;
        };
        let is = self.tokens.get(self.at + 1) == Some(&Token::Sign('='))
            && !matches!(
                self.tokens.get(self.at + 2),
                Some(Token::Sign('=' | '~' | '>'))
            );
        if !is {
            return;
        }
        let name = name.clone();
        let (value, end) = self.expression(self.at + 2);
        // A function under another name: `r = shutil.rmtree`.
        if let Some([Token::Sign('.'), Token::Name(function)]) =
            self.tokens.get(end.saturating_sub(2)..end)
            && is_deed(function)
        {
            self.aliases.insert(name.clone(), function.clone());
        }
        self.constants.insert(name, value);
    }
}
