//! Consoles of web frameworks: a program or statements behind an option or a subcommand.

use crate::command::code::Language;
use crate::command::layers::layer::Layer;
use crate::command::layers::operands::values_of;
use crate::command::sql::Dialect;
use crate::command::word::Word;

/// What the script of a framework runs with `args`, its own name taken off.
pub(crate) fn console(script: &str, args: &[Word]) -> Vec<Layer> {
    let name = script.rsplit('/').next().unwrap_or(script);
    let sub: Vec<&str> = args.iter().take(2).filter_map(Word::literal).collect();
    let code = |options: &[&str], language| -> Vec<Layer> {
        values_of(args, options)
            .map(|text| Layer::Code { text, language })
            .collect()
    };
    let operand = |nth: usize| args.get(nth).cloned().into_iter();
    let statements = |nth| -> Vec<Layer> {
        let dialect = Dialect::Standard;
        let texts = operand(nth).map(|text| Layer::Sql { text, dialect });
        texts.collect()
    };
    let program = |nth, language| -> Vec<Layer> {
        let texts = operand(nth).map(|text| Layer::Code { text, language });
        texts.collect()
    };
    match (name, sub.as_slice()) {
        ("manage.py" | "django-admin", ["shell" | "shell_plus", ..]) => {
            code(&["-c", "--command"], Language::Python)
        }
        ("artisan", ["tinker", ..]) => code(&["--execute"], Language::Php),
        ("console", ["dbal:run-sql" | "doctrine:query:sql", ..])
        | ("drush", ["sql:query" | "sql-query" | "sqlq", ..]) => statements(1),
        ("wp", ["db", "query"]) => statements(2),
        ("wp", ["eval", ..]) | ("drush", ["php:eval" | "php-eval" | "ev", ..]) => {
            program(1, Language::Php)
        }
        _ => Vec::new(),
    }
}
