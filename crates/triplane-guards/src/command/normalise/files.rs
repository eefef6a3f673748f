//! What files hold that the line itself has written.

use std::rc::Rc;

use crate::command::layers::{clustered_text, values_of};
use crate::command::normalise::walker::{Normaliser, Output};
use crate::command::state::ShellState;
use crate::command::word::Word;
use crate::place::absolute;

impl Normaliser<'_> {
    /// What goes to a file is remembered under its path and read by nobody else.
    pub(crate) fn written(
        file: Option<(Word, bool)>,
        output: Output,
        state: &mut ShellState,
    ) -> Output {
        let Some((file, appended)) = file else {
            return output;
        };
        if let Some(path) = path_of(&file, state) {
            if path.starts_with("/dev/") {
                return if matches!(path.as_str(), "/dev/stdout" | "/dev/fd/1") {
                    output
                } else {
                    Output::new()
                };
            }
            let content = Word {
                parts: output,
                span: file.span.clone(),
            };
            remember(path, &content, appended, state);
        }
        Output::new()
    }

    /// Programs that write a file whose content is known, or known to be unknown.
    pub(crate) fn remember_files(
        name: &str,
        args: &[Word],
        input: Option<&Word>,
        state: &mut ShellState,
    ) {
        match name {
            // A file that a download writes holds unknown text.
            "curl" | "wget" => downloaded(name, args, state),
            "scp" | "rsync" | "sftp" => fetched(args, state),
            "tee" | "sponge" => {
                let appended = args
                    .iter()
                    .any(|word| matches!(word.literal(), Some("-a" | "--append")));
                let unknown = Word::unknown(0..0);
                let content = input.unwrap_or(&unknown);
                for file in args.iter().filter(|word| !word.prefix().starts_with('-')) {
                    if let Some(path) = path_of(file, state) {
                        remember(path, content, appended, state);
                    }
                }
            }
            "cp" | "mv" | "ln" | "install" => copied(args, input, state),
            _ => {}
        }
    }
}

/// What a file holds, if this line has written it.
pub(crate) fn content_of(file: &Word, state: &ShellState) -> Option<Word> {
    if state.files.is_empty() {
        return None;
    }
    held(&path_of(file, state)?, state)
}

/// What this line has written to the file at `path`, which is absolute.
pub(crate) fn held(path: &str, state: &ShellState) -> Option<Word> {
    state.files.get(path).map(|content| Word::clone(content))
}

/// The path of a file, if the text tells it.
fn path_of(file: &Word, state: &ShellState) -> Option<String> {
    match (file.literal()?, &*state.cwd) {
        (path, [Some(cwd)]) => Some(absolute(path, cwd)),
        (path, _) if path.starts_with('/') => Some(absolute(path, "/")),
        _ => None,
    }
}

fn remember(path: String, content: &Word, appended: bool, state: &mut ShellState) {
    let files = Rc::make_mut(&mut state.files);
    let mut whole = match files.remove(path.as_str()) {
        Some(before) if appended => Rc::unwrap_or_clone(before),
        Some(_) | None => Word::default(),
    };
    for part in &content.parts {
        whole.push(part.clone());
    }
    whole.span = content.span.clone();
    files.insert(path.into(), Rc::new(whole));
}

fn downloaded(name: &str, args: &[Word], state: &mut ShellState) {
    let (options, long): (&[&str], &str) = match name {
        "curl" => (&["-o", "--output"], "--remote-name"),
        _ => (&["-O", "--output-document"], ""),
    };
    let mut named = false;
    let files: Vec<Word> = values_of(args, options)
        .chain(clustered_text(args, options))
        .collect();
    for file in files {
        named = true;
        if file.literal() != Some("-") {
            unknown_at(&file, state);
        }
    }
    // Without a name, the file is called as the address ends.
    let by_address = name == "wget" && !named
        || args.iter().any(|word| {
            let text = word.prefix();
            text == long || text.starts_with('-') && !text.starts_with("--") && text.contains('O')
        });
    if by_address {
        for address in args.iter().filter_map(Word::literal) {
            let path = address.split(['?', '#']).next().unwrap_or(address);
            let rest = path.split_once("://").map_or(path, |(_, rest)| rest);
            if let Some((_, file)) = rest.rsplit_once('/')
                && !address.starts_with('-')
                && !file.is_empty()
            {
                unknown_at(&Word::text(file, 0..0), state);
            }
        }
    }
}

/// What comes from another machine is unknown.
fn fetched(args: &[Word], state: &mut ShellState) {
    let files: Vec<&str> = args
        .iter()
        .filter_map(Word::literal)
        .filter(|text| !text.starts_with('-'))
        .collect();
    let Some((target, sources)) = files.split_last() else {
        return;
    };
    for source in sources {
        if let Some((host, path)) = source.split_once(':')
            && !host.contains('/')
        {
            let name = path.rsplit('/').next().unwrap_or(path);
            unknown_at(&Word::text(format!("{target}/{name}"), 0..0), state);
            unknown_at(&Word::text(*target, 0..0), state);
        }
    }
}

fn unknown_at(file: &Word, state: &mut ShellState) {
    if let Some(path) = path_of(file, state) {
        Rc::make_mut(&mut state.files).insert(path.into(), Rc::new(Word::unknown(0..0)));
    }
}

/// A copy holds what the original holds.
fn copied(args: &[Word], input: Option<&Word>, state: &mut ShellState) {
    let programs = args.iter().any(|word| is_of_system(word.prefix()));
    if state.files.is_empty() && input.is_none() && !programs {
        return;
    }
    let files: Vec<&Word> = args
        .iter()
        .filter(|word| !word.prefix().starts_with('-'))
        .collect();
    let Some((target, sources)) = files.split_last() else {
        return;
    };
    for source in sources {
        let content = path_of(source, state).and_then(|path| {
            let content = match path.as_str() {
                "/dev/stdin" | "/dev/fd/0" => input?.clone(),
                // A program under another name does what it did.
                path if is_of_system(path) => {
                    Word::text(format!("{path} \"$@\"\n"), source.span.clone())
                }
                _ => held(&path, state)?,
            };
            Some((path, content))
        });
        let (Some((from, content)), Some(to)) = (content, path_of(target, state)) else {
            continue;
        };
        // The target may be a folder: both readings are remembered.
        let name = from.rsplit('/').next().unwrap_or("");
        remember(format!("{to}/{name}"), &content, false, state);
        remember(to, &content, false, state);
    }
}

/// Whether this is a program of the system by its path.
fn is_of_system(path: &str) -> bool {
    ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"]
        .iter()
        .any(|folder| {
            path.strip_prefix(folder)
                .is_some_and(|name| !name.contains('/'))
        })
}
