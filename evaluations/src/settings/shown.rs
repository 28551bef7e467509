//! Settings as they are shown and stored: without credentials.

use evals_providers::redacted_fields;
use serde::{Serialize as _, Serializer};
use serde_json::{Map, Value};

use crate::redaction;

/// Writes an address, for `config show` and for a run's manifest.
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

/// Writes further fields of a request.
pub(super) fn serialize_fields<S: Serializer>(
    fields: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    redacted_fields(fields).serialize(serializer)
}
