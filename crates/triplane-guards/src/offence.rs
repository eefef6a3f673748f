//! The offending part of a finding, quoted from a command.

use std::ops::Range;

use triplane_interception::Offence;

/// The longest quotation of an offending part, in bytes.
pub(crate) const OFFENCE_BYTES_MAX: usize = 200;

/// The part of `command` at `span`, shortened if it is long.
pub(crate) fn offence(command: &str, span: Range<usize>) -> Option<Offence> {
    let text = command.get(span.clone())?;
    let mut end = text.len().min(OFFENCE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(Offence {
        text: text[..end].to_owned(),
        span: Some(span),
    })
}
