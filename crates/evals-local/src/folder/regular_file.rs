//! Opening files that have an end.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use evals_guard::regular_file::other_kind;

/// The beginning of the file that git leaves in place of one that Git LFS has not fetched.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Opens a file and returns its length too. Pipes and devices are refused, because reading them may never end.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    let metadata = fs::metadata(path)?;
    if let Some(found) = other_kind(&metadata) {
        return Err(io::Error::other(format!("it is {found}, not a file")));
    }
    let mut file = File::open(path)?;
    let mut beginning = Vec::new();
    file.by_ref()
        .take(POINTER.len() as u64)
        .read_to_end(&mut beginning)?;
    if beginning == POINTER {
        return Err(io::Error::other(
            "it is a Git LFS pointer, not the file itself; fetch the file with `git lfs pull`",
        ));
    }
    file.rewind()?;
    Ok((file, metadata.len()))
}
