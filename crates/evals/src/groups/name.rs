//! The names of groups, from values of metadata.

use serde_json::Value;

/// The name of the group of cases without a value.
pub const NO_GROUP: &str = "(none)";

/// The name of the group that a value of metadata stands for: a text itself, and the JSON of any other value. A missing value, null
/// and the empty text stand for [`NO_GROUP`].
///
/// ```
/// use serde_json::json;
///
/// assert_eq!(evals::group_name(Some(&json!("Sports"))), "Sports");
/// assert_eq!(evals::group_name(Some(&json!(2024))), "2024");
/// assert_eq!(evals::group_name(None), evals::NO_GROUP);
/// ```
pub fn group_name(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => NO_GROUP.to_owned(),
        Some(Value::String(text)) if text.is_empty() => NO_GROUP.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
