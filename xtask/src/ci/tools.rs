//! The helper tools: found on the path, or installed below the target folder in a pinned version.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::ci::command::Shop;

/// A program from the registry and the oldest version that will do.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The name of the crate and of its program.
    pub(crate) name: &'static str,
    pub(crate) pinned: Version,
    /// Options for `cargo install`.
    pub(crate) options: &'static str,
}

/// Checks licences, bans, sources and advisories.
pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    pinned: Version(0, 20, 2),
    options: "--no-default-features",
};

/// Runs the tests, each in a process of its own.
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    pinned: Version(0, 9, 143),
    options: "--no-default-features --features default-no-update",
};

/// Major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u32, u32, u32);

impl Version {
    /// The first `x.y.z` in the words of `text`.
    fn find(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let mut numbers = word.split('.').map(|number| number.parse().ok());
            Some(Self(numbers.next()??, numbers.next()??, numbers.next()??))
        })
    }

    /// Whether this version does for what was pinned: not older, and compatible by its numbers.
    fn serves(self, pinned: Self) -> bool {
        let same_line = self.0 == pinned.0 && (self.0 > 0 || self.1 == pinned.1);
        same_line && self >= pinned
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Tool {
    /// The program: from the path, from an earlier install, or installed now.
    ///
    /// Fails when it has to be installed and cannot be.
    pub(crate) fn program(&self, shop: &mut Shop<'_>) -> anyhow::Result<PathBuf> {
        let tools = shop.target_folder.join("tools");
        let installed = tools.join("bin").join(self.name);
        for program in [Path::new(self.name), &installed] {
            if self.serves(shop, program) {
                return Ok(program.to_owned());
            }
        }
        self.install(shop, &tools)?;
        Ok(installed)
    }

    fn serves(&self, shop: &Shop<'_>, program: &Path) -> bool {
        // Asked as cargo would call them: `cargo-nextest nextest --version`.
        let command = self.name.trim_start_matches("cargo-");
        [format!("{command} --version"), "--version".to_owned()]
            .iter()
            .filter_map(|arguments| shop.program(program).args(arguments).output().ok())
            .find_map(|text| Version::find(&text))
            .is_some_and(|version| version.serves(self.pinned))
    }

    fn install(&self, shop: &mut Shop<'_>, tools: &Path) -> anyhow::Result<()> {
        let Self {
            name,
            pinned,
            options,
        } = self;
        println!(
            "{name} {pinned} is not on the path; installing it into {}",
            tools.display()
        );
        let build = tools.join("build");
        // A tool runs for a second and is built for a minute: its own release profile, with
        // link-time optimisation, would take several.
        let install = shop
            .cargo("install --locked --profile dev --root")
            .arg(tools)
            .args(&format!("{name} --version {pinned} {options}"))
            .env("CARGO_TARGET_DIR", &build)
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("CARGO_INCREMENTAL", "0");
        install
            .run()
            .with_context(|| format!("{name} {pinned} cannot be installed"))?;
        std::fs::remove_dir_all(&build)
            .with_context(|| format!("cannot remove {}", build.display()))?;
        shop.notes.push(format!(
            "{name} {pinned} was installed into {}",
            tools.display()
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_a_tool_says_of_itself() {
        let found = |text| Version::find(text);
        assert_eq!(found("cargo-deny 0.20.2\n"), Some(Version(0, 20, 2)));
        assert_eq!(
            found("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)"),
            Some(Version(0, 9, 143))
        );
        assert_eq!(found("cargo-deny"), None);
    }

    #[test]
    fn a_newer_version_of_the_same_line_serves() {
        let check = |have: Version, pinned: Version, wanted| {
            assert_eq!(have.serves(pinned), wanted, "{have} for {pinned}");
        };
        check(Version(0, 20, 2), Version(0, 20, 2), true);
        check(Version(0, 20, 3), Version(0, 20, 2), true);
        check(Version(0, 20, 1), Version(0, 20, 2), false);
        check(Version(0, 21, 0), Version(0, 20, 2), false);
        check(Version(1, 4, 0), Version(1, 2, 0), true);
        check(Version(2, 0, 0), Version(1, 2, 0), false);
    }
}
