//! Targets: the systems under test.
//!
//! A [`Target`] answers one [`Request`] with a [`Reply`]. Whether it is a service, a command, a file of answers made
//! elsewhere or a closure makes no difference to the benchmarks. This crate holds what they have in common and the targets
//! that need no HTTP client; `evals-providers` has those behind a server.
//!
//! A closure is a target. It returns what a service would send, and whatever it leaves out is undefined in the report:
//!
//! ```
//! use evals_targets::{FnTarget, Inputs, Reply, ReplyDocument, Request, Target, TargetError};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), TargetError> {
//! let target = FnTarget::new("my search", |request: Request| async move {
//!     let Inputs::Question(question) = request.inputs else {
//!         return Ok(Reply::default());
//!     };
//!     let found = ReplyDocument { id: Some("france".to_owned()), ..ReplyDocument::default() };
//!     Ok(Reply {
//!         answer: (question == "What is the capital of France?").then(|| json!("Paris")),
//!         documents: Some(vec![found]),
//!         ..Reply::default()
//!     })
//! });
//!
//! let reply = target.ask(&Request::question("q1", "What is the capital of France?")).await?;
//! assert_eq!(reply.answer, Some(json!("Paris")));
//! assert_eq!(target.identity().to_string(), "fn:my search");
//! # Ok(())
//! # }
//! ```
//!
//! A command is one too. [`ExecTarget`] keeps its process and sends it a line of JSON for each request:
//!
//! ```no_run
//! use evals_targets::process::{WorkerCommand, WorkerOptions};
//! use evals_targets::{ExecTarget, ResponseSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let command = WorkerCommand::new("python my_rag.py");
//! let target = ExecTarget::new(command, WorkerOptions::default(), &ResponseSettings::default())?;
//! # Ok(())
//! # }
//! ```

mod address;
mod chat;
mod closure;
mod embedding;
mod exec;
mod mapping;
mod outputs;
pub mod process;
mod recorded;
mod reply;
mod request_template;
mod settings;
mod target;
mod template;
mod turn;

pub use address::{AddressError, TargetAddress};
pub use chat::ChatTarget;
pub use closure::FnTarget;
pub use embedding::EmbeddingTarget;
pub use exec::ExecTarget;
pub use mapping::{Event, EventDecoder, Mapping, MappingError, StreamReader, StreamState};
pub use outputs::{OutputRow, Outputs, OutputsError, OutputsTarget, RowProblem};
pub use recorded::{Payment, RecordedTarget, ReplyFile, Resumption};
pub use reply::{Reply, ReplyDocument, ToolCall};
pub use request_template::{BodyTemplate, FilledBody, Parameter};
pub use settings::{
    Body, ColumnSettings, Expanded, MatchBy, MatchSettings, PostgresAddress, PromptSource,
    ResponseSettings, SettingsProblem, StreamSettings, TargetSettings, UsageSettings, Written,
};
pub use target::{Conversation, Inputs, Request, Target, TargetError, TargetIdentity};
pub use template::{JsonTemplate, Template, TemplateError};
pub use turn::Turn;

/// The example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/targets-reference.md")]
struct Guide;
