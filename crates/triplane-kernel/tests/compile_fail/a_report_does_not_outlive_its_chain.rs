//! A report reads the names of its plan; what outlives the chain is the outcome.

use triplane_kernel::{InterceptorChain, InterceptorReport, Scope};

fn asked(chain: InterceptorChain<u32>) -> InterceptorReport<'static, u32> {
    chain.apply_sync(7, &Scope::new())
}

fn main() {}
