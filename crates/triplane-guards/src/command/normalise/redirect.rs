//! Redirections: what is written, and what is known of the input.

use brush_parser::ast;
use std::rc::Rc;

use crate::command::expand::{Purpose, expand_heredoc};
use crate::command::normalise::files::held;
use crate::command::normalise::simple::pseudo;
use crate::command::normalise::walker::{Frame, Normaliser, Redirected};
use crate::command::normalise::words::{Eval, Picks};
use crate::command::state::ShellState;
use crate::command::word::Word;
use crate::place::absolute;

impl Normaliser<'_> {
    pub(crate) fn redirects<'r>(
        &mut self,
        redirects: Option<impl Iterator<Item = &'r ast::IoRedirect>>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Redirected {
        let mut redirected = Redirected::default();
        for redirect in redirects.into_iter().flatten() {
            match redirect {
                ast::IoRedirect::File(fd, kind, target) => {
                    self.file_redirect(*fd, kind, target, frame, state, &mut redirected);
                }
                ast::IoRedirect::HereDocument(fd, document) => {
                    let span = frame.origin.map(document.doc.loc.as_ref());
                    let content = if document.requires_expansion {
                        let mut picks = Picks::default();
                        let mut eval = Eval {
                            normaliser: self,
                            state,
                            picks: &mut picks,
                        };
                        if let Ok(content) = expand_heredoc(&document.doc.value, &span, &mut eval) {
                            content
                        } else {
                            let reason = Word::text("a heredoc cannot be read", span.clone());
                            self.emit(pseudo::UNPARSABLE, vec![reason], span.clone(), state);
                            Word::unknown(span)
                        }
                    } else {
                        Word::text(document.doc.value.as_str(), span)
                    };
                    self.keep(|near| near.value(&content.parts));
                    if matches!(fd, None | Some(0)) {
                        redirected.input = Some(content);
                    }
                }
                ast::IoRedirect::HereString(fd, word) => {
                    let mut words =
                        self.expand_word(word, Purpose::Value, frame, state, &mut Picks::default());
                    if matches!(fd, None | Some(0))
                        && let Some(mut content) = words.pop()
                    {
                        content.push_str("\n");
                        redirected.input = Some(content);
                    }
                }
                ast::IoRedirect::OutputAndError(word, append) => {
                    let target =
                        self.expand_word(word, Purpose::Value, frame, state, &mut Picks::default());
                    if let Some(target) = target.into_iter().next() {
                        self.write(target.clone(), *append, state);
                        redirected.output = Some((target, *append));
                    }
                }
            }
        }
        redirected
    }

    pub(crate) fn file_redirect(
        &mut self,
        fd: Option<ast::IoFd>,
        kind: &ast::IoFileRedirectKind,
        target: &ast::IoFileRedirectTarget,
        frame: Frame<'_>,
        state: &mut ShellState,
        redirected: &mut Redirected,
    ) {
        let target = match target {
            ast::IoFileRedirectTarget::Filename(word)
            | ast::IoFileRedirectTarget::Duplicate(word) => {
                let mut picks = Picks::default();
                loop {
                    let words = self.expand_word(word, Purpose::Value, frame, state, &mut picks);
                    let Some(target) = words.into_iter().next() else {
                        return;
                    };
                    if !picks.advance() {
                        break target;
                    }
                    self.redirect_to(fd, kind, target, state, redirected);
                }
            }
            ast::IoFileRedirectTarget::ProcessSubstitution(kind, subshell) => {
                self.process(kind, subshell, frame, state)
            }
            ast::IoFileRedirectTarget::Fd(_) => return,
        };
        self.redirect_to(fd, kind, target, state, redirected);
    }

    pub(crate) fn redirect_to(
        &mut self,
        fd: Option<ast::IoFd>,
        kind: &ast::IoFileRedirectKind,
        target: Word,
        state: &mut ShellState,
        redirected: &mut Redirected,
    ) {
        let is_descriptor = target.literal().is_some_and(|text| {
            text == "-"
                || text
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'-')
        });
        match kind {
            // Another descriptor, opened by nobody knows what.
            ast::IoFileRedirectKind::DuplicateInput if is_descriptor => {
                if matches!(fd, None | Some(0)) && target.literal() != Some("-") {
                    redirected.input = Some(Word::unknown(target.span.clone()));
                }
            }
            ast::IoFileRedirectKind::DuplicateOutput if is_descriptor => {}
            ast::IoFileRedirectKind::Read | ast::IoFileRedirectKind::DuplicateInput => {
                if matches!(fd, None | Some(0)) {
                    let known = match (target.literal(), &*state.cwd) {
                        (Some("/dev/null"), _) => Some(Word::text("", target.span.clone())),
                        (Some(path), [Some(cwd)]) => held(&absolute(path, cwd), state),
                        _ => None,
                    };
                    redirected.input =
                        Some(known.unwrap_or_else(|| Word::unknown(target.span.clone())));
                }
                let span = target.span.clone();
                self.emit(pseudo::READ, vec![target], span, state);
            }
            ast::IoFileRedirectKind::Write
            | ast::IoFileRedirectKind::Clobber
            | ast::IoFileRedirectKind::ReadAndWrite
            | ast::IoFileRedirectKind::DuplicateOutput => {
                self.write(target.clone(), false, state);
                if matches!(fd, None | Some(1)) {
                    redirected.output = Some((target, false));
                }
            }
            ast::IoFileRedirectKind::Append => {
                self.write(target.clone(), true, state);
                if matches!(fd, None | Some(1)) {
                    redirected.output = Some((target, true));
                }
            }
        }
    }

    pub(crate) fn write(&mut self, target: Word, append: bool, state: &ShellState) {
        let program = if append {
            pseudo::APPEND
        } else {
            pseudo::WRITE
        };
        let span = target.span.clone();
        self.emit(program, vec![target], span, state);
    }

    /// The file name that stands for a process substitution.
    pub(crate) fn process(
        &mut self,
        kind: &ast::ProcessSubstitutionKind,
        subshell: &ast::SubshellCommand,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Word {
        let mut inner = state.clone();
        let span = frame.origin.map(Some(&subshell.loc));
        let unknown = Word::unknown(span.clone());
        self.parallel += 1;
        let parts = self.list(
            &subshell.list,
            Frame {
                origin: frame.origin,
                input: match kind {
                    ast::ProcessSubstitutionKind::Read => frame.input,
                    ast::ProcessSubstitutionKind::Write => Some(&unknown),
                },
                wanted: true,
            },
            &mut inner,
        );
        self.parallel -= 1;
        // What it shares with the outer state need not be copied then.
        drop(inner);
        let path = format!("/dev/fd/{}", 63 + state.files.len());
        let content = match kind {
            ast::ProcessSubstitutionKind::Read => Word {
                parts,
                span: span.clone(),
            },
            ast::ProcessSubstitutionKind::Write => unknown,
        };
        Rc::make_mut(&mut state.files).insert(path.as_str().into(), Rc::new(content));
        Word::text(path, span)
    }
}
