//! The limits: raw SQLite, prepared statements on one held connection.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::row::Durability;
use crate::subject::PAYLOAD;

/// A minimal schema in a file of its own.
#[derive(Debug)]
pub(crate) struct Raw {
    connection: Connection,
    next: i64,
}

/// How many rows `B` writes in a transaction.
const BATCH: i64 = 100;
/// How many rows `L` claims and finishes in a pair of transactions.
const CLAIM: i64 = 64;
/// How many rows a page of `R` has.
pub(crate) const PAGE: i64 = 500;

const SCHEMA: &str = "\
    CREATE TABLE one (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, at_us INTEGER NOT NULL, \
        payload TEXT NOT NULL);
    CREATE TABLE batch (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, at_us INTEGER NOT NULL, \
        payload TEXT NOT NULL);
    CREATE TABLE queue (id INTEGER PRIMARY KEY, status INTEGER NOT NULL, attempt INTEGER NOT NULL, \
        due_us INTEGER NOT NULL, payload TEXT NOT NULL);
    CREATE INDEX queue_due ON queue (due_us, id) WHERE status < 2;";

impl Raw {
    pub(crate) fn open(folder: &Path, durability: Durability) -> anyhow::Result<Self> {
        let connection = Connection::open(folder.join("raw.db"))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", durability.name())?;
        // What the store's own writer does.
        connection.pragma_update(None, "wal_autocheckpoint", 800)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.execute_batch(SCHEMA)?;
        Ok(Self {
            connection,
            next: 0,
        })
    }

    /// `S`: one insert per transaction.
    pub(crate) fn single(&mut self) -> anyhow::Result<u32> {
        self.next += 1;
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        self.connection
            .prepare_cached("INSERT INTO one VALUES (?1, 1, ?2, ?3)")?
            .execute(params![self.next, self.next, PAYLOAD])?;
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(1)
    }

    /// `B`: 100 rows per transaction.
    pub(crate) fn batch(&mut self) -> anyhow::Result<u32> {
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO batch VALUES (?1, 1, ?2, ?3)")?;
        for _ in 0..BATCH {
            self.next += 1;
            insert.execute(params![self.next, self.next, PAYLOAD])?;
        }
        drop(insert);
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(u32::try_from(BATCH)?)
    }

    /// Puts `rows` into the queue that `L` empties.
    pub(crate) fn fill(&mut self, rows: u32) -> anyhow::Result<()> {
        let transaction = self.connection.transaction()?;
        let mut insert =
            transaction.prepare_cached("INSERT INTO queue VALUES (NULL, 0, 0, ?1, ?2)")?;
        for row in 0..rows {
            insert.execute(params![row, PAYLOAD])?;
        }
        drop(insert);
        Ok(transaction.commit()?)
    }

    /// `L`: claims 64 rows in one transaction and finishes them in the next; 0 when none is left.
    pub(crate) fn deliver(&mut self) -> anyhow::Result<u32> {
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        let mut due = self.connection.prepare_cached(
            "SELECT id, payload FROM queue WHERE status < 2 AND due_us <= ?1 \
             ORDER BY due_us, id LIMIT ?2",
        )?;
        let claimed: Vec<(i64, String)> = due
            .query_map(params![1_i64 << 40, CLAIM], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<Result<_, _>>()?;
        drop(due);
        let mut claim = self.connection.prepare_cached(
            "UPDATE queue SET status = 1, attempt = attempt + 1, due_us = ?2 \
             WHERE id = ?1 AND status = 0 AND attempt = 0",
        )?;
        for (id, _) in &claimed {
            claim.execute(params![id, 1_i64 << 41])?;
        }
        drop(claim);
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        let mut finish = self.connection.prepare_cached(
            "UPDATE queue SET status = 2 WHERE id = ?1 AND status = 1 AND attempt = 1",
        )?;
        for (id, _) in &claimed {
            finish.execute([id])?;
        }
        drop(finish);
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(u32::try_from(claimed.len())?)
    }

    /// `R`: reads the table of `S` and `B` forward in pages of 500; answers how many rows there were.
    pub(crate) fn read(&mut self) -> anyhow::Result<u32> {
        let (mut after, mut rows) = (0_i64, 0_u32);
        let mut page = self.connection.prepare_cached(
            "SELECT id, session, at_us, payload FROM batch WHERE id > ?1 ORDER BY id LIMIT ?2",
        )?;
        loop {
            let read: Vec<(i64, i64, i64, String)> = page
                .query_map(params![after, PAGE], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })?
                .collect::<Result<_, _>>()?;
            let Some(last) = read.last() else {
                return Ok(rows);
            };
            after = last.0;
            rows += u32::try_from(read.len())?;
        }
    }
}
