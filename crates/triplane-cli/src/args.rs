//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use triplane::state::Synchronous;
use triplane_external_hooks::{Format, Harness};

use crate::guard_args::GuardCommand;
use crate::moment::{Moment, parse_moment};
use crate::position::{After, parse_after};

/// Guards an agent's tool calls, keeps an audit record of them, and delivers it.
#[derive(Debug, Parser)]
#[command(
    name = "triplane",
    version,
    arg_required_else_help = true,
    after_help = "Example:\n  triplane replay examples/sessions/hooks.jsonl --store target/demo/state.db"
)]
pub(crate) struct Cli {
    #[arg(
        long,
        global = true,
        default_value = "auto",
        value_name = "WHEN",
        display_order = 900,
        help = "When to show colours; auto: on a terminal, unless NO_COLOR is set"
    )]
    pub(crate) color: ColorArg,
    /// Say only what was asked for and what went wrong.
    #[arg(long, short, global = true, display_order = 901)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a recorded session through guards, record and delivery.
    #[command(
        after_help = "Example:\n  triplane replay examples/sessions/hooks.jsonl --store target/demo/state.db"
    )]
    Replay(ReplayArgs),
    /// Answer one hook event of a harness, read from standard input.
    #[command(after_help = "Example:\n  triplane hook --print-config claude")]
    Hook(HookArgs),
    /// Convey what is committed and not yet delivered.
    #[command(
        after_help = "Exit code: 0 conveyed, or stopped as told, 1 attempts were cut off, 2 wrong input or no store.\n\n\
                      Example:\n  triplane deliver --once --sink file:deliveries.jsonl"
    )]
    Deliver(DeliverArgs),
    /// Read the log of committed signals.
    #[command(subcommand, after_help = "Example:\n  triplane signals ls --limit 10")]
    Signals(SignalsCommand),
    /// Read the outbox of delivery intents, and act on it.
    #[command(
        subcommand,
        after_help = "Example:\n  triplane outbox ls --status pending"
    )]
    Outbox(OutboxCommand),
    /// Look after the store: counts, a check, a backup.
    #[command(subcommand, after_help = "Example:\n  triplane store check")]
    Store(StoreCommand),
    /// Read one session in order, each call with all that is known of it.
    #[command(subcommand, after_help = "Example:\n  triplane session show 6513270e")]
    Session(SessionCommand),
    /// Try the guards: against a labelled corpus, on one command, or with rule files.
    #[command(
        subcommand,
        after_help = "Example:\n  triplane guard explain -- rm -rf build /etc"
    )]
    Guard(GuardCommand),
    /// Say what state everything is in, what is wrong, and the way out.
    #[command(
        after_help = "Exit code: 0 healthy, 1 something is wrong, 2 it could not be looked at.\n\n\
                      Example:\n  triplane doctor --store .triplane/state.db --json"
    )]
    Doctor(DoctorArgs),
    /// Print the script that makes a shell complete this program's command line.
    #[command(
        after_help = "Example:\n  triplane completions bash > ~/.local/share/bash-completion/completions/triplane"
    )]
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command.
    #[command(after_help = "Example:\n  triplane man --out ~/.local/share/man/man1")]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The recorded session: JSON lines of hook events, or a Claude Code transcript.
    pub(crate) file: PathBuf,
    /// The format of the file [default: guessed from its first lines].
    #[arg(long, value_name = "hooks|claude-transcript")]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) redact: RedactArgs,
    #[command(flatten)]
    pub(crate) sink: SinkArgs,
    /// Print JSON lines instead of a table; the last line is the summary.
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop at the first line that cannot be read; what was committed stays.
    #[arg(long)]
    pub(crate) strict: bool,
    /// The longest line that is read; a longer one is counted as skipped. Takes K, M and G.
    #[arg(long, value_parser = parse_bytes, default_value = "16M", value_name = "BYTES")]
    pub(crate) max_line: usize,
}

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The harness whose contract the answer follows.
    #[arg(long, default_value = "claude", value_name = "claude|codex")]
    pub(crate) harness: Harness,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) redact: RedactArgs,
    /// The longest time until an answer; a blocking event is denied when it runs out. Takes ms, s.
    #[arg(long, value_parser = parse_duration, default_value = "5s", value_name = "TIME")]
    pub(crate) timeout: Duration,
    /// Print the settings that make the harness call this hook, and exit.
    #[arg(long, value_name = "claude|codex")]
    pub(crate) print_config: Option<Harness>,
}

#[derive(Debug, Args)]
pub(crate) struct DeliverArgs {
    /// Convey what is due now, then exit.
    #[arg(long, required_unless_present = "watch", conflicts_with = "watch")]
    pub(crate) once: bool,
    /// Convey what is due and what comes due, until SIGINT or SIGTERM.
    #[arg(long)]
    pub(crate) watch: bool,
    /// With --watch: how long attempts under way may take after the signal. Takes ms, s.
    #[arg(long, value_parser = parse_duration, default_value = "10s", value_name = "TIME", requires = "watch")]
    pub(crate) grace: Duration,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) sink: SinkArgs,
    /// Print one JSON object instead of a sentence.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SignalsCommand {
    /// List signals in the order of their commit.
    #[command(after_help = "Example:\n  triplane signals ls --session 6513270e --after 40 --json")]
    Ls(SignalsLsArgs),
    /// Show one signal with its whole payload.
    #[command(
        after_help = "Example:\n  triplane signals show 0199a3c4-5a1b-7c3d-8e4f-001122334455"
    )]
    Show(SignalsShowArgs),
    /// Tell what is known to be missing, and of which times nothing can be known.
    #[command(after_help = "Example:\n  triplane signals gaps --json")]
    Gaps(SignalsGapsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SignalsShowArgs {
    /// The signal's id.
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SignalsGapsArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SignalsLsArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Only the signals of this session.
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// Only what stands after this sequence of the session, or after a cursor that was printed.
    #[arg(long, value_parser = parse_after, value_name = "SEQUENCE|CURSOR")]
    pub(crate) after: Option<After>,
    /// At most this many.
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: u32,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OutboxCommand {
    /// List delivery intents, newest first.
    #[command(after_help = "Example:\n  triplane outbox ls --status pending")]
    Ls(OutboxLsArgs),
    /// Show one intent with its history.
    #[command(after_help = "Example:\n  triplane outbox show 0199a3c4-5a1b-7c3d-8e4f-001122334455")]
    Show(OutboxShowArgs),
    /// Confirm an intent on behalf of its consumer.
    #[command(
        after_help = "Exit code: 0 acknowledged, 1 it was given up before, 2 the token or the intent is not right.\n\n\
                      Example:\n  triplane outbox ack 0199a3c4-5a1b-7c3d-8e4f-001122334455 --token 7e0f9a6cbb8f4c0d9f55a0c1d2e3f405"
    )]
    Ack(OutboxAckArgs),
    /// Send intents again that were given up or ran out of time.
    #[command(
        after_help = "Exit code: 0 done or looked at, 1 an intent is in no state for it, 2 there is no such intent.\n\n\
                      Example:\n  triplane outbox retry --status dead_letter --sink deliveries --yes"
    )]
    Retry(OutboxRetryArgs),
    /// Take settled intents away; their history stays, and one row tells of the purge.
    #[command(
        after_help = "Exit code: 0 done or looked at, 1 an intent is in no state for it, 2 there is no such intent.\n\n\
                      Example:\n  triplane outbox purge --before 30d --status delivered --yes"
    )]
    Purge(OutboxPurgeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct OutboxLsArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Only intents in this state.
    #[arg(long)]
    pub(crate) status: Option<StatusArg>,
    /// At most this many.
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: u32,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutboxShowArgs {
    /// The intent's id.
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutboxAckArgs {
    /// The intent's id.
    pub(crate) id: String,
    /// The token that came with one of its deliveries.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutboxRetryArgs {
    /// The ids of intents, which are sent again without --yes [default: all that were given up].
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) intents: IntentArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutboxPurgeArgs {
    /// The ids of intents [default: all that are settled].
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) intents: IntentArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct IntentArgs {
    /// Only intents in this state; may be given more than once.
    #[arg(long)]
    pub(crate) status: Vec<StatusArg>,
    /// Only intents for this sink.
    #[arg(long, value_name = "NAME")]
    pub(crate) sink: Option<String>,
    /// Only intents that changed last before this moment: a date, a time, or an age such as 30d.
    #[arg(long, value_parser = parse_moment, value_name = "WHEN")]
    pub(crate) before: Option<Moment>,
    /// Why; stands in the record.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Do it; without it, only what would be done is said.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Count what the store holds. It is neither upgraded nor emptied.
    #[command(after_help = "Example:\n  triplane store stats --json")]
    Stats(StoreStatsArgs),
    /// Look whether the store agrees with itself: pages, keys, sequences, histories.
    #[command(
        after_help = "Exit code: 0 nothing found, 1 something found, 2 it could not be looked at.\n\n\
                      Example:\n  triplane store check --json"
    )]
    Check(StoreCheckArgs),
    /// Copy the store, also while it is in use, and check the copy. Nothing is overwritten.
    #[command(after_help = "Example:\n  triplane store backup backups/state-2026-11-30.db")]
    Backup(StoreBackupArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StoreStatsArgs {
    /// The store file.
    #[arg(long, default_value = ".triplane/state.db", value_name = "PATH")]
    pub(crate) store: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StoreCheckArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StoreBackupArgs {
    /// The path of the backup, at which nothing may stand.
    pub(crate) to: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List sessions, the one that began last first.
    #[command(after_help = "Example:\n  triplane session ls --limit 10")]
    Ls(SessionLsArgs),
    /// Show each call of a session: decision, arguments, result and deliveries.
    #[command(after_help = "Example:\n  triplane session show 6513270e --export session.jsonl")]
    Show(SessionShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SessionLsArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// At most this many.
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: u32,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionShowArgs {
    /// The session's id, or a beginning that no other session has.
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object a line, a call each.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write those lines into a file instead, whole or not at all.
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The store file, which is looked at and neither made nor upgraded.
    #[arg(long, default_value = ".triplane/state.db", value_name = "PATH")]
    pub(crate) store: PathBuf,
    #[command(flatten)]
    pub(crate) sink: SinkArgs,
    /// The policy file that hooks have, whose rule files are looked at too.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Read every page and every index of the store, which takes as long as that takes.
    #[arg(long)]
    pub(crate) full: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: ShellArg,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, made if it is missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The store file, created on first use.
    #[arg(long, default_value = ".triplane/state.db", value_name = "PATH")]
    pub(crate) store: PathBuf,
    /// What a commit survives: a power cut (full), or only the end of the process (normal).
    #[arg(long, default_value = "full", value_name = "full|normal")]
    pub(crate) synchronous: SynchronousArg,
}

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// How long to wait for a store that other processes have locked. Takes ms, s.
    #[arg(long, value_parser = parse_duration, default_value = "5s", value_name = "TIME")]
    pub(crate) busy_timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// A policy file, JSON or TOML, whose rules narrow and rewrite after the guards.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// The folder that agents may work in [default: the nearest folder with a .git above the
    /// event's cwd, else that cwd].
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// A redaction file, JSON or TOML, on top of the policy that comes with triplane; or `off`, to
    /// measure without it.
    #[arg(long, value_name = "FILE|off")]
    pub(crate) redact: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SinkArgs {
    /// Where deliveries go [default: the file deliveries.jsonl beside the store].
    #[arg(long, value_name = "file:PATH|argv:JSON")]
    pub(crate) sink: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ShellArg {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SynchronousArg {
    Full,
    Normal,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum StatusArg {
    Pending,
    Delivering,
    Delivered,
    Acked,
    DeadLetter,
    Expired,
}

impl From<SynchronousArg> for Synchronous {
    fn from(synchronous: SynchronousArg) -> Self {
        match synchronous {
            SynchronousArg::Full => Self::Full,
            SynchronousArg::Normal => Self::Normal,
        }
    }
}

fn parse_bytes(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 1 << 10),
        Some((at, 'M' | 'm')) => (&text[..at], 1 << 20),
        Some((at, 'G' | 'g')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(unit));
    match bytes {
        Some(bytes) if bytes > 0 => Ok(bytes),
        _ => Err("a number of bytes is wanted, such as 65536, 64K or 16M".to_owned()),
    }
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1000),
    };
    match digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
    {
        Some(ms) if (1..=3_600_000).contains(&ms) => Ok(Duration::from_millis(ms)),
        _ => Err("a time of up to one hour is wanted, such as 500ms or 5s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_and_times_are_read_with_their_units() {
        assert_eq!(parse_bytes("64K"), Ok(65_536));
        assert_eq!(parse_bytes("7"), Ok(7));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_duration("5"), Ok(Duration::from_secs(5)));
        for wrong in ["", "x", "0", "-1", "99999999999999999999", "3601s"] {
            assert!(parse_duration(wrong).is_err(), "{wrong:?}");
        }
        for wrong in ["", "x", "0", "-1", "M", "99999999999999999999G"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong:?}");
        }
    }
}
