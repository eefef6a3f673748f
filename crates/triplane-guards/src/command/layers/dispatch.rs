//! From the name of a program to what it runs.

use crate::command::code::Language;
use crate::command::layers::containers::{compose, container, kubectl, machine};
use crate::command::layers::databases::{hosted_sql, mongo, redis, spoken, sql, sqlite};
use crate::command::layers::frameworks::console;
use crate::command::layers::interpreters::{
    apple_script, awk, interpreter, other_inline, powershell, windows,
};
use crate::command::layers::layer::{Host, Layer, elsewhere, here, script};
use crate::command::layers::operands::{by_option, is_file, join, operand, values_of};
use crate::command::layers::shells::{
    is_shell, joined, parallel, shell, ssh, switched, terminal, typed, watcher_values, xargs,
};
use crate::command::layers::tools::{
    ansible, editor, git, make, package_scripts, remote_commands, runner, sed, tar,
};
use crate::command::layers::unknown::guessed;
use crate::command::layers::wrappers::{find_wrapper, wrapped};
use crate::command::sql::Dialect;
use crate::command::word::Word;

/// What `program` runs with `args`.
pub(crate) fn layers(program: &str, args: &[Word]) -> Vec<Layer> {
    if let Some(wrapper) = find_wrapper(program) {
        return wrapped(program, wrapper, args);
    }
    if is_shell(program) {
        return shell(args);
    }
    // A framework's script, by itself or in front of its interpreter's other arguments.
    match (program, args.first().map(Word::prefix)) {
        ("wp" | "drush" | "django-admin" | "manage.py" | "artisan" | "console", _) => {
            return console(program, args);
        }
        ("python" | "python3" | "php", Some(script)) => {
            let consoles = console(script, &args[1..]);
            if !consoles.is_empty() {
                return consoles;
            }
        }
        _ => {}
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
        "screen" if args.iter().any(|word| word.literal() == Some("stuff")) => {
            args.last().map(typed).into_iter().collect()
        }
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
        "npm" | "pnpm" if args.first().and_then(Word::literal) == Some("pkg") => {
            package_scripts(args)
        }
        "pnpm" | "yarn" | "npm" | "bun" | "bundle" | "poetry" | "pipenv" | "uv" | "rye"
        | "hatch" | "conda" | "mamba" | "micromamba" | "direnv" | "mise" | "asdf" | "rbenv"
        | "pyenv" | "nix" | "devbox" | "cargo" | "rustup" | "go" => runner(program, args),
        "git" => git(args),
        "make" | "gmake" => make(args),
        "just" | "task" => Vec::new(),
        "tar" | "gtar" | "bsdtar" => tar(args),
        "rsync" => values_of(args, &["-e", "--rsh", "--rsync-path"])
            .map(script)
            .collect(),
        "crontab" if args.iter().any(|word| word.literal() == Some("-")) => {
            vec![Layer::ScheduleOfInput]
        }
        "ansible" => ansible(args),
        "at" | "batch" => vec![Layer::ScriptOfInput { host: Host::Here }],
        "psql" | "pgcli" | "cockroach" | "usql" | "cqlsh" | "influx" | "clickhouse-client"
        | "clickhouse" | "sqlcmd" | "osql" | "sqlplus" | "snowsql" | "trino" | "presto"
        | "hive" | "beeline" | "spark-sql" | "tsql" | "isql" | "impala-shell" => {
            sql(args, Dialect::Standard, program)
        }
        "mysql" | "mariadb" | "mycli" | "tidb" => sql(args, Dialect::MySql, program),
        "sqlite3" | "sqlite" | "litecli" | "sqlcipher" | "duckdb" | "bq" => sqlite(program, args),
        "redis-cli" | "valkey-cli" | "keydb-cli" => redis(program, args),
        "nc" | "ncat" | "netcat" | "telnet" => spoken(args),
        "mongosh" | "mongo" => mongo(args),
        "python" | "python2" | "python3" | "pypy" | "pypy3" | "ipython" => interpreter(
            args,
            Language::Python,
            &["-c"],
            &["-W", "-X", "--check-hash-based-pycs"],
            &["-m"],
        ),
        "node" | "nodejs" | "deno" | "tsx" | "ts-node" => interpreter(
            match args.first().and_then(Word::literal) {
                Some("run") if program == "deno" => &args[1..],
                _ => args,
            },
            Language::JavaScript,
            &["-e", "--eval", "-p", "--print", "-pe", "eval"],
            &["-r", "--require", "--import", "--loader", "-C"],
            &[],
        ),
        "perl" => interpreter(args, Language::Perl, &["-e", "-E"], &["-I"], &[]),
        "Rscript" | "R" | "rscript" => interpreter(args, Language::Python, &["-e"], &[], &[]),
        "elixir" | "iex" => {
            interpreter(args, Language::Ruby, &["-e", "--eval"], &["-r", "-S"], &[])
        }
        "ruby" | "jruby" => interpreter(args, Language::Ruby, &["-e"], &["-I", "-r"], &[]),
        "php" => interpreter(
            args,
            Language::Php,
            &["-r", "-R", "-B", "-E", "--run"],
            &["-d", "-c"],
            &[],
        ),
        "lua" | "luajit" => interpreter(args, Language::Lua, &["-e"], &["-l"], &[]),
        "tclsh" | "wish" => interpreter(args, Language::Tcl, &[], &["-encoding"], &[]),
        "jshell" => vec![Layer::CodeOfInput {
            language: Language::Other,
        }],
        "zx" => interpreter(args, Language::JavaScript, &["-e", "--eval"], &[], &[]),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk(args),
        "osascript" => by_option(args, &["-e"])
            .into_iter()
            .filter_map(apple_script)
            .collect(),
        "powershell" | "pwsh" => powershell(args),
        "cmd" => windows(args),
        "sed" | "gsed" => sed(args),
        "vim" | "vi" | "nvim" | "view" | "ex" | "gdb" | "lldb" | "less" => editor(args),
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
        "man" => by_option(args, &["-P", "--pager"]),
        "aws" => [remote_commands(args), hosted_sql(args)].concat(),
        "gcloud" => {
            let there = by_option(args, &["--command"]).into_iter().map(elsewhere);
            hosted_sql(args).into_iter().chain(there).collect()
        }
        "wrangler" => values_of(args, &["--command"])
            .map(|text| Layer::Sql {
                text,
                dialect: Dialect::Standard,
            })
            .collect(),
        "turso" => hosted_sql(args),
        "expect" => interpreter(args, Language::Tcl, &["-c"], &[], &[]),
        "heroku" if args.first().and_then(Word::literal) == Some("pg:psql") => {
            sql(args, Dialect::Standard, program)
        }
        "heroku" if args.first().and_then(Word::literal) == Some("run") => join(
            args.get(1 + operand(&args[1..], &["-a", "--app", "-s", "--size"])..)
                .unwrap_or_default(),
        )
        .map(|text| elsewhere(script(text)))
        .into_iter()
        .collect(),
        _ => match other_inline(program) {
            Some(inline) => interpreter(args, Language::Other, inline, &["-l", "--load"], &[]),
            None => guessed(program, args),
        },
    }
}
