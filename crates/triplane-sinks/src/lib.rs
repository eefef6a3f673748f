//! Where deliveries go: a file, a command.
