//! An evaluation framework: datasets, cases, evaluators, reports.

mod case;
mod comparison;
mod context;
mod dataset;
mod domain;
mod evaluator;
mod event;
mod experiment;
mod failure;
mod in_order;
mod naming;
mod number;
mod outcome;
mod recording;
pub mod render;
mod report;
mod seconds;
mod summary;
mod task;

pub use case::{Case, CaseId};
pub use comparison::{Cell, Comparison, Direction, Row, Unit};
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
pub use summary::{LabelShares, PassRate, Summary};
pub use task::{TaskError, TaskScope};
