//! The tokenizer that comes with a model, as `tokenizer.json` and `tokenizer_config.json` describe it.

mod config;
mod encoded;
mod tokens;

pub(crate) use encoded::Encoded;
pub(crate) use tokens::Tokens;
