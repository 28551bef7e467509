//! Stores of what models returned, so that nobody pays for it twice: [replies], [vectors] and [scores].
//!
//! A store stands in front of any model of its kind, behind a server or in the process: [`replies::CachedChat`],
//! [`vectors::CachedEmbedder`] and [`scores::CachedReranker`] are models themselves. All three keep their results in the same
//! kind of file ([`store`]).

pub mod replies;
pub mod scores;
pub mod store;
pub mod vectors;
