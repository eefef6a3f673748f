//! Clients of databases: where their statements stand.

use crate::command::code::Language;
use crate::command::layers::layer::{Layer, Split};
use crate::command::layers::operands::{clustered_text, is_file, operand, values_of};
use crate::command::sql::Dialect;
use crate::command::word::Word;

pub(crate) fn sql(args: &[Word], dialect: Dialect, program: &str) -> Vec<Layer> {
    let options: &[&str] = match program {
        "psql" | "pgcli" | "usql" => &["-c", "--command"],
        "influx" => &["-execute"],
        "mysql" | "mariadb" | "mycli" | "tidb" | "cockroach" | "beeline" | "cqlsh" | "hive"
        | "spark-sql" | "trino" | "presto" => &["-e", "--execute"],
        "clickhouse-client" | "clickhouse" => &["-q", "--query"],
        "sqlcmd" | "osql" | "snowsql" | "impala-shell" => &["-Q", "-q", "--query"],
        _ => &["-c", "-e", "--execute", "--command"],
    };
    let files = values_of(args, &["-f", "--file", "-i", "--input"]);
    let texts: Vec<Layer> = values_of(args, options)
        .map(|text| Layer::Sql { text, dialect })
        .chain(clustered_text(args, options).map(|text| Layer::Sql { text, dialect }))
        .chain(files.map(|file| Layer::SqlFile { file, dialect }))
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

/// Statements for a database that a provider hosts.
pub(crate) fn hosted_sql(args: &[Word]) -> Vec<Layer> {
    let dialect = Dialect::Standard;
    let options = ["--sql", "--ddl", "--query-string", "--sqls"];
    let mut texts: Vec<Word> = values_of(args, &options).collect();
    // `turso db shell NAME STATEMENTS`
    if let [first, second, _, rest @ ..] = args
        && (first.literal(), second.literal()) == (Some("db"), Some("shell"))
    {
        texts.extend(rest.first().cloned());
    }
    texts
        .into_iter()
        .map(|text| Layer::Sql { text, dialect })
        .collect()
}

/// What is sent over a bare connection may be commands of a store, one a line.
pub(crate) fn spoken(args: &[Word]) -> Vec<Layer> {
    let span = args.first().map_or(0..0, |word| word.span.clone());
    vec![Layer::WithInput {
        argv: vec![Word::text("redis-cli", span)],
        replace: None,
        split: Split::Blanks,
        file: None,
    }]
}

pub(crate) fn sqlite(program: &str, args: &[Word]) -> Vec<Layer> {
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

pub(crate) fn mongo(args: &[Word]) -> Vec<Layer> {
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

/// A client without a command of its own takes the lines of its input.
pub(crate) fn redis(program: &str, args: &[Word]) -> Vec<Layer> {
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
        file: None,
    }]
}
