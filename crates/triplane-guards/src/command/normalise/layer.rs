//! What a command runs besides itself: scripts, argument vectors, SQL, one-liners.

use std::ops::Range;
use std::sync::Arc;

use crate::command::code::{self, CodeAct, Language};
use crate::command::find;
use crate::command::layers::{Host, Layer, Mount, Split, replaced};
use crate::command::normalise::files::content_of;
use crate::command::normalise::simple::pseudo;
use crate::command::normalise::walker::{Frame, Normaliser, Output, PICKS_MAX, SIMPLES_MAX};
use crate::command::sql::{self, Dialect, SqlAct};
use crate::command::state::ShellState;
use crate::command::word::{Part, Word};
use crate::place::absolute;

impl Normaliser<'_> {
    pub(crate) fn layer(
        &mut self,
        layer: Layer,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        match layer {
            Layer::Command { argv, host } => {
                let mut inner = hosted(state, host);
                let output = self.argv(&argv, frame, &mut inner);
                state.files = inner.files;
                output
            }
            Layer::Script { text, args, host } => {
                let mut inner = hosted(state, host);
                inner.positional = Some(args.into());
                self.script_word(&text, &mut inner, frame.input, frame.wanted)
            }
            Layer::ScriptOfInput { host } => {
                let Some(input) = frame.input.cloned() else {
                    return Output::new();
                };
                let mut inner = hosted(state, host);
                self.script_word(&input, &mut inner, None, frame.wanted)
            }
            Layer::ScheduleOfInput => {
                self.schedule(frame, state);
                Output::new()
            }
            Layer::Recipes { text } => {
                self.recipes(&text, state);
                Output::new()
            }
            Layer::RecipeFile { file } => {
                self.recipe_file(&file, frame, state);
                Output::new()
            }
            Layer::Cmdlets { text } => {
                self.cmdlets(&text, state);
                vec![Part::Unknown]
            }
            Layer::ScriptFile { file, args } => {
                let mut inner = state.clone();
                inner.positional = Some(args.into());
                self.script_file(&file, &mut inner, frame)
            }
            Layer::Sql { text, dialect } => {
                self.sql(&text, dialect, frame, state);
                vec![Part::Unknown]
            }
            Layer::SqlOfInput { dialect } => {
                if let Some(input) = frame.input.cloned() {
                    self.sql(&input, dialect, frame, state);
                }
                vec![Part::Unknown]
            }
            Layer::Code { text, language } => {
                self.code(&text, language, 0, frame, state);
                vec![Part::Unknown]
            }
            Layer::CodeFile { file, language } => {
                if let Some(content) = read(&file, frame, state) {
                    self.code(&content, language, 0, frame, state);
                }
                vec![Part::Unknown]
            }
            Layer::SqlFile { file, dialect } => {
                if let Some(content) = read(&file, frame, state) {
                    self.sql(&content, dialect, frame, state);
                }
                vec![Part::Unknown]
            }
            Layer::CodeOfInput { language } => {
                if let Some(input) = frame.input.cloned() {
                    self.code(&input, language, 0, frame, state);
                }
                vec![Part::Unknown]
            }
            Layer::WithInput {
                argv,
                replace,
                split,
                file,
            } => {
                let content = file.map(|file| {
                    content_of(&file, state).unwrap_or_else(|| Word::unknown(file.span.clone()))
                });
                let frame = Frame {
                    input: content.as_ref().or(frame.input),
                    ..frame
                };
                self.with_input(&argv, replace.as_deref(), split, frame, state)
            }
            Layer::InFolder { argv, folder } => {
                let mut inner = state.clone();
                inner.enter(&folder);
                self.argv(&argv, frame, &mut inner)
            }
            Layer::Bound {
                argv,
                mounts,
                folder,
            } => {
                let mut inner = ShellState::elsewhere();
                inner.bound = self.workspace_in(&mounts, state);
                if let Some(folder) = folder {
                    inner.enter(&folder);
                }
                self.argv(&argv, frame, &mut inner)
            }
        }
    }

    /// The path under which the workspace is seen, if nothing else is bound below it there.
    fn workspace_in(&self, mounts: &[Mount], state: &ShellState) -> Option<Arc<str>> {
        let [Some(cwd)] = &*state.cwd else {
            return None;
        };
        let workspace = mounts
            .iter()
            .find(|mount| !state.remote && absolute(&mount.source, cwd) == self.place.root)?;
        let target = absolute(&workspace.target, "/");
        let others = mounts.iter().filter(|mount| *mount != workspace);
        let covered = others.into_iter().any(|mount| {
            let other = absolute(&mount.target, "/");
            other.starts_with(&target) || target.starts_with(&other)
        });
        (!covered && target != "/").then(|| target.into())
    }

    /// A command that takes the words of its input, as `xargs` passes them.
    pub(crate) fn with_input(
        &mut self,
        argv: &[Word],
        replace: Option<&str>,
        split: Split,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let span = argv.first().map_or(0..0, |word| word.span.clone());
        let words = match frame.input {
            Some(input) => fields(input, split, &span),
            None => vec![Word::unknown(span)],
        };
        if words.is_empty() {
            return Output::new();
        }
        let inner = Frame {
            input: None,
            ..frame
        };
        match replace {
            None => {
                let mut argv = argv.to_vec();
                argv.extend(words);
                self.argv(&argv, inner, state)
            }
            Some(hole) => {
                for word in words.iter().take(PICKS_MAX) {
                    let argv: Vec<Word> =
                        argv.iter().map(|arg| replaced(arg, hole, word)).collect();
                    self.argv(&argv, inner, state);
                }
                vec![Part::Unknown]
            }
        }
    }

    pub(crate) fn sql(
        &mut self,
        text: &Word,
        dialect: Dialect,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) {
        let span = text.span.clone();
        self.keep(|near| near.read_word(text));
        if self.beyond {
            return;
        }
        for act in sql::acts(text, dialect) {
            match act {
                SqlAct::Statement { words, filtered } => {
                    // Of a long text, what changes nothing is left out.
                    let reads = matches!(
                        words.first().map(String::as_str),
                        None | Some(
                            "select" | "insert" | "set" | "begin" | "commit" | "show" | "create"
                        )
                    );
                    if reads && self.simples.len() > SIMPLES_MAX / 4 {
                        continue;
                    }
                    let mut args: Vec<Word> = words
                        .into_iter()
                        .map(|word| Word::text(word, span.clone()))
                        .collect();
                    if filtered {
                        args.push(Word::text("--where", span.clone()));
                    }
                    self.emit(pseudo::SQL, args, span.clone(), state);
                }
                SqlAct::Shell(command) => {
                    let mut inner = state.clone();
                    self.script(&command, &span, &mut inner, frame.input, false);
                }
                SqlAct::Unknown => {
                    self.emit(pseudo::UNKNOWN_SQL, vec![text.clone()], span.clone(), state);
                }
            }
        }
    }

    pub(crate) fn code(
        &mut self,
        text: &Word,
        language: Language,
        depth: usize,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) {
        if text.parts.first() == Some(&Part::Unknown) || depth > 6 {
            self.emit(
                pseudo::UNKNOWN_CODE,
                vec![text.clone()],
                text.span.clone(),
                state,
            );
            return;
        }
        self.keep(|near| near.read_code(text));
        if self.beyond {
            return;
        }
        let mut inner = state.clone();
        for act in code::acts(text, language) {
            match act {
                CodeAct::Script(script) => {
                    self.script_word(&script, &mut inner, None, false);
                }
                CodeAct::Perhaps(script) => {
                    if let Some(known) = script.literal() {
                        self.perhaps(known, &script.span, &inner);
                    }
                }
                CodeAct::Argv(argv) => {
                    self.argv(
                        &argv,
                        Frame {
                            input: None,
                            ..frame
                        },
                        &mut inner,
                    );
                }
                CodeAct::Code(code) => self.code(&code, language, depth + 1, frame, &mut inner),
                CodeAct::Sql(statements) => {
                    self.sql(&statements, Dialect::Standard, frame, &mut inner);
                }
                CodeAct::DeleteAll => {
                    self.emit(pseudo::DELETE_ALL, Vec::new(), text.span.clone(), state);
                }
                CodeAct::Call { name, args } if name == "chdir" => {
                    inner.enter(args.first().unwrap_or(&Word::unknown(0..0)));
                }
                CodeAct::Call { name, args } => {
                    self.emit(&format!("{name}()"), args, text.span.clone(), &inner);
                }
            }
        }
    }

    pub(crate) fn found(
        &mut self,
        name: &str,
        args: &[Word],
        span: &Range<usize>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let found = if name.ends_with("find") && name != "fdfind" {
            find::find(args)
        } else {
            find::fd(args)
        };
        for path in found.deleted {
            let recursive = Word::text("-r", span.clone());
            let end = Word::text("--", span.clone());
            self.emit("rm", vec![recursive, end, path], span.clone(), state);
        }
        for argv in found.commands {
            self.argv(
                &argv,
                Frame {
                    input: None,
                    ..frame
                },
                state,
            );
        }
        for file in found.written {
            self.write(file, false, state);
        }
        let mut output = Word::default();
        for path in found.printed {
            path.parts.into_iter().for_each(|part| output.push(part));
            output.push_str("\n");
        }
        output.parts
    }
}

/// What a file holds: standard input under one of its names, or what this line has written.
fn read(file: &Word, frame: Frame<'_>, state: &ShellState) -> Option<Word> {
    match file.literal() {
        Some("-" | "/dev/stdin" | "/dev/fd/0") => frame.input.cloned(),
        Some(_) | None => content_of(file, state),
    }
}

pub(crate) fn hosted(state: &ShellState, host: Host) -> ShellState {
    match host {
        Host::Here => state.clone(),
        Host::Elsewhere => ShellState::elsewhere(),
    }
}

/// The words that a program reads from its input, split at blanks and line breaks.
pub(crate) fn fields(input: &Word, split: Split, span: &Range<usize>) -> Vec<Word> {
    let separators: &[char] = match split {
        Split::Blanks => &[' ', '\t', '\n', '\r', '\0'],
        Split::Lines => &['\n', '\0'],
    };
    let mut words = Vec::new();
    let mut current = Word {
        parts: Vec::new(),
        span: span.clone(),
    };
    for part in &input.parts {
        match part {
            Part::Text(text) => {
                for (nth, piece) in text.split(separators).enumerate() {
                    if nth > 0 && !current.parts.is_empty() {
                        let next = Word {
                            parts: Vec::new(),
                            span: span.clone(),
                        };
                        words.push(std::mem::replace(&mut current, next));
                    }
                    if !piece.is_empty() {
                        current.push_str(piece);
                    }
                }
            }
            part => current.push(part.clone()),
        }
    }
    if !current.parts.is_empty() {
        words.push(current);
    }
    words
}
