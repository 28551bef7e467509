//! The documents that a case judges.

use evals_metrics::Judgements;
use serde_json::Value;

/// A member of the expected output or of the metadata.
pub(crate) fn member<'v>(
    expected: Option<&'v Value>,
    metadata: &'v Value,
    name: &str,
) -> Option<&'v Value> {
    let expected = expected.and_then(|expected| expected.get(name));
    let member = expected
        .filter(|member| !member.is_null())
        .or_else(|| metadata.get(name));
    member.filter(|member| !member.is_null())
}

/// A list of relevant ids, or an object of ids and grades.
pub(crate) fn judgements(value: &Value) -> Option<Judgements> {
    match value {
        Value::Array(ids) => ids.iter().map(|value| Some((id(value)?, 1))).collect(),
        Value::Object(grades) if !grades.is_empty() => {
            let grade = |value: &Value| i32::try_from(value.as_i64()?).ok();
            let grades = grades.iter();
            grades
                .map(|(id, value)| Some((id.clone(), grade(value)?)))
                .collect()
        }
        _ => None,
    }
}

/// An id, which may be written as a whole number.
pub(crate) fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => Some(id.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}
