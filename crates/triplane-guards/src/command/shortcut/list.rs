//! Lists of simple commands, and the loops and conditions around them.

use std::ops::Range;

use brush_parser::SourceSpan;
use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentName, AssignmentValue, Command, CommandPrefix,
    CommandPrefixOrSuffixItem as Item, CommandSuffix, CompoundCommand, CompoundList,
    CompoundListItem, DoGroupCommand, ElseClause, ForClauseCommand, IfClauseCommand, IoFd,
    IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect, Pipeline, Program,
    RedirectList, SeparatorOperator, SimpleCommand, WhileOrUntilClauseCommand, Word,
};

use crate::command::shortcut::lexer::{Lexer, Operator, Other, Token};

/// The program that the grammar reads in `text`, if it is one that can be read without it.
pub(crate) fn program(text: &str) -> Option<Program> {
    let mut reader = Reader::new(text).ok()?;
    reader.program().ok()
}

struct Reader<'t> {
    lexer: Lexer<'t>,
    /// The token that is read next.
    next: Token,
}

/// The words that the grammar keeps for itself where a command starts.
fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "!" | "{"
            | "}"
            | "case"
            | "do"
            | "done"
            | "elif"
            | "else"
            | "esac"
            | "fi"
            | "for"
            | "if"
            | "in"
            | "then"
            | "until"
            | "while"
            | "[["
            | "]]"
            | "function"
            | "select"
            | "coproc"
            | "time"
    )
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Result<Self, Other> {
        let mut lexer = Lexer::new(text)?;
        let next = lexer.next()?;
        Ok(Self { lexer, next })
    }

    /// The token that is next, which is behind it then.
    fn take(&mut self) -> Result<Token, Other> {
        Ok(std::mem::replace(&mut self.next, self.lexer.next()?))
    }

    fn word(&mut self) -> Result<Range<usize>, Other> {
        match self.take()? {
            Token::Word(word) => Ok(word),
            Token::Operator(_) | Token::LineBreak | Token::End => Err(Other),
        }
    }

    fn tree_word(&self, word: &Range<usize>) -> Word {
        Word {
            value: self.lexer.text(word).to_owned(),
            loc: Some(self.lexer.span(word)),
        }
    }

    /// The word that is next, if it is one.
    fn next_word(&self) -> Option<&'t str> {
        match &self.next {
            Token::Word(word) => Some(self.lexer.text(word)),
            Token::Operator(_) | Token::LineBreak | Token::End => None,
        }
    }

    fn takes(&mut self, operator: Operator) -> Result<bool, Other> {
        let is_next = self.next == Token::Operator(operator);
        if is_next {
            self.take()?;
        }
        Ok(is_next)
    }

    fn expect(&mut self, wanted: &str) -> Result<Range<usize>, Other> {
        let word = self.word()?;
        if self.lexer.text(&word) == wanted {
            Ok(word)
        } else {
            Err(Other)
        }
    }

    fn line_breaks(&mut self) -> Result<bool, Other> {
        let mut any = false;
        while self.next == Token::LineBreak {
            self.take()?;
            any = true;
        }
        Ok(any)
    }

    fn program(&mut self) -> Result<Program, Other> {
        self.line_breaks()?;
        let mut complete_commands = Vec::new();
        while self.next != Token::End {
            complete_commands.push(self.complete_command()?);
            if !self.line_breaks()? && self.next != Token::End {
                return Err(Other);
            }
        }
        Ok(Program { complete_commands })
    }

    /// The commands of a line.
    fn complete_command(&mut self) -> Result<CompoundList, Other> {
        let mut items = Vec::new();
        loop {
            let list = self.and_or()?;
            let separator = self.separator()?;
            let ends = matches!(self.next, Token::LineBreak | Token::End);
            let separated = separator.is_some();
            items.push(CompoundListItem(
                list,
                separator.unwrap_or(SeparatorOperator::Sequence),
            ));
            if ends {
                return Ok(CompoundList(items));
            }
            if !separated {
                return Err(Other);
            }
        }
    }

    /// The commands up to a word that ends them.
    fn compound_list(&mut self) -> Result<CompoundList, Other> {
        self.line_breaks()?;
        let mut items = Vec::new();
        loop {
            let list = self.and_or()?;
            let separator = self.separator()?;
            let separated = self.line_breaks()? || separator.is_some();
            items.push(CompoundListItem(
                list,
                separator.unwrap_or(SeparatorOperator::Sequence),
            ));
            if !separated {
                return Err(Other);
            }
            if matches!(
                self.next_word(),
                Some("do" | "done" | "then" | "elif" | "else" | "fi")
            ) {
                return Ok(CompoundList(items));
            }
        }
    }

    fn separator(&mut self) -> Result<Option<SeparatorOperator>, Other> {
        if self.takes(Operator::Semicolon)? {
            return Ok(Some(SeparatorOperator::Sequence));
        }
        let background = self.takes(Operator::Background)?;
        Ok(background.then_some(SeparatorOperator::Async))
    }

    fn and_or(&mut self) -> Result<AndOrList, Other> {
        let first = self.pipeline()?;
        let mut additional = Vec::new();
        loop {
            let of: fn(Pipeline) -> AndOr = if self.takes(Operator::And)? {
                AndOr::And
            } else if self.takes(Operator::Or)? {
                AndOr::Or
            } else {
                return Ok(AndOrList { first, additional });
            };
            self.line_breaks()?;
            additional.push(of(self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Other> {
        let mut seq = vec![self.command()?];
        while self.takes(Operator::Pipe)? {
            self.line_breaks()?;
            seq.push(self.command()?);
        }
        Ok(Pipeline {
            timed: None,
            bang: false,
            seq,
        })
    }

    fn command(&mut self) -> Result<Command, Other> {
        let compound = match self.next_word() {
            Some("for") => self.for_loop()?,
            Some("while") => CompoundCommand::WhileClause(self.conditional_loop()?),
            Some("until") => CompoundCommand::UntilClause(self.conditional_loop()?),
            Some("if") => self.condition()?,
            Some(word) if is_reserved(word) => return Err(Other),
            _ => return Ok(Command::Simple(self.simple()?)),
        };
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        let redirects = (!redirects.is_empty()).then_some(RedirectList(redirects));
        Ok(Command::Compound(compound, redirects))
    }

    fn for_loop(&mut self) -> Result<CompoundCommand, Other> {
        let start = self.word()?;
        let name = self.word()?;
        self.line_breaks()?;
        self.expect("in")?;
        let mut values = Vec::new();
        while let Token::Word(_) = self.next {
            let word = self.word()?;
            values.push(self.tree_word(&word));
        }
        let semicolon = self.takes(Operator::Semicolon)?;
        if !self.line_breaks()? && !semicolon {
            return Err(Other);
        }
        let body = self.body()?;
        Ok(CompoundCommand::ForClause(ForClauseCommand {
            variable_name: self.lexer.text(&name).to_owned(),
            values: (!values.is_empty()).then_some(values),
            loc: within(&self.lexer.span(&start), &body.loc),
            body,
        }))
    }

    fn conditional_loop(&mut self) -> Result<WhileOrUntilClauseCommand, Other> {
        let start = self.word()?;
        let condition = self.compound_list()?;
        let body = self.body()?;
        let loc = within(&self.lexer.span(&start), &body.loc);
        Ok(WhileOrUntilClauseCommand(condition, body, loc))
    }

    fn body(&mut self) -> Result<DoGroupCommand, Other> {
        let start = self.expect("do")?;
        let list = self.compound_list()?;
        let end = self.expect("done")?;
        let loc = within(&self.lexer.span(&start), &self.lexer.span(&end));
        Ok(DoGroupCommand { list, loc })
    }

    fn condition(&mut self) -> Result<CompoundCommand, Other> {
        let start = self.word()?;
        let condition = self.compound_list()?;
        self.expect("then")?;
        let then = self.compound_list()?;
        let mut elses = Vec::new();
        while self.next_word() == Some("elif") {
            self.take()?;
            let condition = Some(self.compound_list()?);
            self.expect("then")?;
            let body = self.compound_list()?;
            elses.push(ElseClause { condition, body });
        }
        if self.next_word() == Some("else") {
            self.take()?;
            let body = self.compound_list()?;
            elses.push(ElseClause {
                condition: None,
                body,
            });
        }
        self.expect("fi")?;
        Ok(CompoundCommand::IfClause(IfClauseCommand {
            condition,
            then,
            elses: (!elses.is_empty()).then_some(elses),
            // The grammar has it end where the word `if` does.
            loc: self.lexer.span(&start),
        }))
    }

    fn simple(&mut self) -> Result<SimpleCommand, Other> {
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
    fn redirect(&mut self) -> Result<Option<IoRedirect>, Other> {
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

fn within(start: &SourceSpan, end: &SourceSpan) -> SourceSpan {
    SourceSpan {
        start: start.start.clone(),
        end: end.end.clone(),
    }
}
