//! The question to a language model about a query and a text, and the answers that count.

mod answers;
mod authors;
mod choice;
mod jinja;
mod pair;
mod template;
mod template_source;

pub(super) use answers::Answers;
pub(super) use choice::Question;
pub(super) use pair::Prompt;
