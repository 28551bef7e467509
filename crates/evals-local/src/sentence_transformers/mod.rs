//! The files in which sentence-transformers states how a model reads texts and turns them into vectors.

mod pipeline;
mod prompts;
mod transformer_config;

pub(crate) use pipeline::Pipeline;
pub(crate) use prompts::Prompts;
pub(crate) use transformer_config::{Output, TransformerConfig, file as transformer_file};
