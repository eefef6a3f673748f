//! Guards: judges of tool calls. A guard's own failure is a denial.

mod verdict;

pub use verdict::{
    EVIDENCE_OFFENCE, EVIDENCE_RULE, EVIDENCE_SAFER, EVIDENCE_SPAN, Finding, Guard, Offence,
    Verdict,
};
