use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Opens a file, and gives its length. Pipes and devices are refused: they may never end, or never begin.
pub(super) fn open(path: &Path) -> io::Result<(File, u64)> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok((File::open(path)?, metadata.len()))
}
