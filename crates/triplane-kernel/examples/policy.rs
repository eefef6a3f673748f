//! Lists the named profiles, or checks a policy file.
//!
//! ```text
//! cargo run -p triplane-kernel --example policy -- --list
//! cargo run -p triplane-kernel --example policy -- --check FILE
//! ```

use std::io::{self, Write};
use std::process::ExitCode;

use triplane_kernel::DispatchPolicy;
use triplane_kernel::profile::ProfileName;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["--list"] => list(),
        ["--check", path] => check(path),
        _ => Err("usage: policy --list | policy --check FILE".to_owned()),
    };
    match done {
        Ok(text) => {
            // A closed pipe is the reader's choice and no failure of this program.
            let _ = io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(message) => {
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

/// Every profile: name, digest, canonical JSON.
fn list() -> Result<String, String> {
    let profiles = ProfileName::ALL.iter().map(|profile| {
        let snapshot = profile.snapshot();
        let json = String::from_utf8(snapshot.canonical_bytes()).map_err(|e| e.to_string())?;
        Ok(format!(
            "{} {}\n{json}\n",
            profile.as_str(),
            snapshot.digest()
        ))
    });
    profiles.collect()
}

/// Reads a policy; an error begins with the place of what is wrong.
fn check(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let mut reader = serde_json::Deserializer::from_str(&text);
    let policy: DispatchPolicy =
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            match error.path().to_string() {
                // The rules of a policy name their place themselves.
                place if place == "." => error.inner().to_string(),
                place => format!("{place}: {}", error.inner()),
            }
        })?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(format!("{}\n", policy.snapshot().digest()))
}
