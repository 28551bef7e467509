//! The domain of retrieval-augmented generation: documents are cut into passages, a [`Searcher`] ranks them for a
//! question, an [`Answerer`](answering::Answerer) answers from them, and a [`Judge`](judging::Judge) compares the answer
//! with a reference. The [`Retrieval`] experiment measures the rankings, the [`Qa`] experiment the answers.
//!
//! This crate knows neither where documents come from (`evals-data`) nor how they are searched (`evals-index`). Both use its
//! types, so a benchmark cannot tell a live index from a stored run or a test double. Models are behind the traits of
//! `evals-models`.
//!
//! # Rankings
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
//!     accepted: Vec::new(),
//!     answerable: true,
//!     relevant: Judgements::from_iter([("b".to_owned(), 1)]),
//!     evidence: Vec::new(),
//!     nuggets: Vec::new(),
//!     turn: None,
//!     user: None,
//!     cluster: None,
//!     metadata: serde_json::Map::new(),
//! };
//! let dataset = retrieval::dataset("demo", [question], vec!["RR@5".parse()?])?;
//! let task = retrieval::task(Arc::new(Scripted), NonZeroUsize::new(5).expect("5 is not 0"), IdenticalIds::Keep);
//! let report = evals::Experiment::new(dataset, task).run().await;
//! let summary = report.summary(&evals_metrics::Bootstrap::default());
//! assert_eq!(summary.scores[0].1.value, Some(0.5));
//! # Ok(())
//! # }
//! ```
//!
//! # Answers
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use evals_metrics::Judgements;
//! use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Finish, ModelIdentity, Served, Usage};
//! use evals_rag::answering::{ChatAnswerer, Refusals};
//! use evals_rag::judging::OverlapJudge;
//! use evals_rag::qa::{self, CitationPrecision, Equivalence, Settings};
//! use evals_rag::{Passage, Question, Retrieved, SearchError, Searcher};
//!
//! #[derive(Debug)]
//! struct OnePassage;
//!
//! #[async_trait::async_trait]
//! impl Searcher for OnePassage {
//!     fn profile(&self) -> &str {
//!         "one passage"
//!     }
//!
//!     async fn search(&self, _question: &str, _k: usize) -> Result<Retrieved, SearchError> {
//!         let text = "The Stormwick carries 450 passengers.".to_owned();
//!         let passage = Passage { document: "ferry".to_owned(), title: None, ordinal: 0, text, score: 1.0 };
//!         Ok(Retrieved { passages: vec![passage], ..Retrieved::default() })
//!     }
//! }
//!
//! /// Stands for a language model; those behind Ollama and OpenAI's protocol are in `evals-providers`.
//! #[derive(Debug)]
//! struct Parrot(ModelIdentity);
//!
//! #[async_trait::async_trait]
//! impl ChatModel for Parrot {
//!     fn identity(&self) -> &ModelIdentity {
//!         &self.0
//!     }
//!
//!     fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
//!         serde_json::Map::new()
//!     }
//!
//!     async fn chat(&self, _request: &ChatRequest) -> Result<ChatReply, ChatError> {
//!         Ok(ChatReply {
//!             text: "450 passengers [1].".to_owned(),
//!             tool_calls: Vec::new(),
//!             reasoning: None,
//!             finish: Finish::Stop,
//!             usage: Usage::default(),
//!             served: Served { service_time: Duration::from_millis(900), attempts: 1, cached: false, batched: false },
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let question = Question {
//!     id: "q1".to_owned(),
//!     text: "How many passengers does the Stormwick carry?".to_owned(),
//!     answer: Some("450".to_owned()),
//!     accepted: Vec::new(),
//!     answerable: true,
//!     relevant: Judgements::from_iter([("ferry".to_owned(), 1)]),
//!     evidence: Vec::new(),
//!     nuggets: Vec::new(),
//!     turn: None,
//!     user: None,
//!     cluster: None,
//!     metadata: serde_json::Map::new(),
//! };
//! let dataset = qa::dataset("demo", [question])?
//!     .evaluator(Equivalence::new(Arc::new(OverlapJudge::default())))
//!     .evaluator(CitationPrecision);
//!
//! let model = Arc::new(Parrot(ModelIdentity::new("example", "parrot")));
//! let answerer = ChatAnswerer::new(model, Refusals::default());
//! let passages = NonZeroUsize::new(5).expect("5 is not 0");
//! let task = qa::task(Arc::new(OnePassage), Arc::new(answerer), Settings::new(passages));
//!
//! let report = evals::Experiment::new(dataset, task).run().await;
//! let case = &report.cases[0];
//! assert_eq!(case.outcome("equivalent").map(|outcome| &outcome.value), Some(&evals::Value::Assertion(true)));
//! assert_eq!(case.score("citation AP"), Some(1.0));
//! # Ok(())
//! # }
//! ```

pub mod answering;
mod call;
mod case_fields;
mod conversation;
mod document;
mod ending;
pub mod estimate;
mod evidence;
mod exchange;
mod failures;
pub mod judging;
mod missing;
pub mod prices;
mod prompt;
pub mod qa;
mod question;
pub mod rag_judges;
mod reply_object;
pub mod reranking;
pub mod retrieval;
mod rewriting;
mod search;
mod shown;
mod simulated_user;
pub mod targets;
#[cfg(test)]
mod tests;
pub mod text;
mod vector_search;
mod writing;

pub use call::{Call, Purpose, record as record_calls, unsigned_verdicts};
pub use conversation::{AskedAs, Queries, TURNS_JUDGED, asking_as, messages_before, said_before};
pub use document::{Chunk, Document, Passage};
pub use ending::Ending;
pub use evidence::{EvidenceSpan, FoldedText};
pub use failures::AfterCalls;
pub use missing::Missing;
pub use prompt::{Prompt, PromptError};
pub use qa::Qa;
pub use question::{Nugget, Question, UserPart};
pub use retrieval::Retrieval;
pub use rewriting::Rewriter;
pub use search::{Retrieved, SearchError, Searcher, ranking_in_order};
pub use simulated_user::SimulatedUser;
pub use vector_search::{VectorSearch, VectorSearchError, VectorSearchKind};

/// The place of a question in a conversation.
pub use evals_targets::Turn;

/// The service time of one stage of a search.
pub use evals::Timing as StageTiming;
