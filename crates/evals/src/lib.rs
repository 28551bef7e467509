//! An evaluation framework: datasets, cases, evaluators, reports.

mod case;
mod context;
mod dataset;
mod domain;
mod evaluator;
mod event;
mod experiment;
mod failure;
mod naming;
mod outcome;
mod recording;
mod report;
mod seconds;
mod task;

pub use case::{Case, CaseId};
pub use context::Context;
pub use dataset::{Dataset, DatasetError};
pub use domain::{Domain, Payload};
pub use evaluator::{Evaluator, EvaluatorError};
pub use event::{Event, Observer};
pub use experiment::Experiment;
pub use failure::{EvaluatorFailure, FailureKind, TaskFailure};
pub use outcome::{Outcome, Value};
pub use recording::{Recording, Timing};
pub use report::{CaseOutcome, CaseReport, Report, SchemaVersion, TaskResult};
pub use task::{TaskError, TaskScope};
