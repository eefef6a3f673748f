//! Simple commands: expanded, looked up, and followed into what they run.

use std::ops::Range;
use std::rc::Rc;

use brush_parser::ast;

use crate::command::code::Language;
use crate::command::expand::Purpose;
use crate::command::layers::layers;
use crate::command::near::Near;
use crate::command::normalise::files::content_of;
use crate::command::normalise::simple::{program_name, pseudo};
use crate::command::normalise::walker::{
    Frame, HOLE, Normaliser, Origin, Output, PICKS_MAX, READ_MAX, WORDS_MAX, WRAPPED_MAX,
};
use crate::command::normalise::words::Picks;
use crate::command::output::output;
use crate::command::parse::Rewritten;
use crate::command::state::{Function, ShellState};
use crate::command::word::{Part, Word};

impl Normaliser<'_> {
    pub(crate) fn simple(
        &mut self,
        simple: &ast::SimpleCommand,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let prefix = simple.prefix.as_ref().map_or(&[][..], |prefix| &prefix.0);
        let suffix = simple.suffix.as_ref().map_or(&[][..], |suffix| &suffix.0);
        let redirects = prefix.iter().chain(suffix).filter_map(|item| match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => Some(redirect),
            ast::CommandPrefixOrSuffixItem::Word(_)
            | ast::CommandPrefixOrSuffixItem::AssignmentWord(..)
            | ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => None,
        });
        let redirected = self.redirects(Some(redirects), frame, state);
        // `exec` without a command replaces the shell's own input.
        let replaces = simple
            .word_or_name
            .as_ref()
            .is_some_and(|name| name.value == "exec")
            && suffix
                .iter()
                .all(|item| matches!(item, ast::CommandPrefixOrSuffixItem::IoRedirect(_)));
        if replaces && let Some(input) = &redirected.input {
            state.stdin = Some(Rc::new(input.clone()));
        }
        let own = state.stdin.clone();
        let inner = Frame {
            origin: frame.origin,
            input: redirected.input.as_ref().or(frame.input).or(own.as_deref()),
            wanted: frame.wanted || redirected.output.is_some(),
        };
        let Some(name) = &simple.word_or_name else {
            for item in prefix {
                if let ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item {
                    self.assignment(assignment, frame, state);
                }
            }
            // `$(<file)` is what the file holds.
            let output = match redirected.input {
                Some(input) if frame.wanted => input.parts,
                Some(_) | None => Output::new(),
            };
            return Self::written(redirected.output, output, state);
        };
        // A search path for `cd` makes every relative folder unknown.
        let searched = |item: &ast::CommandPrefixOrSuffixItem| match item {
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => matches!(
                &assignment.name,
                ast::AssignmentName::VariableName(name) if name == "CDPATH"
            ),
            _ => false,
        };
        if prefix.iter().any(searched) {
            state.forget("CDPATH");
        }
        // Values before a command go to its environment; their substitutions run all the same.
        let mut environment = None;
        if !prefix.is_empty() {
            let mut scratch = state.clone();
            for item in prefix {
                if let ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item {
                    self.assignment(assignment, frame, &mut scratch);
                }
            }
            environment = Some(scratch.variables);
        }
        // A declaration sets its arrays, which are no words.
        if matches!(
            name.value.as_str(),
            "declare" | "typeset" | "local" | "export" | "readonly"
        ) {
            for item in suffix {
                if let ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item
                    && matches!(assignment.value, ast::AssignmentValue::Array(_))
                {
                    self.assignment(assignment, frame, state);
                }
            }
        }
        let mut picks = Picks::default();
        let mut output = Output::new();
        let mut combinations = 0;
        loop {
            let mut argv = self.expand_word(name, Purpose::Argument, inner, state, &mut picks);
            for item in suffix {
                match item {
                    ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _)
                        if matches!(assignment.value, ast::AssignmentValue::Array(_)) => {}
                    ast::CommandPrefixOrSuffixItem::Word(word)
                    | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                        argv.extend(self.expand_word(
                            word,
                            Purpose::Argument,
                            inner,
                            state,
                            &mut picks,
                        ));
                    }
                    ast::CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                        argv.push(self.process(kind, subshell, inner, state));
                    }
                    ast::CommandPrefixOrSuffixItem::IoRedirect(_) => {}
                }
                if self.words + argv.len() > WORDS_MAX || self.read > READ_MAX {
                    self.exhaust(frame.origin.map(name.loc.as_ref()), state);
                    break;
                }
            }
            let chosen = !picks.chosen.is_empty();
            // What the command runs sees them; what comes behind it does not.
            let own = environment
                .as_ref()
                .map(|seen| std::mem::replace(&mut state.variables, Rc::clone(seen)));
            let parts = self.argv(&argv, inner, state);
            match (own, &environment) {
                (Some(own), Some(seen)) if Rc::ptr_eq(&state.variables, seen) => {
                    state.variables = own;
                }
                // Something else was set, as `read` does: only these values end with the command.
                (Some(own), _) => {
                    let variables = Rc::make_mut(&mut state.variables);
                    for name in prefix.iter().filter_map(assigned) {
                        match own.get(name) {
                            Some(value) => variables.insert(name.into(), value.clone()),
                            None => variables.remove(name),
                        };
                    }
                }
                (None, _) => {}
            }
            if combinations == 0 {
                output = parts;
            } else if output != parts {
                output = vec![Part::Unknown];
            }
            combinations += 1;
            if !chosen || !picks.advance() {
                break;
            }
            if combinations == PICKS_MAX {
                picks.overflow = true;
                picks.chosen.clear();
            } else if combinations > PICKS_MAX {
                break;
            }
        }
        Self::written(redirected.output, output, state)
    }

    /// One command of known words.
    pub(crate) fn argv(
        &mut self,
        argv: &[Word],
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let depth = self.wrapped;
        self.keep(|near| Near::wrap(depth).and_then(|()| near.pass(argv)));
        if self.exhausted {
            return vec![Part::Unknown];
        }
        if self.wrapped == WRAPPED_MAX {
            let span = argv.first().map_or(0..0, |word| word.span.clone());
            self.exhaust(span, state);
            return vec![Part::Unknown];
        }
        self.wrapped += 1;
        let output = self.unwrapped(argv, frame, state);
        self.wrapped -= 1;
        self.keep(|near| near.value(&output));
        output
    }

    fn unwrapped(&mut self, argv: &[Word], frame: Frame<'_>, state: &mut ShellState) -> Output {
        let Some((program, args)) = argv.split_first() else {
            return Output::new();
        };
        let span = match argv.last() {
            Some(last) => {
                program.span.start.min(last.span.start)..last.span.end.max(program.span.end)
            }
            None => program.span.clone(),
        };
        let Some(path) = program.literal().filter(|path| !path.contains(HOLE)) else {
            self.emit(
                pseudo::UNKNOWN_PROGRAM,
                argv.to_vec(),
                program.span.clone(),
                state,
            );
            return vec![Part::Unknown];
        };
        if let Some(output) = self.defined(path, args, &span, frame, state) {
            return output;
        }
        // A file that this line has written may be what runs.
        if path.contains('/')
            && let Some(content) = content_of(program, state)
        {
            let mut inner = state.clone();
            inner.positional = Some(args.into());
            match language_of(content.prefix()) {
                Some(language) => self.code(&content, language, 0, frame, &mut inner),
                None => {
                    self.script_word(&content, &mut inner, frame.input, frame.wanted);
                }
            }
        }
        let name = program_name(path);
        if let Some(output) = self.builtin(&name, args, &span, frame, state) {
            let prints = matches!(
                name.as_str(),
                "export" | "declare" | "typeset" | "local" | "readonly" | "alias" | "set" | "trap"
            );
            return if prints && frame.wanted {
                vec![Part::Unknown]
            } else {
                output
            };
        }
        self.emit(&name, args.to_vec(), span.clone(), state);
        // Behind the keyword `time`, options are read as the program of that name reads them.
        let (name, args) = if name.starts_with('-') {
            ("time".to_owned(), argv)
        } else {
            (name, args)
        };
        let mut printed = Output::new();
        for layer in layers(&name, args) {
            printed.extend(self.layer(layer, frame, state));
        }
        if matches!(name.as_str(), "find" | "gfind" | "fd" | "fdfind") {
            return self.found(&name, args, &span, frame, state);
        }
        Self::remember_files(&name, args, frame.input, state);
        if !frame.wanted {
            return Output::new();
        }
        if printed.is_empty() {
            output(&name, args, frame.input, state, self.place)
        } else {
            printed
        }
    }

    /// Functions and aliases of this line.
    pub(crate) fn defined(
        &mut self,
        name: &str,
        args: &[Word],
        span: &Range<usize>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Option<Output> {
        if let Some(function) = state.functions.get(name).cloned() {
            function.called.set(true);
            if self.calling.iter().any(|calling| calling == name) {
                if self.parallel > 0 {
                    self.emit(pseudo::FORK_BOMB, Vec::new(), span.clone(), state);
                }
                return Some(vec![Part::Unknown]);
            }
            let outer = state.positional.replace(args.into());
            let parallel = std::mem::take(&mut self.parallel);
            self.calling.push(name.to_owned());
            let ast::FunctionBody(body, redirects) = &function.body;
            let output = self.redirected_compound(body, redirects.as_ref(), frame, state);
            self.calling.pop();
            self.parallel = parallel;
            state.positional = outer;
            return Some(output);
        }
        if !state.aliases.contains_key(name) {
            return None;
        }
        let alias = Rc::make_mut(&mut state.aliases).remove(name)?;
        let mut text = Word::clone(&alias);
        for arg in args {
            text.push_str(" ");
            match arg.literal() {
                Some(known) => text.push_str(&quoted(known)),
                None => arg.parts.iter().for_each(|part| text.push(part.clone())),
            }
        }
        let output = if args.iter().all(|arg| arg.literal().is_some()) {
            self.script_word(&text, state, frame.input, frame.wanted)
        } else {
            // What the arguments hold is data: only the alias itself is code.
            let words: Vec<Word> = alias
                .prefix()
                .split_whitespace()
                .map(|word| Word::text(word, alias.span.clone()))
                .chain(args.iter().cloned())
                .collect();
            self.argv(&words, frame, state)
        };
        Rc::make_mut(&mut state.aliases).insert(name.into(), alias);
        Some(output)
    }

    /// What a function does that nobody has called.
    pub(crate) fn uncalled(&mut self, state: &mut ShellState) {
        let functions: Vec<Rc<Function>> = state
            .functions
            .values()
            .filter(|function| !function.called.get())
            .cloned()
            .collect();
        let origin = Origin {
            rewritten: Rewritten::default(),
            base: None,
            span: 0..self.source.len(),
        };
        for function in functions {
            let mut inner = state.clone();
            let frame = Frame {
                origin: &origin,
                input: None,
                wanted: false,
            };
            let ast::FunctionBody(body, redirects) = &function.body;
            self.redirected_compound(body, redirects.as_ref(), frame, &mut inner);
        }
    }
}

/// The variable that an assignment before a command sets.
fn assigned(item: &ast::CommandPrefixOrSuffixItem) -> Option<&str> {
    match item {
        ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => match &assignment.name {
            ast::AssignmentName::VariableName(name)
            | ast::AssignmentName::ArrayElementName(name, _) => Some(name),
        },
        ast::CommandPrefixOrSuffixItem::IoRedirect(_)
        | ast::CommandPrefixOrSuffixItem::Word(_)
        | ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => None,
    }
}

/// The language that the first line of a file names, if it names an interpreter.
fn language_of(content: &str) -> Option<Language> {
    let line = content.strip_prefix("#!")?.lines().next()?;
    let name = line
        .split(['/', ' '])
        .rfind(|word| !word.is_empty() && !word.starts_with('-'))?;
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match name {
        "python" | "pypy" => Some(Language::Python),
        "node" | "nodejs" | "deno" | "bun" => Some(Language::JavaScript),
        "perl" => Some(Language::Perl),
        "ruby" => Some(Language::Ruby),
        "php" => Some(Language::Php),
        "lua" | "luajit" => Some(Language::Lua),
        _ => None,
    }
}

/// `known` as one shell word.
pub(crate) fn quoted(known: &str) -> String {
    format!("'{}'", known.replace('\'', "'\\''"))
}
