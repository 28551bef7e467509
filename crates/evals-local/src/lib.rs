//! Models run in the process.
//!
//! [`StaticEmbedder`] needs no download: its vectors are part of the program. [`WordPiece`] is its tokenizer. All others are read
//! from the files that the hub serves.
//!
//! [`LocalEmbedder`] reads a model's folder: its configuration, its tokenizer, its weights, and how sentence-transformers
//! pools, maps, normalises and prompts. [`LocalReranker`] runs cross-encoders of the same families and language models that
//! answer whether a text is relevant, [`LateInteractionReranker`] models like `ColBERT`, and [`open_reranker`] whichever of
//! these a folder holds.
//!
//! Supported are the families of BERT (all-MiniLM, bge, e5, gte, mxbai, arctic-embed), `RoBERTa`, XLM-RoBERTa
//! (multilingual-e5, bge-m3), `ModernBERT`, nomic-bert, `DeBERTa` v2 and v3 (mxbai-rerank v1), `XLNet`, and the decoders Qwen2
//! and Qwen3 (Qwen3-Embedding, Qwen3-Reranker, mxbai-rerank v2).

mod batches;
mod dense;
mod digest;
mod embedder;
mod encoder;
mod error;
mod families;
mod folder;
mod head;
mod last_token;
mod late_interaction;
mod model;
mod modules;
mod open;
mod pair_reading;
mod pipeline;
mod pooling;
mod projection;
mod prompt;
mod regular_file;
mod reranker;
mod role;
mod scores;
mod scoring;
mod settings;
mod static_embedder;
mod texts;
mod tokenizer_config;
mod tokens;
mod transformer_config;
mod weights;
mod wordpiece;
mod workers;

pub use embedder::LocalEmbedder;
pub use error::{LocalError, WeightsError};
pub use late_interaction::LateInteractionReranker;
pub use open::open_reranker;
pub use reranker::LocalReranker;
pub use settings::{Dtype, LocalSettings, Pooling, RerankPrompt};
pub use static_embedder::{AssetError, StaticEmbedder, StaticModelError};
pub use wordpiece::{VocabularyError, WordPiece};
