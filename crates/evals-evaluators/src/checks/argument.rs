//! Arguments that several checks have.

use serde_json::json;

use crate::Parameter;

pub(super) use crate::argument::{ArgumentError, flag, text, texts};

/// The parameter that says whether calls that failed count.
pub(super) fn include_failed(default: bool) -> Parameter {
    Parameter::optional(
        "include_failed",
        json!(default),
        json!({"type": "boolean"}),
        "Whether calls that ended in an error count too.",
    )
}
