//! Domains: the types of an evaluation's inputs and outputs.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::case_field::{CaseField, case_fields};
use crate::{CaseReport, Gist};

/// A value that a case or a report can hold.
///
/// Implemented for every type that meets the bounds; nobody implements it by hand.
pub trait Payload: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static {}

impl<T> Payload for T where T: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static {}

/// The four types of one kind of evaluation under one name, and the display names of its means.
///
/// Datasets, evaluators and reports are generic over a single domain instead of four parameters. The implementing type is an
/// empty marker:
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
/// Floating-point numbers inside these types should be finite: JSON has no others, and a report that contains one cannot be
/// read again.
pub trait Domain: Copy + Debug + Send + Sync + 'static {
    /// The task's input.
    type Input: Payload;
    /// The task's output.
    type Output: Payload;
    /// The reference that an output is compared with.
    type Expected: Payload;
    /// Further facts about a case; `()` for none.
    type Metadata: Payload;

    /// The name of a score's mean in tables, where it differs from the score's own: the mean of `RR@10` is known as
    /// `MRR@10`. Files keep the name of the score.
    fn mean_title(_score: &str) -> Option<String> {
        None
    }

    /// Facts about a case that reports can be [grouped](crate::Summary::grouped) by, with their names, beside the keys of its metadata. A
    /// key of the metadata hides a fact of the same name. None by default.
    ///
    /// A fact should follow from what the case holds, and not from its result, so that two reports of a case agree on it.
    fn group_facts(_case: &CaseReport<Self>) -> Vec<(&'static str, serde_json::Value)>
    where
        Self: Sized,
    {
        Vec::new()
    }

    /// The documents that are relevant for a case, by which cases can come in [clusters](crate::ClusterKey::Document). None by default.
    fn documents(_expected: Option<&Self::Expected>, _metadata: &Self::Metadata) -> Vec<String> {
        Vec::new()
    }

    /// The parts of a case as people read them, in the order in which they are shown. By default input, output and expected output.
    fn case_fields(case: &CaseReport<Self>) -> Vec<CaseField>
    where
        Self: Sized,
    {
        case_fields(case)
    }

    /// The case in short. By default the expected output and the output.
    fn gist(case: &CaseReport<Self>) -> Gist
    where
        Self: Sized,
    {
        Gist::of(case_fields(case), "expected", "output")
    }

    /// Whether a pass rate of this value says nothing beside the other measures, so that tables for people leave it out. Files keep it.
    /// Never by default.
    fn says_nothing(_measure: &str, _pass_rate: f64) -> bool {
        false
    }
}
