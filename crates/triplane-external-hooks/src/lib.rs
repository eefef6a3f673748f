//! How Claude Code and Codex plug in: their wire shapes, transcripts and answers.
