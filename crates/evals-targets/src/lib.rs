//! Targets: the systems under test.
//!
//! A [`Target`] answers one [`Request`] with a [`Reply`]. Whether it is a service, a command, a file of answers made
//! elsewhere or a closure makes no difference to the benchmarks. This crate holds what they have in common and the targets
//! that need no HTTP client; `evals-providers` has those behind a server.

mod address;
mod chat;
mod closure;
mod error;
mod exec;
mod mapping;
mod outputs;
pub mod process;
mod recorded;
mod recording;
mod reply;
mod request;
mod request_template;
mod settings;
mod target;
mod template;

pub use address::{AddressError, TargetAddress};
pub use chat::ChatTarget;
pub use closure::FnTarget;
pub use error::TargetError;
pub use exec::ExecTarget;
pub use mapping::{Event, EventDecoder, Mapping, MappingError, StreamReader, StreamState};
pub use outputs::{OutputRow, Outputs, OutputsError, OutputsTarget, RowProblem};
pub use recorded::{RecordedTarget, ReplyFile, Resumption};
pub use reply::{Reply, ReplyDocument, ToolCall};
pub use request::{Inputs, Request};
pub use request_template::{BodyTemplate, FilledBody, Parameter};
pub use settings::{
    Body, Expanded, MatchBy, MatchSettings, PromptSource, ResponseSettings, SettingsProblem,
    StreamSettings, TargetSettings, UsageSettings, Written,
};
pub use target::{Target, TargetIdentity};
pub use template::{JsonTemplate, Template, TemplateError};

/// The example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/targets.md")]
struct Guide;
