//! Built-in evaluators by name, and the dataset files that name them, in the format of pydantic-evals.
//!
//! [`Untyped`] is the domain of such files. A [`Registry`] knows evaluators by name: it binds the arguments of an
//! [`EvaluatorSpec`](evals::EvaluatorSpec) to a [`Signature`] and builds the evaluator. A Rust program registers its own
//! evaluators beside the built-in ones: [`Entry::check`] takes a closure, [`Entry::case`] anything that implements
//! [`Evaluator`](evals::Evaluator). The example `custom_evaluator` shows both.
//!
//! A dataset file with an evaluator of one's own, and a closure as the system under test:
//!
//! ```
//! use std::path::Path;
//!
//! use evals::{Experiment, TaskError};
//! use evals_evaluators::{DatasetFile, Entry, FileFormat, Finding, Registry, Resources};
//! use evals_metrics::Bootstrap;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::built_in().with(Entry::check(
//!     "Short",
//!     "Passes if the answer has at most three words.",
//!     |context| {
//!         let words = context.output.as_str().unwrap_or_default().split_whitespace().count();
//!         Finding::passed(words <= 3).because(format!("{words} words"))
//!     },
//! ));
//! // `DatasetFile::open` reads a file.
//! let text = "
//! cases:
//! - {name: france, inputs: France, expected_output: Paris}
//! - {name: peru, inputs: Peru, expected_output: Lima}
//! evaluators: [EqualsExpected, Short]
//! ";
//! let path = Path::new("capitals.yaml");
//! let loaded = DatasetFile::read(text, FileFormat::Yaml, path, &registry, &Resources::default())?;
//!
//! let experiment = Experiment::new(loaded.dataset, async |case, _scope| match case.input.as_str() {
//!     Some("France") => Ok("Paris".into()),
//!     Some("Peru") => Ok("The capital of Peru is Lima.".into()),
//!     _ => Err(TaskError::new("it is not on the map")),
//! });
//! let report = experiment.run().await;
//!
//! let summary = report.summary(&Bootstrap::default());
//! let passed = |name: &str| summary.assertions.iter().find(|(it, _)| it == name).and_then(|(_, mean)| mean.value);
//! assert_eq!((passed("EqualsExpected"), passed("Short")), (Some(0.5), Some(0.5)));
//! assert_eq!(report.cases[1].outcomes[1].reason.as_deref(), Some("6 words"));
//! # Ok(())
//! # }
//! ```

mod analyses;
mod built_in;
mod checks;
mod evaluation;
mod exec;
mod files;
mod finding;
mod judge_prompts;
mod judged;
mod judges;
mod negation;
pub mod pydantic_report;
mod python;
mod rag;
mod registry;
mod result_keys;
mod signature;
mod spans;
mod spec_value;
mod untyped;
mod wanted_models;

pub use files::{
    DatasetFile, DatasetFileError, FileCase, FileEvaluator, FileFormat, Loaded, Problem, Problems,
    schema, schema_beside,
};
pub use finding::Finding;
pub use judge_prompts::JudgePrompts;
pub use rag::{JudgePool, documents_listed, judge_calls, judge_votes};
pub use registry::{
    BuildError, Built, ChatModels, Entry, Registry, RegistryError, Resources, WantedModel,
};
pub use signature::{ArgumentError, Arguments, Parameter, Signature, SignatureError};
pub use spans::{SpanQuery, SpanQueryError};
pub use untyped::Untyped;
