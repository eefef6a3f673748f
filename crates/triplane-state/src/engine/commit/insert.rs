//! Adding rows to a table with as few statements as they take.

use rusqlite::{Connection, Statement, ToSql};

/// How many rows one statement adds, the most first. A statement opens the table and each of its
/// indexes once, which for a single row takes as long as the row.
const TOGETHER: [usize; 3] = [16, 4, 1];

/// The statements that add rows to one table.
#[derive(Debug)]
pub(crate) struct Insert([String; TOGETHER.len()]);

impl Insert {
    /// Statements that add rows of the form `row` to `table`, such as `(?, ?, 'new')` to `t (a, b, c)`.
    /// A row that is refused undoes the transaction, which spares the copies that would undo the
    /// statement alone.
    pub(crate) fn new(table: &str, row: &str) -> Self {
        Self(TOGETHER.map(|rows| {
            format!(
                "INSERT OR ROLLBACK INTO {table} VALUES {}",
                vec![row; rows].join(", ")
            )
        }))
    }

    /// Adds `rows` in their order; `bind` gives the values of each.
    pub(crate) fn rows<R>(
        &self,
        connection: &Connection,
        mut rows: &[R],
        mut bind: impl FnMut(&mut Values<'_, '_>, &R) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        for (sql, together) in self.0.iter().zip(TOGETHER) {
            if rows.len() < together {
                continue;
            }
            let mut statement = connection.prepare_cached(sql)?;
            while let Some((next, rest)) = rows.split_at_checked(together) {
                let mut values = Values {
                    statement: &mut statement,
                    bound: 0,
                };
                next.iter().try_for_each(|row| bind(&mut values, row))?;
                statement.raw_execute()?;
                rows = rest;
            }
        }
        Ok(())
    }
}

/// The values of the rows that one statement adds.
pub(crate) struct Values<'v, 'c> {
    statement: &'v mut Statement<'c>,
    bound: usize,
}

impl Values<'_, '_> {
    /// The values of the next row, one for each `?`.
    pub(crate) fn row(&mut self, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        for value in values {
            self.bound += 1;
            self.statement.raw_bind_parameter(self.bound, value)?;
        }
        Ok(())
    }
}
