//! The sink: whether deliveries can go where they are sent.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::args::DoctorArgs;
use crate::cmd::doctor::files::{modes, size};
use crate::cmd::doctor::finding::Finding;
use crate::render::chain;
use crate::sink_option::{SinkChoice, choose};

const TOPIC: &str = "sink";

pub(crate) fn look(args: &DoctorArgs, findings: &mut Vec<Finding>) {
    match choose(args.sink.sink.as_deref(), &args.store) {
        Ok(SinkChoice::File(path)) => file(&path, findings),
        Ok(SinkChoice::Argv(words)) => findings.push(program(&words)),
        Err(error) => findings.push(Finding::wrong(
            TOPIC,
            chain(&error),
            "triplane deliver --help shows both forms",
        )),
    }
}

fn file(path: &Path, findings: &mut Vec<Finding>) {
    let place = path.display();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            findings.push(Finding::note(
                TOPIC,
                format!("{place} does not exist yet"),
                "the first delivery makes it",
            ));
            return;
        }
        Err(error) => {
            findings.push(Finding::unknown(
                TOPIC,
                format!("{place}: {error}"),
                "look at the permissions of its folders",
            ));
            return;
        }
    };
    if !metadata.is_file() {
        findings.push(Finding::wrong(
            TOPIC,
            format!("{place} is not a file"),
            "name a file with --sink file:PATH",
        ));
        return;
    }
    // Opened and closed again: nothing is written.
    if let Err(error) = OpenOptions::new().append(true).open(path) {
        findings.push(Finding::wrong(
            TOPIC,
            format!("{place} cannot be written: {error}"),
            "look at its permissions and its file system",
        ));
        return;
    }
    findings.push(match ends_whole(path) {
        Ok(true) => Finding::good(TOPIC, format!("{place}, {}", size(metadata.len()))),
        Ok(false) => Finding::note(
            TOPIC,
            format!("{place}, {}: its last line is cut", size(metadata.len())),
            "the next delivery mends it",
        ),
        Err(error) => Finding::unknown(
            TOPIC,
            format!("{place} cannot be read: {error}"),
            "look at its permissions",
        ),
    });
    findings.extend(modes("sink mode", &[path.to_owned()]));
}

fn ends_whole(path: &Path) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn program(words: &[String]) -> Finding {
    let Some(name) = words.first() else {
        return Finding::wrong(
            TOPIC,
            "--sink argv:[]: there is no program in it",
            "name one: argv:[\"program\",\"argument\"]",
        );
    };
    match find(name) {
        Some(path) => Finding::good(TOPIC, format!("the program {}", path.display())),
        None => Finding::wrong(
            TOPIC,
            format!("there is no program {name}"),
            "name its whole path, or put its folder into PATH",
        ),
    }
}

/// A name with a slash is a path, any other one is looked for in the folders of `PATH`.
fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
