//! The only ways to a policy go through its validation.

use triplane_kernel::DispatchPolicy;

fn main() {
    let _ = DispatchPolicy { phases: Vec::new() };
}
