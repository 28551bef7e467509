//! Numbers that JSON cannot hold: what the messages say of them.

use crate::error::YamlError;
use crate::node::Place;

/// The error of a number that is not finite.
pub(crate) fn not_finite(text: &str, place: Place) -> YamlError {
    place.error(format!(
        "`{text}` is no finite number, and JSON, in which cases are sent and stored, has no other; write `null`, or put it into quotes"
    ))
}

/// The warning of an integer that loses digits.
pub(crate) fn rounded(text: &str, number: &serde_json::Number, place: Place) -> YamlError {
    place.error(format!(
        "the integer `{text}` does not fit into 64 bits and is read as {number}; put it into quotes to keep its digits"
    ))
}
