//! Simple commands: words, assignments and redirections.

use std::ops::Range;

use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, CommandPrefix, CommandPrefixOrSuffixItem as Item,
    CommandSuffix, IoFd, IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect,
    SimpleCommand, Word,
};

use crate::command::shortcut::lexer::{Operator, Other, Token};
use crate::command::shortcut::reader::{Reader, is_reserved};

impl Reader<'_> {
    pub(crate) fn simple(&mut self) -> Result<SimpleCommand, Other> {
        let mut prefix = Vec::new();
        loop {
            if let Some(redirect) = self.redirect()? {
                prefix.push(Item::IoRedirect(redirect));
                continue;
            }
            let Token::Word(word) = &self.next else {
                break;
            };
            let Some(assignment) = self.assignment(word)? else {
                break;
            };
            let word = self.tree_word(word);
            self.take()?;
            prefix.push(Item::AssignmentWord(assignment, word));
        }
        let mut name = None;
        let mut suffix = Vec::new();
        if let Token::Word(word) = &self.next {
            if is_reserved(self.lexer.text(word)) {
                return Err(Other);
            }
            name = Some(self.tree_word(word));
            self.take()?;
            loop {
                if let Some(redirect) = self.redirect()? {
                    suffix.push(Item::IoRedirect(redirect));
                    continue;
                }
                let Token::Word(word) = &self.next else {
                    break;
                };
                let item = self.tree_word(word);
                suffix.push(match self.assignment(word)? {
                    Some(assignment) => Item::AssignmentWord(assignment, item),
                    None => Item::Word(item),
                });
                self.take()?;
            }
        }
        if name.is_none() && prefix.is_empty() {
            return Err(Other);
        }
        Ok(SimpleCommand {
            prefix: (!prefix.is_empty()).then_some(CommandPrefix(prefix)),
            word_or_name: name,
            suffix: (!suffix.is_empty()).then_some(CommandSuffix(suffix)),
        })
    }

    /// What `word` assigns, if it does.
    fn assignment(&self, word: &Range<usize>) -> Result<Option<Assignment>, Other> {
        let text = self.lexer.text(word);
        let named = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = text.bytes().take_while(named).count();
        if length == 0 || text.as_bytes()[0].is_ascii_digit() {
            return Ok(None);
        }
        let (name, rest) = text.split_at(length);
        // It may be an element of an array.
        if rest.starts_with('[') && rest.contains('=') {
            return Err(Other);
        }
        let (value, append) = match (rest.strip_prefix('='), rest.strip_prefix("+=")) {
            (Some(value), _) => (value, false),
            (None, Some(value)) => (value, true),
            (None, None) => return Ok(None),
        };
        Ok(Some(Assignment {
            name: AssignmentName::VariableName(name.to_owned()),
            value: AssignmentValue::Scalar(Word::new(value)),
            append,
            loc: self.lexer.span(word),
        }))
    }

    /// The redirection that is next, if it is one.
    pub(crate) fn redirect(&mut self) -> Result<Option<IoRedirect>, Other> {
        let mut descriptor = None;
        if let Token::Word(word) = &self.next
            && let Some(number) = self.descriptor(word)?
        {
            descriptor = Some(number);
            self.take()?;
        }
        let kind = match self.next {
            Token::Operator(Operator::Less) => Kind::Read,
            Token::Operator(Operator::LessAnd) => Kind::DuplicateInput,
            Token::Operator(Operator::Greater) => Kind::Write,
            Token::Operator(Operator::GreaterAnd) => Kind::DuplicateOutput,
            Token::Operator(Operator::GreaterGreater) => Kind::Append,
            Token::Operator(Operator::AndGreater) => {
                self.take()?;
                let word = self.word()?;
                let target = self.tree_word(&word);
                return Ok(Some(IoRedirect::OutputAndError(target, false)));
            }
            _ if descriptor.is_some() => return Err(Other),
            _ => return Ok(None),
        };
        self.take()?;
        let word = self.word()?;
        let word = self.tree_word(&word);
        let target = match kind {
            Kind::DuplicateInput | Kind::DuplicateOutput => Target::Duplicate(word),
            _ => Target::Filename(word),
        };
        Ok(Some(IoRedirect::File(descriptor, kind, target)))
    }

    /// The number of the descriptor that `word` is, right before a redirection.
    fn descriptor(&self, word: &Range<usize>) -> Result<Option<IoFd>, Other> {
        let text = self.lexer.text(word);
        if !text.bytes().all(|byte| byte.is_ascii_digit())
            || !matches!(self.lexer.byte(word.end), b'<' | b'>')
        {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| Other)
    }
}
