//! Tables that owners keep in the store beside its own, and the steps that make them.
//!
//! An owner who commits rows of its own with an outcome needs tables for them. It registers their
//! steps when it opens the store; those that the store lacks are taken then, all of them in one
//! immediate transaction, with the list read again under the lock. The names of an owner's tables,
//! indexes, triggers and views begin with its namespace, and while its steps run SQLite itself refuses
//! them everything else: the store's own tables, those of other owners, settings, and the end of the
//! transaction.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode, params};

use crate::engine::digest::sha256_hex;
use crate::error::StateError;

/// What the store's own names begin with, or may begin with one day.
const RESERVED: [&str; 10] = [
    "audit",
    "capture",
    "delivery",
    "meta",
    "operation",
    "outbox",
    "owner",
    "session",
    "signal",
    "sqlite",
];

/// What SQLite makes beside the first table that counts its keys up for ever.
const COUNTERS: &str = "sqlite_sequence";

/// The longest namespace, in bytes.
const NAMESPACE_BYTES_MAX: usize = 32;

/// The tables of one owner, as the steps that make them.
///
/// ```
/// use triplane_state::{OwnerMigrations, StoreOptions};
///
/// let jobs = OwnerMigrations::new("jobs")?
///     .step("CREATE TABLE jobs_job (id INTEGER PRIMARY KEY, state TEXT NOT NULL) STRICT")
///     .step("CREATE INDEX jobs_state ON jobs_job (state)");
/// let options = StoreOptions::new(".triplane/state.db").owner(jobs);
/// # Ok::<(), triplane_state::StateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct OwnerMigrations {
    namespace: String,
    steps: Vec<Cow<'static, str>>,
}

impl OwnerMigrations {
    /// An owner whose names begin with `namespace` and an underscore, without any step yet.
    ///
    /// # Errors
    ///
    /// [`StateError::NamespaceRefused`] unless it is a lower-case letter with lower-case letters and
    /// digits behind, 32 at most, and none of the store's own.
    pub fn new(namespace: impl Into<String>) -> Result<Self, StateError> {
        let namespace = namespace.into();
        let mut bytes = namespace.bytes();
        let letter_first = bytes.next().is_some_and(|byte| byte.is_ascii_lowercase());
        let plain = bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let says = if !letter_first || !plain || namespace.len() > NAMESPACE_BYTES_MAX {
            "it has to be a lower-case letter with up to 31 lower-case letters and digits behind"
        } else if RESERVED.contains(&namespace.as_str()) {
            "the store's own names begin with it"
        } else {
            return Ok(Self {
                namespace,
                steps: Vec::new(),
            });
        };
        Err(StateError::NamespaceRefused { namespace, says })
    }

    /// Adds the next step: statements that are run once in the life of a store. A step that was
    /// released is never changed; what follows from it is another step.
    pub fn step(mut self, sql: impl Into<Cow<'static, str>>) -> Self {
        self.steps.push(sql.into());
        self
    }

    /// What the names of its tables begin with, without the underscore.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }
}

/// Why the steps of owners were not taken. Nothing of them is in the store.
#[derive(Debug)]
pub(crate) enum NotTaken {
    /// The steps are to blame, or the program that brings them.
    Refused(StateError),
    /// The database is.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for NotTaken {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

const TAKEN: &str = "SELECT step, digest FROM owner_migration WHERE namespace = ?1 ORDER BY step";

const TAKE: &str = "\
    INSERT INTO owner_migration (namespace, step, digest, applied_at_us) VALUES (?1, ?2, ?3, ?4)";

/// Takes the steps that the store lacks, all of them or none. `begin` begins an immediate transaction.
pub(crate) fn take_steps(
    connection: &Connection,
    owners: &[OwnerMigrations],
    now_us: i64,
    begin: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<(), NotTaken> {
    let mut lacking = false;
    for owner in owners {
        lacking |= !untaken(connection, owner)?.is_empty();
    }
    if !lacking {
        return Ok(());
    }
    begin(connection)?;
    let taken = take(connection, owners, now_us);
    if taken.is_err() {
        // SQLite has undone it already when the error was one of the worst.
        connection.execute_batch("ROLLBACK").ok();
    }
    taken
}

fn take(connection: &Connection, owners: &[OwnerMigrations], now_us: i64) -> Result<(), NotTaken> {
    for owner in owners {
        // Another program may have been faster.
        for (step, sql) in untaken(connection, owner)? {
            run_step(connection, owner, step, sql)?;
            let digest = sha256_hex([sql.as_bytes()]);
            connection.execute(TAKE, params![owner.namespace, step, digest, now_us])?;
            triplane_kernel::failpoint!("migrate.owner_step");
        }
    }
    connection.execute_batch("COMMIT")?;
    triplane_kernel::failpoint!("migrate.owner_committed");
    Ok(())
}

/// The steps of `owner` that the store has not taken yet, with their numbers from 1.
fn untaken<'o>(
    connection: &Connection,
    owner: &'o OwnerMigrations,
) -> Result<Vec<(u32, &'o str)>, NotTaken> {
    let mut select = connection.prepare(TAKEN)?;
    let taken = select.query_map([&owner.namespace], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut steps = (1..).zip(owner.steps.iter().map(AsRef::as_ref));
    for row in taken {
        let (step, digest) = row?;
        let refused = |says: &str| StateError::OwnerStepRefused {
            namespace: owner.namespace.clone(),
            step,
            says: says.to_owned(),
        };
        let Some((number, sql)) = steps.next() else {
            return Err(NotTaken::Refused(refused(
                "the store has taken it, and this program does not know it; use the newer program",
            )));
        };
        if number != step || digest != sha256_hex([sql.as_bytes()]) {
            return Err(NotTaken::Refused(refused(
                "the store has taken it with other statements; a step that was released is never \
                 changed, add another one",
            )));
        }
    }
    Ok(steps.collect())
}

/// Runs one step, which may touch nothing but what its owner's namespace holds.
fn run_step(
    connection: &Connection,
    owner: &OwnerMigrations,
    step: u32,
    sql: &str,
) -> Result<(), NotTaken> {
    let forbidden = Arc::new(Mutex::new(None));
    let prefix = format!("{}_", owner.namespace);
    let before = others(connection, &prefix)?;
    let (told, allowed) = (Arc::clone(&forbidden), prefix.clone());
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        if is_allowed(&context, &allowed) {
            return Authorization::Allow;
        }
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get_or_insert_with(|| format!("{:?}", context.action));
        Authorization::Deny
    }))?;
    let ran = connection.execute_batch(sql);
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    let action = forbidden
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let says = match (ran, action) {
        // The new name of a table is not asked for while it runs.
        (Ok(()), _) if others(connection, &prefix)? == before => return Ok(()),
        (Ok(()), _) => format!("it may do nothing outside of names that begin with `{prefix}`"),
        (Err(_), Some(action)) => {
            format!(
                "it may do nothing outside of names that begin with `{prefix}`, and no {action}"
            )
        }
        (Err(error), None) if is_of_the_store(&error) => return Err(NotTaken::Database(error)),
        (Err(error), None) => error.to_string(),
    };
    Err(NotTaken::Refused(StateError::OwnerStepRefused {
        namespace: owner.namespace.clone(),
        step,
        says,
    }))
}

/// Whether an error says something of the store and not of the statements.
fn is_of_the_store(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::SystemIoFailure
        )
    )
}

/// Everything that stands in the schema outside of the names that begin with `prefix`.
fn others(
    connection: &Connection,
    prefix: &str,
) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut select =
        connection.prepare("SELECT tbl_name, name, sql FROM sqlite_schema ORDER BY name")?;
    let mut rows = select.query([])?;
    let mut others = Vec::new();
    while let Some(row) = rows.next()? {
        let table = row.get_ref(0)?.as_str()?;
        if !is_own(table, prefix) && table != COUNTERS {
            others.push((row.get(1)?, row.get(2)?));
        }
    }
    Ok(others)
}

/// Whether SQLite has given an index its name: that of a key or of a constraint.
fn is_implied(index: &str) -> bool {
    index.starts_with("sqlite_autoindex_")
}

fn is_own(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn is_allowed(context: &AuthContext<'_>, prefix: &str) -> bool {
    let own = |name: &str| is_own(name, prefix);
    // What a statement that defines or renames something writes into the schema.
    let written = |name: &str| {
        let schema = ["sqlite_master", "sqlite_temp_master", COUNTERS];
        own(name) || schema.contains(&name)
    };
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => function_name != "load_extension",
        AuthAction::CreateTable { table_name } => own(table_name) || table_name == COUNTERS,
        AuthAction::DropTable { table_name } | AuthAction::AlterTable { table_name, .. } => {
            own(table_name)
        }
        AuthAction::CreateView { view_name } | AuthAction::DropView { view_name } => own(view_name),
        AuthAction::CreateIndex {
            index_name,
            table_name,
        }
        | AuthAction::DropIndex {
            index_name,
            table_name,
        } => own(table_name) && (own(index_name) || is_implied(index_name)),
        AuthAction::CreateTrigger {
            trigger_name,
            table_name,
        }
        | AuthAction::DropTrigger {
            trigger_name,
            table_name,
        } => own(trigger_name) && own(table_name),
        AuthAction::Reindex { index_name } => own(index_name) || is_implied(index_name),
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. } => written(table_name),
        // Asked by SQLite itself when a column is added.
        AuthAction::Pragma { pragma_name, .. } => pragma_name == "quick_check",
        _ => false,
    }
}
