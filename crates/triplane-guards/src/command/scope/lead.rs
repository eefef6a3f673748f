//! Where a word leads: the workspace, the temporary folder, home, the system, or elsewhere.

use crate::command::scope::component::{Component, components, split};
use crate::command::scope::glob::glob_matches;
use crate::command::scope::set::Scopes;
use crate::command::word::{Part, Word};
use crate::names::{self, SwitchKind};
use crate::place::Place;

/// Folders whose whole content belongs to the system.
const SYSTEM_TREES: [&str; 13] = [
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr", "System",
    "Library",
];

/// Where `word` may lead when `cwd` is the working folder, if that is known.
pub fn scopes(word: &Word, cwd: Option<&str>, place: &Place) -> Scopes {
    let prefix = word.prefix();
    if is_remote(prefix) {
        return Scopes::REMOTE;
    }
    if is_drive(prefix) {
        return Scopes::OUTSIDE;
    }
    let (components, absolute, complete) = components(word);
    let mut path: Vec<Component<'_>> = Vec::new();
    if !absolute {
        match cwd {
            Some(cwd) => path.extend(split(cwd)),
            None => return Scopes::UNKNOWN,
        }
    }
    for component in components {
        if component.pattern || !matches!(component.text.as_ref(), "." | "..") {
            path.push(component);
        } else if component.text == ".." {
            path.pop();
        }
    }
    let known = judge(&path, place);
    if complete {
        return known;
    }
    // What follows is unknown: a place outside stays outside, anything else may be anywhere.
    let inside = Scopes::INSIDE
        .and(Scopes::TEMP)
        .and(Scopes::WORKSPACE)
        .and(Scopes::STREAM);
    if word
        .parts
        .first()
        .is_some_and(|part| *part == Part::Unknown)
        || known.meets(inside)
    {
        Scopes::UNKNOWN
    } else {
        known.and(Scopes::UNKNOWN)
    }
}

fn is_remote(text: &str) -> bool {
    if let Some((scheme, _)) = text.split_once("://") {
        return !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    }
    match text.split_once(':') {
        // `host:path`, as scp and rsync have it, but not a path that holds a colon.
        Some((host, _)) => {
            host.len() > 1
                && !host.contains('/')
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"@.-_".contains(&byte))
        }
        None => false,
    }
}

/// Whether the text names a drive or a share of another system.
fn is_drive(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.starts_with("\\\\")
        || bytes.len() > 2
            && bytes[0].is_ascii_alphabetic()
            && bytes[1] == b':'
            && matches!(bytes[2], b'/' | b'\\')
}

fn judge(path: &[Component<'_>], place: &Place) -> Scopes {
    let root: Vec<&str> = names_of(&place.root);
    let home: Vec<&str> = names_of(&place.home);
    if below(path, &["dev"]) && path.len() > 1 {
        return device(path);
    }
    if covers(path, &root) {
        return if path.len() == root.len() {
            Scopes::WORKSPACE
        } else if path.len() <= 1 {
            Scopes::ABOVE.and(Scopes::SYSTEM)
        } else {
            Scopes::ABOVE
        };
    }
    if below(path, &root) {
        let rest = &path[root.len()..];
        let exact = path[..root.len()]
            .iter()
            .all(|component| !component.pattern);
        let inside = within(rest);
        return if exact {
            inside
        } else {
            inside.and(Scopes::OUTSIDE)
        };
    }
    for temp in [&["tmp"] as &[&str], &["private", "tmp"]] {
        let exact = path.first().is_some_and(|component| !component.pattern);
        if exact && path.len() >= temp.len() && covers(&path[..temp.len()], temp) {
            let rest = &path[temp.len()..];
            return if rest.iter().all(everything) {
                Scopes::TEMP_ROOT
            } else if switch(rest) {
                Scopes::TEMP.and(Scopes::SWITCH)
            } else {
                Scopes::TEMP
            };
        }
    }
    if covers(path, &home) {
        return if path.len() <= 1 {
            Scopes::HOME.and(Scopes::SYSTEM)
        } else {
            Scopes::HOME
        };
    }
    if below(path, &home) {
        let rest = &path[home.len()..];
        let all = rest.iter().all(everything);
        let named = named(rest);
        return if all { Scopes::HOME } else { Scopes::OUTSIDE }.and(named);
    }
    let system = path.len() <= 1 || SYSTEM_TREES.iter().any(|tree| matches_name(&path[0], tree));
    let named = named(path);
    if system {
        Scopes::SYSTEM
    } else {
        Scopes::OUTSIDE
    }
    .and(named)
}

fn names_of(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

/// Whether the path is `folder` or one above it, patterns counted.
fn covers(path: &[Component<'_>], folder: &[&str]) -> bool {
    path.len() <= folder.len()
        && path
            .iter()
            .zip(folder)
            .all(|(component, name)| matches_name(component, name))
}

/// Whether the path is strictly below `folder`.
fn below(path: &[Component<'_>], folder: &[&str]) -> bool {
    path.len() > folder.len()
        && path
            .iter()
            .zip(folder)
            .all(|(component, name)| matches_name(component, name))
}

fn matches_name(component: &Component<'_>, name: &str) -> bool {
    if component.pattern {
        glob_matches(&component.text, name)
    } else {
        component.text == name
    }
}

/// What a path strictly below the workspace is.
fn within(rest: &[Component<'_>]) -> Scopes {
    if rest.iter().all(everything) {
        return Scopes::WORKSPACE;
    }
    let named = named(rest);
    if named.meets(Scopes::SWITCH) {
        named
    } else {
        named.and(Scopes::INSIDE)
    }
}

/// Protected names along the way.
fn named(rest: &[Component<'_>]) -> Scopes {
    let mut scopes = Scopes::NONE;
    if switch(rest) {
        scopes = scopes.and(Scopes::SWITCH);
    }
    if let Some(last) = rest.last()
        && !last.pattern
        && names::is_secret(&names::folded(&last.text))
    {
        scopes = scopes.and(Scopes::SECRET);
    }
    scopes
}

fn switch(rest: &[Component<'_>]) -> bool {
    if rest.iter().any(|component| component.pattern) {
        return (0..rest.len()).any(|start| may_be_switch(&rest[start..]));
    }
    let folded: Vec<_> = rest
        .iter()
        .map(|component| names::folded(&component.text))
        .collect();
    names::is_switch(folded.iter().map(AsRef::as_ref))
        || matches!(folded.as_slice(), [only] if matches!(only.as_ref(), ".claude" | ".codex" | ".cursor"))
}

/// Whether a path with patterns in it may become one of the guarded ones, or one that holds them.
fn may_be_switch(path: &[Component<'_>]) -> bool {
    let meets = |guarded: &[&str]| {
        path.iter().zip(guarded).all(|(component, name)| {
            let hidden = !name.starts_with('.') || component.text.starts_with('.');
            hidden && matches_name(component, name)
        })
    };
    names::SWITCHES.iter().any(|(guarded, kind)| match kind {
        SwitchKind::Folder => path.len() >= guarded.len() && meets(guarded),
        SwitchKind::File => path.len() <= guarded.len() && meets(guarded),
    })
}

/// Whether a pattern says nothing about the names that it matches.
fn everything(component: &Component<'_>) -> bool {
    if !component.pattern || !component.text.contains('*') {
        return false;
    }
    let mut in_bracket = false;
    !component.text.chars().any(|c| {
        match c {
            '[' => in_bracket = true,
            ']' => in_bracket = false,
            _ => {}
        }
        !in_bracket && (c.is_alphanumeric() || matches!(c, '_' | '~' | '#' | '%' | '+' | '\u{1}'))
    })
}

fn device(path: &[Component<'_>]) -> Scopes {
    let name = &path[1];
    let harmless = !name.pattern
        && matches!(
            name.text.as_ref(),
            "null"
                | "zero"
                | "full"
                | "random"
                | "urandom"
                | "stdin"
                | "stdout"
                | "stderr"
                | "fd"
                | "tty"
        );
    if harmless {
        Scopes::STREAM
    } else if name.text == "shm" && !name.pattern && path.len() > 2 {
        Scopes::OUTSIDE
    } else if matches!(name.text.as_ref(), "tcp" | "udp") && path.len() > 2 {
        Scopes::REMOTE
    } else {
        Scopes::DEVICE
    }
}
