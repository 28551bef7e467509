//! Exact nearest neighbours of many questions at once: one pass over the vectors, as a matrix product.
//!
//! A search engine compares one question with every vector, reading all of them from memory again for each question. A [`Pass`]
//! multiplies blocks of vectors with all questions while they are in the processor's cache, which is limited by arithmetic instead of memory.
//!
//! A matrix product adds in another order than an engine, so the last bits of its cosines differ. It therefore only discards: a vector
//! whose approximate cosine is further below a question's k-th best score than [`margin`] allows cannot be among the best. The others
//! get the score of [`Exact::score`], which the caller computes as the engine does. The result is equal to the bit to comparing
//! each question with each vector by that function.
//!
//! [`Sums`] does the same for sums of weights, such as BM25: a list of rows is read once for all questions that have its term.
//!
//! The crate depends on the kernels of `rten-gemm` and on no storage.
//!
//! ```
//! use std::cmp::Ordering;
//! use evals_nearest::{Exact, Hit, Pass};
//!
//! /// Two questions of two dimensions.
//! struct Cosine([[f32; 2]; 2]);
//!
//! impl Exact for Cosine {
//!     fn score(&self, question: usize, vector: &[f32]) -> f32 {
//!         let dot = |a: &[f32], b: &[f32]| a[0] * b[0] + a[1] * b[1];
//!         let question = &self.0[question];
//!         dot(question, vector) / dot(question, question).sqrt() / dot(vector, vector).sqrt()
//!     }
//!
//!     fn order_of_equals(&self, left: u32, right: u32) -> Ordering {
//!         left.cmp(&right)
//!     }
//! }
//!
//! let questions = [[1.0, 0.0], [0.0, 1.0]];
//! let mut pass = Pass::new(questions.as_flattened(), 2, 1, Cosine(questions));
//! pass.add(&[3.0, 1.0, 1.0, 2.0], &[Some(7), Some(8)]);
//! let best: Vec<Vec<Hit>> = pass.finish();
//! assert_eq!([best[0][0].row, best[1][0].row], [7, 8]);
//! ```

mod best;
mod block;
mod margin;
mod pass;
mod questions;
mod scan;
mod sums;

pub use best::{Exact, Hit};
pub use margin::margin;
pub use pass::Pass;
pub use sums::{Summed, Sums};
