//! TREC's text files for judgements (*qrels*) and rankings (*run*), which all tools of the field
//! read.
//!
//! ```text
//! qrels: query iteration document grade               q1 0 doc-7 1
//! run:   query Q0 document rank score tag             q1 Q0 doc-7 1 12.75 bm25
//! ```
//!
//! Fields are separated by any number of spaces and tabs; lines end with `\n` or `\r\n`, and a `\r`
//! alone is refused, because tools disagree whether it ends a line; empty lines, comments (lines that begin with
//! `#`, as in `trec_eval` 10) and a byte order mark are skipped. The iteration, `Q0`, rank and
//! tag of a file are ignored, as `trec_eval` ignores them: the order comes from the scores. Written
//! files read back the same everywhere, because only [plain ids](is_plain_id) are written.
//!
//! ```
//! use evals_metrics::trec;
//!
//! let qrels = trec::parse_qrels("q1 0 a 1\nq1 0 b 0\n")?;
//! let run = trec::parse_run("q1 Q0 b 1 9.5 demo\nq1 Q0 a 2 9.25 demo\n")?;
//! assert_eq!(qrels.get("q1").and_then(|judgements| judgements.grade("a")), Some(1));
//! assert_eq!(run["q1"].len(), 2);
//!
//! let error = trec::parse_run("q1 Q0 b 1 high demo\n").unwrap_err();
//! assert_eq!(error.to_string(), "line 1: `high` is not a score; expected a number such as `12.5`");
//! # Ok::<(), evals_metrics::trec::ParseError>(())
//! ```

mod error;
mod line;
mod qrels;
mod run;

pub(crate) use line::refuse_lone_returns;

pub use error::{ParseError, WriteError};
pub use line::is_plain_id;
pub use qrels::{parse_qrels, write_qrels};
pub use run::{parse_run, parse_run_of_doubles, write_run};
