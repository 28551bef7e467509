//! What an evaluation is about: the types of its inputs and outputs.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that a case or a report can hold.
///
/// Implemented for every type that meets the bounds; nobody implements it by hand.
pub trait Payload: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static {}

impl<T> Payload for T where T: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static {}

/// The four types that one kind of evaluation works with, under one name, and what its means are called.
///
/// Datasets, evaluators and reports are generic over a single domain instead of four parameters. The implementing type is
/// a marker without content:
///
/// ```
/// #[derive(Clone, Copy, Debug)]
/// struct Translation;
///
/// impl evals::Domain for Translation {
///     type Input = String;
///     type Output = String;
///     type Expected = String;
///     type Metadata = ();
/// }
/// ```
///
/// Floating-point numbers inside these types should be finite: JSON has no other, and a report that holds one does not
/// read back.
pub trait Domain: Copy + Debug + Send + Sync + 'static {
    /// What the task is given.
    type Input: Payload;
    /// What the task returns.
    type Output: Payload;
    /// What a good output is compared with.
    type Expected: Payload;
    /// What else is known about a case; `()` when nothing is.
    type Metadata: Payload;

    /// What tables call the mean of a score, where people know it by another name than the score of one case: the mean of
    /// `RR@10` is known as `MRR@10`. Files keep the name of the score.
    fn mean_title(_score: &str) -> Option<String> {
        None
    }
}
