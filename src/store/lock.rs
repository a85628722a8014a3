//! One server a SQLite file: what it keeps in memory is right only while nobody else changes what was read.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;

use super::{OpenError, sqlite_file};

/// How often it is tried, and how long it rests between: a server that is just ending may be followed at once.
const TRIES: u32 = 60;
const REST: Duration = Duration::from_millis(50);

/// This server's right to a SQLite file: a lock on the file beside it whose name ends in `.lock`. The system takes it back
/// when the process ends, however it ends. Commands that only write rows do without.
pub struct Lock(File);

impl Lock {
    /// Takes the lock of `url`, within three seconds; servers on PostgreSQL share theirs, and need none.
    ///
    /// # Errors
    /// When another server has it, or the file of the lock cannot be made.
    pub async fn take(url: &str) -> Result<Option<Self>, OpenError> {
        if !url.starts_with("sqlite:") {
            return Ok(None);
        }
        let options = sqlite_file(url)?;
        let database = options.get_filename();
        let mut path = database.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let failed = |error| OpenError(format!("{} could not be locked: {error}", path.display()));
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self(file))),
                Err(TryLockError::WouldBlock) => sleep(REST).await,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Err(OpenError(format!(
            "the database {} is in use by another Playmaker server; stop that one first, or use PostgreSQL, which several \
             servers may share",
            database.display()
        )))
    }

    /// Lets another server have the file.
    pub fn give_back(&self) {
        // Closing the file, at the latest, does the same.
        let _ = self.0.unlock();
    }
}
