//! A phase of the policy as a dispatcher carries it out: what no emission needs to work out again.

use crate::dispatch::call::{Calls, EntryPoint};
use crate::policy::{CompletionTiming, Declared, DispatchPhase, DispatchPolicy, PhaseSelector};

#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) phase: DispatchPhase,
    from_sync: Calls,
    from_async: Calls,
    /// Whether a handler may outlive the emission.
    pub(crate) detaches: bool,
    /// Whether everybody is called, here and not beyond the emission.
    pub(crate) plain: bool,
    /// Whether handlers start in the order of registration.
    pub(crate) ordered: bool,
}

impl Planned {
    pub(crate) fn phases(policy: &DispatchPolicy) -> Box<[Self]> {
        let ordered = policy.preserves_registration_order();
        let plan = |phase: &DispatchPhase| Self::new(phase.clone(), ordered);
        policy.phases().iter().map(plan).collect()
    }

    fn new(phase: DispatchPhase, ordered: bool) -> Self {
        let last_stage = phase.returned_awaitables.unwrap_or(phase.invocation);
        let detaches = last_stage.completion() == CompletionTiming::DetachBounded;
        let from_async = Calls::new(&phase, EntryPoint::Async);
        let plain = phase.selector == PhaseSelector::All
            && !from_async.offloads(Declared::Sync)
            && !detaches;
        Self {
            from_sync: Calls::new(&phase, EntryPoint::Sync),
            from_async,
            detaches,
            plain,
            ordered,
            phase,
        }
    }

    #[inline]
    pub(crate) fn calls(&self, from: EntryPoint) -> Calls {
        match from {
            EntryPoint::Sync => self.from_sync,
            EntryPoint::Async => self.from_async,
        }
    }
}
