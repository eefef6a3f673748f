//! The command line of `triplane guard`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use triplane_guards::PathOp;

#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
    /// Hold the guards against a corpus: a file of labelled commands and paths.
    #[command(
        after_help = "Recall: of the rows that want a denial, the share that was denied. Precision: of the rows\n\
                      that were denied, the share that wants it. A row is right when its verdict is, and when\n\
                      its operation reached nothing outside the workspace. No command is run; the files of a\n\
                      path row are built in a temporary folder that stands for root and home.\n\n\
                      Exit code: 0 all rows are right, 1 a row is wrong, 2 the corpus cannot be read.\n\n\
                      Example:\n  triplane guard check --corpus tests/corpus/commands.jsonl --json"
    )]
    Check(GuardCheckArgs),
    /// Show what a command comes down to, what each word is known to be, and the rules that spoke.
    #[command(
        after_help = "The command is not run. One word is read as a line of shell; several words are a program with\n\
                      its arguments, each taken as it stands.\n\n\
                      Exit code: 0 it is allowed, 1 it is denied, 2 the question is wrong.\n\n\
                      Example:\n  triplane guard explain -- rm -rf build /etc"
    )]
    Explain(GuardExplainArgs),
    /// Check rule files with the cases beside their rules, and list what they declare.
    #[command(
        after_help = "Files are added in the order that they are named in, as a policy adds them. A case is judged\n\
                      in the workspace /srv/app with the home folder /home/dev, under the rules of both sets; no\n\
                      command is run.\n\n\
                      Exit code: 0 every case holds, 1 a case does not, 2 a file is refused.\n\n\
                      Example:\n  triplane guard rules examples/rules/team.toml"
    )]
    Rules(GuardRulesArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GuardCheckArgs {
    /// The corpus: JSON lines of `id`, `verdict`, and `command` or `op` and `path`.
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: PathBuf,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print one JSON object for each row and a last one with the sums.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GuardExplainArgs {
    /// The command, as one line of shell or as a program with its arguments.
    #[arg(last = true, required_unless_present = "path", value_name = "CMD")]
    pub(crate) command: Vec<String>,
    /// A path to explain instead.
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub(crate) path: Option<String>,
    /// What would be done to the path.
    #[arg(
        long,
        default_value = "read",
        requires = "path",
        value_name = "read|write|delete"
    )]
    pub(crate) operation: OperationArg,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GuardRulesArgs {
    /// A rule file.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON object for each rule and each entry, and a last one with the sums.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The workspace that commands are judged in.
    #[arg(long, default_value = "/srv/app", value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The home folder.
    #[arg(long, default_value = "/home/dev", value_name = "DIR")]
    pub(crate) home: PathBuf,
    /// A policy file, JSON or TOML, that is asked after the guards.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationArg {
    Read,
    Write,
    Delete,
}

impl From<OperationArg> for PathOp {
    fn from(operation: OperationArg) -> Self {
        match operation {
            OperationArg::Read => Self::Read,
            OperationArg::Write => Self::Write,
            OperationArg::Delete => Self::Delete,
        }
    }
}
