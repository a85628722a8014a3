//! A database of a test's own: a SQLite file, or, where `PLAYMAKER_TEST_DATABASE` is the address of a PostgreSQL, a fresh
//! database there. It goes with the test.

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Row};
use tempfile::TempDir;
use url::Url;

use super::services::setting;

/// Whether the tests run on PostgreSQL this time.
pub fn on_postgres() -> bool {
    postgres().is_some()
}

fn postgres() -> Option<Url> {
    setting("PLAYMAKER_TEST_DATABASE")
        .filter(|text| text.starts_with("postgres"))
        .map(|text| Url::parse(&text).unwrap())
}

/// One database.
pub struct Database {
    url: String,
    kind: Kind,
}

enum Kind {
    Sqlite(TempDir),
    Postgres { server: Url, name: String },
}

impl Database {
    /// An empty one, of the kind this run of the tests is for.
    pub async fn fresh() -> Self {
        match postgres() {
            None => Self::sqlite(),
            Some(server) => Self::postgres(server).await,
        }
    }

    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { url: format!("sqlite:{}", folder.path().join("playmaker.db").display()), kind: Kind::Sqlite(folder) }
    }

    async fn postgres(server: Url) -> Self {
        let name = format!("test_{}", uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, &unlike_any_other()).simple());
        let mut connection = PgConnection::connect(server.as_str()).await.unwrap();
        sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await.unwrap();
        let mut url = server.clone();
        url.set_path(&name);
        Self { url: url.into(), kind: Kind::Postgres { server, name } }
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The folder of a SQLite file.
    pub fn folder(&self) -> Option<&std::path::Path> {
        match &self.kind {
            Kind::Sqlite(folder) => Some(folder.path()),
            Kind::Postgres { .. } => None,
        }
    }

    /// Every table with its columns, in order of their names.
    pub async fn columns(&self) -> Vec<(String, Vec<String>)> {
        let mut columns = Vec::new();
        for table in self.texts("tables", TABLES_SQLITE, TABLES_POSTGRES).await {
            let sqlite = format!("SELECT name FROM pragma_table_info('{table}') ORDER BY name");
            let postgres = format!(
                "SELECT column_name::text FROM information_schema.columns \
                 WHERE table_schema = 'public' AND table_name = '{table}' ORDER BY column_name"
            );
            let mut names = self.texts(&table, &sqlite, &postgres).await;
            names.sort();
            columns.push((table, names));
        }
        columns.sort();
        columns
    }

    /// The names of the indexes somebody made.
    pub async fn indexes(&self) -> Vec<String> {
        let mut names = self.texts("indexes", INDEXES_SQLITE, INDEXES_POSTGRES).await;
        names.sort();
        names
    }

    /// Everything that is kept, as text: each value of each column of each table, and the bytes of a file.
    pub async fn everything(&self) -> String {
        let mut all = String::new();
        for (table, columns) in self.columns().await.into_iter().filter(|(table, _)| table != "_sqlx_migrations") {
            for column in columns {
                let sql = format!("SELECT COALESCE(CAST({column} AS TEXT), '') FROM {table}");
                for value in self.texts(&table, &sql, &sql).await {
                    all.push_str(&value);
                    all.push('\n');
                }
            }
        }
        for entry in self.folder().into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(entry.unwrap().path()).unwrap()));
        }
        all
    }

    /// Changes the database behind the server's back.
    pub async fn run(&self, sql: &str) {
        let done = match &self.kind {
            Kind::Sqlite(_) => {
                let mut connection = SqliteConnection::connect(&self.url).await.unwrap();
                sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.map(|_| ())
            }
            Kind::Postgres { .. } => {
                let mut connection = PgConnection::connect(&self.url).await.unwrap();
                sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.map(|_| ())
            }
        };
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    async fn texts(&self, what: &str, sqlite: &str, postgres: &str) -> Vec<String> {
        let read = async {
            match &self.kind {
                Kind::Sqlite(_) => {
                    let mut connection = SqliteConnection::connect(&self.url).await?;
                    let rows = sqlx::query(AssertSqlSafe(sqlite.to_owned())).fetch_all(&mut connection).await?;
                    rows.iter().map(|row| row.try_get(0)).collect::<sqlx::Result<Vec<String>>>()
                }
                Kind::Postgres { .. } => {
                    let mut connection = PgConnection::connect(&self.url).await?;
                    let rows = sqlx::query(AssertSqlSafe(postgres.to_owned())).fetch_all(&mut connection).await?;
                    rows.iter().map(|row| row.try_get(0)).collect()
                }
            }
        };
        read.await.unwrap_or_else(|error| panic!("{what}: {error}"))
    }
}

const TABLES_SQLITE: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
const TABLES_POSTGRES: &str = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";
const INDEXES_SQLITE: &str = "SELECT name FROM sqlite_schema WHERE type = 'index' AND name NOT LIKE 'sqlite_%'";
const INDEXES_POSTGRES: &str =
    "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%_pkey'";

/// Bytes no other test process or test has.
fn unlike_any_other() -> [u8; 16] {
    use playmaker::ids::{Entropy, SystemEntropy};
    let mut bytes = [0; 16];
    SystemEntropy.fill(&mut bytes);
    bytes
}

impl Drop for Database {
    fn drop(&mut self) {
        let Kind::Postgres { server, name } = &self.kind else { return };
        let (server, sql) = (server.to_string(), format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        // On a thread of its own, since the test's runtime may be ending. What cannot be dropped ends with the cluster.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut connection = PgConnection::connect(&server).await?;
                sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await
            })
        });
        let _ = dropping.join();
    }
}
