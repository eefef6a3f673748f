//! The store: what stands at its path, what it holds, and what waits in it.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use triplane::state::{Scrutiny, StateError, Store, StoreInspection};

use crate::args::DoctorArgs;
use crate::cmd::doctor::files::{beside, modes, size};
use crate::cmd::doctor::finding::Finding;
use crate::render::{chain, moment};

const TOPIC: &str = "store";

/// How long a store that others have locked is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A log that has grown beyond this is not emptied any more: closing and every thousandth page empty
/// it, unless somebody keeps reading what is old.
const LOG_BYTES_USUAL: u64 = 16 << 20;

/// Deliveries that have waited for longer than this wait for nobody.
const WAIT_USUAL_US: i64 = 24 * 3_600 * 1_000_000;

/// Looks at the store. Answers what it says of itself too, if it could be read.
pub(crate) async fn look(
    args: &DoctorArgs,
    findings: &mut Vec<Finding>,
) -> Option<StoreInspection> {
    let path = std::path::absolute(&args.store).unwrap_or_else(|_| args.store.clone());
    let place = path.display();
    let metadata = match std::fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            findings.push(Finding::note(
                TOPIC,
                format!("{place}: there is none yet"),
                "triplane replay and triplane hook make one",
            ));
            return None;
        }
        Err(error) => {
            findings.push(Finding::unknown(
                TOPIC,
                format!("{place}: {error}"),
                "look at the permissions of the file and of its folders",
            ));
            return None;
        }
    };
    if !metadata.is_file() {
        findings.push(Finding::wrong(
            TOPIC,
            format!("{place} is not a file"),
            "name a file with --store",
        ));
        return None;
    }
    let scrutiny = if args.full {
        Scrutiny::Pages
    } else {
        Scrutiny::Counts
    };
    let inspected = Store::inspect(&path, PATIENCE, scrutiny).await;
    let inspection = match inspected {
        Ok(inspection) => inspection,
        Err(error) => {
            findings.push(refused(&path, error));
            return None;
        }
    };
    findings.push(Finding::good(
        TOPIC,
        format!(
            "{place}, {}, made {}",
            size(metadata.len()),
            moment(inspection.created_at_us)
        ),
    ));
    findings.push(schema(&inspection));
    findings.push(journal(&path));
    let log = beside(&path, "-wal");
    findings.push(log_state(&log));
    findings.extend(modes("modes", &[path.clone(), log, beside(&path, "-shm")]));
    findings.push(damage(&inspection, args.full));
    findings.push(counts(&inspection));
    findings.push(waiting(&inspection, now_us()));
    Some(inspection)
}

fn refused(path: &Path, error: StateError) -> Finding {
    let unknown = match &error {
        StateError::Busy { .. } => Some("look again, or find the program that holds it"),
        StateError::Database { .. } | StateError::File { .. } => {
            Some("look at the permissions of the file and of its folder")
        }
        _ => None,
    };
    let way_out = match &error {
        StateError::NewerSchema { .. } => "use the newer triplane that wrote it",
        StateError::Damaged { .. } => "keep the file and go back to a backup",
        _ => "move the file away, or name another one with --store",
    };
    let says = chain(&anyhow::Error::from(error));
    match unknown {
        Some(way_out) => Finding::unknown(TOPIC, format!("{}: {says}", path.display()), way_out),
        None => Finding::wrong(TOPIC, says, way_out),
    }
}

fn schema(inspection: &StoreInspection) -> Finding {
    let (found, known) = (inspection.schema_version, inspection.schema_known);
    if found < known {
        return Finding::note(
            "schema",
            format!("version {found}; this program writes version {known}"),
            "the next command that opens the store upgrades it",
        );
    }
    Finding::good("schema", format!("version {found}, the newest known"))
}

/// The header says how the journal is kept, in two bytes that are 2 for a write-ahead log.
fn journal(path: &Path) -> Finding {
    let mut header = [0; 20];
    match File::open(path).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) if header[18..] == [2, 2] => Finding::good("journal", "a write-ahead log"),
        Ok(()) => Finding::wrong(
            "journal",
            "no write-ahead log: somebody has changed the mode, and triplane does not open it so",
            format!("sqlite3 {} 'PRAGMA journal_mode=WAL'", path.display()),
        ),
        Err(error) => Finding::unknown("journal", error.to_string(), "look again"),
    }
}

fn log_state(log: &PathBuf) -> Finding {
    const TOPIC: &str = "log";
    match std::fs::metadata(log) {
        Err(_) => Finding::good(TOPIC, "none: the store was closed and has everything"),
        Ok(metadata) if metadata.len() > LOG_BYTES_USUAL => Finding::wrong(
            TOPIC,
            format!(
                "{} wait to be moved into the store: some program reads it without an end",
                size(metadata.len())
            ),
            format!("find it with: fuser {}", log.display()),
        ),
        Ok(metadata) => Finding::good(
            TOPIC,
            format!(
                "{}: a program has the store open, or the last one left it to the next",
                size(metadata.len())
            ),
        ),
    }
}

fn damage(inspection: &StoreInspection, full: bool) -> Finding {
    const TOPIC: &str = "pages";
    if !full {
        return Finding::good(TOPIC, "not read one by one; --full does that");
    }
    match inspection.damage.first() {
        None => Finding::good(TOPIC, "all of them read, none contradicts another"),
        Some(first) => Finding::wrong(
            TOPIC,
            format!("the store is damaged: {first}"),
            "keep the file and go back to a backup",
        ),
    }
}

fn counts(inspection: &StoreInspection) -> Finding {
    let stats = &inspection.stats;
    Finding::good(
        "holds",
        format!(
            "{} sessions, {} operations, {} audit rows, {} signals, {} intents",
            stats.sessions,
            stats.operations,
            stats.audits,
            stats.signals,
            stats.intents.total()
        ),
    )
}

fn waiting(inspection: &StoreInspection, now_us: i64) -> Finding {
    const TOPIC: &str = "deliveries";
    let intents = &inspection.stats.intents;
    let given_up = intents.dead_letter + intents.expired;
    let Some(oldest) = &inspection.oldest_unsettled else {
        if given_up > 0 {
            return Finding::note(
                TOPIC,
                format!("none is pending, {given_up} were given up"),
                "triplane outbox ls --status dead_letter shows why",
            );
        }
        return Finding::good(TOPIC, "none is pending");
    };
    let mut says = format!(
        "{} pending, {given_up} given up; the oldest pending one is {} since {}, after {} attempts",
        intents.unsettled(),
        oldest.id,
        moment(oldest.created_at_us),
        oldest.attempt
    );
    if let Some(error) = &oldest.last_error {
        says = format!("{says}: {error}");
    }
    if now_us.saturating_sub(oldest.created_at_us) > WAIT_USUAL_US {
        return Finding::wrong(
            TOPIC,
            says,
            "nobody delivers: run triplane deliver --once, by a timer for example",
        );
    }
    Finding::note(TOPIC, says, "they go out with: triplane deliver --once")
}

fn now_us() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
