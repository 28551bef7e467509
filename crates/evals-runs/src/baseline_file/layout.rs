//! The layout of a baseline: a line for each setting, each measure and each case, so that a change in version control shows the cases that
//! changed.

use serde_json::Value;

/// Members and items up to this depth start a new line.
const DEPTH: usize = 3;

/// The document as text.
pub(super) fn document(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(members) if depth + 1 < DEPTH && !members.is_empty() => {
            let members = members.iter().map(|(name, value)| {
                let name = Value::from(name.as_str());
                (format!("{name}: "), value)
            });
            lines(['{', '}'], members, depth, text);
        }
        Value::Array(items) if depth < DEPTH && !items.is_empty() => {
            let items = items.iter().map(|value| (String::new(), value));
            lines(['[', ']'], items, depth, text);
        }
        other => text.push_str(&other.to_string()),
    }
}

fn lines<'v>(
    [open, close]: [char; 2],
    parts: impl Iterator<Item = (String, &'v Value)>,
    depth: usize,
    text: &mut String,
) {
    let indent = |depth: usize| "  ".repeat(depth);
    text.push(open);
    for (place, (name, value)) in parts.enumerate() {
        text.push_str(if place > 0 { ",\n" } else { "\n" });
        text.push_str(&indent(depth + 1));
        text.push_str(&name);
        write(value, depth + 1, text);
    }
    text.push('\n');
    text.push_str(&indent(depth));
    text.push(close);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_case_has_a_line() {
        let value = json!({
            "kind": "k", "settings": {"a": 1, "b": {"c": 2}},
            "snapshot": {"timings": {"search": {"n": 1}}, "cases": [{"id": "q1", "values": [0.5, null]}, {"id": "q2", "values": []}]},
        });
        let expected = r#"{
  "kind": "k",
  "settings": {
    "a": 1,
    "b": {"c":2}
  },
  "snapshot": {
    "timings": {"search":{"n":1}},
    "cases": [
      {"id":"q1","values":[0.5,null]},
      {"id":"q2","values":[]}
    ]
  }
}
"#;
        assert_eq!(document(&value), expected);
    }
}
