//! What a harness told, read again from the record of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use triplane::state::OperationRecord;
use triplane_external_hooks::HookEvent;

/// The stored body of what a harness told.
#[derive(Deserialize)]
struct EventBody {
    event: Box<RawValue>,
}

/// The event of a harness that `operation` is the record of; nothing when it is of something else,
/// or when its payload was left out.
pub(crate) fn event_of(operation: &OperationRecord) -> Option<HookEvent> {
    if operation.payload_type != "agent.event" {
        return None;
    }
    let payload = operation.payload.as_ref()?;
    let body: EventBody = serde_json::from_str(payload.get()).ok()?;
    HookEvent::read(body.event.get().as_bytes()).ok()
}
