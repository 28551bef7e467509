//! Settings of a target: the section `target:` of settings, manifests and dataset files, or a file of its own.
//!
//! ```
//! use evals_targets::{TargetAddress, TargetSettings};
//! use serde_json::json;
//!
//! let short = TargetSettings::from_value(json!("http://localhost:8000/ask")).unwrap();
//! assert_eq!(short.address, Some(TargetAddress::Http("http://localhost:8000/ask".to_owned())));
//!
//! let problem = TargetSettings::from_value(json!({"response": {"anwser": "$.text"}})).unwrap_err();
//! assert_eq!(problem.key, "response.anwser");
//! assert_eq!(problem.message, "unknown key; did you mean `answer`?");
//! ```

mod check;
mod matching;
mod problem;
mod prompt;
mod reading;
mod response;
mod stream;
mod target_settings;
mod written;

pub use matching::{MatchBy, MatchSettings};
pub use problem::SettingsProblem;
pub use prompt::PromptSource;
pub use response::{ResponseSettings, UsageSettings};
pub use stream::StreamSettings;
pub use target_settings::{Body, TargetSettings};
pub use written::{Expanded, Written};
