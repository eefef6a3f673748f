//! Where a path of a command leads, as far as the text tells.

use crate::command::word::{Part, Word};
use crate::names::{self, SwitchKind};
use crate::place::Place;

/// A set of places that a word may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(pub(crate) u32);

impl Scopes {
    /// Nowhere.
    pub const NONE: Self = Self(0);
    /// Strictly below the workspace, and not protected there.
    pub const INSIDE: Self = Self(1);
    /// Strictly below the temporary folder.
    pub const TEMP: Self = Self(1 << 1);
    /// The workspace itself, or everything in it.
    pub const WORKSPACE: Self = Self(1 << 2);
    /// A folder that the workspace is in.
    pub const ABOVE: Self = Self(1 << 3);
    /// The root of the file system, a top-level folder, or below a folder of the system.
    pub const SYSTEM: Self = Self(1 << 4);
    /// The home folder, or everything in it.
    pub const HOME: Self = Self(1 << 5);
    /// Anywhere else outside.
    pub const OUTSIDE: Self = Self(1 << 6);
    /// Git's folder, or a file that configures the guard.
    pub const SWITCH: Self = Self(1 << 7);
    /// A file that holds secrets, by its name.
    pub const SECRET: Self = Self(1 << 8);
    /// A device that holds data.
    pub const DEVICE: Self = Self(1 << 9);
    /// A device that holds nothing: `/dev/null`, a standard stream, a terminal.
    pub const STREAM: Self = Self(1 << 10);
    /// A path on another machine, or a URL.
    pub const REMOTE: Self = Self(1 << 11);
    /// Not known from the text.
    pub const UNKNOWN: Self = Self(1 << 12);
    /// The temporary folder itself, or everything in it.
    pub const TEMP_ROOT: Self = Self(1 << 13);

    /// Whether the two sets share a place.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Folders whose whole content belongs to the system.
const SYSTEM_TREES: [&str; 13] = [
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr", "System",
    "Library",
];

/// One component of a path whose name may be a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Component {
    text: String,
    pattern: bool,
}

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
    let mut path: Vec<Component> = Vec::new();
    if !absolute {
        match cwd {
            Some(cwd) => path.extend(split(cwd)),
            None => return Scopes::UNKNOWN,
        }
    }
    for component in components {
        if component.pattern || !matches!(component.text.as_str(), "." | "..") {
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

fn split(path: &str) -> impl Iterator<Item = Component> {
    path.split('/')
        .filter(|name| !name.is_empty())
        .map(|name| Component {
            text: name.to_owned(),
            pattern: false,
        })
}

/// The components that are known, whether they start at the root, and whether they are all.
fn components(word: &Word) -> (Vec<Component>, bool, bool) {
    let mut components = Vec::new();
    let mut current = Component::default();
    let absolute = word.prefix().starts_with('/');
    for part in &word.parts {
        match part {
            Part::Text(text) => {
                for (nth, piece) in text.split('/').enumerate() {
                    if nth > 0 && !current.text.is_empty() {
                        components.push(std::mem::take(&mut current));
                    }
                    if current.pattern {
                        escape_into(&mut current.text, piece);
                    } else {
                        current.text.push_str(piece);
                    }
                }
            }
            Part::Glob(glob) => {
                if !current.pattern {
                    let text = std::mem::take(&mut current.text);
                    escape_into(&mut current.text, &text);
                    current.pattern = true;
                }
                current.text.push_str(glob);
            }
            // A name of its own: like nothing that is protected.
            Part::Token => current.text.push('\u{1}'),
            Part::Below => {
                if !current.text.is_empty() {
                    components.push(std::mem::take(&mut current));
                }
                components.push(Component {
                    text: "\u{1}".to_owned(),
                    pattern: false,
                });
            }
            Part::Unknown => return (components, absolute, false),
        }
    }
    if !current.text.is_empty() {
        components.push(current);
    }
    (components, absolute, true)
}

fn escape_into(pattern: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
}

fn judge(path: &[Component], place: &Place) -> Scopes {
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
fn covers(path: &[Component], folder: &[&str]) -> bool {
    path.len() <= folder.len()
        && path
            .iter()
            .zip(folder)
            .all(|(component, name)| matches_name(component, name))
}

/// Whether the path is strictly below `folder`.
fn below(path: &[Component], folder: &[&str]) -> bool {
    path.len() > folder.len()
        && path
            .iter()
            .zip(folder)
            .all(|(component, name)| matches_name(component, name))
}

fn matches_name(component: &Component, name: &str) -> bool {
    if component.pattern {
        glob_matches(&component.text, name)
    } else {
        component.text == name
    }
}

/// What a path strictly below the workspace is.
fn within(rest: &[Component]) -> Scopes {
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
fn named(rest: &[Component]) -> Scopes {
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

fn switch(rest: &[Component]) -> bool {
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
fn may_be_switch(path: &[Component]) -> bool {
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
fn everything(component: &Component) -> bool {
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
        !in_bracket && (c.is_alphanumeric() || c == '_' || c == '\u{1}')
    })
}

fn device(path: &[Component]) -> Scopes {
    let name = &path[1];
    let harmless = !name.pattern
        && matches!(
            name.text.as_str(),
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
    } else if matches!(name.text.as_str(), "tcp" | "udp") && path.len() > 2 {
        Scopes::REMOTE
    } else {
        Scopes::DEVICE
    }
}

/// Whether a shell pattern matches a whole name. Linear for each star: no backtracking beyond the
/// last one.
pub(crate) fn glob_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            Some('[') => bracket(&pattern, p, name[n]),
            Some('\\') => (pattern.get(p + 1) == Some(&name[n])).then_some(p + 2),
            Some(&c) => (c == name[n]).then_some(p + 1),
            None => None,
        };
        match (step, retry) {
            (Some(next), _) => {
                p = next;
                n += 1;
            }
            (None, Some((star, from))) => {
                retry = Some((star, from + 1));
                p = star + 1;
                n = from + 1;
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// The position after the bracket expression at `at`, if it matches `c`.
fn bracket(pattern: &[char], at: usize, c: char) -> Option<usize> {
    let mut p = at + 1;
    let negated = matches!(pattern.get(p), Some('!' | '^'));
    if negated {
        p += 1;
    }
    let mut found = false;
    let mut first = true;
    loop {
        match pattern.get(p)? {
            ']' if !first => break,
            &from => {
                if pattern.get(p + 1) == Some(&'-')
                    && pattern.get(p + 2).is_some_and(|&to| to != ']')
                {
                    found |= from <= c && c <= pattern[p + 2];
                    p += 3;
                } else {
                    found |= from == c;
                    p += 1;
                }
            }
        }
        first = false;
    }
    (found != negated).then_some(p + 1)
}
