//! The run: read, judge, commit, observe, deliver.

use std::collections::VecDeque;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use triplane::state::commit::Repeat;
use triplane::{Enforcement, Pending, Redaction, Runtime, guards};
use triplane_external_hooks::{
    Entry, HookEvent, Item, Occurrences, Skip, identity, occurrence_key,
};

use crate::agent_event::agent_event;
use crate::args::ReplayArgs;
use crate::cmd::replay::reading::{self, Reading};
use crate::cmd::replay::summary::Summary;
use crate::cmd::replay::table::{Row, Table};
use crate::paint::Screen;
use crate::render::{Output, chain, complain};
use crate::stop::{Stop, StopSignal};
use crate::workspace::Workspaces;
use crate::{guard_option, redact_option, sink_option, store_mode};

/// How many events may wait for their commit: several of the store's transactions, so that judging
/// goes on while one is written.
const WAITING_MAX: usize = 256;

/// How long the deliveries that are due may take at the end, and when a signal has asked for it.
const DELIVERY_BUDGET: Duration = Duration::from_hours(1);
const STOP_BUDGET: Duration = Duration::from_secs(5);

pub(crate) fn run(args: &ReplayArgs, screen: Screen) -> ExitCode {
    match replay(args, screen) {
        Ok(Ending::Whole) => ExitCode::SUCCESS,
        Ok(Ending::Stopped) => ExitCode::FAILURE,
        Ok(Ending::Asked(signal)) => ExitCode::from(signal.exit_code()),
        Err(error) => {
            complain(chain(&error));
            ExitCode::from(2)
        }
    }
}

enum Ending {
    /// The file was read to its end.
    Whole,
    /// `--strict` met a line that cannot be read.
    Stopped,
    /// A signal asked for the end.
    Asked(StopSignal),
}

fn replay(args: &ReplayArgs, screen: Screen) -> Result<Ending> {
    let reading = reading::start(&args.file, args.format, args.max_line)?;
    let guarding = guard_option::asked(args.guard.policy.as_deref())?;
    let redaction = redact_option::redaction(&args.redact)?;
    let mut builder = Runtime::durable(&args.store.store)
        .synchronous(args.store.synchronous.into())
        .busy_timeout(args.wait.busy_timeout)
        .guard(guarding.commands)
        .guard(guards::workspace_paths().tools(guarding.tools))
        .redaction(redaction.clone());
    if let Some(permissions) = guarding.permissions {
        builder = builder.policy(permissions);
    }
    let builder = sink_option::attach(builder, args.sink.sink.as_deref(), &args.store.store)?;
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    tokio.block_on(async {
        let stop = Stop::listen()?;
        let mut run = Run::new(args, screen, stop, redaction, &reading);
        run.through(reading, builder).await
    })
}

struct Run<'a> {
    args: &'a ReplayArgs,
    screen: Screen,
    stop: Stop,
    started: Instant,
    /// The last line that was read.
    line: u64,
    summary: Summary,
    table: Table,
    out: Output,
    bar: ProgressBar,
    workspaces: Workspaces,
    occurrences: Occurrences,
    waiting: VecDeque<(Row, Pending)>,
}

impl<'a> Run<'a> {
    fn new(
        args: &'a ReplayArgs,
        screen: Screen,
        stop: Stop,
        redaction: Redaction,
        reading: &Reading,
    ) -> Self {
        let summary = Summary {
            format: reading.format.to_string(),
            store: args.store.store.display().to_string(),
            ..Summary::default()
        };
        Self {
            args,
            screen,
            stop,
            started: Instant::now(),
            line: 0,
            summary,
            table: Table::new(args.json, screen, redaction),
            out: Output::new(),
            bar: progress_bar(reading.size, screen),
            workspaces: Workspaces::new(args.guard.root.clone()),
            occurrences: Occurrences::default(),
            waiting: VecDeque::with_capacity(WAITING_MAX),
        }
    }

    async fn through(
        &mut self,
        mut reading: Reading,
        builder: triplane::RuntimeBuilder,
    ) -> Result<Ending> {
        // The store stays untouched until there is something to put into it.
        let mut builder = Some(builder);
        let mut runtime: Option<Runtime> = None;
        let mut ending = Ending::Whole;
        'file: loop {
            let batch = tokio::select! {
                biased;
                signal = self.stop.wait() => {
                    ending = Ending::Asked(signal);
                    break;
                }
                batch = reading.batches.recv() => batch,
            };
            let Some(batch) = batch else { break };
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => {
                    complain(format_args!("{}: {error}", self.args.file.display()));
                    ending = Ending::Stopped;
                    break;
                }
            };
            for Item { line, what } in batch {
                if let Some(signal) = self.stop.asked() {
                    ending = Ending::Asked(signal);
                    break 'file;
                }
                self.line = line;
                match what {
                    Entry::Event(event) => {
                        if let Some(builder) = builder.take() {
                            store_mode::report(&self.args.store.store);
                            runtime = Some(builder.open().await?);
                        }
                        let runtime = runtime.as_ref().expect("opened with the first event");
                        self.event(runtime, *event, line).await?;
                    }
                    Entry::WithoutEvent => self.summary.without_event += 1,
                    Entry::Skipped(skipped) => {
                        self.summary.skipped += 1;
                        self.bar
                            .suspend(|| complain(format_args!("line {line}: {skipped}")));
                        if self.args.strict && !matches!(skipped, Skip::UnknownType(_)) {
                            complain("stopped there, as --strict says; what was committed stays");
                            ending = Ending::Stopped;
                            break 'file;
                        }
                    }
                }
            }
            self.bar.set_position(reading.read.load(Ordering::Relaxed));
        }
        let Some(runtime) = runtime else {
            self.bar.finish_and_clear();
            if let Ending::Asked(signal) = ending {
                self.stopped(signal);
                return Ok(ending);
            }
            bail!("{}: not one event could be read", self.args.file.display());
        };
        while let Some((row, pending)) = self.waiting.pop_front() {
            self.settle(row, pending).await?;
        }
        if let Some(signal) = self.finish(&runtime).await? {
            ending = Ending::Asked(signal);
        }
        if let Ending::Asked(signal) = ending {
            self.stopped(signal);
        }
        Ok(ending)
    }

    async fn event(&mut self, runtime: &Runtime, event: HookEvent, line: u64) -> Result<()> {
        let occurrence = match occurrence_key(&event) {
            Some(key) => self
                .occurrences
                .count(key)
                .context("cannot count repeated events")?,
            None => 1,
        };
        let identity = identity(&event, occurrence);
        let row = Row::of(&event, line);
        let call = event.tool_call(self.workspaces.of(event.cwd()));
        let after = Enforcement::AfterTheFact;
        let event = agent_event(event, identity, call, after, Repeat::SameContent);
        if self.waiting.len() >= WAITING_MAX
            && let Some((row, pending)) = self.waiting.pop_front()
        {
            self.settle(row, pending).await?;
        }
        self.waiting.push_back((row, runtime.submit(event).await?));
        self.summary.events += 1;
        Ok(())
    }

    async fn settle(&mut self, row: Row, pending: Pending) -> Result<()> {
        let decided = pending.recorded().await?;
        let before = self.summary.already_recorded;
        self.summary.count(&decided);
        if self.summary.already_recorded == before {
            self.summary.failed_calls += u64::from(row.is_failure());
            let Self {
                bar, table, out, ..
            } = self;
            bar.suspend(|| table.show(out, &row, &decided));
        }
        Ok(())
    }

    /// Delivers, closes the store and tells the sums. Answers the signal that has cut it short, if
    /// one has.
    async fn finish(&mut self, runtime: &Runtime) -> Result<Option<StopSignal>> {
        let left = tokio::select! {
            biased;
            _signal = self.stop.wait() => None,
            left = runtime.shutdown(DELIVERY_BUDGET) => Some(left?),
        };
        let left = match left {
            Some(left) => left,
            None => runtime.shutdown(STOP_BUDGET).await?,
        };
        let asked = self.stop.asked();
        self.bar.finish_and_clear();
        let summary = &mut self.summary;
        summary.stopped_by = asked.map(StopSignal::name);
        summary.delivered = left.delivery.delivered;
        summary.retried = left.delivery.retried;
        summary.dead_lettered = left.delivery.dead_lettered;
        summary.pending = left.pending;
        let seconds = self.started.elapsed().as_secs_f64();
        summary.seconds = (seconds * 1e3).round() / 1e3;
        #[expect(
            clippy::cast_precision_loss,
            reason = "a rate needs no more than 52 bits"
        )]
        let events = summary.events as f64;
        summary.events_per_second = (events / seconds).round();
        if self.args.json {
            self.out.json(&self.summary);
        } else if !self.screen.quiet {
            self.tell();
        }
        Ok(asked)
    }

    /// What a stop leaves, and how to go on.
    fn stopped(&self, signal: StopSignal) {
        let Summary {
            events, pending, ..
        } = &self.summary;
        complain(format_args!(
            "{} after line {} of {}: {events} events are on record, {pending} deliveries are \
             pending; the same command goes on from there",
            signal.name(),
            self.line,
            self.args.file.display(),
        ));
    }

    fn tell(&mut self) {
        let Summary {
            events,
            skipped,
            without_event,
            already_recorded,
            allowed,
            would_deny,
            would_rewrite,
            signals,
            intents,
            delivered,
            pending,
            retried,
            dead_lettered,
            seconds,
            events_per_second,
            store,
            ..
        } = &self.summary;
        self.out.line(format_args!(
            "{events} events: {allowed} allowed, {would_deny} would deny, {would_rewrite} would \
             rewrite, {already_recorded} already recorded"
        ));
        self.out.line(format_args!(
            "{without_event} entries without an event, {skipped} lines skipped"
        ));
        self.out.line(format_args!(
            "committed to {store}: {signals} signals, {intents} delivery intents; delivered \
             {delivered}, pending {pending}"
        ));
        self.out
            .line(format_args!("{seconds} s, {events_per_second} events/s"));
        if *retried > 0 {
            self.out
                .line("the sink refused some for now; triplane outbox ls shows why");
        }
        if *dead_lettered > 0 {
            self.out.line(format_args!(
                "{dead_lettered} were given up; triplane outbox ls --status dead_letter shows why"
            ));
        }
        if *pending > 0 {
            self.out
                .line("what is pending goes out with: triplane deliver --once");
        }
    }
}

fn progress_bar(size: u64, screen: Screen) -> ProgressBar {
    if size == 0 || screen.quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {per_sec} {eta}");
    let bar = ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::stderr_with_hz(5));
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
