//! Calls, constants and arguments of one-line programs.

use std::collections::HashMap;

use crate::command::code::act::{CodeAct, Language};
use crate::command::code::token::{Lexer, Token};
use crate::command::word::{Part, Word};

/// Calls that hand a text or an argument vector to the system.
const RUNNERS: [&str; 33] = [
    "system",
    "popen",
    "popen2",
    "popen3",
    "exec",
    "execl",
    "execlp",
    "execle",
    "execv",
    "execvp",
    "execve",
    "execvpe",
    "execsync",
    "execfile",
    "execfilesync",
    "spawn",
    "spawnsync",
    "spawnl",
    "spawnlp",
    "spawnv",
    "spawnvp",
    "run",
    "call",
    "check_call",
    "check_output",
    "getoutput",
    "getstatusoutput",
    "shell_exec",
    "passthru",
    "proc_open",
    "capture2",
    "capture3",
    "execute",
];

/// The acts of `code`; parts of it that are not known make an unknown act.
pub(crate) fn acts(code: &Word, language: Language) -> Vec<CodeAct> {
    let mut text = String::new();
    let mut holes = false;
    for part in &code.parts {
        match part {
            Part::Text(known) | Part::Glob(known) => text.push_str(known),
            Part::Token | Part::Below | Part::Unknown => {
                holes = true;
                text.push('\u{1}');
            }
        }
    }
    let _ = holes;
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
        acts: Vec::new(),
    };
    reader.read();
    reader.acts
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    language: Language,
    constants: HashMap<String, Vec<Word>>,
    /// Names under which a call is known, by `import … as …`.
    aliases: HashMap<String, String>,
    runs_commands: bool,
    span: std::ops::Range<usize>,
    acts: Vec<CodeAct>,
}

impl Reader {
    fn read(&mut self) {
        while self.at < self.tokens.len() {
            self.import();
            self.constant();
            self.step();
        }
    }

    fn step(&mut self) {
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return;
        };
        self.at += 1;
        match token {
            Token::Command(command) => self.acts.push(CodeAct::Script(command)),
            Token::Name(name) => {
                let name = self.aliases.get(&name).cloned().unwrap_or(name);
                match self.tokens.get(self.at) {
                    Some(Token::Sign('(')) => {
                        if self.deletes_all(&name) {
                            self.acts.push(CodeAct::DeleteAll);
                        }
                        let mut args = self.arguments(self.at + 1);
                        if args.is_empty() {
                            args = self.receiver();
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

    /// Whether a call of this name runs a command. Much is run or called in Python that is none:
    /// there, the module must be the one for processes.
    fn runs(&self, name: &str) -> bool {
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
    fn touches_files(&self, name: &str, args: &[Vec<Word>]) -> bool {
        let ambiguous = matches!(
            name,
            "remove" | "delete" | "rename" | "truncate" | "write" | "rm" | "rmdir"
        );
        if !ambiguous {
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
                        | "pathlib"
                );
                let path = args.first().and_then(|words| words.first());
                of_files || name != "write" && path.and_then(Word::literal).is_some()
            }
            (_, Some(Token::Sign('.'))) => name != "write",
            _ => true,
        }
    }

    /// `collection.deleteMany({})`: a filter that picks everything.
    fn deletes_all(&self, name: &str) -> bool {
        let deletes = matches!(
            name.to_lowercase().as_str(),
            "deletemany" | "remove" | "updatemany" | "delete_many"
        );
        deletes
            && self.tokens.get(self.at + 1) == Some(&Token::Sign('{'))
            && self.tokens.get(self.at + 2) == Some(&Token::Sign('}'))
    }

    /// The arguments of the call that this one is a method of: `Path('x').unlink()`.
    fn receiver(&self) -> Vec<Vec<Word>> {
        // Before the name stand the dot and the parenthesis that ends the other call.
        let Some(mut at) = self.at.checked_sub(3) else {
            return Vec::new();
        };
        if self.tokens[at + 1] != Token::Sign('.') || self.tokens[at] != Token::Sign(')') {
            return Vec::new();
        }
        let mut depth = 0usize;
        loop {
            match self.tokens[at] {
                Token::Sign(')') => depth += 1,
                Token::Sign('(') => {
                    depth -= 1;
                    if depth == 0 {
                        return self.arguments(at + 1);
                    }
                }
                _ => {}
            }
            match at.checked_sub(1) {
                Some(before) => at = before,
                None => return Vec::new(),
            }
        }
    }

    /// In awk a text beside `|` is a command, and a text behind `>` a file.
    fn awk_pipe(&mut self, word: Word) {
        let before = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        let after = self.tokens.get(self.at);
        let piped = matches!(before, Some(Token::Sign('|' | '&')))
            || matches!(
                (after, self.tokens.get(self.at + 1)),
                (Some(Token::Sign('|')), Some(Token::Name(name))) if name == "getline"
            );
        if piped {
            // Piped into a shell, what is printed is the script.
            let shell = word.literal().is_some_and(|text| {
                let program = text.split_whitespace().next().unwrap_or("");
                matches!(
                    program.rsplit('/').next(),
                    Some("sh" | "bash" | "dash" | "zsh" | "ksh")
                )
            });
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

    fn calls_bare(&self, name: &str) -> bool {
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
            Language::Python | Language::JavaScript | Language::Php | Language::Lua => false,
        }
    }

    fn import(&mut self) {
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
    }

    /// `name = 'text'` is remembered.
    fn constant(&mut self) {
        let Some(Token::Name(name)) = self.tokens.get(self.at) else {
            return;
        };
        let is = self.tokens.get(self.at + 1) == Some(&Token::Sign('='))
            && !matches!(self.tokens.get(self.at + 2), Some(Token::Sign('=' | '~')));
        if !is {
            return;
        }
        let name = name.clone();
        let (value, _) = self.expression(self.at + 2);
        self.constants.insert(name, value);
    }

    /// The arguments that start at `at`, each with its words: one for a text, more for a list.
    fn arguments(&self, start: usize) -> Vec<Vec<Word>> {
        let mut args = Vec::new();
        let mut at = start;
        for _ in 0..32 {
            let (words, end) = self.expression(at);
            let keyword = matches!(
                (self.tokens.get(at), self.tokens.get(at + 1)),
                (Some(Token::Name(_)), Some(Token::Sign('=')))
            );
            if !keyword && end > at {
                args.push(words);
            }
            at = end;
            if self.tokens.get(at) != Some(&Token::Sign(',')) {
                break;
            }
            at += 1;
        }
        args
    }

    /// The words of the expression at `start`, and where it ends.
    fn expression(&self, start: usize) -> (Vec<Word>, usize) {
        let mut at = start;
        let mut value: Option<Word> = None;
        let mut list: Option<Vec<Word>> = None;
        let mut known = true;
        let mut depth = 0usize;
        let mut joined = true;
        while let Some(token) = self.tokens.get(at) {
            match token {
                Token::LineEnd | Token::Sign(',' | ';' | ')' | ']' | '}') if depth == 0 => break,
                Token::LineEnd => {}
                Token::Sign('[')
                    if depth == 0 && value.is_none() && list.is_none() && at == start =>
                {
                    let (words, end) = self.list(at + 1);
                    list = Some(words);
                    at = end;
                    continue;
                }
                Token::Sign('(' | '[' | '{') => {
                    depth += 1;
                    known = false;
                }
                Token::Sign(')' | ']' | '}') => depth -= 1,
                Token::Name(word)
                    if depth == 0
                        && matches!(
                            word.as_str(),
                            "if" | "unless" | "or" | "and" | "for" | "while"
                        )
                        && at > start =>
                {
                    break;
                }
                Token::Text(text) if depth == 0 => {
                    if !joined
                        && value.is_some()
                        && self.language != Language::Python
                        && self.language != Language::Awk
                    {
                        known = false;
                    }
                    let value = value.get_or_insert_with(|| Word {
                        parts: Vec::new(),
                        span: self.span.clone(),
                    });
                    for part in &text.parts {
                        value.push(part.clone());
                    }
                    if text.parts.is_empty() {
                        value.push_str("");
                    }
                    joined = false;
                }
                Token::Sign('+' | '.') if depth == 0 => joined = true,
                Token::Sign('$' | '@') if depth == 0 => {}
                Token::Name(name) if depth == 0 => match self.constants.get(name) {
                    Some(words)
                        if words.len() == 1 && value.is_none()
                            || joined
                                && self
                                    .constants
                                    .get(name)
                                    .is_some_and(|words| words.len() == 1) =>
                    {
                        let words = &self.constants[name];
                        let value = value.get_or_insert_with(|| Word {
                            parts: Vec::new(),
                            span: self.span.clone(),
                        });
                        for part in &words[0].parts {
                            value.push(part.clone());
                        }
                        joined = false;
                    }
                    Some(words) if at == start => list = Some(words.clone()),
                    _ if matches!(name.as_str(), "executable" | "execPath") => {
                        value = Some(Word::text(
                            if self.language == Language::Python {
                                "python3"
                            } else {
                                "node"
                            },
                            self.span.clone(),
                        ));
                        known = true;
                    }
                    _ if self.language == Language::Awk => {
                        let value = value.get_or_insert_with(Word::default);
                        value.push(Part::Unknown);
                    }
                    _ => known = false,
                },
                Token::Number(number) if depth == 0 && value.is_none() => {
                    value = Some(Word::text(number.clone(), self.span.clone()));
                }
                _ if depth == 0 => {
                    if let Some(value) = &mut value {
                        value.push(Part::Unknown);
                    } else {
                        known = false;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        let words = match (list, value) {
            (Some(words), _) => words,
            (None, Some(mut value)) => {
                if !known {
                    value.push(Part::Unknown);
                }
                vec![value]
            }
            (None, None) => vec![Word::unknown(self.span.clone())],
        };
        (words, at)
    }

    /// The words of a list up to its bracket, and where it ends.
    fn list(&self, start: usize) -> (Vec<Word>, usize) {
        let mut words = Vec::new();
        let mut at = start;
        loop {
            let (item, end) = self.expression(at);
            if end > at {
                words.extend(item);
            }
            at = end;
            match self.tokens.get(at) {
                Some(Token::Sign(',') | Token::LineEnd) => at += 1,
                Some(_) => return (words, at + 1),
                None => return (words, at),
            }
        }
    }

    fn call(&mut self, name: &str, args: Vec<Vec<Word>>) {
        let lower = name.to_lowercase();
        let evaluates = match self.language {
            Language::Python => matches!(lower.as_str(), "exec" | "eval"),
            // `Function("…")` is code; `function` is a keyword.
            Language::JavaScript => matches!(name, "eval" | "Function"),
            Language::Ruby => matches!(lower.as_str(), "eval" | "instance_eval"),
            Language::Perl | Language::Php => lower == "eval",
            Language::Lua => matches!(lower.as_str(), "load" | "loadstring"),
            Language::Awk => false,
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
            for words in &args {
                if let [word] = words.as_slice()
                    && let Some(named) = word.literal()
                    && (RUNNERS.contains(&named.to_lowercase().as_str())
                        || named.starts_with("rm")
                        || matches!(named, "unlink" | "remove"))
                {
                    let unknown = vec![vec![Word::unknown(self.span.clone())]];
                    let named = named.to_owned();
                    self.call(&named, unknown);
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
            let single = args.len() == 1 && args[0].len() == 1;
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
        if !self.touches_files(&lower, &args) {
            return;
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
}
