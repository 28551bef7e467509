//! The folder of the file of `--out`.

use std::path::Path;

use anyhow::{Result, bail};

/// Fails if the folder of the file does not exist, so that a benchmark fails before it begins.
pub(super) fn check(out: &Path) -> Result<()> {
    if let Some(folder) = out.parent().filter(|it| !it.as_os_str().is_empty())
        && !folder.is_dir()
    {
        bail!(
            "`--out {}`: folder `{}` does not exist",
            out.display(),
            folder.display()
        );
    }
    Ok(())
}
