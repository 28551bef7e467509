//! Builds the bundled sample datasets from their YAML sources.
//!
//! ```text
//! cargo run -p evals-data --example build_samples
//! ```
//!
//! reads `datasets/sample/*.yaml` and `datasets/sample-support/*.yaml` and writes the parquet files beside those folders.
//! The same sources give the same bytes.

mod columns;
mod error;
mod sources;
mod stories;
mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use error::SampleError;
use stories::Stories;
use support::Support;

fn main() -> ExitCode {
    let datasets = std::env::args_os()
        .nth(1)
        .map_or_else(default_folder, PathBuf::from);
    match build(&datasets) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a tool's error belongs on stderr")]
            {
                eprintln!("error: {error}");
            }
            ExitCode::from(2)
        }
    }
}

fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets")
}

fn build(datasets: &Path) -> Result<(), SampleError> {
    let stories = Stories::read(&datasets.join("sample"))?;
    let support = Support::read(&datasets.join("sample-support"))?;
    let files = [
        ("sample.parquet", stories.parquet()?),
        (
            "sample-support-articles.parquet",
            support.articles_parquet()?,
        ),
        (
            "sample-support-questions.parquet",
            support.questions_parquet()?,
        ),
    ];
    for (name, bytes) in files {
        let path = datasets.join(name);
        std::fs::write(&path, bytes).map_err(|source| SampleError::File { path, source })?;
    }
    Ok(())
}
