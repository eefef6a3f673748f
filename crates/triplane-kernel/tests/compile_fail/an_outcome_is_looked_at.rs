//! Who asks a chain and forgets the answer has not asked.

#![deny(unused_must_use)]

use triplane_kernel::{InterceptorChain, Scope};

fn careless(chain: &InterceptorChain<u32>) {
    chain.apply_sync(7, &Scope::new());
}

fn main() {}
