//! Shells, here and on other machines, and what feeds them.

use crate::command::layers::layer::{Host, Layer, Split, here, script};
use crate::command::layers::operands::{
    by_option, clustered_text, join, operand, replaced, values_of,
};
use crate::command::word::{Part, Word};

pub(crate) const SHELLS: [&str; 13] = [
    "sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "rbash", "fish", "tcsh", "csh",
    "yash",
];

/// Whether the program is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

pub(crate) fn shell(args: &[Word]) -> Vec<Layer> {
    let mut at = 0;
    let mut inline = false;
    let mut from_input = false;
    let mut start = None;
    let mut unread = false;
    let mut interactive = false;
    while let Some(word) = args.get(at) {
        let text = word.prefix();
        if word.literal() == Some("--") || word.literal() == Some("-") {
            at += 1;
            break;
        }
        if !(text.starts_with('-') || text.starts_with('+')) || text.len() < 2 {
            break;
        }
        at += 1;
        if text.starts_with("--") {
            match text {
                "--rcfile" | "--init-file" | "--command" => {
                    if text == "--command" {
                        inline = true;
                        break;
                    }
                    start = args.get(at).cloned();
                    at += 1;
                }
                "--version" | "--help" => return Vec::new(),
                _ => {}
            }
            continue;
        }
        if text.contains('n') {
            unread = text.starts_with('-');
        }
        if text.contains('i') {
            interactive = true;
        }
        if text.contains('c') {
            inline = true;
        }
        if text.contains('s') {
            from_input = true;
        }
        if text.ends_with('o') || text.ends_with('O') {
            at += 1;
        }
    }
    // With `-n` a script is read and not run, unless somebody sits before it.
    if unread && !interactive {
        return Vec::new();
    }
    let rest = args.get(at..).unwrap_or_default();
    let mut layers: Vec<Layer> = start
        .into_iter()
        .map(|file| Layer::ScriptFile {
            file,
            args: Vec::new(),
        })
        .collect();
    layers.push(main_script(rest, inline, from_input));
    layers
}

/// What a shell runs whose own options are read.
fn main_script(rest: &[Word], inline: bool, from_input: bool) -> Layer {
    let Some((first, after)) = rest.split_first() else {
        return Layer::ScriptOfInput { host: Host::Here };
    };
    if inline {
        // The first word behind the script is `$0`.
        return Layer::Script {
            text: first.clone(),
            args: after.get(1..).unwrap_or_default().to_vec(),
            host: Host::Here,
        };
    }
    let reads_input = from_input
        || first
            .literal()
            .is_some_and(|file| matches!(file, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
    if reads_input {
        return Layer::ScriptOfInput { host: Host::Here };
    }
    Layer::ScriptFile {
        file: first.clone(),
        args: after.to_vec(),
    }
}

pub(crate) fn ssh(args: &[Word]) -> Vec<Layer> {
    const VALUES: [&str; 20] = [
        "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p",
        "-Q", "-R", "-S", "-W", "-w",
    ];
    let host = operand(args, &VALUES);
    let mut rest = args.get(host + 1..).unwrap_or_default();
    // Options may stand behind the host too.
    let again = operand(rest, &VALUES);
    rest = rest.get(again..).unwrap_or_default();
    let mut layers: Vec<Layer> = values_of(args, &["-o"])
        .filter_map(|word| {
            let (key, _) = word.prefix().split_once('=')?;
            let runs = ["proxycommand", "localcommand", "knownhostscommand"]
                .contains(&key.to_ascii_lowercase().as_str());
            runs.then(|| script(word.without_prefix(key.len() + 1)))
        })
        .collect();
    layers.push(match join(rest) {
        Some(text) => Layer::Script {
            text,
            args: Vec::new(),
            host: Host::Elsewhere,
        },
        None => Layer::ScriptOfInput {
            host: Host::Elsewhere,
        },
    });
    layers
}

pub(crate) const XARGS_VALUES: [&str; 18] = [
    "-I",
    "-i",
    "-J",
    "-n",
    "-L",
    "-l",
    "-P",
    "-s",
    "-d",
    "-E",
    "-a",
    "--max-args",
    "--max-lines",
    "--max-procs",
    "--replace",
    "--delimiter",
    "--arg-file",
    "--max-chars",
];

pub(crate) fn xargs(args: &[Word]) -> Vec<Layer> {
    let values: Vec<&str> = XARGS_VALUES
        .iter()
        .copied()
        .filter(|value| !matches!(*value, "-i" | "-l" | "--replace" | "--max-lines"))
        .collect();
    let at = operand(args, &values);
    let own = &args[..at.min(args.len())];
    let replace = own.iter().enumerate().find_map(|(nth, word)| {
        let text = word.literal()?;
        match text {
            "-I" | "-J" => own.get(nth + 1)?.literal().map(str::to_owned),
            "-i" | "--replace" => Some("{}".to_owned()),
            _ => text
                .strip_prefix("-I")
                .or_else(|| text.strip_prefix("-i"))
                .or_else(|| text.strip_prefix("--replace="))
                .map(str::to_owned),
        }
    });
    let argv = args.get(at..).unwrap_or_default().to_vec();
    if argv.is_empty() {
        return Vec::new();
    }
    let whole = own.iter().any(|word| {
        matches!(word.prefix(), "-0" | "--null" | "-d") || word.prefix().starts_with("-d")
    });
    let split = if whole || replace.is_some() {
        Split::Lines
    } else {
        Split::Blanks
    };
    vec![Layer::WithInput {
        argv,
        replace,
        split,
        file: values_of(own, &["-a", "--arg-file"]).next(),
    }]
}

pub(crate) fn parallel(args: &[Word]) -> Vec<Layer> {
    const VALUES: [&str; 22] = [
        "--halt",
        "-L",
        "-I",
        "-S",
        "--sshlogin",
        "--env",
        "--workdir",
        "--retries",
        "--load",
        "--tmpdir",
        "-j",
        "--jobs",
        "-N",
        "-n",
        "-a",
        "--arg-file",
        "--colsep",
        "-C",
        "--delay",
        "--timeout",
        "--results",
        "--joblog",
    ];
    let at = operand(args, &VALUES);
    let rest = args.get(at..).unwrap_or_default();
    let separator = rest
        .iter()
        .position(|word| matches!(word.literal(), Some(":::" | "::::" | ":::+")));
    let (template, inputs) = match separator {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let Some(text) = join(template) else {
        // Without a template, each input is a command of its own.
        return match inputs {
            Some(inputs) => inputs.iter().cloned().map(script).collect(),
            None => vec![Layer::ScriptOfInput { host: Host::Here }],
        };
    };
    let holed =
        text.prefix().contains('{') || template.iter().any(|word| word.prefix().contains("{}"));
    match inputs {
        Some(inputs) => inputs
            .iter()
            .map(|input| {
                if holed {
                    script(replaced(&text, "{}", input))
                } else {
                    script(join(&[text.clone(), input.clone()]).unwrap_or_else(|| text.clone()))
                }
            })
            .collect(),
        None => vec![Layer::WithInput {
            argv: vec![
                Word::text("sh", text.span.clone()),
                Word::text("-c", text.span.clone()),
                if holed {
                    text
                } else {
                    let mut text = text;
                    text.push_str(" {}");
                    text
                },
            ],
            replace: Some("{}".to_owned()),
            split: Split::Lines,
            file: None,
        }],
    }
}

pub(crate) fn watcher_values(program: &str) -> &'static [&'static str] {
    match program {
        "watch" => &["-n", "--interval", "-q"],
        "hyperfine" => &[
            "-w",
            "--warmup",
            "-r",
            "--runs",
            "-p",
            "--prepare",
            "-c",
            "--cleanup",
            "-n",
            "--export-json",
            "--export-markdown",
            "-m",
            "-M",
        ],
        "nodemon" => &["-e", "--ext", "-w", "--watch", "-i", "--ignore", "-d"],
        "watchexec" => &["-e", "--exts", "-w", "--watch", "-i", "--ignore", "-f"],
        "concurrently" => &["-n", "--names", "-c"],
        _ => &[],
    }
}

pub(crate) fn joined(args: &[Word], values: &[&str]) -> Vec<Layer> {
    let at = operand(args, values);
    let rest = args.get(at..).unwrap_or_default();
    let mut layers: Vec<Layer> = join(rest).map(script).into_iter().collect();
    // Several commands stand side by side, or behind an option of their own.
    if rest.len() > 1 {
        layers.extend(
            rest.iter()
                .filter(|word| word.prefix().contains(' '))
                .cloned()
                .map(script),
        );
    }
    layers.extend(
        values_of(args, &["-x", "--exec", "--prepare", "--cleanup"])
            .filter(|word| word.prefix().contains(' '))
            .map(script),
    );
    layers
}

/// A command of another user: behind `-c`, or behind the options.
pub(crate) fn switched(args: &[Word]) -> Vec<Layer> {
    let options = ["-c", "--command", "--session-command"];
    let mut layers = by_option(args, &options);
    layers.extend(clustered_text(args, &options).map(script));
    if layers.is_empty() {
        let at = operand(
            args,
            &["-u", "-g", "-G", "-s", "--user", "--group", "--shell"],
        );
        layers = here(args.get(at..).unwrap_or_default());
    }
    layers
}

/// Text that is typed into a shell: it ends with a sign for the return key.
pub(crate) fn typed(text: &Word) -> Layer {
    let mut text = text.clone();
    if let Some(Part::Text(last)) = text.parts.last_mut() {
        for key in ["\\n", "\\r", "^M", "\n", "\r"] {
            if let Some(stem) = last.strip_suffix(key) {
                *last = stem.to_owned();
            }
        }
    }
    script(text)
}

/// What tmux runs: a command behind the options of a new window, or a text for a shell.
pub(crate) fn terminal(args: &[Word]) -> Vec<Layer> {
    const GLOBAL_VALUES: [&str; 6] = ["-L", "-S", "-f", "-c", "-T", "-t"];
    const VALUES: [&str; 14] = [
        "-t", "-s", "-n", "-c", "-e", "-x", "-y", "-F", "-f", "-l", "-p", "-d", "-h", "-w",
    ];
    let at = operand(args, &GLOBAL_VALUES);
    let sub = args
        .get(at)
        .and_then(Word::literal)
        .unwrap_or("new-session");
    let rest = args.get(at + 1..).unwrap_or_default();
    let texts = |layers: &mut Vec<Layer>| {
        layers.extend(
            rest.iter()
                .filter(|word| word.prefix().contains(' ') || word.literal().is_none())
                .cloned()
                .map(script),
        );
    };
    let mut layers = Vec::new();
    match sub {
        "send-keys" | "send" | "run-shell" | "run" | "pipe-pane" | "pipep" => texts(&mut layers),
        // These take texts for a shell, and texts that are commands of tmux again.
        "if-shell" | "if" | "bind-key" | "bind" | "confirm-before" | "confirm" | "set-hook" => {
            texts(&mut layers);
            for text in rest.iter().filter(|word| word.prefix().contains(' ')) {
                let mut again = Word::text("tmux ", text.span.clone());
                text.parts.iter().for_each(|part| again.push(part.clone()));
                layers.push(script(again));
            }
        }
        "new-session" | "new" | "new-window" | "neww" | "split-window" | "splitw"
        | "respawn-pane" | "respawnp" | "respawn-window" | "respawnw" | "display-popup"
        | "popup" => {
            texts(&mut layers);
            // A flag may stand where a value is expected elsewhere: every reading is judged.
            let plain = rest.get(operand(rest, &[])..).unwrap_or_default();
            let valued = rest.get(operand(rest, &VALUES)..).unwrap_or_default();
            for argv in [plain, valued] {
                if argv.len() > 1 {
                    layers.extend(here(argv));
                }
            }
        }
        _ => {}
    }
    layers
}
