//! Names that are protected wherever they stand: secrets, and the switches of the guard itself.
//!
//! A name is compared in the form that the most forgiving file system would give it: compatibility
//! forms folded, ignorable characters dropped, case folded, trailing dots and blanks and an
//! alternate stream cut off.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// The form in which one component of a path is compared.
pub(crate) fn folded(name: &str) -> Cow<'_, str> {
    let plain = name.is_ascii()
        && !name
            .bytes()
            .any(|byte| byte.is_ascii_uppercase() || byte == b':')
        && !name.ends_with(['.', ' ']);
    if plain || matches!(name, "." | "..") {
        return Cow::Borrowed(name);
    }
    let compatible: Cow<'_, str> = if is_nfkc_quick(name.chars()) == IsNormalized::Yes {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.nfkc().collect())
    };
    let folded: String = compatible
        .chars()
        .filter(|&c| !is_ignorable(c))
        .flat_map(char::to_lowercase)
        .collect();
    let stem = match folded.find(':') {
        // An alternate stream of the file, on file systems that have them.
        Some(colon) if colon > 0 => &folded[..colon],
        _ => folded.as_str(),
    };
    let stem = stem.trim_end_matches(['.', ' ']);
    Cow::Owned(if stem.is_empty() {
        folded
    } else {
        stem.to_owned()
    })
}

/// Whether some file systems or readers skip this character in a name.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a folded name is one of a file that holds secrets.
pub(crate) fn is_secret(name: &str) -> bool {
    if let Some(variant) = name.strip_prefix(".env") {
        return variant.is_empty()
            || (variant.starts_with('.')
                && !matches!(variant, ".example" | ".sample" | ".template" | ".dist"));
    }
    if name.starts_with("id_") && !has_extension(name, &["pub"]) {
        let kind = name.trim_start_matches("id_");
        let kind = kind.split(['.', '-']).next().unwrap_or(kind);
        return matches!(
            kind,
            "rsa" | "dsa" | "ecdsa" | "ed25519" | "ecdsa_sk" | "ed25519_sk" | "xmss"
        );
    }
    let host_key = name.starts_with("ssh_host_") && name.ends_with("_key");
    let named_key = ["_rsa", "_dsa", "_ecdsa", "_ed25519"]
        .iter()
        .any(|kind| name.ends_with(kind));
    if host_key || named_key {
        return true;
    }
    matches!(
        name,
        ".netrc" | "_netrc" | ".git-credentials" | ".pgpass" | ".htpasswd"
    ) || has_extension(name, &["ppk", "p12", "pfx", "jks", "keystore"])
        || is_private_pem(name)
}

/// A certificate is public; a key is not.
fn is_private_pem(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, "key")) => !stem.is_empty() && !stem.ends_with("public"),
        Some((stem, "pem")) => {
            stem.contains("key") && !stem.contains("pub") || stem.contains("private")
        }
        _ => false,
    }
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && extensions.contains(&extension))
}

/// What a guarded name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwitchKind {
    /// A folder, with all that is in it.
    Folder,
    /// A file, which goes with the folder that it is in.
    File,
}

/// The switches by their usual names, for patterns to be held against.
pub(crate) const SWITCHES: [(&[&str], SwitchKind); 8] = [
    (&[".git"], SwitchKind::Folder),
    (&[".triplane"], SwitchKind::Folder),
    (&[".claude", "hooks"], SwitchKind::Folder),
    (&[".claude", "settings.json"], SwitchKind::File),
    (&[".claude", "settings.local.json"], SwitchKind::File),
    (&[".codex", "hooks.json"], SwitchKind::File),
    (&[".codex", "config.toml"], SwitchKind::File),
    (&[".cursor", "hooks.json"], SwitchKind::File),
];

/// Whether the folded components of a path lead to what must not be changed: git's own folder, or
/// a file that configures the guard.
pub(crate) fn is_switch<'a>(components: impl Iterator<Item = &'a str> + Clone) -> bool {
    let mut rest = components;
    while let Some(component) = rest.next() {
        let mut after = rest.clone();
        let next = after.next();
        let last = after.next().is_none();
        let guarded = match (component, next) {
            (".git" | ".triplane", _) => true,
            (".claude", Some(file)) => {
                last && file.starts_with("settings") && has_extension(file, &["json"])
                    || file == "hooks"
            }
            (".codex", Some(file)) => last && matches!(file, "hooks.json" | "config.toml"),
            (".cursor", Some(file)) => last && file == "hooks.json",
            _ => false,
        };
        if guarded {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_compared_in_its_most_forgiving_form() {
        let check = |name, wanted: &str| assert_eq!(folded(name), wanted, "{name:?}");
        check(".env", ".env");
        check(".ENV", ".env");
        check("\u{ff0e}env", ".env");
        check(".e\u{200b}nv", ".env");
        check(".env.", ".env");
        check(".env::$DATA", ".env");
        check(".git ", ".git");
        check("...", "...");
        check("cafe\u{301}", "caf\u{e9}");
    }

    #[test]
    fn secrets_are_known_by_name() {
        let secret = |name, wanted| assert_eq!(is_secret(name), wanted, "{name}");
        secret(".env", true);
        secret(".env.production", true);
        secret(".env.example", false);
        secret(".envrc", false);
        secret("env.rs", false);
        secret("id_ed25519", true);
        secret("id_ed25519.pub", false);
        secret("id_card.png", false);
        secret("server.key", true);
        secret("private-key.pem", true);
        secret("ca.pem", false);
        secret(".netrc", true);
    }

    #[test]
    fn switches_are_known_by_their_place() {
        let switch = |path: &str, wanted| assert_eq!(is_switch(path.split('/')), wanted, "{path}");
        switch(".git/hooks/pre-commit", true);
        switch("vendor/x/.git", true);
        switch(".gitignore", false);
        switch(".claude/settings.local.json", true);
        switch(".claude/skills/review/SKILL.md", false);
        switch(".codex/config.toml", true);
        switch(".cursor/hooks.json", true);
        switch(".triplane/state.db", true);
        switch("src/settings.json", false);
    }
}
