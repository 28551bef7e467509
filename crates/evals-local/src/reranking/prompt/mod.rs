//! The question to a language model about a query and a text, and the answers that count.

mod authors;
mod pair;
mod question;
mod template;
mod template_source;

pub(super) use pair::Prompt;
pub(super) use question::{Answers, Question};
