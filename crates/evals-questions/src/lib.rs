//! Test sets from documents: questions that a model writes, each with the span of a document that answers it.

pub mod check;
pub mod diversity;
mod drawing;
mod from_log;
mod generation;
mod generator;
mod item;
mod mix;
mod model_filters;
mod passages;
mod plain_filters;
mod prompts;
mod query;
pub mod review;
pub mod set_folder;
#[cfg(test)]
mod tests;

pub use check::Check;
pub use diversity::Diversity;
pub use drawing::{Coverage, first_passages};
pub use from_log::{LogError, questions_of_log};
pub use generator::{GenerateError, GeneratedSet, Generator};
pub use item::{DropReason, Dropped, Item, Kind};
pub use mix::{MixError, QuestionSettings};
pub use plain_filters::PlainFilters;
pub use prompts::QuestionPrompts;
pub use set_folder::{SetError, SetFolder, SetLock};
