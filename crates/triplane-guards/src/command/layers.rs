//! Programs that run other programs: what they run, as data for the normaliser.

use crate::command::code::Language;
use crate::command::sql::Dialect;
use crate::command::word::{Part, Word};

/// One thing that a command runs besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Another command, as an argument vector.
    Command { argv: Vec<Word>, host: Host },
    /// The text of a shell script, with its positional parameters.
    Script {
        text: Word,
        args: Vec<Word>,
        host: Host,
    },
    /// Standard input, as a shell script.
    ScriptOfInput { host: Host },
    /// A script file.
    ScriptFile { file: Word, args: Vec<Word> },
    /// SQL text.
    Sql { text: Word, dialect: Dialect },
    /// Standard input, as SQL.
    SqlOfInput { dialect: Dialect },
    /// The text of a program.
    Code { text: Word, language: Language },
    /// Standard input, as a program.
    CodeOfInput { language: Language },
    /// A command whose last words are those of standard input.
    WithInput {
        argv: Vec<Word>,
        replace: Option<String>,
        split: Split,
    },
    /// Another command, run in this folder.
    InFolder { argv: Vec<Word>, folder: Word },
}

/// Where input is split into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    Blanks,
    Lines,
}

/// Where a layer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    Here,
    /// Another machine or a container: its paths are not the workspace's.
    Elsewhere,
}

/// A wrapper that runs the command behind its own options and operands.
struct Wrapper {
    names: &'static [&'static str],
    values: &'static [&'static str],
    /// Operands of its own before the command.
    operands: usize,
    host: Host,
}

const fn wrapper(names: &'static [&'static str], values: &'static [&'static str]) -> Wrapper {
    Wrapper {
        names,
        values,
        operands: 0,
        host: Host::Here,
    }
}

const WRAPPERS: &[Wrapper] = &[
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
            "caffeinate",
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
        ],
        &["-w", "-t"],
    ),
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
        &["unshare", "setpriv", "prlimit", "bwrap"],
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

const SHELLS: [&str; 13] = [
    "sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "rbash", "fish", "tcsh", "csh",
    "yash",
];

/// Whether the program is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// What `program` runs with `args`.
pub(crate) fn layers(program: &str, args: &[Word]) -> Vec<Layer> {
    if let Some(wrapper) = WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.contains(&program))
    {
        return wrapped(program, wrapper, args);
    }
    if is_shell(program) {
        return shell(args);
    }
    match program {
        "ssh" | "autossh" | "mosh" | "dbclient" => ssh(args),
        "xargs" | "gxargs" => xargs(args),
        "parallel" => parallel(args),
        "watch" | "entr" | "hyperfine" | "nodemon" | "watchexec" | "chokidar" | "concurrently" => {
            joined(args, watcher_values(program))
        }
        "su" | "runuser" | "script" | "sg" => switched(args),
        "nix-shell" => by_option(args, &["--run", "--command"]),
        "tmux" => terminal(args),
        "screen" => {
            const VALUES: [&str; 8] = ["-S", "-t", "-c", "-h", "-p", "-T", "-s", "-e"];
            here(args.get(operand(args, &VALUES)..).unwrap_or_default())
        }
        "docker" | "podman" | "nerdctl" => container(args),
        "docker-compose" | "podman-compose" => compose(args),
        "kubectl" | "oc" | "k" | "microk8s.kubectl" => kubectl(args),
        "lxc" | "multipass" | "incus" => machine(args),
        "vagrant" => by_option(args, &["-c", "--command"])
            .into_iter()
            .map(elsewhere)
            .collect(),
        "bun"
            if args
                .first()
                .is_some_and(|word| matches!(word.prefix(), "-e" | "--eval" | "-p")) =>
        {
            interpreter(
                args,
                Language::JavaScript,
                &["-e", "--eval", "-p", "--print"],
                &[],
                &[],
            )
        }
        "pnpm" | "yarn" | "npm" | "bun" | "bundle" | "poetry" | "pipenv" | "uv" | "rye"
        | "hatch" | "conda" | "mamba" | "micromamba" | "direnv" | "mise" | "asdf" | "rbenv"
        | "pyenv" | "nix" | "devbox" | "cargo" | "rustup" | "go" => runner(program, args),
        "git" => git(args),
        "make" | "gmake" | "just" | "task" => Vec::new(),
        "tar" | "gtar" | "bsdtar" => tar(args),
        "rsync" => values_of(args, &["-e", "--rsh", "--rsync-path"])
            .map(script)
            .collect(),
        "crontab" if args.iter().any(|word| word.literal() == Some("-")) => Vec::new(),
        "at" | "batch" => vec![Layer::ScriptOfInput { host: Host::Here }],
        "psql" | "pgcli" | "cockroach" | "usql" | "cqlsh" | "influx" | "clickhouse-client"
        | "clickhouse" | "sqlcmd" | "osql" | "sqlplus" | "snowsql" | "trino" | "presto"
        | "hive" | "beeline" | "spark-sql" | "tsql" | "isql" | "impala-shell" => {
            sql(args, Dialect::Standard, program)
        }
        "mysql" | "mariadb" | "mycli" | "tidb" => sql(args, Dialect::MySql, program),
        "sqlite3" | "sqlite" | "litecli" | "sqlcipher" | "duckdb" | "bq" => sqlite(program, args),
        "redis-cli" | "valkey-cli" | "keydb-cli" => redis(program, args),
        "mongosh" | "mongo" => mongo(args),
        "python" | "python2" | "python3" | "pypy" | "pypy3" | "ipython" => interpreter(
            args,
            Language::Python,
            &["-c"],
            &["-W", "-X", "--check-hash-based-pycs"],
            &["-m"],
        ),
        "node" | "nodejs" | "deno" | "tsx" | "ts-node" => interpreter(
            args,
            Language::JavaScript,
            &["-e", "--eval", "-p", "--print", "-pe", "eval"],
            &["-r", "--require", "--import", "--loader", "-C"],
            &[],
        ),
        "perl" => interpreter(args, Language::Perl, &["-e", "-E"], &["-I"], &[]),
        "ruby" | "jruby" => interpreter(args, Language::Ruby, &["-e"], &["-I", "-r"], &[]),
        "php" => interpreter(
            args,
            Language::Php,
            &["-r", "-R", "-B", "-E", "--run"],
            &["-d", "-c"],
            &[],
        ),
        "lua" | "luajit" => interpreter(args, Language::Lua, &["-e"], &["-l"], &[]),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk(args),
        "osascript" => by_option(args, &["-e"])
            .into_iter()
            .filter_map(apple_script)
            .collect(),
        "powershell" | "pwsh" => powershell(args),
        "cmd" => windows(args),
        "sed" | "gsed" => sed(args),
        "vim" | "vi" | "nvim" | "view" | "ex" | "gdb" | "lldb" => editor(args),
        "rails" if args.first().and_then(Word::literal) == Some("runner") => args
            .get(1)
            .filter(|word| word.prefix().contains([' ', '.', '(']) && !is_file(word, "rb"))
            .cloned()
            .map(|text| Layer::Code {
                text,
                language: Language::Ruby,
            })
            .into_iter()
            .collect(),
        _ if program.starts_with("python3.") || program.starts_with("python2.") => {
            interpreter(args, Language::Python, &["-c"], &["-W", "-X"], &["-m"])
        }
        _ => Vec::new(),
    }
}

fn here(argv: &[Word]) -> Vec<Layer> {
    command(argv, Host::Here)
}

fn command(argv: &[Word], host: Host) -> Vec<Layer> {
    if argv.is_empty() {
        return Vec::new();
    }
    vec![Layer::Command {
        argv: argv.to_vec(),
        host,
    }]
}

fn script(text: Word) -> Layer {
    Layer::Script {
        text,
        args: Vec::new(),
        host: Host::Here,
    }
}

fn elsewhere(layer: Layer) -> Layer {
    match layer {
        Layer::Command { argv, .. } => Layer::Command {
            argv,
            host: Host::Elsewhere,
        },
        Layer::Script { text, args, .. } => Layer::Script {
            text,
            args,
            host: Host::Elsewhere,
        },
        Layer::ScriptOfInput { .. } => Layer::ScriptOfInput {
            host: Host::Elsewhere,
        },
        other => other,
    }
}

/// The index of the first operand.
fn operand(args: &[Word], values: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.prefix();
        if text == "--" {
            return at + 1;
        }
        if !text.starts_with('-') || text == "-" {
            return at;
        }
        at += 1;
        let bundled_value = !text.starts_with("--")
            && text.len() > 2
            && values.iter().any(|value| {
                value.len() == 2
                    && text.ends_with(&value[1..])
                    && !values
                        .iter()
                        .any(|value| value.len() == 2 && text.starts_with(value))
            });
        if values.contains(&text) || bundled_value {
            at += 1;
        }
    }
    args.len()
}

fn values_of<'a>(args: &'a [Word], names: &'a [&'a str]) -> impl Iterator<Item = Word> + 'a {
    args.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.prefix();
        if names.contains(&text) {
            return args.get(at + 1).cloned();
        }
        names.iter().find_map(|name| {
            let glued = text.strip_prefix(name)?;
            if name.starts_with("--") {
                glued
                    .starts_with('=')
                    .then(|| word.without_prefix(name.len() + 1))
            } else {
                (!glued.is_empty() && !text.starts_with("--"))
                    .then(|| word.without_prefix(name.len()))
            }
        })
    })
}

/// Words as one text, joined by blanks, as `eval` and `ssh` join theirs.
pub(crate) fn join(words: &[Word]) -> Option<Word> {
    let (first, rest) = words.split_first()?;
    let mut joined = first.clone();
    for word in rest {
        joined.push_str(" ");
        for part in &word.parts {
            joined.push(part.clone());
        }
    }
    if let Some(last) = rest.last() {
        joined.span.end = joined.span.end.max(last.span.end);
    }
    Some(joined)
}

/// Whether the word names a file with this extension.
fn is_file(word: &Word, extension: &str) -> bool {
    word.literal()
        .and_then(|text| text.rsplit_once('.'))
        .is_some_and(|(_, last)| last == extension)
}

fn is_assignment(word: &Word) -> bool {
    word.prefix().split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn wrapped(program: &str, wrapper: &Wrapper, args: &[Word]) -> Vec<Layer> {
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
        values_of(args, &["-S", "--split-string"]).collect()
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

fn shell(args: &[Word]) -> Vec<Layer> {
    let mut at = 0;
    let mut inline = false;
    let mut from_input = false;
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
                    at += 1;
                }
                "--version" | "--help" => return Vec::new(),
                _ => {}
            }
            continue;
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
    let rest = args.get(at..).unwrap_or_default();
    let Some((first, after)) = rest.split_first() else {
        return vec![Layer::ScriptOfInput { host: Host::Here }];
    };
    if inline {
        // The first word behind the script is `$0`.
        return vec![Layer::Script {
            text: first.clone(),
            args: after.get(1..).unwrap_or_default().to_vec(),
            host: Host::Here,
        }];
    }
    let reads_input = from_input
        || first
            .literal()
            .is_some_and(|file| matches!(file, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
    if reads_input {
        return vec![Layer::ScriptOfInput { host: Host::Here }];
    }
    vec![Layer::ScriptFile {
        file: first.clone(),
        args: after.to_vec(),
    }]
}

fn ssh(args: &[Word]) -> Vec<Layer> {
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

const XARGS_VALUES: [&str; 18] = [
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

fn xargs(args: &[Word]) -> Vec<Layer> {
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
    }]
}

fn parallel(args: &[Word]) -> Vec<Layer> {
    const VALUES: [&str; 12] = [
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
        }],
    }
}

/// `word` with each `hole` in its text replaced by `value`.
pub(crate) fn replaced(word: &Word, hole: &str, value: &Word) -> Word {
    let mut filled = Word {
        parts: Vec::new(),
        span: word.span.clone(),
    };
    for part in &word.parts {
        match part {
            Part::Text(text) => {
                for (nth, piece) in text.split(hole).enumerate() {
                    if nth > 0 {
                        for part in &value.parts {
                            filled.push(part.clone());
                        }
                    }
                    if !piece.is_empty() {
                        filled.push_str(piece);
                    }
                }
            }
            other => filled.push(other.clone()),
        }
    }
    filled
}

fn watcher_values(program: &str) -> &'static [&'static str] {
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

fn joined(args: &[Word], values: &[&str]) -> Vec<Layer> {
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

fn by_option(args: &[Word], names: &[&str]) -> Vec<Layer> {
    values_of(args, names).map(script).collect()
}

/// A command of another user: behind `-c`, or behind the options.
fn switched(args: &[Word]) -> Vec<Layer> {
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

/// A client without a command of its own takes the lines of its input.
fn redis(program: &str, args: &[Word]) -> Vec<Layer> {
    const VALUES: [&str; 10] = [
        "-h", "-p", "-s", "-a", "-u", "-n", "--user", "--pass", "-r", "-i",
    ];
    if operand(args, &VALUES) < args.len() {
        return Vec::new();
    }
    let span = args.first().map_or(0..0, |word| word.span.clone());
    let mut argv = vec![Word::text(program, span)];
    argv.extend_from_slice(args);
    vec![Layer::WithInput {
        argv,
        replace: None,
        split: Split::Blanks,
    }]
}

fn terminal(args: &[Word]) -> Vec<Layer> {
    let sends = args
        .iter()
        .any(|word| matches!(word.literal(), Some("send-keys" | "send" | "-X")));
    let mut layers: Vec<Layer> = args
        .iter()
        .filter(|word| word.prefix().contains(' ') || word.literal().is_none())
        .cloned()
        .map(script)
        .collect();
    if !sends {
        let at = args.iter().position(|word| {
            !word.prefix().starts_with('-')
                && !matches!(
                    word.literal(),
                    Some(
                        "new-session"
                            | "new"
                            | "new-window"
                            | "neww"
                            | "split-window"
                            | "splitw"
                            | "respawn-pane"
                    )
                )
        });
        let rest = at.and_then(|at| args.get(at..)).unwrap_or_default();
        if rest.len() > 1 {
            layers.extend(here(rest));
        }
    }
    layers
}

const CONTAINER_VALUES: [&str; 62] = [
    "-e",
    "--env",
    "--env-file",
    "-u",
    "--user",
    "-w",
    "--workdir",
    "-v",
    "--volume",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--net",
    "--mount",
    "-l",
    "--label",
    "--entrypoint",
    "-h",
    "--hostname",
    "--platform",
    "-m",
    "--memory",
    "--cpus",
    "--gpus",
    "--ip",
    "--add-host",
    "--device",
    "--cap-add",
    "--cap-drop",
    "--restart",
    "--security-opt",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "-a",
    "--attach",
    "--link",
    "--log-driver",
    "--log-opt",
    "--pull",
    "--runtime",
    "--volumes-from",
    "--expose",
    "--dns",
    "--cidfile",
    "--pid",
    "--ipc",
    "--userns",
    "--uts",
    "--cgroupns",
    "--detach-keys",
    "--index",
    "-H",
    "--host",
    "-c",
    "--context",
    "--config",
    "--stop-signal",
    "--stop-timeout",
    "--health-cmd",
    "--group-add",
];

fn container(args: &[Word]) -> Vec<Layer> {
    let mut at = operand(
        args,
        &[
            "-H",
            "--host",
            "-c",
            "--context",
            "--config",
            "-l",
            "--log-level",
        ],
    );
    if matches!(args.get(at).and_then(Word::literal), Some("container")) {
        at += 1;
    }
    let rest = args.get(at + 1..).unwrap_or_default();
    match args.get(at).and_then(Word::literal) {
        Some("exec") => inside(rest, &CONTAINER_VALUES),
        Some("run" | "create") => {
            let mut layers = inside(rest, &CONTAINER_VALUES);
            let image = operand(rest, &CONTAINER_VALUES).min(rest.len());
            let entry = values_of(&rest[..image], &["--entrypoint"]).next();
            // With an entry point of its own, the words behind the image are its arguments.
            if let Some(entry) = entry {
                let mut argv = vec![entry];
                argv.extend_from_slice(rest.get(image + 1..).unwrap_or_default());
                layers = command(&argv, Host::Elsewhere);
            }
            layers
        }
        Some("compose") => compose(rest),
        _ => Vec::new(),
    }
}

/// The command behind the name of a container, a service or an image.
fn inside(args: &[Word], values: &[&str]) -> Vec<Layer> {
    let name = operand(args, values);
    let mut rest = args.get(name + 1..).unwrap_or_default();
    if rest.first().and_then(Word::literal) == Some("--") {
        rest = &rest[1..];
    }
    command(rest, Host::Elsewhere)
}

fn compose(args: &[Word]) -> Vec<Layer> {
    let at = operand(
        args,
        &[
            "-f",
            "--file",
            "-p",
            "--project-name",
            "--profile",
            "--env-file",
            "--project-directory",
            "--ansi",
            "--parallel",
        ],
    );
    match args.get(at).and_then(Word::literal) {
        Some("exec" | "run") => inside(args.get(at + 1..).unwrap_or_default(), &CONTAINER_VALUES),
        _ => Vec::new(),
    }
}

fn kubectl(args: &[Word]) -> Vec<Layer> {
    let runs = args
        .iter()
        .position(|word| matches!(word.literal(), Some("exec" | "run" | "debug")));
    let Some(at) = runs else {
        return Vec::new();
    };
    let rest = &args[at + 1..];
    match rest.iter().position(|word| word.literal() == Some("--")) {
        Some(end) => command(&rest[end + 1..], Host::Elsewhere),
        None => inside(
            rest,
            &[
                "-n",
                "--namespace",
                "-c",
                "--container",
                "--context",
                "--image",
                "-f",
            ],
        ),
    }
}

fn machine(args: &[Word]) -> Vec<Layer> {
    match args.first().and_then(Word::literal) {
        Some("exec") => inside(&args[1..], &["--env", "--user", "--cwd"]),
        _ => Vec::new(),
    }
}

fn runner(program: &str, args: &[Word]) -> Vec<Layer> {
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
            let calls: Vec<Layer> = values_of(rest, &["-c", "--call"]).map(script).collect();
            if !calls.is_empty() {
                return calls;
            }
            let own = operand(
                rest,
                &[
                    "-n",
                    "--name",
                    "--with",
                    "--python",
                    "-p",
                    "--package",
                    "--env-file",
                ],
            );
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

fn git(args: &[Word]) -> Vec<Layer> {
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
            let runs = key.starts_with("alias.") && value.starts_with('!')
                || matches!(
                    key.as_str(),
                    "core.sshcommand"
                        | "core.pager"
                        | "core.editor"
                        | "core.fsmonitor"
                        | "diff.external"
                        | "sequence.editor"
                );
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
        Some("difftool" | "mergetool") => layers.extend(by_option(rest, &["-x", "--extcmd"])),
        Some("bisect") if rest.first().and_then(Word::literal) == Some("run") => {
            layers.extend(here(&rest[1..]));
        }
        _ => {}
    }
    layers
}

fn tar(args: &[Word]) -> Vec<Layer> {
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

fn sql(args: &[Word], dialect: Dialect, program: &str) -> Vec<Layer> {
    let options: &[&str] = match program {
        "psql" | "pgcli" | "usql" => &["-c", "--command"],
        "influx" => &["-execute"],
        "mysql" | "mariadb" | "mycli" | "tidb" | "cockroach" | "beeline" | "cqlsh" | "hive"
        | "spark-sql" | "trino" | "presto" => &["-e", "--execute"],
        "clickhouse-client" | "clickhouse" => &["-q", "--query"],
        "sqlcmd" | "osql" | "snowsql" | "impala-shell" => &["-Q", "-q", "--query"],
        _ => &["-c", "-e", "--execute", "--command"],
    };
    let texts: Vec<Layer> = values_of(args, options)
        .map(|text| Layer::Sql { text, dialect })
        .chain(clustered_text(args, options).map(|text| Layer::Sql { text, dialect }))
        .collect();
    let reads_elsewhere = args.iter().any(|word| {
        let text = word.prefix();
        text.starts_with("-f")
            || text.starts_with("--file")
            || matches!(text, "-l" | "--list" | "--version" | "--help" | "-V")
    });
    if texts.is_empty() && !reads_elsewhere {
        return vec![Layer::SqlOfInput { dialect }];
    }
    texts
}

/// The text behind a cluster of short options that ends in one of `options`, such as `-Atc`.
fn clustered_text<'a>(args: &'a [Word], options: &'a [&'a str]) -> impl Iterator<Item = Word> + 'a {
    args.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.literal()?;
        let clustered = text.len() > 2
            && text.starts_with('-')
            && !text.starts_with("--")
            && text[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
            && options
                .iter()
                .any(|option| option.len() == 2 && text.ends_with(&option[1..]))
            && !options.iter().any(|option| text.starts_with(option));
        clustered.then(|| args.get(at + 1).cloned())?
    })
}

fn sqlite(program: &str, args: &[Word]) -> Vec<Layer> {
    let dialect = Dialect::Standard;
    let mut layers: Vec<Layer> = values_of(args, &["-cmd", "-c", "-s"])
        .map(|text| Layer::Sql { text, dialect })
        .collect();
    let at = operand(
        args,
        &[
            "-cmd",
            "-c",
            "-s",
            "-init",
            "-separator",
            "-nullvalue",
            "-newline",
            "-mmap",
            "-vfs",
        ],
    );
    let mut rest = args.get(at + 1..).unwrap_or_default();
    if program == "bq" {
        if args.get(at).and_then(Word::literal) != Some("query") {
            return Vec::new();
        }
        rest = rest.get(operand(rest, &[])..).unwrap_or_default();
    }
    if rest.is_empty() {
        layers.push(Layer::SqlOfInput { dialect });
    }
    layers.extend(
        rest.iter()
            .cloned()
            .map(|text| Layer::Sql { text, dialect }),
    );
    layers
}

fn mongo(args: &[Word]) -> Vec<Layer> {
    let language = Language::JavaScript;
    let texts: Vec<Layer> = values_of(args, &["--eval"])
        .map(|text| Layer::Code { text, language })
        .collect();
    let file = args
        .iter()
        .any(|word| is_file(word, "js") || word.prefix().starts_with("--file"));
    if texts.is_empty() && !file {
        return vec![Layer::CodeOfInput { language }];
    }
    texts
}

fn interpreter(
    args: &[Word],
    language: Language,
    inline: &[&str],
    values: &[&str],
    modules: &[&str],
) -> Vec<Layer> {
    let mut layers = Vec::new();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.prefix();
        if inline.contains(&text) {
            layers.extend(
                args.get(at + 1)
                    .cloned()
                    .map(|text| Layer::Code { text, language }),
            );
            at += 2;
            if language == Language::Python {
                return layers;
            }
            continue;
        }
        if word.literal() == Some("-") {
            return vec![Layer::CodeOfInput { language }];
        }
        if !text.starts_with('-') {
            // A script file, or `/dev/stdin`.
            if matches!(word.literal(), Some("/dev/stdin" | "/dev/fd/0")) {
                return vec![Layer::CodeOfInput { language }];
            }
            return layers;
        }
        if text == "--" || modules.iter().any(|module| text.starts_with(module)) {
            return layers;
        }
        if matches!(text, "--version" | "--help" | "-V" | "-v" | "-h") && args.len() == 1 {
            return layers;
        }
        // `-ne` or `-lane`: the last letter of a cluster takes the text; `-e'text'` holds it.
        let short = !text.starts_with("--") && text.len() > 2;
        if short {
            let glued = inline
                .iter()
                .find(|option| option.len() == 2 && text.starts_with(**option));
            if let Some(option) = glued {
                layers.push(Layer::Code {
                    text: word.without_prefix(option.len()),
                    language,
                });
                at += 1;
                if language == Language::Python {
                    return layers;
                }
                continue;
            }
            let clustered = inline
                .iter()
                .any(|option| option.len() == 2 && text.ends_with(&option[1..]))
                && text[1..].bytes().all(|byte| byte.is_ascii_alphanumeric());
            if clustered {
                layers.extend(
                    args.get(at + 1)
                        .cloned()
                        .map(|text| Layer::Code { text, language }),
                );
                at += 2;
                if language == Language::Python {
                    return layers;
                }
                continue;
            }
        }
        let long_inline = inline
            .iter()
            .find(|option| option.starts_with("--") && text.starts_with(&format!("{option}=")));
        if let Some(option) = long_inline {
            layers.push(Layer::Code {
                text: word.without_prefix(option.len() + 1),
                language,
            });
        }
        at += if values.contains(&text) { 2 } else { 1 };
    }
    if layers.is_empty() {
        layers.push(Layer::CodeOfInput { language });
    }
    layers
}

fn awk(args: &[Word]) -> Vec<Layer> {
    let values = [
        "-f",
        "-F",
        "-v",
        "--file",
        "--field-separator",
        "--assign",
        "-i",
    ];
    let from_file = args
        .iter()
        .any(|word| word.prefix().starts_with("-f") || word.prefix().starts_with("--file"));
    if from_file {
        return Vec::new();
    }
    let at = operand(args, &values);
    args.get(at)
        .cloned()
        .map(|text| Layer::Code {
            text,
            language: Language::Awk,
        })
        .into_iter()
        .collect()
}

/// `do shell script "…"` inside `AppleScript`.
fn apple_script(layer: Layer) -> Option<Layer> {
    let Layer::Script { text, .. } = layer else {
        return None;
    };
    let known = text.literal()?;
    let start = known.find("do shell script \"")? + "do shell script \"".len();
    let end = known[start..].find('"')? + start;
    Some(script(Word::text(&known[start..end], text.span.clone())))
}

fn powershell(args: &[Word]) -> Vec<Layer> {
    let at = args.iter().position(|word| {
        let option = word.prefix().to_ascii_lowercase();
        matches!(
            option.as_str(),
            "-command" | "-c" | "-encodedcommand" | "-e" | "-enc" | "/c"
        )
    });
    match at {
        Some(at) if args[at].prefix().to_ascii_lowercase().starts_with("-e") => {
            vec![script(Word::unknown(args[at].span.clone()))]
        }
        Some(at) => join(&args[at + 1..]).map(script).into_iter().collect(),
        None => Vec::new(),
    }
}

fn windows(args: &[Word]) -> Vec<Layer> {
    let at = args
        .iter()
        .position(|word| matches!(word.literal(), Some("/c" | "/C" | "/k" | "/K")));
    match at {
        Some(at) => join(&args[at + 1..]).map(script).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Editors and debuggers run what stands behind a `!` or a `shell` of their own commands.
fn editor(args: &[Word]) -> Vec<Layer> {
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
                .find(|mark| start.starts_with(**mark))?;
            Some(script(command.without_prefix(skipped + mark.len())))
        })
        .collect()
}

/// GNU sed runs the text of an `e` command.
fn sed(args: &[Word]) -> Vec<Layer> {
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
            let command = trimmed.strip_prefix("e ")?;
            Some(script(Word::text(command, program.span.clone())))
        })
        .collect()
}
