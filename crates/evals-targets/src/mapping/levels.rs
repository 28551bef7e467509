//! How deep replies may nest.

use serde_json::Value;

use super::MappingError;

/// The most levels of lists and objects in a reply. Files of replies and reports nest a reply in their own objects, and no JSON of more
/// than 127 levels is read back from them.
pub(super) const MOST_LEVELS: usize = 100;

/// Refuses a reply that nests deeper.
pub(super) fn check(reply: &Value) -> Result<(), MappingError> {
    if fit(reply) {
        Ok(())
    } else {
        Err(MappingError::new(problem(), reply))
    }
}

/// Whether a value nests no deeper.
pub(super) fn fit(value: &Value) -> bool {
    fit_in(value, MOST_LEVELS)
}

/// What is wrong with a reply that nests deeper.
pub(super) fn problem() -> String {
    format!("the reply is nested more than {MOST_LEVELS} levels deep")
}

fn fit_in(value: &Value, levels: usize) -> bool {
    let inner = || levels.checked_sub(1);
    match value {
        Value::Array(values) => {
            inner().is_some_and(|levels| values.iter().all(|value| fit_in(value, levels)))
        }
        Value::Object(fields) => {
            inner().is_some_and(|levels| fields.values().all(|value| fit_in(value, levels)))
        }
        _ => true,
    }
}
