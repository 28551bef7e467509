//! The domain of retrieval-augmented generation: documents are cut into passages, a [`Searcher`] ranks them for a
//! question, and the [`Retrieval`] experiment measures those rankings.
//!
//! This crate knows neither where documents come from (`evals-data`) nor how they are searched (`evals-index`). Both
//! speak its types, so that a live index, a stored run and a test double are the same thing to a benchmark.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::sync::Arc;
//!
//! use evals_metrics::{Judgements, Ranking, ScoredDocument};
//! use evals_rag::retrieval::{self, IdenticalIds};
//! use evals_rag::{Question, Retrieved, SearchError, Searcher};
//!
//! #[derive(Debug)]
//! struct Scripted;
//!
//! #[async_trait::async_trait]
//! impl Searcher for Scripted {
//!     fn profile(&self) -> &str {
//!         "scripted"
//!     }
//!
//!     async fn search(&self, _question: &str, _k: usize) -> Result<Retrieved, SearchError> {
//!         let document = |id: &str, score| ScoredDocument { id: id.to_owned(), score };
//!         let ranking = Ranking::new([document("a", 2.0), document("b", 1.0)]).map_err(SearchError::new)?;
//!         Ok(Retrieved { ranking, ..Retrieved::default() })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let question = Question {
//!     id: "q1".to_owned(),
//!     text: "which document is it?".to_owned(),
//!     answer: None,
//!     answerable: true,
//!     relevant: Judgements::from_iter([("b".to_owned(), 1)]),
//! };
//! let dataset = retrieval::dataset("demo", [question], vec!["RR@5".parse()?])?;
//! let task = retrieval::task(Arc::new(Scripted), NonZeroUsize::new(5).expect("5 is not 0"), IdenticalIds::Keep);
//! let report = evals::Experiment::new(dataset, task).run().await;
//! let summary = report.summary(&evals_metrics::Bootstrap::default());
//! assert_eq!(summary.scores[0].1.value, Some(0.5));
//! # Ok(())
//! # }
//! ```

pub mod answering;
mod call;
mod document;
pub mod estimate;
mod exchange;
#[cfg(test)]
mod fakes;
mod hexadecimal;
pub mod judging;
mod passage;
pub mod prices;
mod prompt;
pub mod qa;
mod question;
pub mod retrieval;
mod search;
mod stage;
pub mod text;

pub use call::{Call, Purpose};
pub use document::Document;
pub use passage::Passage;
pub use prompt::{Prompt, PromptError};
pub use qa::Qa;
pub use question::Question;
pub use retrieval::Retrieval;
pub use search::{Retrieved, SearchError, Searcher};

/// The service time of one stage of a search.
pub use evals::Timing as StageTiming;
