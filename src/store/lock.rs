//! One server a SQLite file: what it keeps in memory is right only while nobody else changes what was read.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::sqlite::SqliteConnectOptions;

use super::{OpenError, not_sqlite};

/// This server's right to a SQLite file: a lock on the file beside it whose name ends in `.lock`. The system takes it back
/// when the process ends, however it ends. Commands that only write rows do without.
pub struct Lock(File);

impl Lock {
    /// Takes the lock of `url`, at once or not at all; servers on PostgreSQL share theirs, and need none.
    ///
    /// # Errors
    /// When another server has it, or the file of the lock cannot be made.
    pub fn take(url: &str) -> Result<Option<Self>, OpenError> {
        if !url.starts_with("sqlite:") {
            return Ok(None);
        }
        let options = SqliteConnectOptions::from_str(url).map_err(|_| not_sqlite())?;
        let database = options.get_filename();
        let mut path = database.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let failed = |error| OpenError(format!("{} could not be locked: {error}", path.display()));
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Err(OpenError(format!(
                "{} is in use by another Playmaker server; stop that one first, or use PostgreSQL for several servers",
                database.display()
            ))),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Lets another server have the file.
    pub fn give_back(&self) {
        // Closing the file, at the latest, does the same.
        let _ = self.0.unlock();
    }
}
