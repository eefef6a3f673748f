//! Heredocs: announced in a line, read behind it.

use crate::command::scan::mode::Mode;
use crate::command::scan::refusal::ScanRefusal;
use crate::command::scan::walk::{Heredoc, Scan, Scanned};

impl Scan<'_> {
    pub(crate) fn heredoc_tag(&mut self) -> Scanned {
        let strip_tabs = self.peek(0) == b'-';
        if strip_tabs {
            self.at += 1;
        }
        while matches!(self.peek(0), b' ' | b'\t') {
            self.at += 1;
        }
        let mut heredoc = Heredoc {
            tag: Vec::new(),
            quoted: false,
            strip_tabs,
        };
        while self.at < self.end {
            match self.text[self.at] {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'$' if self.peek(1) == b'[' => return Err(ScanRefusal::OldArithmetic),
                b'`' => return Err(ScanRefusal::HeredocTag),
                b'$' if matches!(self.peek(1), b'(' | b'{') => return Err(ScanRefusal::HeredocTag),
                quote @ (b'\'' | b'"') => {
                    heredoc.quoted = true;
                    let start = self.at + 1;
                    self.at += 1;
                    self.skip_past(quote, "quote")?;
                    heredoc
                        .tag
                        .extend_from_slice(&self.text[start..self.at - 1]);
                }
                b'\\' => {
                    heredoc.quoted = true;
                    heredoc.tag.push(self.peek(1));
                    self.at += 2;
                }
                byte => {
                    heredoc.tag.push(byte);
                    self.at += 1;
                }
            }
        }
        self.heredocs.push(heredoc);
        self.word_start = true;
        Ok(())
    }

    /// The line that ended announced these heredocs; their bodies follow it in order.
    pub(crate) fn heredoc_bodies(&mut self) -> Scanned {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let start = self.at.min(self.end);
            let (body_end, next) = self.find_tag(&heredoc)?;
            if !heredoc.quoted {
                let floor = self.open.len();
                let kept = (self.end, self.position);
                self.push(Mode::Heredoc)?;
                self.at = start;
                self.end = body_end;
                self.run(floor + 1)?;
                self.open.truncate(floor);
                (self.end, self.position) = kept;
            }
            self.at = next;
            self.word_start = true;
        }
        Ok(())
    }

    /// Where the body ends, and where the text goes on after its tag line.
    pub(crate) fn find_tag(&self, heredoc: &Heredoc) -> Result<(usize, usize), ScanRefusal> {
        let mut line = self.at;
        while line < self.end {
            let length = self.text[line..self.end]
                .iter()
                .position(|&byte| byte == b'\n');
            let line_end = length.map_or(self.end, |length| line + length);
            let mut content = &self.text[line..line_end];
            if heredoc.strip_tabs {
                let tabs = content.iter().take_while(|&&byte| byte == b'\t').count();
                content = &content[tabs..];
            }
            if content == heredoc.tag.as_slice() {
                return Ok((line, (line_end + 1).min(self.end)));
            }
            line = line_end + 1;
        }
        Err(ScanRefusal::Unclosed("heredoc"))
    }
}
