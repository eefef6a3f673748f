//! How much is said, and in which colours.

use std::borrow::Cow;
use std::io::IsTerminal as _;

use crate::args::ColorArg;

/// What a colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Refused, or wrong.
    Red,
    /// Changed, or worth a look.
    Yellow,
    /// Failed by itself.
    Magenta,
    /// As it should be.
    Green,
}

/// How the program shows itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) paint: Paint,
    /// Only what was asked for and what went wrong is said.
    pub(crate) quiet: bool,
}

/// Paints, or leaves text as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Paints what goes to standard output as `when` says. With `auto` that is a terminal which can
    /// show colours, unless `NO_COLOR` is set to something.
    pub(crate) fn chosen(when: ColorArg) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let on = match when {
            ColorArg::Always => true,
            ColorArg::Never => false,
            ColorArg::Auto => {
                set("NO_COLOR").is_none()
                    && set("TERM").is_some_and(|term| term != "dumb")
                    && std::io::stdout().is_terminal()
            }
        };
        Self { on }
    }

    /// `text` in the colour `ink`.
    pub(crate) fn dip(self, ink: Ink, text: &str) -> Cow<'_, str> {
        if !self.on {
            return Cow::Borrowed(text);
        }
        let code = match ink {
            Ink::Red => 31,
            Ink::Green => 32,
            Ink::Yellow => 33,
            Ink::Magenta => 35,
        };
        Cow::Owned(format!("\u{1b}[{code}m{text}\u{1b}[0m"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_asked_for_is_painted() {
        let always = Paint::chosen(ColorArg::Always);
        assert_eq!(always.dip(Ink::Red, "no"), "\u{1b}[31mno\u{1b}[0m");
        assert_eq!(Paint::chosen(ColorArg::Never).dip(Ink::Red, "no"), "no");
    }
}
