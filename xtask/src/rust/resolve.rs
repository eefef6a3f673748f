//! From a path in the source to the modules that it leads through.

use std::collections::BTreeSet;

use crate::rust::module_tree::{ModuleId, ModuleTree};
use crate::rust::use_tree::{Brings, Import};

/// How many re-exports are followed for one path; more would be a circle.
const REEXPORTS_MAX: usize = 16;

/// The modules of the tree that `import`, written in `from`, leads to.
///
/// Those are the modules that the path names and, where a door re-exports the name, the module that
/// defines it. A path into another crate leads nowhere.
pub(crate) fn modules_of(tree: &ModuleTree, from: ModuleId, import: &Import) -> BTreeSet<ModuleId> {
    let mut reached = BTreeSet::new();
    walk(tree, from, &import.segments, &mut reached, REEXPORTS_MAX);
    reached
}

/// Follows `segments` from the module `from`; returns the module that owns the last of them.
fn walk(
    tree: &ModuleTree,
    from: ModuleId,
    segments: &[String],
    reached: &mut BTreeSet<ModuleId>,
    reexports_left: usize,
) -> Option<ModuleId> {
    let (mut at, mut rest) = start(tree, from, segments, reached, reexports_left)?;
    reached.insert(at);
    while let Some((segment, tail)) = rest.split_first() {
        let Some(next) = step(tree, at, segment, reached, reexports_left) else {
            break;
        };
        at = next;
        rest = tail;
        reached.insert(at);
    }
    Some(at)
}

/// The module where the path starts, and the segments that are left to follow.
fn start<'p>(
    tree: &ModuleTree,
    from: ModuleId,
    segments: &'p [String],
    reached: &mut BTreeSet<ModuleId>,
    reexports_left: usize,
) -> Option<(ModuleId, &'p [String])> {
    let (first, mut rest) = segments.split_first()?;
    let mut at = match first.as_str() {
        "crate" => 0,
        "self" => from,
        "super" => tree.modules[from].parent?,
        name => return Some((step(tree, from, name, reached, reexports_left)?, rest)),
    };
    while let Some((segment, tail)) = rest.split_first().filter(|(s, _)| *s == "super") {
        debug_assert_eq!(segment, "super");
        at = tree.modules[at].parent?;
        rest = tail;
    }
    Some((at, rest))
}

/// The module that `name`, seen in `module`, stands for or is defined in.
fn step(
    tree: &ModuleTree,
    module: ModuleId,
    name: &str,
    reached: &mut BTreeSet<ModuleId>,
    reexports_left: usize,
) -> Option<ModuleId> {
    if let Some(child) = tree.child(module, name) {
        return Some(child);
    }
    let here = &tree.modules[module];
    let reexports_left = reexports_left.checked_sub(1)?;
    if here.defines.contains(name) {
        return None;
    }
    let named = here.imports.iter().find(|import| match &import.brings {
        Brings::Name(brought) => brought == name,
        Brings::Everything | Brings::Nothing => false,
    });
    if let Some(import) = named {
        return walk(tree, module, &import.segments, reached, reexports_left);
    }
    let globs = here
        .imports
        .iter()
        .filter(|import| import.brings == Brings::Everything);
    for glob in globs {
        let mut through = BTreeSet::new();
        let opened = walk(tree, module, &glob.segments, &mut through, reexports_left);
        let Some(opened) = opened else { continue };
        let owner = if tree.modules[opened].defines.contains(name) {
            Some(opened)
        } else {
            step(tree, opened, name, &mut through, reexports_left)
        };
        if let Some(owner) = owner {
            reached.append(&mut through);
            return Some(owner);
        }
    }
    None
}
