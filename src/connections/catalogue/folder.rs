//! Reading the operator's folder of provider files.

use std::fs;
use std::path::Path;

use super::{Fault, File};

/// The most files of the folder.
const MAX_FILES: usize = 500;

/// The most bytes of an OpenAPI document beside the providers.
const MAX_DOCUMENT: u64 = 512 * 1024;

/// Reads `*.yaml` and `*.json` of a folder, not below it, in order of their names.
///
/// # Errors
/// When the folder or a file cannot be read, there are too many, one is too large, or one is a link: a link could lead
/// out of the folder.
pub fn read_folder(folder: &Path) -> Result<Vec<File>, Fault> {
    let failed = |name: &str, what: String| Fault { file: name.to_owned(), line: 1, column: 1, detail: what };
    let shown = folder.display().to_string();
    let entries =
        fs::read_dir(folder).map_err(|error| failed(&shown, format!("the folder cannot be read: {error}")))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| failed(&shown, format!("the folder cannot be read: {error}")))?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if !name.ends_with(".yaml") && !name.ends_with(".json") {
            continue;
        }
        // Of the entry itself, so that a link is seen as one.
        let metadata = entry.metadata().map_err(|error| failed(&name, format!("cannot be read: {error}")))?;
        if metadata.is_symlink() {
            return Err(failed(&name, "is a link; put the file itself into the folder".into()));
        }
        if !metadata.is_file() {
            continue;
        }
        if files.len() == MAX_FILES {
            return Err(failed(&shown, "the folder has more than 500 files".into()));
        }
        if metadata.len() > MAX_DOCUMENT {
            return Err(failed(&name, "is larger than 512 KiB".into()));
        }
        let text = fs::read_to_string(entry.path())
            .map_err(|error| failed(&name, format!("cannot be read as text in UTF-8: {error}")))?;
        files.push(File { name, text });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}
