//! Why the samples cannot be built.

use std::path::PathBuf;

use thiserror::Error;

/// Why the sources do not give a sample dataset.
#[derive(Debug, Error)]
pub(crate) enum SampleError {
    /// A folder or file cannot be read or written.
    #[error("cannot use `{}`: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A source does not have the expected shape.
    #[error("{}: {source}", path.display())]
    Yaml {
        path: PathBuf,
        source: Box<serde_saphyr::Error>,
    },
    /// A rule of the sample data is broken.
    #[error("{0}")]
    Rule(String),
    /// The parquet writer failed.
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
    /// The columns do not make a table.
    #[error(transparent)]
    Arrow(#[from] arrow::error::ArrowError),
}

/// `Err` with the message unless the rule holds.
pub(crate) fn rule(holds: bool, message: impl FnOnce() -> String) -> Result<(), SampleError> {
    if holds {
        Ok(())
    } else {
        Err(SampleError::Rule(message()))
    }
}
