//! Lists of simple commands, and the loops and conditions around them.

use brush_parser::SourceSpan;
use brush_parser::ast::{
    AndOr, AndOrList, Command, CompoundCommand, CompoundList, CompoundListItem, DoGroupCommand,
    ElseClause, ForClauseCommand, IfClauseCommand, Pipeline, Program, RedirectList,
    SeparatorOperator, WhileOrUntilClauseCommand,
};

use crate::command::shortcut::lexer::{Operator, Other, Token};
use crate::command::shortcut::reader::{Reader, is_reserved};

/// The program that the grammar reads in `text`, if it is one that can be read without it.
pub(crate) fn program(text: &str) -> Option<Program> {
    let mut reader = Reader::new(text).ok()?;
    reader.program().ok()
}

impl Reader<'_> {
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
}

fn within(start: &SourceSpan, end: &SourceSpan) -> SourceSpan {
    SourceSpan {
        start: start.start.clone(),
        end: end.end.clone(),
    }
}
