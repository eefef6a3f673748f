//! What a shell would remember between the commands of one line.
//!
//! A value that depends on which branch ran is kept as alternatives; every one of them is judged.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use brush_parser::ast::FunctionBody;

use crate::command::word::{Part, Word};
use crate::place::{Place, absolute, entered};

/// The most alternatives that are kept of one value; beyond them it is unknown.
pub(crate) const ALTERNATIVES_MAX: usize = 8;

/// The most parts of one value, known and unknown by turns; with more of them it is unknown.
const PARTS_MAX: usize = 512;

/// The longest path of a folder, as the strictest kernels have it; one that is longer is any folder.
const PATH_MAX: usize = 1024;

/// One alternative of a variable's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Scalar(Word),
    Array(Rc<[Word]>),
}

impl Value {
    /// The words of the value, one for a scalar.
    pub(crate) fn words(&self) -> &[Word] {
        match self {
            Self::Scalar(word) => std::slice::from_ref(word),
            Self::Array(words) => words,
        }
    }

    fn unknown() -> Self {
        Self::Scalar(Word::unknown(0..0))
    }

    /// The same, if it is not too much to remember.
    fn bounded(self) -> Self {
        match &self {
            Self::Scalar(word) if word.parts.len() > PARTS_MAX => Self::unknown(),
            Self::Scalar(_) | Self::Array(_) => self,
        }
    }
}

/// Folders that may be the current one; `None` is any folder.
pub(crate) type Folders = Arc<[Option<String>]>;

/// The path of a folder; a name of its own, such as that of a new temporary folder, is a name
/// that no command can spell.
fn folder_name(folder: &Word) -> Option<Cow<'_, str>> {
    if let Some(known) = folder.literal() {
        return Some(Cow::Borrowed(known));
    }
    let mut path = String::new();
    for part in &folder.parts {
        match part {
            Part::Text(text) => path.push_str(text),
            Part::Token => path.push('\u{1}'),
            Part::Below => path.push_str("/\u{1}"),
            Part::Glob(_) | Part::Unknown => return None,
        }
    }
    Some(Cow::Owned(path))
}

/// Things by their names. Whoever takes a copy shares it until one of the two changes it, and
/// shares the things themselves even then.
pub(crate) type Table<T> = Rc<HashMap<Rc<str>, Rc<T>>>;

/// The state of one shell. Each branch, subshell and substitution takes a copy of it.
#[derive(Debug, Clone)]
pub(crate) struct ShellState {
    /// The alternatives of each value.
    pub(crate) variables: Table<[Value]>,
    /// `$1` and on; `None` when nobody knows them.
    pub(crate) positional: Option<Rc<[Word]>>,
    pub(crate) cwd: Folders,
    pub(crate) cwd_before: Folders,
    pub(crate) folder_stack: Rc<Vec<Folders>>,
    pub(crate) functions: Table<Function>,
    pub(crate) aliases: Table<Word>,
    /// What files hold that this line has written, by absolute path.
    pub(crate) files: Table<Word>,
    /// Whether paths are those of another machine.
    pub(crate) remote: bool,
    /// The path under which another machine sees the workspace, if it does.
    pub(crate) bound: Option<Arc<str>>,
    /// What the shell's own standard input holds, if the line has replaced it.
    pub(crate) stdin: Option<Rc<Word>>,
}

/// A function that the line defines.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) body: FunctionBody,
    pub(crate) called: std::cell::Cell<bool>,
}

impl ShellState {
    pub(crate) fn new(place: &Place) -> Self {
        Self {
            variables: Rc::default(),
            positional: None,
            cwd: Arc::new([Some(place.cwd.clone())]),
            cwd_before: Arc::new([None]),
            folder_stack: Rc::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            files: Rc::default(),
            remote: false,
            bound: None,
            stdin: None,
        }
    }

    /// The state of a shell on another machine: it shares nothing with this one.
    pub(crate) fn elsewhere() -> Self {
        Self {
            variables: Rc::default(),
            positional: None,
            cwd: Arc::new([None]),
            cwd_before: Arc::new([None]),
            folder_stack: Rc::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            files: Rc::default(),
            remote: true,
            bound: None,
            stdin: None,
        }
    }

    /// How many things are remembered that a copy of the state may have to copy.
    pub(crate) fn remembered(&self) -> usize {
        self.variables.len()
            + self.positional.as_ref().map_or(0, |words| words.len())
            + self.folder_stack.len()
            + self.functions.len()
            + self.aliases.len()
            + self.files.len()
    }

    pub(crate) fn assign(&mut self, name: &str, value: Value) {
        self.set(name, vec![value.bounded()]);
    }

    pub(crate) fn assign_alternatives(&mut self, name: &str, values: Vec<Value>) {
        let mut values: Vec<_> = values.into_iter().map(Value::bounded).collect();
        values.dedup();
        if values.is_empty() || values.len() > ALTERNATIVES_MAX * 2 {
            values = vec![Value::unknown()];
        }
        self.set(name, values);
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.set(name, vec![Value::unknown()]);
    }

    fn set(&mut self, name: &str, values: Vec<Value>) {
        Rc::make_mut(&mut self.variables).insert(name.into(), values.into());
    }

    /// Enters each of `folders`, seen from each current folder.
    pub(crate) fn enter(&mut self, folder: &Word) {
        let mut folders: Vec<Option<String>> = Vec::new();
        for cwd in self.cwd.iter() {
            let next = match (folder_name(folder), cwd) {
                (Some(path), _) if path.starts_with('/') => Some(absolute(&path, "/")),
                (Some(path), Some(cwd)) => Some(entered(&path, cwd)),
                (Some(_), None) | (None, _) => None,
            };
            let next = next.filter(|path| path.len() <= PATH_MAX);
            if !folders.contains(&next) {
                folders.push(next);
            }
        }
        self.go(folders.into());
    }

    pub(crate) fn go(&mut self, folders: Folders) {
        self.cwd_before = std::mem::replace(&mut self.cwd, folders);
    }

    /// Makes this the state of a shell of which either this or `other` ran.
    pub(crate) fn join(&mut self, other: &Self) {
        if !Rc::ptr_eq(&self.variables, &other.variables) {
            let variables = Rc::make_mut(&mut self.variables);
            for (name, theirs) in other.variables.iter() {
                if let Some(ours) = variables.get_mut(name) {
                    if let Some(both) = joined(ours, theirs) {
                        *ours = both;
                    }
                } else {
                    let unset = [Value::unknown()];
                    let values = theirs.iter().chain(&unset).cloned().collect();
                    variables.insert(Rc::clone(name), values);
                }
            }
            for (name, ours) in variables.iter_mut() {
                if !other.variables.contains_key(name) && !ours.contains(&Value::unknown()) {
                    let unset = [Value::unknown()];
                    *ours = ours.iter().chain(&unset).cloned().collect();
                }
            }
        }
        if self.cwd != other.cwd {
            let mut folders = self.cwd.to_vec();
            for folder in other.cwd.iter() {
                if !folders.contains(folder) {
                    folders.push(folder.clone());
                }
            }
            if folders.len() > ALTERNATIVES_MAX {
                folders = vec![None];
            }
            self.cwd = folders.into();
        }
        add_missing(&mut self.functions, &other.functions);
        add_missing(&mut self.aliases, &other.aliases);
        add_missing(&mut self.files, &other.files);
    }

    /// Whether `other` differs in what a second run of the same commands could see.
    pub(crate) fn changed_since(&self, other: &Self) -> bool {
        self.cwd != other.cwd
            || !Rc::ptr_eq(&self.variables, &other.variables) && self.variables != other.variables
    }
}

/// The alternatives of both, or `None` where theirs add nothing to ours.
fn joined(ours: &Rc<[Value]>, theirs: &Rc<[Value]>) -> Option<Rc<[Value]>> {
    if Rc::ptr_eq(ours, theirs) {
        return None;
    }
    let mut added = theirs.iter().filter(|value| !ours.contains(value));
    let first = added.next()?;
    let mut both = ours.to_vec();
    both.push(first.clone());
    both.extend(added.cloned());
    if both.len() > ALTERNATIVES_MAX {
        both = vec![Value::unknown()];
    }
    Some(both.into())
}

/// Adds what `ours` has no thing of that name for.
fn add_missing<T>(ours: &mut Table<T>, theirs: &Table<T>) {
    if Rc::ptr_eq(ours, theirs) {
        return;
    }
    for (name, thing) in theirs.iter() {
        if !ours.contains_key(name) {
            Rc::make_mut(ours).insert(Rc::clone(name), Rc::clone(thing));
        }
    }
}
