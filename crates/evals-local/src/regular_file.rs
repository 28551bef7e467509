use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

/// How the file begins that git leaves in the place of one that Git LFS has not fetched.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Opens a file, and gives its length. Pipes and devices are refused: they may never end, or never begin.
pub(super) fn open(path: &Path) -> io::Result<(File, u64)> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut file = File::open(path)?;
    let mut beginning = Vec::new();
    file.by_ref()
        .take(POINTER.len() as u64)
        .read_to_end(&mut beginning)?;
    if beginning == POINTER {
        return Err(io::Error::other(
            "it is a pointer of Git LFS, not the file itself; `git lfs pull` fetches that",
        ));
    }
    file.rewind()?;
    Ok((file, metadata.len()))
}
