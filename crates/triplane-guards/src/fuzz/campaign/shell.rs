//! Commands of the corpora, changed by fragments of shell.

use crate::command::shortcut::program;
use crate::fuzz::campaign::child::Campaign;
use crate::fuzz::campaign::corpus::{CommandRow, rows};
use crate::fuzz::shell;
use crate::fuzz::shortcut::shortcut;

#[test]
fn any_command_gets_a_verdict() {
    Campaign {
        test: "shell::any_command_gets_a_verdict",
        fragments: FRAGMENTS,
        body: shell,
    }
    .run(|| {
        let rows: Vec<CommandRow> = rows(["commands.jsonl", "commands-more.jsonl"]);
        rows.into_iter().map(|row| row.command).collect()
    });
}

#[test]
fn what_is_read_without_the_grammar_is_what_the_grammar_reads() {
    let rows: Vec<CommandRow> = rows(["commands.jsonl", "commands-more.jsonl"]);
    for row in &rows {
        shortcut(&row.command);
    }
    let read = rows.iter().filter(|row| program(&row.command).is_some());
    let read = read.count();
    assert!(read * 2 > rows.len(), "{read} of {}", rows.len());
    for text in SHORT {
        assert!(program(text).is_some(), "{text:?}");
        shortcut(text);
    }
}

/// What is read without the grammar, in each of its forms.
const SHORT: [&str; 24] = [
    "a",
    "\n\n a\tb \n\n",
    "a 'b c' \"d $e ${f} \\\" $ g\" h\\ i\\;j $k${l}m$ $",
    "a && b || c &&\n\nd",
    "a | b |\n c",
    "a; b & c &\nd;\n\ne",
    "a=b",
    "a=b c+=d e f=g --h=i _j='k l' >m",
    "2>&1 a <b >c >>d 2>e 3<&4 >&- &>f",
    "a 2 >b 2>c d2>e",
    "for a in b 'c d' $e; do f; done",
    "for a in\ndo b; done",
    "for a\nin b\n\ndo\n\nc\n\ndone >d 2>&1",
    "while a; b; do c & d; done",
    "until a\ndo b\ndone | c && d",
    "if a; then b; fi",
    "if a && b; then c; d; elif e; then f; elif g\nthen h; else i; fi <j",
    "for a in b; do while c; do if d; then e; fi; done; done; f",
    "a 'b\nc' d\ne \"f\n\ng\" h",
    "a b=c",
    "a#b c{d,e} [ f ] g[h] ~/i *.j ? ]] }",
    "echo for if while done then in do time !",
    "a /b/c:d,e=f@g%h+i^j!k",
    "${__3p_0} a${__3p_12}b \"${__3p_3}\"",
];

pub(super) const FRAGMENTS: &[&str] = &[
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "${",
    "}",
    "{",
    ";",
    "|",
    "&",
    "&&",
    "||",
    "\n",
    "<<E\n",
    "<<-E\n",
    "\nE\n",
    "<(",
    ">(",
    ">",
    ">>",
    "<<<",
    "\\",
    "$'",
    "$\"",
    "((",
    "))",
    "$((",
    "if ",
    "then ",
    "else ",
    "fi ",
    "for x in a b; do ",
    "while true; do ",
    "case x in ",
    "a) ",
    "esac ",
    ";;",
    "do ",
    "done ",
    "select x in a; do ",
    "f() { ",
    "function f { ",
    "*",
    "?",
    "[",
    "]",
    "[[ ",
    " ]]",
    "~",
    "=",
    "+=",
    "#",
    "$x",
    "$@",
    "$*",
    "${x:-",
    "${x//a/b}",
    "${!x}",
    "{a,b}",
    "{1..9}",
    "{a..z}",
    "eval ",
    "sudo ",
    "xargs ",
    "env A=b ",
    "sh -c '",
    "bash <<< ",
    "find . -exec ",
    "timeout 5 ",
    "a=b ",
    "export ",
    "alias a=",
    "set -- ",
    "cd x; ",
    "rm -rf ",
    "/",
    " -",
    "\t",
    "\r",
    "\0",
    "\u{e9}",
    "\u{1}",
    "\u{202e}",
    "python3 -c '",
    "psql -c '",
    "git -c alias.a='!",
    "printf %s ",
    "echo ",
    " | sh",
    "read x; ",
    "IFS=, ",
    "trap 'x' EXIT; ",
    "coproc ",
    "time ",
    "! ",
];
