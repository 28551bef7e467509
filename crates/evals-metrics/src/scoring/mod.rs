//! Scores whole files as `trec_eval` does, in parallel and without copying ids.
//!
//! [`Judged`] and [`Ranked`] read judgements and rankings in the forms that people have: TREC, JSON, and CSV or TSV with a
//! header, and take a [`Table`] in memory. [`Request`] is what to report, by the names of ir-measures or `trec_eval`. [`score`] gives the value of each
//! [`Statistic`] for each query, and [`Scores::summary`] one for all queries, as `trec_eval` averages or adds them up.
//! [`trec_eval_layout`] prints them as `trec_eval` does.
//!
//! ```
//! use evals_metrics::scoring::{Judged, Options, Ranked, Request, score};
//!
//! let qrels = Judged::read("q1 0 a 1\nq1 0 b 0\n")?;
//! let run = Ranked::read("q1 Q0 b 1 9.5 demo\nq1 Q0 a 2 9.25 demo\n")?;
//! let request = Request::parse(["map", "P.1,2", "num_ret"])?;
//! let scores = score(&qrels, &run, &request, &Options::default())?;
//! let values: Vec<_> = (0..4).map(|column| scores.summary(column).number()).collect();
//! assert_eq!(values, [Some(0.5), Some(0.0), Some(0.5), Some(2.0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod changes;
mod delimited;
mod error;
mod families;
mod ids;
mod json;
mod layout;
mod line_fields;
mod query_scores;
mod request;
mod rows;
mod scorer;
mod scores;
mod short_decimal;
mod source;
mod statistic;
mod table;
mod trec_lines;

pub use changes::{RunChange, RunChanges, have_same_queries};
pub use error::ScoringError;
pub use layout::{TrecEvalLayout, trec_eval_layout};
pub use request::{Column, Options, Request};
pub use rows::File;
pub use scorer::{GradedQuery, score, score_graded};
pub use scores::{Scores, Summary};
pub use source::{Form, Judged, Ranked};
pub use statistic::{Count, Statistic, Utility};
pub use table::{Table, TableBuilder};
