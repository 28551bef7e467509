//! Reads a file of replies in any of its formats.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use evals_guard::regular_file;
use evals_targets::{Mapping, OutputRow, Outputs};
use sha2::{Digest as _, Sha256};

/// Reads a file of replies. Parquet is read here, because only this crate knows both its reader and the replies.
pub(super) fn read(path: &Path, mapping: &Mapping) -> Result<Outputs> {
    let extension = path.extension().unwrap_or_default();
    if !extension.eq_ignore_ascii_case("parquet") {
        return Ok(Outputs::read(path, mapping)?);
    }
    let digest = digest(path)?;
    let rows = evals_data::parquet_objects(path)?;
    let rows = rows.map(|row| {
        let (place, fields) = row?;
        let place = format!("row {}", place.number);
        Ok(OutputRow { place, fields })
    });
    let rows: Vec<OutputRow> = rows.collect::<Result<_>>()?;
    Ok(Outputs::from_rows(path, digest, rows, mapping)?)
}

fn digest(path: &Path) -> Result<String> {
    let mut file = regular_file::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer);
        let read = read.with_context(|| format!("cannot read `{}`", path.display()))?;
        if read == 0 {
            return Ok(hex::encode(digest.finalize()));
        }
        digest.update(&buffer[..read]);
    }
}
