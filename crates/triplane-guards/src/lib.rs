//! Is this command or path dangerous? A shell grammar, rules as data, resolved paths.
