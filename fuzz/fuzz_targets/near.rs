#![no_main]

use libfuzzer_sys::fuzz_target;
use triplane_guards::fuzz;

fuzz_target!(init: fuzz::listen_to_panics(), |input: &[u8]| {
    fuzz::near(input);
});
