//! Checks that numbers are finite before they become JSON. `serde_json` would silently write others as `null`, which cannot
//! be read back as a number.

use std::collections::BTreeMap;

use serde::ser::Error as _;
use serde::{Serialize as _, Serializer};

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.is_finite() {
        serializer.serialize_f64(*number)
    } else {
        Err(S::Error::custom(format_args!(
            "{number} is not a finite number"
        )))
    }
}

pub(crate) fn serialize_all<S: Serializer>(
    numbers: &BTreeMap<String, f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match numbers.iter().find(|(_, number)| !number.is_finite()) {
        Some((name, number)) => Err(S::Error::custom(format_args!(
            "`{name}` is not a finite number: {number}"
        ))),
        None => numbers.serialize(serializer),
    }
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
pub(crate) fn serialize_option<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => serialize(number, serializer),
        None => serializer.serialize_none(),
    }
}
