//! The two kinds of points of the old hook bus. They are interceptor plans: a hook there could stop
//! the others, which no observer can.

use crate::intercept::{StageDeclaration, StageFailure, StageOrder};
use crate::name::StageName;

/// The one stage of both: the old bus knew only the order of registration.
const STAGE: &str = "hook";

/// Points that may refuse (ADR-0120 D2): one stage in the order of registration, and the first
/// ordinary failure is the owner's to handle.
///
/// What the recording pins: the first failure ends the chain (`hookbus_blocking/first_failure_stops`),
/// a stop ends it without a failure (`hookbus_blocking/stop_hook`), a cancellation of the emitter
/// propagates (`hookbus_blocking/emitter_cancelled`) unless a handler swallows it
/// (`hookbus_blocking/emitter_cancelled_swallowed`: register as cooperative), and a failure beyond
/// the ordinary ones escapes (`hookbus_blocking/base_exception`).
pub fn hookbus_blocking() -> StageOrder {
    one_stage(StageFailure::Propagate)
}

/// Points that only observe (ADR-0120 D2): one stage in the order of registration; an ordinary
/// failure is logged and the next hook is asked.
///
/// What the recording pins: a failure keeps nobody from being asked, a stop ends the chain
/// (`hookbus_observational/stop_hook_skips_rest`), and a failure beyond the ordinary ones escapes
/// (`hookbus_observational/base_exception_escapes`).
pub fn hookbus_observational() -> StageOrder {
    one_stage(StageFailure::Isolate)
}

fn one_stage(on_failure: StageFailure) -> StageOrder {
    match StageName::new(STAGE) {
        Ok(name) => StageOrder::new([StageDeclaration::new(name, on_failure)]),
        Err(refused) => unreachable!("a constant is a name: {refused}"),
    }
}
