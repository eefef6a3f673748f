//! The settings of the harnesses: whether this program is asked before a tool runs.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use triplane_external_hooks::Harness;

use crate::cmd::doctor::finding::Finding;

/// The event without which no call is judged.
const BEFORE_A_CALL: &str = "PreToolUse";

/// Where the settings of one harness may stand.
struct Places {
    harness: Harness,
    topic: &'static str,
    files: Vec<PathBuf>,
}

pub(crate) fn look(findings: &mut Vec<Finding>) {
    let Ok(program) = std::env::current_exe() else {
        findings.push(Finding::unknown(
            "settings",
            "the path of this program cannot be found",
            "start it by its whole path",
        ));
        return;
    };
    let home = std::env::home_dir();
    let of = |variable: &str, folder: &str| {
        let chosen = std::env::var_os(variable).filter(|chosen: &OsString| !chosen.is_empty());
        chosen
            .map(PathBuf::from)
            .or_else(|| Some(home.as_ref()?.join(folder)))
    };
    let claude = of("CLAUDE_CONFIG_DIR", ".claude").map(|folder| folder.join("settings.json"));
    let codex = of("CODEX_HOME", ".codex").map(|folder| folder.join("hooks.json"));
    let here = [".claude/settings.json", ".claude/settings.local.json"].map(PathBuf::from);
    let all = [
        Places {
            harness: Harness::Claude,
            topic: "claude",
            files: claude.into_iter().chain(here).collect(),
        },
        Places {
            harness: Harness::Codex,
            topic: "codex",
            files: codex
                .into_iter()
                .chain([".codex/hooks.json".into()])
                .collect(),
        },
    ];
    for places in all {
        places.look(&program, findings);
    }
}

impl Places {
    fn look(&self, program: &Path, findings: &mut Vec<Finding>) {
        let Self { harness, topic, .. } = self;
        let print = format!("triplane hook --print-config {harness} prints what to add");
        let mut registered = false;
        for file in &self.files {
            let hooks = match hooks(file) {
                Ok(hooks) => hooks,
                Err(says) => {
                    findings.push(Finding::wrong(
                        topic,
                        says,
                        "mend the file; the harness cannot read it either",
                    ));
                    continue;
                }
            };
            let ours: Vec<&Hook> = hooks.iter().filter(|hook| hook.names_triplane()).collect();
            if ours.is_empty() {
                continue;
            }
            registered = true;
            findings.push(judged(topic, file, &ours, program, &print));
        }
        if !registered {
            let files = self.files.iter().map(|file| file.display().to_string());
            let files = files.collect::<Vec<_>>().join(", ");
            findings.push(Finding::note(
                topic,
                format!("not registered in {files}"),
                print,
            ));
        }
    }
}

fn judged(
    topic: &'static str,
    file: &Path,
    ours: &[&Hook],
    program: &Path,
    print: &str,
) -> Finding {
    let place = file.display();
    if let Some(gone) = ours.iter().find_map(|hook| hook.missing_program()) {
        return Finding::wrong(
            topic,
            format!("{place} names {gone}, which is not there: nothing is judged"),
            print,
        );
    }
    if !ours.iter().any(|hook| hook.event == BEFORE_A_CALL) {
        return Finding::wrong(
            topic,
            format!("{place} asks triplane about nothing before it is done: no {BEFORE_A_CALL}"),
            print,
        );
    }
    let events = ours.iter().map(|hook| hook.event.as_str());
    let events = events.collect::<Vec<_>>().join(", ");
    match ours.iter().find(|hook| !hook.is(program)) {
        Some(other) => Finding::note(
            topic,
            format!("{place} registers another triplane, {}", other.command),
            format!("this one is {}; {print}", program.display()),
        ),
        None => Finding::good(topic, format!("{place} registers this program: {events}")),
    }
}

/// One registered command.
struct Hook {
    event: String,
    command: String,
    /// What the settings give it apart from the command; a harness without that has one shell text.
    arguments: Option<Vec<String>>,
}

/// The commands that a settings file registers; none when there is no such file.
fn hooks(file: &Path) -> Result<Vec<Hook>, String> {
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
    };
    let settings: Value = serde_json::from_slice(&text)
        .map_err(|error| format!("{} is not JSON: {error}", file.display()))?;
    let mut hooks = Vec::new();
    let events = settings.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        let groups = groups.as_array().into_iter().flatten();
        let handlers = groups.filter_map(|group| group.get("hooks")?.as_array());
        for handler in handlers.flatten() {
            let Some(command) = handler.get("command").and_then(Value::as_str) else {
                continue;
            };
            let arguments = handler.get("args").and_then(Value::as_array);
            let text = |word: &Value| word.as_str().unwrap_or_default().to_owned();
            hooks.push(Hook {
                event: event.clone(),
                command: command.to_owned(),
                arguments: arguments.map(|words| words.iter().map(text).collect()),
            });
        }
    }
    Ok(hooks)
}

impl Hook {
    fn names_triplane(&self) -> bool {
        match &self.arguments {
            Some(words) => {
                let name = Path::new(&self.command).file_name();
                name.is_some_and(|name| name == "triplane")
                    && words.first().is_some_and(|word| word == "hook")
            }
            None => self.command.contains("triplane") && self.command.contains(" hook"),
        }
    }

    /// The program of a command, if it is named by its whole path: in a shell text what stands before
    /// the word `hook`, without the quotes that keep it together.
    fn program(&self) -> Option<&Path> {
        let named = match &self.arguments {
            Some(_) => self.command.as_str(),
            None => self
                .command
                .split_once(" hook")?
                .0
                .trim_matches(['\'', '"']),
        };
        Some(Path::new(named)).filter(|path| path.is_absolute())
    }

    fn missing_program(&self) -> Option<String> {
        let program = self.program().filter(|program| !program.exists())?;
        Some(program.display().to_string())
    }

    fn is(&self, program: &Path) -> bool {
        let same = |named: &Path| named.canonicalize().ok() == program.canonicalize().ok();
        self.program().is_some_and(same)
    }
}

#[cfg(test)]
mod tests {
    use triplane_external_hooks::print_config;

    use super::*;
    use crate::cmd::doctor::finding::Grade;

    fn look(harness: Harness, text: &str, program: &Path) -> Finding {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("settings.json");
        std::fs::write(&file, text).expect("a file");
        let places = Places {
            harness,
            topic: "topic",
            files: vec![file, folder.path().join("missing.json")],
        };
        let mut findings = Vec::new();
        places.look(program, &mut findings);
        findings.swap_remove(0)
    }

    #[test]
    fn what_print_config_prints_is_recognised() {
        let folder = tempfile::tempdir().expect("a folder");
        let apart = folder.path().join("with blank");
        std::fs::create_dir(&apart).expect("a folder");
        for folder in [folder.path(), &apart] {
            let program = folder.join("triplane");
            std::fs::write(&program, "").expect("a file");
            for harness in [Harness::Claude, Harness::Codex] {
                let text =
                    print_config(harness, &program, &["hook", "--store", "/s"]).expect("a snippet");
                let found = look(harness, &text, &program);
                assert_eq!(found.grade, Grade::Good, "{found:?}");
                assert!(found.says.contains("PreToolUse"), "{found:?}");
                let found = look(harness, &text, Path::new("/elsewhere/triplane"));
                assert_eq!(found.grade, Grade::Note, "{found:?}");
                let gone = print_config(harness, &folder.join("gone/triplane"), &["hook"])
                    .expect("a snippet");
                let found = look(harness, &gone, &program);
                assert_eq!(found.grade, Grade::Wrong, "{found:?}");
                let late = text.replace("PreToolUse", "Elsewhere");
                assert_eq!(look(harness, &late, &program).grade, Grade::Wrong);
            }
        }
    }

    #[test]
    fn settings_of_others_are_left_alone_and_broken_ones_named() {
        let program = Path::new("/opt/triplane");
        let claude = |text| look(Harness::Claude, text, program);
        assert_eq!(claude("{}").grade, Grade::Note);
        let other = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]}}"#;
        assert_eq!(claude(other).grade, Grade::Note);
        assert_eq!(claude(r#"{"hooks":7}"#).grade, Grade::Note);
        let broken = claude("{");
        assert_eq!(broken.grade, Grade::Wrong);
        assert!(broken.says.contains("line 1"), "{broken:?}");
    }
}
