//! The tests stand in `integration/`; this library is empty on purpose.
