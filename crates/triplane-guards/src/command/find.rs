//! `find` and its like: what they would delete, and the commands that they run.

use crate::command::layers::replaced;
use crate::command::word::{Part, Word};
use crate::names;

/// What a `find` command does with the paths that it visits.
#[derive(Debug, Default)]
pub(crate) struct Find {
    /// The visited paths that reach the output: each a start, or something below one.
    pub(crate) printed: Vec<Word>,
    /// The paths that `-delete` removes.
    pub(crate) deleted: Vec<Word>,
    /// The commands that it runs, their `{}` filled in.
    pub(crate) commands: Vec<Vec<Word>>,
    /// The files that it writes.
    pub(crate) written: Vec<Word>,
}

/// Tests that pick some files by their name or state; a type or a depth alone picks nothing.
const FILTERS: [&str; 27] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-newermt",
    "-size",
    "-perm",
    "-user",
    "-group",
    "-inum",
    "-samefile",
    "-lname",
    "-links",
    "-uid",
];

/// Reads the arguments of `find`.
pub(crate) fn find(args: &[Word]) -> Find {
    let expression = args
        .iter()
        .position(|word| {
            let text = word.prefix();
            text.starts_with('-')
                && !matches!(text, "-H" | "-L" | "-P" | "-D")
                && !text.starts_with("-O")
                || matches!(word.literal(), Some("(" | "!" | ","))
        })
        .unwrap_or(args.len());
    let mut starts: Vec<Word> = args[..expression]
        .iter()
        .filter(|word| !word.prefix().starts_with('-'))
        .cloned()
        .collect();
    if starts.is_empty() {
        let span = args.first().map_or(0..0, |word| word.span.clone());
        starts.push(Word::text(".", span));
    }
    let mut found = Find::default();
    let mut acted = false;
    let mut at = expression;
    let mut groups: Vec<Group> = vec![Group::default()];
    // A protected name that is looked for stays visible in the paths that are found.
    let mut named: Option<String> = None;
    while let Some(word) = args.get(at) {
        at += 1;
        let text = word.literal().unwrap_or("");
        let last = groups.len() - 1;
        let filtered = groups.iter().any(|group| group.filtered);
        match text {
            "(" => groups.push(Group::default()),
            ")" => {
                if let Some(group) = groups.pop() {
                    let filtered = group.filtered && group.alternatives_filtered;
                    if groups.is_empty() {
                        groups.push(Group::default());
                    }
                    let outer = groups.len() - 1;
                    groups[outer].filtered |= filtered && !groups[outer].negated;
                    groups[outer].negated = false;
                }
            }
            "!" | "-not" => groups[last].negated = true,
            "-o" | "-or" | "," => groups[last].alternative(),
            "-a" | "-and" => {}
            "-delete" => {
                acted = true;
                found
                    .deleted
                    .extend(paths(&starts, filtered, named.as_deref()));
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                acted = true;
                let end = args[at..]
                    .iter()
                    .position(|word| matches!(word.literal(), Some(";" | "+")))
                    .map_or(args.len(), |length| at + length);
                let template = &args[at..end];
                at = end + 1;
                for path in paths(&starts, filtered, named.as_deref()) {
                    let argv = template
                        .iter()
                        .map(|word| replaced(word, "{}", &path))
                        .collect();
                    found.commands.push(argv);
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                found.written.extend(args.get(at).cloned());
                at += 1;
            }
            "-empty" => groups[last].filter(),
            "-mindepth" | "-maxdepth" | "-type" | "-xtype" | "-fstype" | "-printf" => at += 1,
            _ if FILTERS.contains(&text) => {
                let value = args.get(at);
                at += 1;
                if matches!(text, "-name" | "-iname")
                    && let Some(name) = value.and_then(Word::literal)
                    && names::is_switch(std::iter::once(names::folded(name).as_ref()))
                    && !groups[last].negated
                {
                    named = Some(name.to_owned());
                }
                let everything = value.is_some_and(|value| {
                    matches!(
                        value.literal(),
                        Some("*" | "**" | "*.*" | "./*" | "?*" | ".*")
                    )
                });
                if everything {
                    groups[last].negated = false;
                } else {
                    groups[last].filter();
                }
            }
            _ => {}
        }
    }
    if !acted || args.iter().any(|word| word.prefix().starts_with("-print")) {
        let filtered = groups
            .iter()
            .all(|group| group.filtered && group.alternatives_filtered);
        found.printed = paths(&starts, filtered, named.as_deref());
    }
    found
}

#[derive(Debug)]
struct Group {
    filtered: bool,
    negated: bool,
    /// Whether every earlier alternative was filtered.
    alternatives_filtered: bool,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            filtered: false,
            negated: false,
            alternatives_filtered: true,
        }
    }
}

impl Group {
    fn filter(&mut self) {
        // All but a few is nearly all.
        self.filtered |= !self.negated;
        self.negated = false;
    }

    fn alternative(&mut self) {
        self.alternatives_filtered &= self.filtered;
        self.filtered = false;
        self.negated = false;
    }
}

fn paths(starts: &[Word], filtered: bool, named: Option<&str>) -> Vec<Word> {
    starts
        .iter()
        .map(|start| {
            let mut path = start.clone();
            if filtered {
                path.push(Part::Below);
                if let Some(name) = named {
                    path.push(Part::Text(format!("/{name}")));
                }
            }
            path
        })
        .collect()
}

/// Reads the arguments of `fd`, which runs a command for each match of its pattern.
pub(crate) fn fd(args: &[Word]) -> Find {
    let mut found = Find::default();
    let at = args.iter().position(|word| {
        matches!(
            word.literal(),
            Some("-x" | "-X" | "--exec" | "--exec-batch")
        )
    });
    let Some(at) = at else {
        return found;
    };
    // The pattern comes first, the folders that are searched after it.
    let mut operands = Vec::new();
    let mut own = args[..at].iter();
    let mut picked = false;
    while let Some(word) = own.next() {
        match word.prefix() {
            "-e" | "-S" | "--extension" | "--size" | "--changed-within" | "--changed-before" => {
                picked = true;
                own.next();
            }
            "-t" | "-d" | "-E" | "-j" | "--type" | "--max-depth" | "--exclude" => {
                own.next();
            }
            text if text.starts_with("--extension=") || text.starts_with("--size=") => {
                picked = true;
            }
            text if text.starts_with('-') => {}
            _ => operands.push(word.clone()),
        }
    }
    let filtered = picked
        || operands
            .first()
            .is_some_and(|pattern| !matches!(pattern.literal(), Some("." | "" | ".*")));
    let mut starts = operands.split_off(operands.len().min(1));
    if starts.is_empty() {
        starts.push(Word::text(".", args[at].span.clone()));
    }
    let template = &args[at + 1..];
    for path in &paths(&starts, filtered, None) {
        let mut argv: Vec<Word> = template
            .iter()
            .map(|word| replaced(word, "{}", path))
            .collect();
        if !template.iter().any(|word| word.prefix().contains("{}")) {
            argv.push(path.clone());
        }
        found.commands.push(argv);
    }
    found
}
