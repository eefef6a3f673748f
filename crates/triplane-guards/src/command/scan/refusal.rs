//! The limits, and why a command is refused before it is parsed.

/// The longest command that is judged, in bytes.
pub const BYTES_MAX: usize = 64 * 1024;

/// The deepest nesting that is judged.
pub const DEPTH_MAX: usize = 100;

/// The most separators (`;`, `&`, `|`, line breaks) and command substitutions that are judged.
pub const SEPARATORS_MAX: usize = 5_000;

/// The most `case` constructs that may be open at once.
pub const CASES_MAX: usize = 8;

/// The most subscripts (`a[b[c`) that may be open in one word: the parser reads the rest of the word
/// anew for each.
pub(crate) const SUBSCRIPTS_MAX: usize = 8;

/// The most digits of a file descriptor.
pub(crate) const DESCRIPTOR_DIGITS_MAX: usize = 9;

/// Why a command is refused before it is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScanRefusal {
    /// Longer than [`BYTES_MAX`].
    #[error("the command is longer than {BYTES_MAX} bytes")]
    TooLong,
    /// Nested deeper than [`DEPTH_MAX`].
    #[error("the command nests deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// More separators than [`SEPARATORS_MAX`].
    #[error("the command has more than {SEPARATORS_MAX} separators and substitutions")]
    TooManySeparators,
    /// More open `case` constructs than [`CASES_MAX`].
    #[error("the command nests more than {CASES_MAX} `case` constructs")]
    TooManyCases,
    /// Something was opened and not closed.
    #[error("the command ends inside an unclosed {0}")]
    Unclosed(&'static str),
    /// A closer without its opener.
    #[error("the command holds {0} that closes nothing")]
    Unopened(&'static str),
    /// The old arithmetic form `$[`, on which the parser cannot be bounded.
    #[error("the command holds `$[`")]
    OldArithmetic,
    /// A redirection of a file descriptor that is no number the parser knows, on which it panics.
    #[error("the command redirects a descriptor of more than {DESCRIPTOR_DIGITS_MAX} digits")]
    Descriptor,
    /// A heredoc whose end is named by an expansion.
    #[error("the end of a heredoc is named by an expansion")]
    HeredocTag,
}
