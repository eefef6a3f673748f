//! What can say no is not registered where nobody is asked.

use triplane_kernel::{Decision, Registration, RegistrationName, intercept_fn};

fn main() {
    let guard = intercept_fn(|_: &String| Ok(Decision::deny("no")));
    let name = RegistrationName::new("guard").unwrap();
    let _ = Registration::<String, ()>::sync(name, guard);
}
