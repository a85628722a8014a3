//! Both databases have the same tables, columns and indexes, by name.

use playmaker::secrets::SEALED_COLUMNS;

use crate::support::app::TestApp;

#[tokio::test]
async fn the_tables_are_the_same_on_every_database() {
    let server = TestApp::local().await;
    let tables: Vec<String> = server
        .database()
        .columns()
        .await
        .into_iter()
        .filter(|(table, _)| table != "_sqlx_migrations")
        .map(|(table, columns)| format!("{table}: {}", columns.join(", ")))
        .collect();
    // One snapshot for both: run on the other database, it is held to the same.
    insta::assert_snapshot!("tables", tables.join("\n"));
    insta::assert_snapshot!("indexes", server.database().indexes().await.join("\n"));
}

/// What a change of keys goes through is every column that holds something sealed.
#[tokio::test]
async fn every_sealed_column_is_moved_to_another_key() {
    let server = TestApp::local().await;
    let columns = server.database().columns().await.into_iter();
    let sealed: Vec<String> = columns
        .filter(|(_, columns)| columns.iter().any(|column| column == "sealed"))
        .map(|(table, _)| table)
        .collect();
    let mut moved = SEALED_COLUMNS.map(|column| column.table.to_owned());
    moved.sort();
    assert_eq!(sealed, moved);
}

#[tokio::test]
async fn a_second_start_on_the_same_database_changes_nothing() {
    let first = TestApp::local().await;
    let before = first.database().columns().await;
    first.app.close().await;
    let second = first.beside(&[]).await;
    assert_eq!(second.database().columns().await, before);
    second.anyone().get("/ready").await.done(200);
}
