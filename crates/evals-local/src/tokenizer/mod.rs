//! The tokenizer that comes with a model, as `tokenizer.json` and `tokenizer_config.json` describe it.

mod config;
mod tokens;

pub(crate) use config::special_tokens;
pub(crate) use tokens::{Encoded, Tokens};
