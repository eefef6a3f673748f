//! What was validated stays as it was.

use triplane_kernel::policy::{CompletionTiming, DispatchStagePolicy};

fn weaken(policy: &mut DispatchStagePolicy) {
    policy.completion = CompletionTiming::DetachBounded;
}

fn main() {}
