//! An evaluation framework: run a task over a dataset, judge every output, report the results.
//!
//! A [`Domain`] names the types of an evaluation. A [`Dataset`] holds [`Case`]s and [`Evaluator`]s, an [`Experiment`] runs a
//! task over it, and the [`Report`] holds every case with its [`Outcome`]s. A [`Summary`] aggregates a report, a
//! [`Comparison`] puts several side by side, a [`Change`] tests how the same cases changed between two, and [`render`]
//! prints them.
//!
//! ```
//! use async_trait::async_trait;
//! use evals::render::Console;
//! use evals::{Case, Context, Dataset, Domain, Evaluator, EvaluatorError, Experiment, Outcome};
//! use evals_metrics::Bootstrap;
//!
//! #[derive(Clone, Copy, Debug)]
//! struct Capitals;
//!
//! impl Domain for Capitals {
//!     type Input = String;
//!     type Output = String;
//!     type Expected = String;
//!     type Metadata = ();
//! }
//!
//! #[derive(Debug)]
//! struct Exact;
//!
//! #[async_trait]
//! impl Evaluator<Capitals> for Exact {
//!     fn name(&self) -> &str {
//!         "exact"
//!     }
//!
//!     async fn evaluate(&self, context: &Context<'_, Capitals>) -> Result<Vec<Outcome>, EvaluatorError> {
//!         let passed = context.case.expected.as_ref() == Some(context.output);
//!         Ok(vec![Outcome::assertion("exact", passed)])
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cases = [
//!     Case::new("france", "France".to_owned()).expecting("Paris".to_owned()),
//!     Case::new("kenya", "Kenya".to_owned()).expecting("Nairobi".to_owned()),
//!     Case::new("atlantis", "Atlantis".to_owned()),
//! ];
//! let dataset = Dataset::new("capitals", cases)?.evaluator(Exact);
//!
//! let experiment = Experiment::new(dataset, |case, _scope| async move {
//!     match case.input.as_str() {
//!         "France" => Ok("Paris".to_owned()),
//!         "Kenya" => Ok("Mombasa".to_owned()),
//!         country => Err(evals::TaskError::new(format!("`{country}` is not on the map"))),
//!     }
//! });
//! let report = experiment.run().await;
//!
//! let summary = report.summary(&Bootstrap::default());
//! let (name, exact) = &summary.assertions[0];
//! assert_eq!((name.as_str(), exact.value, exact.n), ("exact", Some(0.5), 2));
//! assert_eq!(exact.excluded["task failed"], 1);
//!
//! let mut page = Vec::new();
//! Console::default().report(&mut page, &report, &summary)?;
//! assert!(String::from_utf8(page)?.contains("atlantis: `Atlantis` is not on the map"));
//! # Ok(())
//! # }
//! ```
//!
//! # Rules
//!
//! - Errors, panics and numbers that are not finite, from a task or an evaluator, are data of the case and do not end the
//!   run. Only a failure that would repeat in every other case ends it, and the running cases finish first. An observer that
//!   panics gets no further events; the run goes on.
//! - A measure is all outcomes of one evaluator with one name. If two evaluators use the same name, the whole run numbers
//!   the second one, so results of different evaluators never mix.
//! - An undefined value is [`Value::Undefined`] with a reason, never 0 or NaN. Each mean states its number of cases and how
//!   many were excluded, and why.
//! - Results come in dataset order, and equal outcomes give equal output to the byte, timings apart.
//! - Memory grows with the number of finished cases, not with the number of remaining ones.

mod analysis;
mod by_people;
mod case;
mod case_field;
mod case_table;
mod change;
mod clusters;
mod comparison;
mod dataset;
mod difference;
mod direction;
mod domain;
mod event;
mod evidence;
mod experiment;
mod failure;
mod gate;
mod gist;
mod groups;
mod journal;
mod json;
mod lifecycle;
mod measured;
mod naming;
mod number;
mod outcome;
mod pair_testing;
mod probability;
mod recording;
mod regression;
pub mod render;
mod report;
mod snapshot;
mod span;
mod standings;
mod stop;
mod summary;
mod task;
mod unit;

pub use analysis::{
    Analysis, LinePlotCurve, LinePlotPoint, LineStep, LineStyle, PrecisionRecallCurve,
    PrecisionRecallPoint, ReportEvaluator,
};
pub use by_people::ByPeople;
pub use case::{
    Case, CaseId, Concern, Context, DerivedIds, Evaluator, EvaluatorError, EvaluatorSpec,
    SpecArguments,
};
pub use case_field::{CaseField, case_fields};
pub use case_table::{CaseRow, CaseTable};
pub use change::{
    CaseChange, CasePart, Change, ChangedCase, ChangedGroup, ChangedGroups, MeasureChange,
    test_names,
};
pub use clusters::{ClusterCounts, ClusterKey, ClusterKeyError, ClusterTraits, DesignEffect};
pub use comparison::{Cell, ComparedReport, Comparison, Row};
pub use dataset::{Dataset, DatasetError};
pub use difference::{Difference, differences};
pub use direction::Direction;
pub use domain::{Domain, Payload};
pub use event::{Event, Observer};
pub use evidence::{Evidence, Vote};
pub use experiment::{CaseTimeout, Experiment, Retry};
pub use failure::{EvaluatorFailure, FailureKind, ReportEvaluatorFailure, TaskFailure};
pub use gate::{
    AgreementCheck, Allowance, CheckNumbers, DropCheck, Gate, GateBound, GateCheck, GateError,
    GateReport, GateTrial, GateVerdict, GatedRun, LimitCheck, MeasureNames, Noise, POWER, Rule,
    RuleError, Share, Strictness, Subject, TrialError, TrialReport, TrialRow, TrialShares,
};
pub use gist::{FirstRelevant, Gist};
pub use groups::{GroupError, NO_GROUP, group_name};
pub use journal::{
    FileJournal, Journal, JournalCase, JournalError, JournalTail, NewCases, RecordFile,
};
pub use lifecycle::{Lifecycle, Prepared};
pub use measured::{PairOutcome, Titled};
pub use outcome::{EvaluatorOrigin, Outcome, Value, ValueKind};
pub use pair_testing::{Adjustment, Family, Finding, PairTest, PairTesting, Verdict};
pub use recording::{Recording, Timing};
pub use report::{
    CaseOutcome, CaseReport, EvaluatorIdentity, Missed, MissedOutcome, Report, ReportCheck,
    ReportPart, RetriedEvaluator, SchemaVersion, TaskResult,
};
pub use snapshot::{CaseValue, Identity, Snapshot, SnapshotCase, SnapshotMeasure};
pub use span::{Span, SpanStatus, SpanTree};
pub use standings::{
    Disagreement, Disagreements, Expenses, GroupStandings, GroupValue, Lead, RankedGroup,
    RankedGroups, RankedMeasure, RankedTime, Standing, Standings, TimePair, TimeStanding, Unshared,
};
pub use stop::StopSignal;
pub use summary::{
    Accuracy, Group, GroupMean, Groups, LabelShares, MeasureSource, MeasureValues,
    MissingRepetitions, PassRate, Summary,
};
pub use task::{FailureClass, TaskError, TaskScope, add_metric, current_scope, set_attribute};
pub use unit::Unit;
