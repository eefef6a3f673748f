//! Files: who may read them, and how large they are.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::cmd::doctor::finding::Finding;

/// The bits that let anybody but the owner in.
const OTHERS: u32 = 0o077;

/// Whether others than the owner may read or write the files that are there.
pub(crate) fn modes(topic: &'static str, files: &[PathBuf]) -> Vec<Finding> {
    let there: Vec<(&PathBuf, u32)> = files
        .iter()
        .filter_map(|path| Some((path, mode(&std::fs::metadata(path).ok()?))))
        .collect();
    let open = there.iter().filter(|(_, mode)| mode & OTHERS != 0);
    let mut findings: Vec<Finding> = open
        .map(|(path, mode)| {
            Finding::wrong(
                topic,
                format!(
                    "{} has mode {mode:04o}: others may get at it",
                    path.display()
                ),
                format!("chmod 600 {}", path.display()),
            )
        })
        .collect();
    if findings.is_empty() && !there.is_empty() {
        findings.push(Finding::good(topic, "mode 0600, for their owner only"));
    }
    findings
}

fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

/// The file beside `path` whose name has `suffix` behind.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A size as people read it.
pub(crate) fn size(bytes: u64) -> String {
    #[expect(
        clippy::cast_precision_loss,
        reason = "one digit after the point is shown"
    )]
    let amount = bytes as f64;
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{:.1} KiB", amount / 1_024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", amount / 1_048_576.0),
        _ => format!("{:.1} GiB", amount / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::doctor::finding::Grade;

    #[test]
    fn sizes_have_their_units() {
        assert_eq!(size(1_023), "1023 bytes");
        assert_eq!(size(1_536), "1.5 KiB");
        assert_eq!(size(3 << 20), "3.0 MiB");
        assert_eq!(size(5 << 30), "5.0 GiB");
    }

    #[test]
    fn a_file_for_others_is_named_with_the_way_out() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let paths = [file.path().to_owned(), file.path().with_extension("gone")];
        assert_eq!(modes("modes", &paths)[0].grade, Grade::Good);
        let wide = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(file.path(), wide).expect("a mode");
        let found = modes("modes", &paths);
        assert_eq!((found.len(), found[0].grade), (1, Grade::Wrong));
        assert!(found[0].says.contains("0640"), "{found:?}");
        assert_eq!(modes("modes", &paths[1..]), []);
    }
}
