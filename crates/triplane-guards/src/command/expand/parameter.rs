//! Parameters and their forms, as far as their values are known.

use std::rc::Rc;

use brush_parser::ast;
use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTestType, ParameterTransformOp, SpecialParameter,
    SubstringMatchKind,
};

use crate::command::expand::escape::ansi_c;
use crate::command::expand::shell::Unreadable;
use crate::command::expand::word::Expansion;
use crate::command::scope::glob_matches;
use crate::command::word::{Part, Word};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Trim {
    ShortSuffix,
    LongSuffix,
    ShortPrefix,
    LongPrefix,
}

impl Trim {
    pub(crate) fn apply(self, text: &str, pattern: &str) -> Option<String> {
        if text.len() > 256 {
            return None;
        }
        let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        cuts.push(text.len());
        let cut = match self {
            Self::ShortSuffix => cuts
                .iter()
                .rev()
                .find(|&&at| glob_matches(pattern, &text[at..])),
            Self::LongSuffix => cuts.iter().find(|&&at| glob_matches(pattern, &text[at..])),
            Self::ShortPrefix => cuts.iter().find(|&&at| glob_matches(pattern, &text[..at])),
            Self::LongPrefix => cuts
                .iter()
                .rev()
                .find(|&&at| glob_matches(pattern, &text[..at])),
        };
        let kept = match (self, cut) {
            (_, None) => text,
            (Self::ShortSuffix | Self::LongSuffix, Some(&at)) => &text[..at],
            (Self::ShortPrefix | Self::LongPrefix, Some(&at)) => &text[at..],
        };
        Some(kept.to_owned())
    }
}

impl Expansion<'_> {
    pub(crate) fn unknown(&self) -> Vec<Word> {
        vec![Word::unknown(self.span.clone())]
    }

    pub(crate) fn token(&self) -> Vec<Word> {
        vec![Word {
            parts: vec![Part::Token],
            span: self.span.clone(),
        }]
    }

    pub(crate) fn lookup(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
    ) -> Result<Option<Vec<Word>>, Unreadable> {
        let value = match parameter {
            Parameter::Named(name) => self.named(name).map(|words| words.to_vec()),
            Parameter::NamedWithIndex { name, index } => {
                self.arithmetic(index)?;
                let index = index.parse::<usize>().ok();
                self.shell.variable(name).map(|words| match index {
                    Some(index) => words.get(index).into_iter().cloned().collect(),
                    None => vec![Word::unknown(self.span.clone())],
                })
            }
            Parameter::NamedWithAllIndices { name, .. } => {
                self.shell.variable(name).map(|words| words.to_vec())
            }
            Parameter::Positional(nth) => self.shell.positional().map(|words| {
                let nth = usize::try_from(*nth).unwrap_or(usize::MAX);
                words
                    .get(nth.wrapping_sub(1))
                    .into_iter()
                    .cloned()
                    .collect()
            }),
            Parameter::Special(special) => match special {
                SpecialParameter::AllPositionalParameters { .. } => {
                    self.shell.positional().map(|words| words.to_vec())
                }
                SpecialParameter::PositionalParameterCount
                | SpecialParameter::LastExitStatus
                | SpecialParameter::ProcessId
                | SpecialParameter::LastBackgroundProcessId
                | SpecialParameter::CurrentOptionFlags => Some(self.token()),
                SpecialParameter::ShellName => None,
            },
        };
        if !indirect {
            return Ok(value);
        }
        let name = value
            .as_ref()
            .and_then(|words| words.first())
            .and_then(Word::literal)
            .map(str::to_owned);
        let named = name.and_then(|name| self.named(&name));
        Ok(named.map(|words| words.to_vec()))
    }

    pub(crate) fn named(&mut self, name: &str) -> Option<Rc<[Word]>> {
        if let Some(words) = self.shell.variable(name) {
            return Some(words);
        }
        let text = match name {
            "HOME" => self.shell.home(),
            "PWD" => self.shell.cwd()?,
            "OLDPWD" => self.shell.cwd_before()?,
            "IFS" => " \t\n".to_owned(),
            "RANDOM" | "UID" | "EUID" | "PPID" | "BASHPID" | "SECONDS" | "LINENO" | "SRANDOM" => {
                return Some(self.token().into());
            }
            _ => return None,
        };
        Some([Word::text(text, self.span.clone())].into())
    }

    /// The words of a parameter form. An unset variable may have come from outside: it is unknown.
    pub(crate) fn parameter(&mut self, expr: &ParameterExpr) -> Result<Vec<Word>, Unreadable> {
        match expr {
            ParameterExpr::Parameter {
                parameter,
                indirect,
            } => {
                // `$name` of an array is its first element.
                if let (Parameter::Named(name), false) = (parameter, *indirect) {
                    let first = self.named(name).map(|words| words.first().cloned());
                    return Ok(match first {
                        Some(first) => first.into_iter().collect(),
                        None => self.unknown(),
                    });
                }
                let Some(mut words) = self.lookup(parameter, *indirect)? else {
                    return Ok(self.unknown());
                };
                if matches!(parameter, Parameter::Named(_)) {
                    words.truncate(1);
                }
                Ok(words)
            }
            ParameterExpr::UseDefaultValues {
                parameter,
                indirect,
                test_type,
                default_value,
            } => self.defaulted(parameter, *indirect, test_type, default_value.as_deref()),
            ParameterExpr::AssignDefaultValues {
                parameter,
                indirect,
                test_type,
                default_value,
            } => {
                // A value that is there stays as it is, all its alternatives with it.
                let before = self.lookup(parameter, *indirect)?;
                let is_there = before.is_some_and(|words| is_set(&words, test_type));
                let words =
                    self.defaulted(parameter, *indirect, test_type, default_value.as_deref())?;
                if let (Parameter::Named(name), [word], false) =
                    (parameter, words.as_slice(), is_there)
                {
                    self.shell.assign(name, word.clone());
                }
                Ok(words)
            }
            ParameterExpr::IndicateErrorIfNullOrUnset {
                parameter,
                indirect,
                error_message,
                ..
            } => {
                self.value(error_message.as_deref().unwrap_or(""))?;
                Ok(self
                    .lookup(parameter, *indirect)?
                    .unwrap_or_else(|| self.unknown()))
            }
            ParameterExpr::UseAlternativeValue {
                parameter,
                indirect,
                test_type,
                alternative_value,
            } => {
                let alternative = self.value(alternative_value.as_deref().unwrap_or(""))?;
                match self.lookup(parameter, *indirect)? {
                    Some(words) if is_set(&words, test_type) => Ok(vec![alternative]),
                    Some(_) => Ok(Vec::new()),
                    None => Ok(self.unknown()),
                }
            }
            ParameterExpr::ParameterLength { .. } => Ok(self.token()),
            ParameterExpr::RemoveSmallestSuffixPattern {
                parameter,
                indirect,
                pattern,
            } => self.trimmed(parameter, *indirect, pattern.as_deref(), Trim::ShortSuffix),
            ParameterExpr::RemoveLargestSuffixPattern {
                parameter,
                indirect,
                pattern,
            } => self.trimmed(parameter, *indirect, pattern.as_deref(), Trim::LongSuffix),
            ParameterExpr::RemoveSmallestPrefixPattern {
                parameter,
                indirect,
                pattern,
            } => self.trimmed(parameter, *indirect, pattern.as_deref(), Trim::ShortPrefix),
            ParameterExpr::RemoveLargestPrefixPattern {
                parameter,
                indirect,
                pattern,
            } => self.trimmed(parameter, *indirect, pattern.as_deref(), Trim::LongPrefix),
            ParameterExpr::Substring {
                parameter,
                indirect,
                offset,
                length,
            } => self.substring(parameter, *indirect, offset, length.as_ref()),
            ParameterExpr::Transform {
                parameter,
                indirect,
                op,
            } => self.mapped(parameter, *indirect, |text| match op {
                ParameterTransformOp::ToLowerCase => Some(text.to_lowercase()),
                ParameterTransformOp::ToUpperCase => Some(text.to_uppercase()),
                ParameterTransformOp::ExpandEscapeSequences => ansi_c(text),
                ParameterTransformOp::CapitalizeInitial
                | ParameterTransformOp::PossiblyQuoteWithArraysExpanded { .. }
                | ParameterTransformOp::PromptExpand
                | ParameterTransformOp::Quoted
                | ParameterTransformOp::ToAssignmentLogic
                | ParameterTransformOp::ToAttributeFlags => None,
            }),
            ParameterExpr::UppercasePattern {
                parameter,
                indirect,
                pattern: None,
            } => self.mapped(parameter, *indirect, |text| Some(text.to_uppercase())),
            ParameterExpr::LowercasePattern {
                parameter,
                indirect,
                pattern: None,
            } => self.mapped(parameter, *indirect, |text| Some(text.to_lowercase())),
            ParameterExpr::UppercaseFirstChar { pattern, .. }
            | ParameterExpr::UppercasePattern { pattern, .. }
            | ParameterExpr::LowercaseFirstChar { pattern, .. }
            | ParameterExpr::LowercasePattern { pattern, .. } => {
                self.value(pattern.as_deref().unwrap_or(""))?;
                Ok(self.unknown())
            }
            ParameterExpr::ReplaceSubstring {
                parameter,
                indirect,
                pattern,
                replacement,
                match_kind,
            } => {
                let pattern = self.value(pattern)?;
                let replacement = self.value(replacement.as_deref().unwrap_or(""))?;
                let known = match (pattern.literal(), replacement.literal()) {
                    (Some(from), Some(to)) if !from.contains(['*', '?', '[']) => {
                        Some((from.to_owned(), to.to_owned()))
                    }
                    _ => None,
                };
                self.mapped(parameter, *indirect, |text| {
                    let (from, to) = known.as_ref()?;
                    Some(match match_kind {
                        SubstringMatchKind::Prefix => match text.strip_prefix(from.as_str()) {
                            Some(rest) => format!("{to}{rest}"),
                            None => text.to_owned(),
                        },
                        SubstringMatchKind::Suffix => match text.strip_suffix(from.as_str()) {
                            Some(rest) => format!("{rest}{to}"),
                            None => text.to_owned(),
                        },
                        SubstringMatchKind::FirstOccurrence => text.replacen(from, to, 1),
                        SubstringMatchKind::Anywhere => text.replace(from, to),
                    })
                })
            }
            ParameterExpr::VariableNames { .. } | ParameterExpr::MemberKeys { .. } => {
                Ok(self.unknown())
            }
        }
    }

    /// The value of a parameter, or the default where it has none.
    fn defaulted(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
        test: &ParameterTestType,
        default: Option<&str>,
    ) -> Result<Vec<Word>, Unreadable> {
        let default = self.value(default.unwrap_or(""))?;
        Ok(match self.lookup(parameter, indirect)? {
            Some(words) if is_set(&words, test) => words,
            Some(_) => vec![default],
            None => self.unknown(),
        })
    }

    /// Each known word of a parameter through `map`.
    pub(crate) fn mapped(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
        map: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<Word>, Unreadable> {
        let Some(words) = self.lookup(parameter, indirect)? else {
            return Ok(self.unknown());
        };
        Ok(words
            .iter()
            .map(|word| match word.literal().and_then(&map) {
                Some(text) => Word::text(text, word.span.clone()),
                None => Word::unknown(word.span.clone()),
            })
            .collect())
    }

    pub(crate) fn trimmed(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
        pattern: Option<&str>,
        trim: Trim,
    ) -> Result<Vec<Word>, Unreadable> {
        let pattern = self.value(pattern.unwrap_or(""))?;
        let pattern = pattern.literal().map(str::to_owned);
        self.mapped(parameter, indirect, |text| {
            trim.apply(text, pattern.as_deref()?)
        })
    }

    pub(crate) fn substring(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
        offset: &ast::UnexpandedArithmeticExpr,
        length: Option<&ast::UnexpandedArithmeticExpr>,
    ) -> Result<Vec<Word>, Unreadable> {
        self.arithmetic(&offset.value)?;
        if let Some(length) = length {
            self.arithmetic(&length.value)?;
        }
        let offset = offset.value.trim().parse::<i64>().ok();
        let length = length.map(|length| length.value.trim().parse::<i64>().ok());
        self.mapped(parameter, indirect, |text| {
            let chars: Vec<char> = text.chars().collect();
            let total = i64::try_from(chars.len()).ok()?;
            let offset = offset?;
            let start = if offset < 0 { total + offset } else { offset }.clamp(0, total);
            let end = match length {
                None => total,
                Some(length) => {
                    let length = length?;
                    if length < 0 {
                        total + length
                    } else {
                        start + length
                    }
                    .clamp(start, total)
                }
            };
            let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
            Some(chars[start..end].iter().collect())
        })
    }
}

pub(crate) fn is_set(words: &[Word], test: &ParameterTestType) -> bool {
    match test {
        ParameterTestType::Unset => !words.is_empty(),
        ParameterTestType::UnsetOrNull => words.iter().any(|word| word.literal() != Some("")),
    }
}
