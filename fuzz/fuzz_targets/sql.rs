#![no_main]

use libfuzzer_sys::fuzz_target;
use triplane_guards::fuzz;

fuzz_target!(|input: &[u8]| {
    fuzz::sql(input);
});
