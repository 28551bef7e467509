//! Digests of what a case is about.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{CasePart, CaseReport, Domain};

/// Bytes of each digest. 48 bits tell an edited text from the original one; nobody signs anything with them.
const LENGTH: usize = 6;

const PARTS: [CasePart; 3] = [CasePart::Input, CasePart::Expected, CasePart::Metadata];

/// Digests of input, expected output and metadata, joined by hyphens.
pub(super) fn content<D: Domain>(case: &CaseReport<D>) -> String {
    let parts = [
        digest(&case.input),
        digest(&case.expected),
        digest(&case.metadata),
    ];
    parts.join("-")
}

/// The parts in which two contents differ.
pub(crate) fn differing(before: &str, after: &str) -> Vec<CasePart> {
    let mut sides = [before, after].map(|content| content.split('-'));
    let mut differs = |part: &CasePart| {
        let [one, other] = sides.each_mut().map(Iterator::next);
        (one != other).then_some(*part)
    };
    PARTS.iter().filter_map(&mut differs).collect()
}

/// A digest of the JSON of a value.
pub(crate) fn digest(part: &(impl Serialize + ?Sized)) -> String {
    // A value that JSON cannot hold is never in a stored report.
    let mut value = serde_json::to_value(part).unwrap_or(Value::Null);
    // The order of members is no part of the content.
    value.sort_all_objects();
    let digest = Sha256::digest(value.to_string());
    hex::encode(&digest[..LENGTH])
}
