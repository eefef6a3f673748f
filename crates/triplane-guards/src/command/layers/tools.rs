//! Package managers, git and other tools that run commands on the side.

use crate::command::code::Language;
use crate::command::layers::layer::{Layer, elsewhere, here, script};
use crate::command::layers::operands::{by_option, join, operand, values_of};
use crate::command::word::Word;

pub(crate) fn runner(program: &str, args: &[Word]) -> Vec<Layer> {
    let at = operand(
        args,
        &[
            "-C",
            "--dir",
            "--prefix",
            "--cwd",
            "--directory",
            "--filter",
            "-F",
            "-p",
            "--project",
            "-w",
            "--workspace",
        ],
    );
    let rest = args.get(at + 1..).unwrap_or_default();
    let sub = args.get(at).and_then(Word::literal).unwrap_or("");
    let skipped = match (program, sub) {
        (
            "direnv" | "rbenv" | "pyenv" | "asdf" | "mise" | "pnpm" | "yarn" | "bundle" | "npm",
            "exec" | "dlx" | "x",
        )
        | (
            "poetry" | "pipenv" | "uv" | "rye" | "hatch" | "conda" | "mamba" | "micromamba"
            | "devbox",
            "run",
        )
        | ("bun", "x") => {
            let own = operand(
                rest,
                &[
                    "-c",
                    "--call",
                    "-n",
                    "--name",
                    "--with",
                    "--python",
                    "-p",
                    "--package",
                    "--env-file",
                ],
            );
            // Behind the program stand its own options.
            let options = &rest[..own.min(rest.len())];
            let calls: Vec<Layer> = values_of(options, &["-c", "--call"]).map(script).collect();
            if !calls.is_empty() {
                return calls;
            }
            own + usize::from(program == "direnv")
        }
        ("nix", "develop" | "shell") => {
            return match rest
                .iter()
                .position(|word| matches!(word.literal(), Some("-c" | "--command")))
            {
                Some(at) => here(&rest[at + 1..]),
                None => Vec::new(),
            };
        }
        _ => return Vec::new(),
    };
    here(rest.get(skipped..).unwrap_or_default())
}

pub(crate) fn git(args: &[Word]) -> Vec<Layer> {
    let at = operand(
        args,
        &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--exec-path",
            "--super-prefix",
            "--config-env",
        ],
    );
    let rest = args.get(at + 1..).unwrap_or_default();
    let own = &args[..at.min(args.len())];
    // `-c alias.name='…'` is a subcommand of its own; behind a `!` it is a command.
    let sub = args.get(at).and_then(Word::literal).unwrap_or("");
    let alias = values_of(own, &["-c"]).find_map(|word| {
        let (key, value) = word.prefix().split_once('=')?;
        let named = key.to_ascii_lowercase() == format!("alias.{}", sub.to_ascii_lowercase());
        (named && !value.starts_with('!')).then(|| word.without_prefix(key.len() + 1))
    });
    if let Some(alias) = alias {
        let mut text = Word::text("git ", alias.span.clone());
        alias.parts.into_iter().for_each(|part| text.push(part));
        let mut words = vec![text];
        words.extend_from_slice(rest);
        return join(&words).map(script).into_iter().collect();
    }
    let mut layers: Vec<Layer> = values_of(own, &["-c"])
        .filter_map(|word| {
            let (key, value) = word.prefix().split_once('=')?;
            let key = key.to_ascii_lowercase();
            let runs = key.starts_with("alias.") && value.starts_with('!') || runs_a_command(&key);
            let skip = key.len() + 1 + usize::from(value.starts_with('!'));
            runs.then(|| script(word.without_prefix(skip)))
        })
        .collect();
    match args.get(at).and_then(Word::literal) {
        Some("submodule") => {
            if let Some(at) = rest
                .iter()
                .position(|word| word.literal() == Some("foreach"))
            {
                let rest = &rest[at + 1..];
                let at = operand(rest, &[]);
                layers.extend(join(rest.get(at..).unwrap_or_default()).map(script));
            }
        }
        Some("rebase") => layers.extend(by_option(rest, &["-x", "--exec"])),
        // What a setting makes git run later is judged when it is set.
        Some("config") => {
            let words: Vec<&Word> = rest
                .iter()
                .filter(|word| !word.prefix().starts_with('-'))
                .collect();
            for pair in words.windows(2) {
                let key = pair[0].prefix().to_ascii_lowercase();
                let value = pair[1].prefix();
                let escaped = value.starts_with('!');
                if runs_a_command(&key) || key.starts_with("alias.") && escaped {
                    layers.push(script(pair[1].without_prefix(usize::from(escaped))));
                }
            }
        }
        Some("difftool" | "mergetool") => layers.extend(by_option(rest, &["-x", "--extcmd"])),
        Some("bisect") if rest.first().and_then(Word::literal) == Some("run") => {
            layers.extend(here(&rest[1..]));
        }
        _ => {}
    }
    layers
}

/// Whether git runs the value of this setting.
fn runs_a_command(key: &str) -> bool {
    matches!(
        key,
        "core.sshcommand"
            | "core.pager"
            | "core.editor"
            | "core.askpass"
            | "diff.external"
            | "sequence.editor"
            | "gpg.program"
            | "credential.helper"
    ) || key.starts_with("pager.")
        || ["difftool.", "mergetool.", "diff.", "filter."]
            .iter()
            .any(|section| key.starts_with(section))
            && [
                ".cmd",
                ".textconv",
                ".command",
                ".clean",
                ".smudge",
                ".process",
            ]
            .iter()
            .any(|name| key.ends_with(name))
}

/// `aws ssm send-command --parameters 'commands=["…"]'`: each text runs on other machines.
pub(crate) fn remote_commands(args: &[Word]) -> Vec<Layer> {
    if !args
        .iter()
        .any(|word| word.literal() == Some("send-command"))
    {
        return Vec::new();
    }
    values_of(args, &["--parameters"])
        .filter_map(|word| {
            let text = word.literal()?;
            let (_, commands) = text.split_once("commands")?;
            Some(
                commands
                    .split('"')
                    .skip(1)
                    .step_by(2)
                    .map(|command| elsewhere(script(Word::text(command, word.span.clone()))))
                    .collect::<Vec<_>>(),
            )
        })
        .flatten()
        .collect()
}

/// An ad-hoc command for every host: the modules that take a command line run it there.
pub(crate) fn ansible(args: &[Word]) -> Vec<Layer> {
    let module = values_of(args, &["-m", "--module-name"]).next();
    let runs = match module.as_ref() {
        None => true,
        Some(module) => module.literal().is_some_and(|name| {
            let name = name.rsplit('.').next().unwrap_or(name);
            matches!(name, "command" | "shell" | "raw" | "script")
        }),
    };
    if !runs {
        return Vec::new();
    }
    values_of(args, &["-a", "--args"])
        .map(|text| elsewhere(script(text)))
        .collect()
}

pub(crate) fn tar(args: &[Word]) -> Vec<Layer> {
    args.iter()
        .filter_map(|word| {
            let text = word.prefix();
            let skip = [
                "--to-command=",
                "--checkpoint-action=exec=",
                "--use-compress-program=",
            ]
            .iter()
            .find(|option| text.starts_with(**option))?
            .len();
            Some(script(word.without_prefix(skip)))
        })
        .chain(by_option(
            args,
            &["--to-command", "--use-compress-program", "-I"],
        ))
        .collect()
}

/// The recipes that stand in the arguments, or in a file or an input that the line has written.
pub(crate) fn make(args: &[Word]) -> Vec<Layer> {
    let mut layers: Vec<Layer> = values_of(args, &["--eval", "-E"])
        .map(|text| Layer::Recipes { text })
        .collect();
    // Each recipe goes to the program that this variable names.
    let shells = values_of(args, &["SHELL="]).filter(|shell| shell.prefix().contains(' '));
    layers.extend(shells.map(script));
    let folder = values_of(args, &["-C", "--directory"]).next();
    let mut files: Vec<Word> = values_of(args, &["-f", "--file", "--makefile"]).collect();
    if files.is_empty() {
        let span = args.first().map_or(0..0, |word| word.span.clone());
        files = ["GNUmakefile", "makefile", "Makefile"]
            .into_iter()
            .map(|name| Word::text(name, span.clone()))
            .collect();
    }
    layers.extend(files.into_iter().map(|file| match &folder {
        Some(folder) => {
            let mut path = folder.clone();
            path.push_str("/");
            file.parts.into_iter().for_each(|part| path.push(part));
            Layer::RecipeFile { file: path }
        }
        None => Layer::RecipeFile { file },
    }));
    layers
}

/// A script that is put into the description of a package: whoever calls it later runs it.
pub(crate) fn package_scripts(args: &[Word]) -> Vec<Layer> {
    args.iter()
        .filter_map(|word| {
            let (name, _) = word.prefix().split_once('=')?;
            name.starts_with("scripts.")
                .then(|| script(word.without_prefix(name.len() + 1)))
        })
        .collect()
}

/// Editors and debuggers run what stands behind a `!` or a `shell` of their own commands.
pub(crate) fn editor(args: &[Word]) -> Vec<Layer> {
    values_of(args, &["-c", "--cmd", "-ex", "-o", "-S"])
        .chain(
            args.iter()
                .filter(|word| word.prefix().starts_with('+'))
                .map(|word| word.without_prefix(1)),
        )
        .filter_map(|command| {
            let text = command.prefix();
            let start = text.trim_start_matches([':', ' ']);
            let skipped = text.len() - start.len();
            let mark = ["silent !", "!", "shell ", "platform shell "]
                .iter()
                .find(|mark| start.starts_with(**mark));
            match mark {
                Some(mark) => Some(script(command.without_prefix(skipped + mark.len()))),
                // `call system("…")`, `call delete("…", "rf")`
                None if text.contains('(') => Some(Layer::Code {
                    text: command,
                    language: Language::Other,
                }),
                None => None,
            }
        })
        .collect()
}

/// GNU sed runs the text of an `e` command, and what a substitution with the flag `e` makes.
pub(crate) fn sed(args: &[Word]) -> Vec<Layer> {
    let mut programs: Vec<Word> = values_of(args, &["-e", "--expression"]).collect();
    if programs.is_empty() {
        let at = operand(args, &["-e", "-f", "-l", "--expression", "--file"]);
        programs.extend(args.get(at).cloned());
    }
    programs
        .into_iter()
        .filter_map(|program| {
            let text = program.literal()?;
            let trimmed =
                text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '$' || c == ',');
            if let Some(command) = trimmed.strip_prefix("e ") {
                return Some(script(Word::text(command, program.span.clone())));
            }
            let replacement = executed_replacement(trimmed)?;
            // What was matched is a part of the command.
            Some(script(if replacement.contains(['&', '\\']) {
                Word::unknown(program.span.clone())
            } else {
                Word::text(replacement, program.span.clone())
            }))
        })
        .collect()
}

/// The replacement of `s/…/…/e`, its escaped delimiters taken back.
fn executed_replacement(command: &str) -> Option<String> {
    let mut chars = command.strip_prefix('s')?.chars();
    let delimiter = chars.next().filter(|c| !c.is_alphanumeric())?;
    let mut fields = vec![String::new()];
    while let Some(c) = chars.next() {
        let last = fields.len() == 3;
        let field = fields.last_mut()?;
        if c == '\\' {
            match chars.next() {
                Some(next) if next == delimiter => field.push(next),
                next => {
                    field.push(c);
                    field.extend(next);
                }
            }
        } else if c == delimiter && !last {
            fields.push(String::new());
        } else {
            field.push(c);
        }
    }
    match fields.as_slice() {
        [_, replacement, flags] => {
            let flags = flags.split([';', '\n', ' ', '}']).next().unwrap_or("");
            flags.contains('e').then(|| replacement.clone())
        }
        _ => None,
    }
}
