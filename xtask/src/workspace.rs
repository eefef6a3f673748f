//! The workspace as its manifests describe it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use toml::{Table, Value};

/// The workspace and its members, in the order of the root manifest.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// This program, as it was found when it began: it may be built anew while it runs.
    pub(crate) program: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) members: Vec<Member>,
}

/// One crate of the workspace.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
}

/// A `Cargo.toml`, parsed and as text.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// Relative to the workspace's root.
    pub(crate) file: PathBuf,
    pub(crate) table: Table,
    text: String,
}

/// One entry of a dependency table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The name in this manifest; in sources it is an identifier with `_` for `-`.
    pub(crate) key: String,
    /// The name of the package, another one when the manifest renames it.
    pub(crate) package: String,
    pub(crate) kind: DependencyKind,
    pub(crate) optional: bool,
    pub(crate) features: Vec<String>,
    pub(crate) default_features: bool,
}

/// The table that a dependency stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    Normal,
    Dev,
    Build,
}

impl DependencyKind {
    /// The three kinds with the name of their table.
    pub(crate) const TABLES: [(Self, &'static str); 3] = [
        (Self::Normal, "dependencies"),
        (Self::Dev, "dev-dependencies"),
        (Self::Build, "build-dependencies"),
    ];
}

impl Workspace {
    /// The workspace that this command was built in, or else the one around the current folder.
    pub(crate) fn here() -> anyhow::Result<Self> {
        let start = match std::env::var_os("CARGO_MANIFEST_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => std::env::current_dir()?,
        };
        let root = start.ancestors().find(|folder| {
            fs::read_to_string(folder.join("Cargo.toml"))
                .is_ok_and(|text| text.contains("[workspace]"))
        });
        let root = root.with_context(|| format!("no workspace around {}", start.display()))?;
        Self::at(root)
    }

    /// The workspace whose root is `root`.
    ///
    /// Fails when a manifest cannot be read, or a member is a pattern.
    pub(crate) fn at(root: &Path) -> anyhow::Result<Self> {
        let manifest = Manifest::read(root, Path::new("Cargo.toml"))?;
        let paths = manifest.table.get("workspace");
        let paths = paths.and_then(|workspace| workspace.get("members"));
        let paths = paths
            .and_then(Value::as_array)
            .context("the root manifest has no members")?;
        let mut members = Vec::with_capacity(paths.len());
        for path in paths {
            let path = path.as_str().context("a member is not a string")?;
            if path.contains('*') {
                bail!("member `{path}` is a pattern; members are listed one by one, in order");
            }
            let folder = PathBuf::from(path);
            let manifest = Manifest::read(root, &folder.join("Cargo.toml"))?;
            let name = manifest
                .table
                .get("package")
                .and_then(|package| package.get("name"));
            let name = name.and_then(Value::as_str);
            let name = name
                .with_context(|| format!("{path} has no package name"))?
                .to_owned();
            members.push(Member {
                name,
                folder,
                manifest,
            });
        }
        Ok(Self {
            root: root.to_owned(),
            program: std::env::current_exe().context("this program has no path")?,
            manifest,
            members,
        })
    }

    /// The entries of all dependency tables of `member`, those of targets included.
    pub(crate) fn dependencies(&self, member: &Member) -> Vec<Dependency> {
        let own = std::iter::once(&member.manifest.table);
        let targets = member
            .manifest
            .table
            .get("target")
            .and_then(Value::as_table);
        let targets = targets
            .into_iter()
            .flat_map(Table::values)
            .filter_map(Value::as_table);
        let mut dependencies = Vec::new();
        for table in own.chain(targets) {
            for (kind, name) in DependencyKind::TABLES {
                let entries = table.get(name).and_then(Value::as_table);
                for (key, value) in entries.into_iter().flatten() {
                    dependencies.push(self.dependency(key, value, kind));
                }
            }
        }
        dependencies
    }

    fn dependency(&self, key: &str, value: &Value, kind: DependencyKind) -> Dependency {
        let inherits = value.get("workspace").and_then(Value::as_bool) == Some(true);
        let inherited = self
            .shared_dependencies()
            .and_then(|shared| shared.get(key));
        let inherited = inherited.filter(|_| inherits);
        let either = |field| value.get(field).or_else(|| inherited?.get(field));
        let mut features = Vec::new();
        for source in [Some(value), inherited].into_iter().flatten() {
            let listed = source.get("features").and_then(Value::as_array);
            features.extend(
                listed
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(str::to_owned),
            );
        }
        Dependency {
            key: key.to_owned(),
            package: either("package")
                .and_then(Value::as_str)
                .unwrap_or(key)
                .to_owned(),
            kind,
            optional: value
                .get("optional")
                .and_then(Value::as_bool)
                .unwrap_or(false),
            features,
            default_features: either("default-features")
                .and_then(Value::as_bool)
                .unwrap_or(true),
        }
    }

    /// The table `[workspace.dependencies]`.
    pub(crate) fn shared_dependencies(&self) -> Option<&Table> {
        self.manifest
            .table
            .get("workspace")?
            .get("dependencies")?
            .as_table()
    }
}

impl Manifest {
    fn read(root: &Path, file: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        let table = text
            .parse()
            .with_context(|| format!("in {}", file.display()))?;
        Ok(Self {
            file: file.to_owned(),
            table,
            text,
        })
    }

    /// The line of the entry `key` in a table whose header ends in `table`; 0 if there is none.
    pub(crate) fn line_of(&self, table: &str, key: &str) -> u32 {
        let mut inside = false;
        for (line, text) in (1..).zip(self.text.lines()) {
            if let Some(header) = text.trim().strip_prefix('[') {
                inside = header.trim_end_matches(']').ends_with(table);
            }
            let rest = text.strip_prefix(key);
            if inside && rest.is_some_and(|rest| rest.starts_with(['.', ' ', '='])) {
                return line;
            }
        }
        0
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    //! Small workspaces, written to a folder for one test.

    use std::fs;

    use super::Workspace;

    /// A workspace made of `files` (path, content) in a folder of its own, removed on drop.
    pub(crate) struct Fixture {
        pub(crate) workspace: Workspace,
        _folder: tempfile::TempDir,
    }

    /// Writes `files` and reads the workspace that they make.
    pub(crate) fn workspace(files: &[(&str, &str)]) -> Fixture {
        let folder = tempfile::tempdir().expect("a folder for the fixture");
        for (path, content) in files {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().expect("a parent")).expect("the fixture's folders");
            fs::write(file, content).expect("the fixture's files");
        }
        let workspace = Workspace::at(folder.path()).expect("a workspace");
        Fixture {
            workspace,
            _folder: folder,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[(&str, &str)] = &[
        (
            "Cargo.toml",
            "[workspace]\nmembers = ['a']\n[workspace.dependencies]\n\
             b = { version = '1', package = 'bee', default-features = false, features = ['x'] }\n",
        ),
        (
            "a/Cargo.toml",
            "[package]\nname = 'a'\n[dependencies]\nb = { workspace = true, features = ['y'], optional = true }\n\
             [target.'cfg(unix)'.dev-dependencies]\nc = '2'\n",
        ),
    ];

    #[test]
    fn an_inherited_dependency_has_the_name_and_features_of_both_manifests() {
        let fixture = fixture::workspace(FILES);
        let member = &fixture.workspace.members[0];
        let dependencies = fixture.workspace.dependencies(member);
        let wanted = Dependency {
            key: "b".into(),
            package: "bee".into(),
            kind: DependencyKind::Normal,
            optional: true,
            features: vec!["y".into(), "x".into()],
            default_features: false,
        };
        assert_eq!(dependencies[0], wanted);
        assert_eq!(dependencies[1].kind, DependencyKind::Dev);
        assert_eq!(member.manifest.line_of("dependencies", "b"), 4);
        assert_eq!(member.manifest.line_of("dev-dependencies", "c"), 6);
    }
}
