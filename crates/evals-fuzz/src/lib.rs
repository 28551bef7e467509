//! Fuzzing for tests of code that reads foreign input: manifests, tables, runs, replies of a judge.
//!
//! A [`Target`] has seeds, a dictionary of its format's tokens, and a folder of inputs that once broke it. It calls its
//! check with every seed, with every file of that folder, and with mutations of all of them. A check fails by panicking. The
//! target then shrinks the input and writes it to the folder, and later runs begin with it.
//!
//! ```
//! evals_fuzz::Target::new("number", concat!(env!("CARGO_MANIFEST_DIR"), "/corpus"))
//!     .seed("17")
//!     .dictionary(["-", "0x", "1e999"])
//!     .run(|input| {
//!         let text = String::from_utf8_lossy(input);
//!         if let Ok(number) = text.parse::<i64>() {
//!             assert_eq!(number.to_string().parse(), Ok(number));
//!         }
//!     });
//! ```
//!
//! An ordinary test run tries the same few hundred mutations each time. `EVALUATIONS_FUZZ_SECONDS=60` tries other mutations
//! for a minute and prints their seed; `EVALUATIONS_FUZZ_SEED` repeats them.

mod budget;
mod corpus;
mod mutation;
mod target;

pub use target::Target;
