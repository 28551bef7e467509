//! Models behind small traits, and the types that they exchange.
//!
//! A [`ChatModel`] replies to a conversation, an [`Embedder`] turns texts into vectors, a [`Reranker`] scores texts for a query, and a
//! [`Tokenizer`] counts tokens. A [`ModelIdentity`] names exactly which model produced a vector, so that an index is never searched
//! with the vectors of another model.
//!
//! The models themselves are in other crates: those behind servers in `evals-providers`, those run in the process in `evals-local`.
//! `evals-stores` puts a store in front of either.
//!
//! ```
//! use async_trait::async_trait;
//! use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, TextKind};
//!
//! /// Counts vowels. Counts start at 1, because a vector of zeros has no direction.
//! #[derive(Debug)]
//! struct Vowels(ModelIdentity);
//!
//! #[async_trait]
//! impl Embedder for Vowels {
//!     fn identity(&self) -> &ModelIdentity {
//!         &self.0
//!     }
//!     fn dimension(&self) -> usize {
//!         5
//!     }
//!     fn max_tokens(&self) -> Option<usize> {
//!         None
//!     }
//!     async fn embed(&self, texts: &[&str], _kind: TextKind) -> Result<Embeddings, EmbedError> {
//!         let count = |text: &str, vowel| f32::from(u8::try_from(text.matches(vowel).count()).unwrap_or(u8::MAX)) + 1.0;
//!         let values = texts.iter().flat_map(|text| "aeiou".chars().map(move |vowel| count(text, vowel))).collect();
//!         Ok(Embeddings::new(5, values)?)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), EmbedError> {
//! let model = Vowels(ModelIdentity::new("example", "vowels"));
//! let embeddings = model.embed(&["banana", "kiwi"], TextKind::Document).await?;
//! assert_eq!(embeddings.row(1), Some([1.0, 1.0, 3.0, 1.0, 1.0].as_slice()));
//! # Ok(())
//! # }
//! ```

mod chat;
mod credential_fields;
mod direction;
mod embedder;
mod embeddings;
mod error;
mod identity;
mod lone_surrogate;
mod reranker;
mod tokenizer;
pub mod wording;

pub use chat::{
    ChatModel, ChatReply, ChatRequest, Finish, Message, ReplySchema, Role, Served, Tool, ToolCall,
    ToolCallReference, Usage, object_schema,
};
pub use credential_fields::{redacted, redacted_fields};
pub use direction::{NoDirection, check_direction};
pub use embedder::{Embedder, TextKind};
pub use embeddings::{Embeddings, RowOrigin, ShapeError};
pub use error::{ChatError, EmbedError, Failure, RerankError};
pub use identity::ModelIdentity;
pub use lone_surrogate::without_lone_surrogates;
pub use reranker::{Reranked, Reranker};
pub use tokenizer::Tokenizer;
