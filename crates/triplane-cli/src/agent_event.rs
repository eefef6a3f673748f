//! From what a harness says to what the runtime runs.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use triplane::state::commit::{FactIdentity, Repeat};
use triplane::{AgentEvent, Enforcement, ToolCall};
use triplane_external_hooks::{HookEvent, content_digest};

/// The runtime's form of `event`. One that does not say when it happened has happened now.
pub(crate) fn agent_event(
    event: HookEvent,
    identity: String,
    call: Option<ToolCall>,
    enforcement: Enforcement,
    repeat: Repeat,
) -> AgentEvent {
    let digest = content_digest(&event);
    AgentEvent {
        session: event.session_id().to_owned(),
        name: event.name().to_owned(),
        subject: event.tool_name().map(str::to_owned),
        call: call.map(Arc::new),
        identity: FactIdentity {
            key: identity,
            shape: digest.shape.as_str().to_owned(),
            digest: digest.to_hex(),
        },
        repeat,
        occurred_at_us: event.occurred_at_us().unwrap_or_else(now_us),
        enforcement,
        payload: event.into_original(),
    }
}

fn now_us() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
