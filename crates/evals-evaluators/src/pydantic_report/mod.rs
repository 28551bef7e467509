//! The report model of pydantic-evals: written from a report of ours, and read from its JSON.
//!
//! ```
//! use evals_evaluators::pydantic_report::EvaluationReport;
//!
//! let json = r#"{"name": "task", "cases": [{
//!     "name": "a", "inputs": "hi", "metadata": null, "expected_output": null, "output": "HI",
//!     "metrics": {}, "attributes": {}, "labels": {}, "assertions": {}, "task_duration": 0.1, "total_duration": 0.2,
//!     "scores": {"s": {"name": "s", "value": 0.5, "reason": null, "source": {"name": "S", "arguments": null}}}
//! }]}"#;
//! let report: EvaluationReport = serde_json::from_str(json)?;
//! assert_eq!(report.cases[0].scores.get("s").unwrap().value.as_f64(), Some(0.5));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod conversion;
mod entries;
mod report;
#[cfg(test)]
mod tests;

pub use entries::Entries;
pub use report::{
    EvaluationReport, EvaluationResult, EvaluatorFailure, ReportCase, ReportCaseFailure,
};
