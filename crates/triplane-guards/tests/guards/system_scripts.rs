//! The shell scripts that the machine came with are ordinary: the scan refuses none of them.

use std::fs;
use std::path::{Path, PathBuf};

use triplane_guards::command::scan::{BYTES_MAX, SEPARATORS_MAX, ScanRefusal, scan};

fn scripts(folder: &Path, depth: usize, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && depth > 0 {
            scripts(&path, depth - 1, found);
        } else if kind.is_file()
            && entry
                .metadata()
                .is_ok_and(|data| data.len() <= BYTES_MAX as u64)
            && let Ok(text) = fs::read_to_string(&path)
            && is_shell_script(&text)
        {
            found.push((path, text));
        }
    }
}

fn is_shell_script(text: &str) -> bool {
    // Behind an `exec` in its second line, a file of another language may follow.
    if text
        .lines()
        .nth(1)
        .is_some_and(|line| line.contains("exec'"))
    {
        return false;
    }
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else {
        return false;
    };
    ["sh", "bash", "dash"]
        .iter()
        .any(|shell| line.split([' ', '/']).any(|word| word == *shell))
}

#[test]
fn no_script_of_the_system_is_refused() {
    let mut found = Vec::new();
    for folder in [
        "/usr/bin",
        "/usr/sbin",
        "/usr/lib",
        "/usr/share",
        "/usr/libexec",
        "/etc",
    ] {
        scripts(Path::new(folder), 4, &mut found);
    }
    let refused: Vec<String> = found
        .iter()
        .filter_map(|(path, text)| {
            let refusal = scan(text).err()?;
            // A script of thousands of lines is more than one command.
            let long = refusal == ScanRefusal::TooManySeparators
                && text.matches(['\n', ';', '|', '&']).count() > SEPARATORS_MAX;
            (!long).then(|| format!("{}: {refusal}", path.display()))
        })
        .collect();
    assert!(
        refused.is_empty(),
        "{} of {}:\n{}",
        refused.len(),
        found.len(),
        refused.join("\n")
    );
}
