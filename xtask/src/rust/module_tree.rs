//! The tree of a crate's modules, read from its root file as the compiler would.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::rust::lexer::{Kind, Token, tokens};
use crate::rust::test_items::{group_end, part};
use crate::rust::use_tree::{self, Brings, Import};

/// The index of a module in its [`ModuleTree`]; the root is 0.
pub(crate) type ModuleId = usize;

/// The modules of one target.
#[derive(Debug)]
pub(crate) struct ModuleTree {
    extent: Extent,
    pub(crate) modules: Vec<Module>,
}

/// Which modules of a target are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those that are compiled outside tests.
    Shipped,
    /// All of them.
    WithTests,
}

/// One module.
#[derive(Debug)]
pub(crate) struct Module {
    /// The path from the crate's root, for example `delivery::sink`; empty for the root.
    pub(crate) path: String,
    /// Where it is written.
    pub(crate) file: PathBuf,
    /// The line on which its parent declares it.
    pub(crate) declared: u32,
    pub(crate) parent: Option<ModuleId>,
    /// In the order of their declaration.
    pub(crate) children: Vec<ModuleId>,
    /// Its `use` declarations.
    pub(crate) imports: Vec<Import>,
    /// Paths of two segments or more in its code.
    pub(crate) paths: Vec<Import>,
    /// The names of the items that it defines.
    pub(crate) defines: BTreeSet<String>,
}

impl Module {
    /// The last segment of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit("::").next().unwrap_or_default()
    }
}

impl ModuleTree {
    /// Reads the target whose root is `root_file`.
    ///
    /// Fails when a file cannot be read, or a declared module has no file.
    pub(crate) fn read(root_file: &Path, extent: Extent) -> anyhow::Result<Self> {
        let modules = Vec::new();
        let mut tree = Self { extent, modules };
        let folder = root_file
            .parent()
            .context("a root file stands in a folder")?;
        tree.read_file(String::new(), root_file, folder, None, 0)?;
        Ok(tree)
    }

    /// The child of `module` that is called `name`.
    pub(crate) fn child(&self, module: ModuleId, name: &str) -> Option<ModuleId> {
        let children = self.modules[module].children.iter().copied();
        children
            .into_iter()
            .find(|&child| self.modules[child].name() == name)
    }

    /// The modules from the root down to `module`, both included.
    pub(crate) fn ancestry(&self, module: ModuleId) -> Vec<ModuleId> {
        let mut line: Vec<_> =
            std::iter::successors(Some(module), |&id| self.modules[id].parent).collect();
        line.reverse();
        line
    }

    fn read_file(
        &mut self,
        path: String,
        file: &Path,
        children_folder: &Path,
        parent: Option<ModuleId>,
        declared: u32,
    ) -> anyhow::Result<ModuleId> {
        let source = fs::read_to_string(file)
            .with_context(|| format!("cannot read the module {}", file.display()))?;
        let all = tokens(&source);
        let id = self.add(path, file, parent, declared);
        let body = match self.extent {
            Extent::Shipped => part(&all).shipped,
            Extent::WithTests => all,
        };
        self.read_body(id, &body, children_folder)?;
        Ok(id)
    }

    fn add(
        &mut self,
        path: String,
        file: &Path,
        parent: Option<ModuleId>,
        declared: u32,
    ) -> ModuleId {
        let id = self.modules.len();
        self.modules.push(Module {
            path,
            file: file.to_owned(),
            declared,
            parent,
            children: Vec::new(),
            imports: Vec::new(),
            paths: Vec::new(),
            defines: BTreeSet::new(),
        });
        if let Some(parent) = parent {
            self.modules[parent].children.push(id);
        }
        id
    }

    fn read_body(&mut self, id: ModuleId, body: &[Token<'_>], folder: &Path) -> anyhow::Result<()> {
        let mut at = 0;
        let mut depth = 0_usize;
        let mut attributed_path = None;
        while let Some(token) = body.get(at) {
            if token.is("#") && is(body, at + 1, "[") {
                let end = group_end(body, at + 1);
                attributed_path = path_attribute(&body[at..end]).or(attributed_path);
                at = end;
                continue;
            }
            let starts_item = at == 0 || !is(body, at - 1, "::") && !is(body, at - 1, ".");
            if starts_item && token.is("mod") && is_ident(body, at + 1) {
                at = self.read_mod(id, body, at, folder, attributed_path.take())?;
                continue;
            }
            if starts_item && token.is("use") {
                let (imports, end) = use_tree::parse(body, at + 1);
                self.modules[id].imports.extend(imports);
                at = end;
                continue;
            }
            if let Some((import, end)) = path_at(body, at) {
                self.modules[id].paths.push(import);
                at = end;
                continue;
            }
            if token.kind == Kind::Punct {
                match token.text {
                    "{" => depth += 1,
                    "}" => depth = depth.saturating_sub(1),
                    ";" => attributed_path = None,
                    _ => {}
                }
            }
            if depth == 0
                && let Some(name) = defined_name(body, at)
            {
                self.modules[id].defines.insert(name.to_owned());
            }
            at += 1;
        }
        Ok(())
    }

    /// Reads `mod name;` or `mod name { … }` at `at`; returns where it ends.
    fn read_mod(
        &mut self,
        parent: ModuleId,
        body: &[Token<'_>],
        at: usize,
        folder: &Path,
        attributed_path: Option<String>,
    ) -> anyhow::Result<usize> {
        let name = body[at + 1].text;
        let line = body[at + 1].line;
        let path = match self.modules[parent].path.as_str() {
            "" => name.to_owned(),
            above => format!("{above}::{name}"),
        };
        if is(body, at + 2, "{") {
            let end = group_end(body, at + 2);
            let file = self.modules[parent].file.clone();
            let child = self.add(path, &file, Some(parent), line);
            self.read_body(child, &body[at + 3..end - 1], &folder.join(name))?;
            return Ok(end);
        }
        let parent_file = self.modules[parent].file.clone();
        let (file, children_folder) = if let Some(relative) = attributed_path {
            let beside = parent_file.parent().context("a file stands in a folder")?;
            let file = beside.join(relative);
            let children_folder = file
                .parent()
                .context("a file stands in a folder")?
                .to_owned();
            (file, children_folder)
        } else {
            let flat = folder.join(format!("{name}.rs"));
            let door = folder.join(name).join("mod.rs");
            match (flat.is_file(), door.is_file()) {
                (true, false) => (flat, folder.join(name)),
                (false, true) => (door, folder.join(name)),
                (true, true) => bail!("{} and {} both exist", flat.display(), door.display()),
                (false, false) => bail!(
                    "{}:{line}: module `{name}` has no file",
                    parent_file.display()
                ),
            }
        };
        self.read_file(path, &file, &children_folder, Some(parent), line)?;
        Ok(at + 3)
    }
}

/// The value of `#[path = "…"]`.
fn path_attribute(attribute: &[Token<'_>]) -> Option<String> {
    let at = attribute.iter().position(|token| token.is("path"))?;
    let value = attribute.get(at + 2)?;
    let is_value = is(attribute, at + 1, "=") && value.kind == Kind::Literal;
    is_value.then(|| value.text.trim_matches('"').to_owned())
}

/// A path of two segments or more in the code, and where it ends.
fn path_at(body: &[Token<'_>], at: usize) -> Option<(Import, usize)> {
    let first = body.get(at)?;
    let starts = first.kind == Kind::Ident && (at == 0 || !is(body, at - 1, "::"));
    if !starts || !is(body, at + 1, "::") || !is_ident(body, at + 2) {
        return None;
    }
    let mut segments = vec![first.text.to_owned()];
    let mut end = at + 1;
    while is(body, end, "::") && is_ident(body, end + 1) {
        segments.push(body[end + 1].text.to_owned());
        end += 2;
    }
    let (brings, line) = (Brings::Nothing, first.line);
    Some((
        Import {
            segments,
            brings,
            line,
        },
        end,
    ))
}

fn defined_name<'s>(body: &[Token<'s>], at: usize) -> Option<&'s str> {
    const KEYWORDS: [&str; 8] = [
        "struct", "enum", "union", "trait", "fn", "type", "const", "static",
    ];
    let keyword = body.get(at)?;
    if keyword.is("macro_rules") && is(body, at + 1, "!") {
        return body.get(at + 2).map(|token| token.text);
    }
    let defines = KEYWORDS.into_iter().any(|word| keyword.is(word));
    let name = body.get(at + 1)?;
    let is_name = name.kind == Kind::Ident && !KEYWORDS.contains(&name.text);
    (defines && is_name).then_some(name.text)
}

fn is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.is(text))
}

fn is_ident(tokens: &[Token<'_>], at: usize) -> bool {
    tokens
        .get(at)
        .is_some_and(|token| token.kind == Kind::Ident)
}
