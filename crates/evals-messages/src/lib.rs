//! The wording that all messages share.
//!
//! Every crate reports errors and counts, and some print foreign text. This crate has the few functions that make all of
//! these messages consistent:
//!
//! ```
//! use evals_messages::{chain, mismatch, nearest, quantity, visible};
//!
//! let error = "x".parse::<u32>().unwrap_err();
//! assert_eq!(chain(&error), "invalid digit found in string");
//! assert_eq!(nearest::of("serach", ["run", "search"]), Some("search"));
//! assert_eq!(mismatch::in_json("missing field `id`"), "missing key `id`");
//! assert_eq!(quantity::of(2_u32, "reply"), "2 replies");
//! assert_eq!(visible::line("red: \u{1b}[31m\n"), "red: \\u{1b}[31m\\n");
//! ```

mod chain;
pub mod credential;
pub mod mismatch;
pub mod nearest;
pub mod quantity;
pub mod secrets;
pub mod visible;

pub use chain::{chain, worded};
