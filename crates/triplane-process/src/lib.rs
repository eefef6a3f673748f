//! How a command is spawned: an argument vector, its own process group, bounded output.
