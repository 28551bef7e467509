//! Writes files atomically.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

/// The same as [`evals_guard::atomic_file::write_atomically`], for callers that add context to errors of any kind.
pub fn write_atomically(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    Ok(evals_guard::atomic_file::write_atomically(path, content)?)
}
