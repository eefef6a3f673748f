//! The command sink: each delivery is one run of a command.
//!
//! The command is an argument vector, never a line for a shell. It finds the payload on its standard
//! input, or as the argument that is `{payload}`, and what identifies the delivery in its
//! environment:
//!
//! | variable | holds |
//! |---|---|
//! | `TRIPLANE_DISPATCH_KEY` | the idempotency key, the same at every attempt |
//! | `TRIPLANE_DISPATCH_ATTEMPT` | the number of the attempt, from 1 |
//! | `TRIPLANE_DISPATCH_IDENTITY` | the identity of the fact |
//! | `TRIPLANE_DISPATCH_INTENT` | the public id of the intent |
//! | `TRIPLANE_DISPATCH_SESSION` | the session of the fact |
//! | `TRIPLANE_DISPATCH_SEQUENCE` | the fact's position in its session's log |
//! | `TRIPLANE_DISPATCH_KIND` | the kind of the signal |
//! | `TRIPLANE_DISPATCH_TO` | the destination that it was enqueued with, if it was |
//! | `TRIPLANE_DISPATCH_ACK_TOKEN` | the token to acknowledge it with, if it is to be |
//!
//! How a run ends decides the answer:
//!
//! | the command | the answer |
//! |---|---|
//! | exits with 0 | `Delivered` |
//! | exits with another code, or cannot be started | `Retry` |
//! | is still running when its time is up, and is killed with its group | `Unknown` |
//! | is ended by somebody else's signal | `Unknown` |
//! | cannot take this delivery: an argument or a variable too long or with a NUL | `Reject` |
//!
//! The command is not contained: it has the rights of this process, and a child that starts a
//! session of its own outlives it.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::task::JoinSet;
use triplane_process::{Argv, Captured, Environment, Invocation, Limits, Outcome, Scope};
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};

use crate::template::{Field, Template};

pub use crate::template::TemplateRefused;

/// The most of an error that is kept with the intent, in characters.
const ERROR_CHARS_MAX: usize = 2000;

const TIME_MAX: Duration = Duration::from_secs(8);

/// How many runs are under way at once unless it is said: a run mostly waits, and more of them hardly
/// spawn faster.
const IN_FLIGHT_MAX: usize = 4;

/// A sink that runs a command for each delivery.
///
/// ```
/// use std::time::Duration;
/// use triplane_sinks::argv::ArgvSink;
///
/// let sink = ArgvSink::new(["curl", "--fail", "--data", "@-", "https://example.org/audit"])?
///     .time_limit(Duration::from_secs(10));
/// # Ok::<(), triplane_sinks::argv::TemplateRefused>(())
/// ```
#[derive(Debug, Clone)]
pub struct ArgvSink {
    template: Template,
    limits: Limits,
    environment: Environment,
    in_flight_max: usize,
}

impl ArgvSink {
    /// A sink that runs `words`, of which the first is the program, for at most 8 s: less than a
    /// delivery worker grants an attempt by default.
    ///
    /// A whole argument may stand for a field of the delivery: `{payload}`, `{key}`, `{identity}`,
    /// `{intent}`, `{attempt}`, `{session}`, `{sequence}`, `{kind}`, `{deliver_to}`. A payload that is an argument is
    /// bound by the longest argument that the system takes; the standard input has no such bound.
    ///
    /// # Errors
    ///
    /// [`TemplateRefused`] when the words are no argument vector, when one is an unknown field, or
    /// when the program is a field.
    pub fn new<W: Into<OsString>>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, TemplateRefused> {
        Ok(Self {
            template: Template::new(words.into_iter().map(Into::into))?,
            limits: Limits {
                time: TIME_MAX,
                output_bytes_max: 4 * ERROR_CHARS_MAX,
                ..Limits::default()
            },
            environment: Environment::Inherited,
            in_flight_max: IN_FLIGHT_MAX,
        })
    }

    /// How long a run may take. Keep it shorter than the `attempt_max` of the delivery worker, which
    /// drops what takes longer: the command is killed either way, but the sink's answer says more.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limits.time = limit;
        self
    }

    /// How many runs may be under way at once, 4 by default. With 1 they follow each other in the
    /// order of the commits, as long as none fails.
    #[must_use]
    pub fn in_flight_max(mut self, in_flight_max: usize) -> Self {
        self.in_flight_max = in_flight_max;
        self
    }

    /// Runs the command without the variables of this process.
    #[must_use]
    pub fn cleared_environment(mut self) -> Self {
        self.environment = Environment::Cleared;
        self
    }

    async fn run(&self, intent: &DeliveryIntent) -> DeliveryResult {
        let argv = match self.template.fill(|field| field.of(intent)) {
            Ok(argv) => argv,
            Err(refused) => return cannot_take(&refused.to_string()),
        };
        let invocation = self.invocation(argv, intent);
        // A task of its own: spawning holds a thread up, and another can spawn the next command.
        let mut run = JoinSet::new();
        run.spawn(async move { invocation.run(&Scope::new()).await });
        match run.join_next().await {
            Some(Ok(completed)) => answer(&completed.outcome, &completed.stderr),
            Some(Err(ended)) => nothing_known(&ended.to_string()),
            None => nothing_known("its task is gone"),
        }
    }

    fn invocation(&self, argv: Argv, intent: &DeliveryIntent) -> Invocation {
        let mut invocation = Invocation::new(argv, self.limits).environment(self.environment);
        for (name, field) in [
            ("TRIPLANE_DISPATCH_KEY", Field::Key),
            ("TRIPLANE_DISPATCH_ATTEMPT", Field::Attempt),
            ("TRIPLANE_DISPATCH_IDENTITY", Field::Identity),
            ("TRIPLANE_DISPATCH_INTENT", Field::Intent),
            ("TRIPLANE_DISPATCH_SESSION", Field::Session),
            ("TRIPLANE_DISPATCH_SEQUENCE", Field::Sequence),
            ("TRIPLANE_DISPATCH_KIND", Field::Kind),
        ] {
            invocation = invocation.variable(name, field.of(intent));
        }
        for (name, value) in [
            ("TRIPLANE_DISPATCH_TO", intent.deliver_to()),
            ("TRIPLANE_DISPATCH_ACK_TOKEN", intent.ack_token()),
        ] {
            if let Some(value) = value {
                invocation = invocation.variable(name, value);
            }
        }
        if self.template.takes_payload() {
            return invocation;
        }
        invocation.input(intent.payload().get())
    }
}

impl DeliverySink for ArgvSink {
    /// No idempotency, and `Accepted`: what a command does with a delivery is its own affair.
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
            .in_flight_max(self.in_flight_max)
    }

    /// Runs the command once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future kills the command with its group, at once or when the runtime has had its
    /// next turn; what it did until then is not known.
    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        self.run(intent).boxed()
    }
}

fn nothing_known(why: &str) -> DeliveryResult {
    DeliveryResult::Unknown {
        error: format!("nothing is known of the command: {why}"),
    }
}

/// No attempt will do better: the arguments and variables of this delivery will be the same.
fn cannot_take(refused: &str) -> DeliveryResult {
    DeliveryResult::Reject {
        reason: format!("the command cannot take this delivery: {refused}"),
    }
}

fn answer(outcome: &Outcome, stderr: &Captured) -> DeliveryResult {
    let retry = |what: String| DeliveryResult::Retry {
        error: explain(&what, stderr),
        after: None,
    };
    let unknown = |what: String| DeliveryResult::Unknown {
        error: explain(&what, stderr),
    };
    match outcome {
        Outcome::Exited(0) => DeliveryResult::Delivered(None),
        Outcome::Exited(code) => retry(format!("the command exited with {code}")),
        Outcome::SpawnFailed(error) if concerns_the_delivery(error) => {
            cannot_take(&error.to_string())
        }
        Outcome::SpawnFailed(error) => retry(format!("the command cannot be started: {error}")),
        Outcome::TimedOut => unknown("the command was killed when its time was up".to_owned()),
        Outcome::Signalled(signal) => unknown(format!("signal {signal} ended the command")),
        other => unknown(format!("nothing is known of the command: {other:?}")),
    }
}

/// Whether the system refused what was handed over rather than the program.
fn concerns_the_delivery(error: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::InvalidInput,
        io::ErrorKind::ArgumentListTooLong,
    ];
    kinds.contains(&error.kind())
}

/// What happened and what the command said, without control characters and within the bound.
fn explain(what: &str, stderr: &Captured) -> String {
    let said = stderr.text();
    let said = said.trim();
    let text = match said {
        "" => what.to_owned(),
        said => format!("{what}: {said}"),
    };
    let printable = |c: char| {
        if c.is_control() && c != '\n' {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(printable).take(ERROR_CHARS_MAX).collect()
}
