//! Models run in the process: the embedded static embedder, and transformers from the files that the hub serves.
//!
//! [`LocalEmbedder`] loads a model's folder: its configuration, its tokenizer and its weights, and the files in which
//! sentence-transformers states pooling, projections, normalisation and prompts. [`open_reranker`] loads whichever kind of
//! reranker a folder holds: a cross-encoder, a language model asked whether a text is relevant, or a late-interaction model such as
//! `ColBERT`. [`Family`] lists the architectures that can run.
//!
//! [`StaticEmbedder`] needs no files: its vectors and its tokenizer, [`WordPiece`], are part of the binary.

mod digest;
mod embedder;
mod encoder;
mod error;
mod families;
mod family;
mod folder;
mod model;
mod reranking;
mod role;
mod sentence_transformers;
mod settings;
mod static_embedder;
mod tokenizer;
mod vectors;
mod weights;
mod wordpiece;
mod workers;

pub use embedder::LocalEmbedder;
pub use error::LocalError;
pub use family::Family;
pub use reranking::open_reranker;
pub use settings::{Dtype, LocalSettings, Pooling, RerankPrompt};
pub use static_embedder::{StaticEmbedder, StaticModelError};
pub use wordpiece::{VocabularyError, WordPiece};
