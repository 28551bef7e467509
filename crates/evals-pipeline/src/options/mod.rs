//! Options of the commands that run cases, and those that several commands share.

mod asking;
mod eval;
mod experiment;
pub mod numbers;
mod pool;
mod questions;
mod rejudge;
mod run;
mod settings;
mod tune;

pub use self::asking::AskingArgs;
pub use self::eval::{EvalArgs, EvalShownArgs, ShownPart};
pub use self::experiment::{Only, SelectionArgs, TargetArgs};
pub use self::pool::PoolArgs;
pub use self::questions::WriteQuestionsArgs;
pub use self::rejudge::RejudgeArgs;
pub use self::run::{ImportArgs, Refresh, RunArgs, VariantArgs};
pub use self::settings::{ModelName, SettingsArgs};
pub use self::tune::TuneArgs;
