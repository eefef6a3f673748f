//! Fields whose value is a secret because of their name.

use std::collections::HashSet;

/// The fields that come with triplane, in the form of [`FieldNames`].
pub(crate) const SHIPPED: [&str; 28] = [
    "*password",
    "*passwd",
    "*passphrase",
    "*secret",
    "*secretkey",
    "*secretaccesskey",
    "*privatekey",
    "*signingkey",
    "*encryptionkey",
    "*apikey",
    "*apitoken",
    "*accesstoken",
    "*refreshtoken",
    "*authtoken",
    "*bearertoken",
    "*sessiontoken",
    "*bottoken",
    "*webhooksecret",
    "*connectionstring",
    "token",
    "githubtoken",
    "gitlabtoken",
    "npmtoken",
    "authorization",
    "proxyauthorization",
    "cookie",
    "setcookie",
    "cvv",
];

/// The longest name that is compared, in bytes.
const NAME_BYTES_MAX: usize = 96;

/// A set of field names.
///
/// Case and the marks `_`, `-`, `.` and space do not count: `API_KEY`, `api-key` and `apiKey` are
/// one field. A name that begins with `*` stands for every field that ends so.
#[derive(Debug, Default)]
pub(crate) struct FieldNames {
    exact: HashSet<Vec<u8>>,
    endings: Vec<Vec<u8>>,
}

impl FieldNames {
    /// Adds a name; `false` if nothing would be left to compare.
    pub(crate) fn add(&mut self, name: &str) -> bool {
        let (ending, name) = match name.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let mut folded = Vec::with_capacity(name.len());
        if name.len() > NAME_BYTES_MAX || !fold(name.as_bytes(), &mut folded) {
            return false;
        }
        if ending {
            self.endings.push(folded);
        } else {
            self.exact.insert(folded);
        }
        true
    }

    /// Whether the field of this name (not folded) is in the set.
    pub(crate) fn holds(&self, name: &[u8], folded: &mut Vec<u8>) -> bool {
        if name.len() > NAME_BYTES_MAX || !fold(name, folded) {
            return false;
        }
        self.endings.iter().any(|ending| folded.ends_with(ending))
            || self.exact.contains(folded.as_slice())
    }
}

/// Writes `name` in its folded form; `false` if that is empty.
fn fold(name: &[u8], folded: &mut Vec<u8>) -> bool {
    folded.clear();
    let counts = |byte: &u8| !matches!(byte, b'_' | b'-' | b'.' | b' ');
    folded.extend(
        name.iter()
            .copied()
            .filter(counts)
            .map(|byte| byte.to_ascii_lowercase()),
    );
    !folded.is_empty()
}

/// Whether a value only says where the secret is to be had, or that it was taken out already.
pub(crate) fn is_no_secret(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let between = |opening: &[u8], closing: &[u8]| {
        value.starts_with(opening) && value.ends_with(closing) && !value.contains(&b'\n')
    };
    let variable = |name: &[u8]| {
        name.iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    value.is_empty()
        || value
            .iter()
            .all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X'))
        || between(crate::redaction::shape::OPENING.as_bytes(), b"]")
        || between(b"${", b"}")
        || between(b"{{", b"}}")
        || between(b"<", b">")
        || value.strip_prefix(b"$").is_some_and(variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_and_marks() {
        let mut names = FieldNames::default();
        for name in SHIPPED {
            assert!(names.add(name));
        }
        let check = |name: &str, wanted: bool| {
            assert_eq!(
                names.holds(name.as_bytes(), &mut Vec::new()),
                wanted,
                "{name}"
            );
        };
        for secret in [
            "password",
            "DB_PASSWORD",
            "userPassword",
            "client_secret",
            "api-key",
            "X-Api-Key",
            "Authorization",
            "Set-Cookie",
            "token",
            "GITHUB_TOKEN",
            "accessToken",
            "secret",
        ] {
            check(secret, true);
        }
        for plain in [
            "input_tokens",
            "next_page_token",
            "session_id",
            "tool_use_id",
            "public_key",
            "pwd",
            "passwords_changed",
            "key",
            "",
            "__",
            "tokenizer",
            "secretName",
        ] {
            check(plain, false);
        }
    }

    #[test]
    fn a_reference_is_no_secret() {
        for plain in [
            "",
            "  ",
            "****",
            "xxx",
            "$TOKEN",
            "${TOKEN}",
            "{{ secrets.t }}",
            "<token>",
            "[redacted:field]",
        ] {
            assert!(is_no_secret(plain.as_bytes()), "{plain}");
        }
        for secret in ["hunter2", "$ecret!", "[redacted", "a<b>"] {
            assert!(!is_no_secret(secret.as_bytes()), "{secret}");
        }
    }
}
