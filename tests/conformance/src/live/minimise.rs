//! Making a scenario that differs smaller, for as long as it differs.

use triplane::legacy::Value;

use crate::live::edit::with;
use crate::live::reduction::{size, smaller};

/// The smallest scenario that is found by cutting one thing at a time while `differs` holds.
///
/// A scenario that cannot be run on the other side does not differ.
pub(super) fn minimise(
    scenario: &Value,
    differs: &mut dyn FnMut(&Value) -> anyhow::Result<bool>,
) -> anyhow::Result<Value> {
    let mut smallest = scenario.clone();
    'cut: loop {
        for candidate in smaller(&smallest) {
            if size(&candidate) < size(&smallest) && differs(&candidate)? {
                smallest = candidate;
                continue 'cut;
            }
        }
        return Ok(with(&smallest, "title", Some(Value::text("minimised"))));
    }
}
