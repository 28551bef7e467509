//! The smallest evaluation: a dataset, a task, a check, a table.
//!
//! ```sh
//! cargo run --package evals-evaluators --example hello
//! ```

use std::{error::Error, io, path::Path};

use evals::{Experiment, TaskError, render::Console};
use evals_evaluators::{DatasetFile, FileFormat, Registry, Resources};
use evals_metrics::Bootstrap;

const CAPITALS: &str = "
cases:
  - {name: france, inputs: France, expected_output: Paris}
  - {name: kenya, inputs: Kenya, expected_output: Nairobi}
  - {name: atlantis, inputs: Atlantis}
evaluators: [EqualsExpected]
";

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let (registry, resources) = (Registry::built_in(), Resources::default());
    let path = Path::new("capitals.yaml");
    let file = DatasetFile::read(CAPITALS, FileFormat::Yaml, path, &registry, &resources)?;
    let experiment = Experiment::new(file.dataset, async |case, _scope| {
        match case.input.as_str() {
            Some("France") => Ok("Paris".into()),
            Some("Kenya") => Ok("Mombasa".into()),
            _ => Err(TaskError::new("it is not on the map")),
        }
    });
    let report = experiment.run().await;
    let summary = report.summary(&Bootstrap::default());
    Ok(Console::default().report(io::stdout(), &report, &summary)?)
}
