//! Wrappers that run the command behind their own options.

use crate::command::layers::layer::{Host, Layer, command, script};
use crate::command::layers::operands::{
    by_option, clustered_text, is_assignment, join, operand, values_of,
};
use crate::command::word::Word;

/// A wrapper that runs the command behind its own options and operands.
pub(crate) struct Wrapper {
    pub(crate) names: &'static [&'static str],
    pub(crate) values: &'static [&'static str],
    /// Operands of its own before the command.
    pub(crate) operands: usize,
    pub(crate) host: Host,
}

pub(crate) const fn wrapper(
    names: &'static [&'static str],
    values: &'static [&'static str],
) -> Wrapper {
    Wrapper {
        names,
        values,
        operands: 0,
        host: Host::Here,
    }
}

pub(crate) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        &["sudo"],
        &[
            "-u",
            "-g",
            "-h",
            "-p",
            "-C",
            "-r",
            "-t",
            "-T",
            "-U",
            "-D",
            "-R",
            "--user",
            "--group",
            "--host",
            "--prompt",
            "--chdir",
            "--role",
            "--type",
            "--close-from",
            "--chroot",
            "--command-timeout",
            "--other-user",
        ],
    ),
    wrapper(&["doas"], &["-u", "-C", "-a"]),
    wrapper(&["pkexec"], &["--user"]),
    wrapper(
        &[
            "nohup",
            "setsid",
            "builtin",
            "chronic",
            "unbuffer",
            "firejail",
            "proxychains",
            "proxychains4",
            "torsocks",
            "dbus-run-session",
            "xvfb-run",
            "fakeroot",
            "catchsegv",
            "ccache",
            "sem",
            "noglob",
            "nocorrect",
            "rlwrap",
            "eatmydata",
            "numactl",
            "tsocks",
            "nocache",
            "systemd-inhibit",
            "dumb-init",
            "tini",
            "catatonit",
            "winpty",
        ],
        &[],
    ),
    wrapper(&["caffeinate"], &["-w", "-t"]),
    wrapper(&["command"], &[]),
    wrapper(&["exec"], &["-a"]),
    wrapper(&["nice"], &["-n", "--adjustment"]),
    wrapper(&["ionice"], &["-c", "-n", "--class", "--classdata"]),
    wrapper(
        &["stdbuf"],
        &["-i", "-o", "-e", "--input", "--output", "--error"],
    ),
    wrapper(&["time", "gtime"], &["-f", "-o", "--format", "--output"]),
    wrapper(
        &["strace", "ltrace", "valgrind", "perf"],
        &["-o", "-e", "-p", "-s", "-u", "-E"],
    ),
    wrapper(&["busybox", "toybox"], &[]),
    wrapper(
        &["systemd-run"],
        &[
            "-u",
            "--unit",
            "-p",
            "--property",
            "-E",
            "--setenv",
            "-M",
            "-H",
            "--uid",
            "--gid",
        ],
    ),
    wrapper(
        &["npx", "bunx", "pnpx", "uvx", "pipx"],
        &["-p", "--package", "--python", "--from"],
    ),
    wrapper(
        &["unshare", "setpriv", "prlimit"],
        &["-S", "-G", "-R", "-w"],
    ),
    wrapper(
        &["env"],
        &[
            "-u",
            "-C",
            "--unset",
            "--chdir",
            "-S",
            "--split-string",
            "-a",
            "--argv0",
        ],
    ),
    wrapper(
        &[
            "dotenv",
            "op",
            "doppler",
            "aws-vault",
            "chamber",
            "with-env",
        ],
        &["-e", "-f", "-p", "--env-file", "--project", "--config"],
    ),
    Wrapper {
        names: &["timeout", "gtimeout"],
        values: &["-s", "-k", "--signal", "--kill-after"],
        operands: 1,
        host: Host::Here,
    },
    Wrapper {
        names: &[
            "taskset", "chrt", "setarch", "cpulimit", "gosu", "su-exec", "faketime", "retry",
        ],
        values: &["-l"],
        operands: 1,
        host: Host::Here,
    },
    wrapper(&["cgexec"], &["-g"]),
    wrapper(&["sshpass"], &["-p", "-f", "-d", "-P"]),
    Wrapper {
        names: &["flock"],
        values: &["-w", "--timeout", "-E"],
        operands: 1,
        host: Host::Here,
    },
    Wrapper {
        names: &["chroot"],
        values: &["--userspec", "--groups"],
        operands: 1,
        host: Host::Elsewhere,
    },
    Wrapper {
        names: &["nsenter"],
        values: &["-t", "--target"],
        operands: 0,
        host: Host::Elsewhere,
    },
];

pub(crate) fn wrapped(program: &str, wrapper: &Wrapper, args: &[Word]) -> Vec<Layer> {
    if program == "command"
        && matches!(
            args.first().and_then(Word::literal),
            Some("-v" | "-V" | "-pv" | "-pV")
        )
    {
        return Vec::new();
    }
    if matches!(program, "flock" | "sg") {
        let scripts = by_option(args, &["-c", "--command"]);
        if !scripts.is_empty() {
            return scripts;
        }
    }
    let split: Vec<Word> = if program == "env" {
        values_of(args, &["-S", "--split-string"])
            .chain(clustered_text(args, &["-S"]))
            .collect()
    } else {
        Vec::new()
    };
    let mut at = operand(args, wrapper.values);
    if let Some(text) = split.first() {
        // The text is split into words, and the operands follow it.
        let mut words = vec![text.clone()];
        words.extend_from_slice(&args[at.min(args.len())..]);
        return join(&words).map(script).into_iter().collect();
    }
    while matches!(program, "env" | "sudo" | "doas" | "dotenv")
        && args.get(at).is_some_and(is_assignment)
    {
        at += 1;
    }
    let own = args.iter().take(at);
    let shell = matches!(program, "sudo" | "doas")
        && own.clone().any(|word| {
            let text = word.prefix();
            matches!(text, "--shell" | "--login")
                || text.starts_with('-') && !text.starts_with("--") && text.contains(['s', 'i'])
        });
    at += wrapper.operands;
    let rest = args.get(at..).unwrap_or_default();
    if shell {
        return match join(rest) {
            Some(text) => vec![script(text)],
            None => vec![Layer::ScriptOfInput { host: Host::Here }],
        };
    }
    if matches!(program, "npx" | "pipx") {
        let calls: Vec<Layer> = values_of(args, &["-c", "--call"]).map(script).collect();
        if !calls.is_empty() {
            return calls;
        }
    }
    let rest = match (program, rest.first().and_then(Word::literal)) {
        ("pipx" | "op" | "doppler" | "perf", Some("run" | "stat" | "record")) => &rest[1..],
        ("aws-vault" | "chamber", Some("exec")) => rest.get(2..).unwrap_or_default(),
        _ => rest,
    };
    let rest = match rest.first().and_then(Word::literal) {
        Some("--") => &rest[1..],
        _ => rest,
    };
    let own = &args[..at.min(args.len())];
    let folder = match program {
        "env" => values_of(own, &["-C", "--chdir"]).next(),
        "sudo" => values_of(own, &["-D", "--chdir"]).next(),
        _ => None,
    };
    match folder {
        Some(folder) if !rest.is_empty() => vec![Layer::InFolder {
            argv: rest.to_vec(),
            folder,
        }],
        _ => command(rest, wrapper.host),
    }
}

/// The wrapper of this name.
pub(crate) fn find_wrapper(program: &str) -> Option<&'static Wrapper> {
    WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.contains(&program))
}
