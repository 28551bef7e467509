//! Keeps credentials out of settings that are printed or stored.

use evals_providers::redacted_fields;
use serde::{Serialize as _, Serializer};
use serde_json::{Map, Value};

use crate::redaction;

/// Writes an address without its user name and password.
#[expect(clippy::ref_option, reason = "the signature is serde's")]
pub(super) fn serialize<S: Serializer>(
    address: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => serializer.serialize_some(&redaction::address(address)),
        None => serializer.serialize_none(),
    }
}

/// Writes fields of a request with credentials redacted.
pub(super) fn serialize_fields<S: Serializer>(
    fields: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    redacted_fields(fields).serialize(serializer)
}
