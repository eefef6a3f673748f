//! The page on the store's tables, against a store.

use std::collections::BTreeMap;
use std::fs;

use crate::failures::session;
use crate::program::{Place, workspace};
use crate::rows::Rows;

#[tokio::test]
async fn the_page_on_the_store_names_every_table_and_column_and_no_other() {
    let page = fs::read_to_string(workspace().join("docs/store.md")).expect("a page");
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut table = String::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            name.clone_into(&mut table);
        } else if let Some(column) = line.strip_prefix("| `") {
            let column = column.split('`').next().expect("a name");
            told.entry(table.clone())
                .or_default()
                .push(column.to_owned());
        }
    }

    let place = Place::new();
    place.summary(&["replay", &session(&place), "--json"]);
    let mut rows = Rows::open(&place.store()).await;
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let columns = rows
        .texts(
            "SELECT s.name || '.' || c.name FROM sqlite_schema s, pragma_table_info(s.name) c
             WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%' ORDER BY s.rowid, c.cid",
        )
        .await;
    for column in columns {
        let (table, column) = column.split_once('.').expect("table.column");
        found
            .entry(table.to_owned())
            .or_default()
            .push(column.to_owned());
    }
    assert_eq!(told, found, "left: docs/store.md, right: a store");
}
