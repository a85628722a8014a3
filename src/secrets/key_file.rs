//! The key file a server makes for itself where no keys are set: one line as in `SECRETS_KEYS`, for its owner alone.
//!
//! Whether a server may have one is not decided here: with PostgreSQL it may not, since the next server would not
//! have the file (decision D6).

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::Misconfigured;
use super::key_ring::{KEY_BYTES, KeyRing};
use crate::ids::Ids;

/// The most bytes of a key file; 32 keys take less.
const MAX_BYTES: usize = 4096;

/// Reads the key file, and makes it with one fresh key where there is none.
///
/// # Errors
/// Refused when others than the owner may read the file, when it cannot be read or made, and when it holds no keys;
/// the words say what to do.
pub fn open_or_create(path: &Path, ids: Ids) -> Result<KeyRing, Misconfigured> {
    match read(path) {
        Ok(Some(text)) => parse(path, &text, ids),
        Ok(None) => {
            create(path, &ids)?;
            match read(path)? {
                Some(text) => parse(path, &text, ids),
                None => Err(refused(path, "vanished while it was made", "Start again.")),
            }
        }
        Err(error) => Err(error),
    }
}

fn parse(path: &Path, text: &str, ids: Ids) -> Result<KeyRing, Misconfigured> {
    KeyRing::parse(text.trim(), ids).map_err(|error| {
        refused(
            path,
            "does not hold keys",
            &format!("{error} Bring it back from your backup: without its key the stored secrets cannot be read."),
        )
    })
}

fn read(path: &Path) -> Result<Option<Zeroizing<String>>, Misconfigured> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    // The open file is asked, not the path: what is checked is what is read.
    check_private(path, &file)?;
    // Room for all of it, so that no growth leaves a copy of a key behind.
    let mut text = Zeroizing::new(String::with_capacity(MAX_BYTES));
    file.take(MAX_BYTES as u64).read_to_string(&mut text).map_err(|error| unreadable(path, &error))?;
    Ok(Some(text))
}

#[cfg(unix)]
fn check_private(path: &Path, file: &File) -> Result<(), Misconfigured> {
    use std::os::unix::fs::PermissionsExt;

    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(refused(path, "is not a file", "Move it away or name another data folder."));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(refused(
        path,
        &format!("may be used by others than its owner (its mode is {mode:04o})"),
        "Take their rights away with chmod 600, and think about whether somebody has read it: if so, put a new first \
         key in SECRETS_KEYS with this one after it and run playmaker secrets rekey.",
    ))
}

#[cfg(not(unix))]
fn check_private(_path: &Path, _file: &File) -> Result<(), Misconfigured> {
    Ok(())
}

/// Makes the file whole or not at all: it is written beside its place and then linked there, which never replaces a
/// file another server has made meanwhile.
fn create(path: &Path, ids: &Ids) -> Result<(), Misconfigured> {
    let failed = |error: std::io::Error| {
        refused(
            path,
            &format!("cannot be made ({error})"),
            "Give the server a data folder it may write to, or set SECRETS_KEYS.",
        )
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let key = Zeroizing::new(ids.bytes::<KEY_BYTES>());
    let encoded = Zeroizing::new(STANDARD.encode(key.as_slice()));
    let line = Zeroizing::new(format!("{}:{}\n", ids.base62("k", 7), encoded.as_str()));
    let beside = path.with_extension(ids.base62("new", 8));
    let made = write_private(&beside, line.as_bytes()).and_then(|()| fs::hard_link(&beside, path));
    let removed = fs::remove_file(&beside);
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.and(removed).map_err(failed),
    }
}

fn write_private(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(contents)?;
    file.sync_all()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Misconfigured {
    refused(path, &format!("cannot be read ({error})"), "Let the server's user own it, with mode 600.")
}

fn refused(path: &Path, what: &str, then: &str) -> Misconfigured {
    Misconfigured(format!("The key file {} {what}. {then}", path.display()))
}
