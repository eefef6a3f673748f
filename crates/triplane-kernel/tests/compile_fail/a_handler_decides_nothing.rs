//! What observes is not registered where it could say no.

use triplane_kernel::{InterceptorRegistration, RegistrationName, StageName, handler_fn};

fn main() {
    let (name, stage) = (RegistrationName::new("log").unwrap(), StageName::new("guard").unwrap());
    let log = handler_fn(|_: &String| Ok(()));
    let _ = InterceptorRegistration::<String>::new(name, stage, 0, log);
}
