//! The builtins that change what later commands see.

use std::ops::Range;
use std::rc::Rc;

use crate::command::layers::join;
use crate::command::normalise::files::held;
use crate::command::normalise::walker::{Frame, Normaliser, Output};
use crate::command::output::output;
use crate::command::state::{Folders, ShellState, Value};
use crate::command::word::{Part, Word};
use crate::place::absolute;

impl Normaliser<'_> {
    /// The builtins that change what later commands see.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        args: &[Word],
        span: &Range<usize>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Option<Output> {
        match name {
            "cd" | "chdir" => {
                self.change_folder(args, state);
                Some(Output::new())
            }
            "pushd" => {
                Rc::make_mut(&mut state.folder_stack).push(state.cwd.clone());
                self.change_folder(args, state);
                Some(Output::new())
            }
            "popd" => {
                let before = Rc::make_mut(&mut state.folder_stack).pop();
                let folders = before.unwrap_or_else(|| [None].into());
                state.go(folders);
                Some(Output::new())
            }
            "eval" => {
                let text = join(args)?;
                Some(self.script_word(&text, state, frame.input, frame.wanted))
            }
            "source" | "." => {
                let file = args.first()?;
                let file = file.clone();
                let outer = state.positional.clone();
                let output = self.script_file(&file, state, frame);
                state.positional = outer;
                Some(output)
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for arg in args {
                    let assigned = arg
                        .prefix()
                        .split_once('=')
                        .map(|(name, _)| name.to_owned());
                    if let Some(variable) = assigned
                        && !variable.starts_with('-')
                    {
                        let value = arg.without_prefix(variable.len() + 1);
                        state.assign(&variable, Value::Scalar(value));
                    }
                }
                Some(Output::new())
            }
            "unset" => {
                for name in args.iter().filter_map(Word::literal) {
                    state.assign(name, Value::Array(Rc::default()));
                    if state.functions.contains_key(name) {
                        Rc::make_mut(&mut state.functions).remove(name);
                    }
                }
                Some(Output::new())
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                for name in args.iter().filter_map(Word::literal) {
                    if !name.starts_with('-') {
                        state.forget(name);
                    }
                }
                Some(Output::new())
            }
            "set" => {
                if let Some(at) = args.iter().position(|word| word.literal() == Some("--")) {
                    state.positional = Some(args[at + 1..].into());
                }
                Some(Output::new())
            }
            "shift" => {
                if let Some([_, rest @ ..]) = state.positional.as_deref() {
                    state.positional = Some(rest.into());
                }
                Some(Output::new())
            }
            // `hash -p /bin/rm name`
            "hash" if args.first().and_then(Word::literal) == Some("-p") => {
                if let [_, path, names @ ..] = args {
                    for name in names.iter().filter_map(Word::literal) {
                        let path = Rc::new(path.clone());
                        Rc::make_mut(&mut state.aliases).insert(name.into(), path);
                    }
                }
                Some(Output::new())
            }
            "alias" => {
                for arg in args {
                    if let Some((name, _)) = arg.prefix().split_once('=') {
                        let body = arg.without_prefix(name.len() + 1);
                        Rc::make_mut(&mut state.aliases).insert(name.into(), Rc::new(body));
                    }
                }
                Some(Output::new())
            }
            "unalias" => {
                for name in args.iter().filter_map(Word::literal) {
                    Rc::make_mut(&mut state.aliases).remove(name);
                }
                Some(Output::new())
            }
            "trap" => {
                if let Some(action) = args.iter().find(|word| !word.prefix().starts_with('-'))
                    && args.len() > 1
                {
                    let action = action.clone();
                    let mut inner = state.clone();
                    self.script_word(&action, &mut inner, None, false);
                }
                Some(Output::new())
            }
            "printf" if args.first().and_then(Word::literal) == Some("-v") => {
                let variable = args.get(1).and_then(Word::literal)?.to_owned();
                let parts = output(
                    "printf",
                    args.get(2..).unwrap_or_default(),
                    None,
                    state,
                    self.place,
                );
                state.assign(
                    &variable,
                    Value::Scalar(Word {
                        parts,
                        span: span.clone(),
                    }),
                );
                Some(Output::new())
            }
            _ => None,
        }
    }

    pub(crate) fn change_folder(&mut self, args: &[Word], state: &mut ShellState) {
        let target = args.iter().find(|word| {
            !matches!(
                word.literal(),
                Some("--" | "-P" | "-L" | "-e" | "-@" | "-n" | "-q")
            )
        });
        match target {
            None => {
                let home = if state.remote {
                    None
                } else {
                    Some(self.place.home.clone())
                };
                state.go([home].into());
            }
            Some(word) if word.literal() == Some("-") => {
                let before: Folders = state.cwd_before.clone();
                state.go(before);
            }
            Some(word) => {
                let word = word.clone();
                let explicit = word.prefix().starts_with(['/', '.']);
                if !explicit && state.variables.contains_key("CDPATH") {
                    state.go([None].into());
                } else {
                    state.enter(&word);
                }
            }
        }
    }

    pub(crate) fn script_file(
        &mut self,
        file: &Word,
        state: &mut ShellState,
        frame: Frame<'_>,
    ) -> Output {
        let path = match (file.literal(), &*state.cwd) {
            (Some("/dev/stdin" | "/dev/fd/0"), _) => {
                return match frame.input {
                    Some(input) => self.script_word(&input.clone(), state, None, frame.wanted),
                    None => Output::new(),
                };
            }
            (Some(path), [Some(cwd)]) => absolute(path, cwd),
            (Some(path), _) if path.starts_with('/') => absolute(path, "/"),
            _ => return vec![Part::Unknown],
        };
        match held(&path, state) {
            Some(content) => self.script_word(&content, state, frame.input, frame.wanted),
            None => vec![Part::Unknown],
        }
    }
}
