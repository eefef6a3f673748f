//! SQL of several dialects.

use crate::fuzz::campaign::child::Campaign;
use crate::fuzz::sql;

#[test]
fn any_text_is_split_into_statements() {
    Campaign {
        test: "sql::any_text_is_split_into_statements",
        fragments: FRAGMENTS,
        body: sql,
    }
    .run(|| SEEDS.iter().map(ToString::to_string).collect());
}

const SEEDS: &[&str] = &[
    "SELECT 1",
    "DROP TABLE users; -- not really",
    "DELETE FROM users WHERE id = 1 OR 1=1",
    "UPDATE a SET b = 'it''s' WHERE c IN (SELECT d FROM e)",
    "/* DROP */ SELECT \"drop table\" FROM `t`",
    "/*!50000 TRUNCATE t */",
    "CREATE FUNCTION f() RETURNS int AS $body$ BEGIN DELETE FROM t; END $body$ LANGUAGE plpgsql",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
    "EXPLAIN ANALYZE DELETE FROM t",
    "\\! rm -rf /\n.shell ls\nsystem ls",
    "DELIMITER //\nDROP TABLE a //",
    "EXECUTE IMMEDIATE 'DROP TABLE t'",
];

const FRAGMENTS: &[&str] = &[
    "'",
    "''",
    "\"",
    "`",
    "[",
    "]",
    ";",
    "--",
    "-- ",
    "/*",
    "*/",
    "/*!",
    "/*M!",
    "$$",
    "$a$",
    "#",
    "(",
    ")",
    ",",
    "=",
    "1",
    "\n",
    "\r",
    "\\",
    "\\!",
    "\\'",
    "E'",
    "N'",
    "X'",
    " WHERE ",
    " OR ",
    " AND ",
    " NOT ",
    "DROP TABLE ",
    "TRUNCATE ",
    "DELETE FROM ",
    "UPDATE t SET ",
    "WITH x AS (",
    "BEGIN ",
    "END",
    "EXPLAIN ",
    "PREPARE p AS ",
    "EXECUTE ",
    "DO $$",
    "DELIMITER ",
    "GO\n",
    ".shell ",
    "\u{e9}",
    "\0",
];
