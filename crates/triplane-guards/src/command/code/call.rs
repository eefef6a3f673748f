//! Calls of one-line programs: what runs a command, runs code, or touches files.

use crate::command::code::act::{CodeAct, Language};
use crate::command::code::deed::RUNNERS;
use crate::command::code::read::Reader;
use crate::command::code::token::Token;
use crate::command::word::{Part, Word};

impl Reader {
    pub(crate) fn call(&mut self, name: &str, args: Vec<Vec<Word>>) {
        let lower = name.to_lowercase();
        let evaluates = match self.language {
            Language::Python => matches!(lower.as_str(), "exec" | "eval"),
            // `Function("…")` is code; `function` is a keyword.
            Language::JavaScript => matches!(name, "eval" | "Function"),
            Language::Ruby => matches!(lower.as_str(), "eval" | "instance_eval"),
            Language::Perl | Language::Php => lower == "eval",
            Language::Lua => matches!(lower.as_str(), "load" | "loadstring"),
            Language::Awk | Language::Other | Language::Tcl => false,
        };
        if evaluates {
            if let Some(code) = args.first().and_then(|words| words.first()) {
                self.acts.push(CodeAct::Code(code.clone()));
            }
            return;
        }
        // `getattr(module, 'name')` names a call whose arguments are not seen.
        if matches!(
            lower.as_str(),
            "getattr"
                | "send"
                | "public_send"
                | "call_user_func"
                | "array_map"
                | "array_walk"
                | "map"
        ) {
            for (nth, words) in args.iter().enumerate() {
                if let [word] = words.as_slice()
                    && let Some(named) = word.literal()
                    && (RUNNERS.contains(&named.to_lowercase().as_str())
                        || named.starts_with("rm")
                        || matches!(named, "unlink" | "remove"))
                {
                    // What it is called with may stand behind it.
                    let with = match (lower.as_str(), args.get(nth + 1)) {
                        ("array_map" | "call_user_func", Some(words)) => words.clone(),
                        _ => vec![Word::unknown(self.span.clone())],
                    };
                    let named = named.to_owned();
                    self.call(&named, vec![with]);
                }
            }
            return;
        }
        if matches!(lower.as_str(), "execute" | "executescript" | "query")
            && self.language != Language::Lua
        {
            let text = args.first().and_then(|words| words.first());
            if let Some(text) = text
                && text.literal().is_some()
            {
                self.acts.push(CodeAct::Sql(text.clone()));
            }
            return;
        }
        if self.runs_commands && RUNNERS.contains(&lower.as_str()) && self.runs(&lower) {
            // Behind a text with blanks stand modes, callbacks and options, no words of a command.
            let single = args.len() == 1 && args[0].len() == 1
                || args.first().is_some_and(|words| {
                    words.len() == 1 && words[0].prefix().trim().contains([' ', '\t'])
                });
            if single {
                self.acts.push(CodeAct::Script(args[0][0].clone()));
            } else if !args.is_empty() {
                // Options and environments at the end hold no texts.
                let takes_a_vector = !lower.starts_with("spawn") || args[0].len() > 1;
                let mut argv: Vec<Word> = args.iter().flatten().cloned().collect();
                if !takes_a_vector && matches!(argv.first(), Some(word) if word.literal().is_none())
                {
                    argv.truncate(2);
                }
                while argv.len() > 1
                    && argv
                        .last()
                        .is_some_and(|word| word.parts == [Part::Unknown])
                {
                    argv.pop();
                }
                if argv.len() == 1 {
                    self.acts.push(CodeAct::Script(argv.remove(0)));
                } else {
                    self.acts.push(CodeAct::Argv(argv));
                }
            }
            return;
        }
        // A collection is dropped by a call without arguments; columns are dropped by name.
        if lower == "drop" && !matches!(self.tokens.get(self.at + 1), Some(Token::Sign(')' | '{')))
        {
            return;
        }
        // Options come first where a shell's own command was the model.
        let mut args = args;
        if matches!(lower.as_str(), "rm" | "mv") {
            while args.len() > 1
                && matches!(args[0].as_slice(), [word] if word.prefix().starts_with('-'))
            {
                args.remove(0);
            }
        }
        if !self.touches_files(&lower, &args) {
            return;
        }
        if matches!(self.language, Language::Perl | Language::Ruby) && lower == "open" {
            self.piped_open(&args);
        }
        // Opened for writing, a file is written.
        let mode = args
            .get(1)
            .and_then(|words| words.first())
            .and_then(Word::literal);
        let writes = matches!(lower.as_str(), "open" | "fopen" | "opensync")
            && mode.is_some_and(|mode| mode.len() <= 4 && mode.contains(['w', 'a', 'x', '+', '>']));
        self.acts.push(CodeAct::Call {
            name: if writes { "write".to_owned() } else { lower },
            args: args.into_iter().flatten().collect(),
        });
    }

    /// `open(F, '|command')` and `open(F, 'command|')` run the command; what a shell is fed by it
    /// is not seen.
    fn piped_open(&mut self, args: &[Vec<Word>]) {
        for word in args.iter().flatten() {
            let Some(text) = word.literal().map(str::trim) else {
                continue;
            };
            let command = text
                .strip_prefix('|')
                .or_else(|| text.strip_suffix('|'))
                .map(str::trim);
            match command {
                Some(command) if is_shell_text(command) => {
                    self.acts
                        .push(CodeAct::Script(Word::unknown(self.span.clone())));
                }
                Some(command) if !command.is_empty() && command != "-" => {
                    self.acts
                        .push(CodeAct::Script(Word::text(command, self.span.clone())));
                }
                Some(_) | None => {}
            }
        }
    }

    /// Whether a call of this name runs a command. Much is run or called in Python that is none:
    /// there, the module must be the one for processes.
    pub(crate) fn runs(&self, name: &str) -> bool {
        if self.language != Language::Python || !matches!(name, "run" | "call" | "spawn") {
            return true;
        }
        let dot = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        let before = self.at.checked_sub(3).and_then(|at| self.tokens.get(at));
        let about_processes = |name: &str| matches!(name, "subprocess" | "sp" | "os" | "pty");
        match (before, dot) {
            (Some(Token::Name(receiver)), Some(Token::Sign('.'))) => {
                about_processes(self.aliases.get(receiver).unwrap_or(receiver))
            }
            (_, Some(Token::Sign('.'))) => false,
            // Imported by its name.
            _ => self
                .tokens
                .iter()
                .any(|token| matches!(token, Token::Name(module) if module == "subprocess")),
        }
    }

    /// Whether a call of this name is one about files. Lists and tables have methods of the same
    /// names: those count only on a module of files, or with a path written out.
    pub(crate) fn touches_files(&self, name: &str, args: &[Vec<Word>]) -> bool {
        let ambiguous = matches!(
            name,
            "remove" | "delete" | "rename" | "truncate" | "write" | "rm" | "rmdir" | "move" | "mv"
        );
        if !ambiguous && name != "replace" {
            return true;
        }
        let dot = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        let before = self.at.checked_sub(3).and_then(|at| self.tokens.get(at));
        match (before, dot) {
            (Some(Token::Name(receiver)), Some(Token::Sign('.' | ':'))) => {
                let receiver = self.aliases.get(receiver).unwrap_or(receiver);
                let of_files = matches!(
                    receiver.as_str(),
                    "os" | "shutil"
                        | "fs"
                        | "fsp"
                        | "promises"
                        | "fse"
                        | "File"
                        | "Dir"
                        | "IO"
                        | "FileUtils"
                        | "Deno"
                        | "Bun"
                        | "shell"
                        | "shelljs"
                        | "sh"
                        | "pathlib"
                        | "file"
                );
                // Texts are replaced far more often than files.
                if name == "replace" {
                    return receiver == "os";
                }
                let path = args.first().and_then(|words| words.first());
                of_files || name != "write" && path.and_then(Word::literal).is_some()
            }
            (_, Some(Token::Sign('.'))) => !matches!(name, "write" | "replace"),
            _ => name != "replace",
        }
    }

    /// Whether the name that was just read deletes every row of a model: `User.delete_all`,
    /// `User.objects.all().delete()`, `prisma.user.deleteMany()`.
    pub(crate) fn empties_model(&self, name: &str) -> bool {
        let before = |back: usize| {
            self.at
                .checked_sub(back + 1)
                .and_then(|at| self.tokens.get(at))
        };
        let after = |ahead: usize| self.tokens.get(self.at + ahead);
        let is = |token: Option<&Token>, wanted: &str| match token {
            Some(Token::Name(name)) => name == wanted,
            Some(Token::Sign(sign)) => wanted.chars().eq([*sign]),
            _ => false,
        };
        match name {
            "delete_all" | "destroy_all" => match before(2) {
                Some(Token::Name(model)) => model == "all" || model.starts_with(char::is_uppercase),
                _ => false,
            },
            "delete" if self.language == Language::Python => {
                let called = is(before(1), ".") && is(before(2), ")") && is(before(3), "(");
                called && is(before(4), "all")
            }
            // `User::truncate()`, `DB::table("users")->delete()`
            "truncate" | "delete" if self.language == Language::Php => {
                let whole = match (before(2), before(3), before(4)) {
                    (Some(Token::Sign(':')), Some(Token::Name(model)), _) => {
                        model.starts_with(char::is_uppercase)
                    }
                    (Some(Token::Sign('-')), _, _) => {
                        is(before(3), ")")
                            && (is(before(5), "query")
                                || is(before(5), "all")
                                || is(before(6), "table"))
                    }
                    _ => false,
                };
                whole && is(after(0), "(") && is(after(1), ")")
            }
            "deleteMany" => is(after(0), "(") && is(after(1), ")"),
            "destroy" => {
                is(after(0), "(")
                    && is(after(1), "{")
                    && is(after(2), "truncate")
                    && is(after(4), "true")
            }
            _ => false,
        }
    }

    /// `collection.deleteMany({})`: a filter that picks everything.
    pub(crate) fn deletes_all(&self, name: &str) -> bool {
        let deletes = matches!(
            name.to_lowercase().as_str(),
            "deletemany" | "remove" | "updatemany" | "delete_many"
        );
        deletes
            && self.tokens.get(self.at + 1) == Some(&Token::Sign('{'))
            && self.tokens.get(self.at + 2) == Some(&Token::Sign('}'))
    }

    /// In awk a text beside `|` is a command, and a text behind `>` a file.
    pub(crate) fn awk_pipe(&mut self, word: Word) {
        let before = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        let after = self.tokens.get(self.at);
        let piped = matches!(before, Some(Token::Sign('|' | '&')))
            || matches!(
                (after, self.tokens.get(self.at + 1)),
                (Some(Token::Sign('|')), Some(Token::Name(name))) if name == "getline"
            );
        if piped {
            // Piped into a shell, what is printed is the script.
            let shell = word.literal().is_some_and(is_shell_text);
            if shell && before == Some(&Token::Sign('|')) {
                let printed = self.at.checked_sub(3).and_then(|at| self.tokens.get(at));
                let script = match printed {
                    Some(Token::Text(script)) => script.clone(),
                    _ => Word::unknown(self.span.clone()),
                };
                self.acts.push(CodeAct::Script(script));
                return;
            }
            self.acts.push(CodeAct::Script(word));
        } else if before == Some(&Token::Sign('>')) {
            self.acts.push(CodeAct::Call {
                name: "write".to_owned(),
                args: vec![word],
            });
        }
    }
}

/// Whether the text starts a shell, which runs what it is fed.
fn is_shell_text(text: &str) -> bool {
    let program = text.split_whitespace().next().unwrap_or("");
    matches!(
        program.rsplit('/').next(),
        Some("sh" | "bash" | "dash" | "zsh" | "ksh")
    )
}
