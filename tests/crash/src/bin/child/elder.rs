//! The task `older`: a store as an older program would have made it.

use std::path::Path;

use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use triplane_crash::order;
use uuid::Uuid;

use crate::desk::{number, variable};

/// The first steps of the schema; released steps never change.
const STEPS: [&str; 7] = [
    include_str!(
        "../../../../../crates/triplane-state/src/engine/schema/migrations/0001_initial.sql"
    ),
    include_str!(
        "../../../../../crates/triplane-state/src/engine/schema/migrations/0002_child_keys.sql"
    ),
    include_str!(
        "../../../../../crates/triplane-state/src/engine/schema/migrations/0003_operators.sql"
    ),
    include_str!(
        "../../../../../crates/triplane-state/src/engine/schema/migrations/0004_capture.sql"
    ),
    include_str!(
        "../../../../../crates/triplane-state/src/engine/schema/migrations/0005_sinks.sql"
    ),
    include_str!("../../../../../crates/triplane-state/src/engine/schema/migrations/0006_runs.sql"),
    include_str!(
        "../../../../../crates/triplane-state/src/engine/schema/migrations/0007_owners.sql"
    ),
];

/// The bytes `tpln`.
const APPLICATION_ID: i32 = 0x7470_6c6e;

/// Makes the store, of a version that the seed chooses.
pub(crate) async fn make() -> anyhow::Result<()> {
    let path = Path::new(&variable(order::FOLDER)?).join("state.db");
    let version = number(order::SEED)?.unsigned_abs() % STEPS.len() as u64 + 1;
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let mut connection = SqliteConnection::connect(&url).await?;
    let mut script = String::from("PRAGMA journal_mode = WAL;");
    for step in &STEPS[..usize::try_from(version)?] {
        script.push_str(step);
    }
    let (id, epoch) = (Uuid::now_v7(), Uuid::now_v7());
    let marks = format!(
        "PRAGMA user_version = {version}; PRAGMA application_id = {APPLICATION_ID};
         INSERT INTO meta VALUES (1, '{id}', '{epoch}', 5);"
    );
    script.push_str(&marks);
    sqlx::raw_sql(AssertSqlSafe(script))
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    Ok(())
}
