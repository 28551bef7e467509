//! Reading a TREC run with its digest.

use std::path::Path;

use evals_guard::regular_file::{self, FileError};
use evals_metrics::Run;
use sha2::{Digest as _, Sha256};

use super::error::OutputsError;

/// The most bytes of a run: some hundred million lines.
const LIMIT: u64 = 8 << 30;

pub(super) fn read(path: &Path) -> Result<(Run, String), OutputsError> {
    let bytes = regular_file::read(path, LIMIT)?;
    let digest = hex::encode(Sha256::digest(&bytes));
    let text = String::from_utf8(bytes).map_err(|_| FileError::NotText {
        path: path.to_owned(),
    })?;
    let run = evals_metrics::trec::parse_run_of_doubles(&text);
    let run = run.map_err(|source| OutputsError::Trec {
        path: path.to_owned(),
        source,
    })?;
    Ok((run, digest))
}
