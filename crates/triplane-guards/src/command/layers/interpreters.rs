//! Interpreters: where their one-liners stand.

use crate::command::code::Language;
use crate::command::layers::layer::{Layer, script};
use crate::command::layers::operands::{join, operand};
use crate::command::word::Word;

pub(crate) fn interpreter(
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
            if layers.is_empty() {
                let file = word.clone();
                layers.push(Layer::CodeFile { file, language });
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
        let long_inline = inline.iter().find(|option| {
            let value = text.strip_prefix(**option);
            option.starts_with("--") && value.is_some_and(|value| value.starts_with(['=', ':']))
        });
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

/// The options behind which an interpreter takes a program, for those whose language is only read
/// for its names and texts.
pub(crate) fn other_inline(program: &str) -> Option<&'static [&'static str]> {
    let options: &[&str] = match program {
        "groovy" | "scala" | "scala-cli" | "ocaml" | "swift" | "racket" | "clojure" | "clj"
        | "bb" | "raku" | "rakudo" | "perl6" | "ghc" | "ghci" | "runghc" | "crystal" => {
            &["-e", "--eval", "eval"]
        }
        "julia" => &["-e", "-E", "--eval", "--print"],
        "guile" => &["-c"],
        "nim" | "octave" | "octave-cli" | "maxima" => &["--eval", "--batch-string"],
        "emacs" | "emacsclient" | "sbcl" | "clisp" | "ecl" | "erl" => {
            &["-e", "-x", "-eval", "--eval", "-execute", "--execute"]
        }
        _ => return None,
    };
    Some(options)
}

pub(crate) fn awk(args: &[Word]) -> Vec<Layer> {
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
pub(crate) fn apple_script(layer: Layer) -> Option<Layer> {
    let Layer::Script { text, .. } = layer else {
        return None;
    };
    let known = text.literal()?;
    let start = known.find("do shell script \"")? + "do shell script \"".len();
    let end = known[start..].find('"')? + start;
    Some(script(Word::text(&known[start..end], text.span.clone())))
}

pub(crate) fn powershell(args: &[Word]) -> Vec<Layer> {
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
        Some(at) => join(&args[at + 1..])
            .map(|text| Layer::Cmdlets { text })
            .into_iter()
            .collect(),
        None => Vec::new(),
    }
}

/// `cmd /c`: what deletes or formats there is called otherwise.
pub(crate) fn windows(args: &[Word]) -> Vec<Layer> {
    let at = args
        .iter()
        .position(|word| matches!(word.literal(), Some("/c" | "/C" | "/k" | "/K")));
    match at {
        Some(at) => join(&args[at + 1..])
            .map(|text| Layer::Cmdlets { text })
            .into_iter()
            .collect(),
        None => Vec::new(),
    }
}
