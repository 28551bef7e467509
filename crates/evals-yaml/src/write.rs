//! Writes YAML that YAML 1.1 and 1.2 read alike, in the layout of PyYAML.

use serde_json::{Number, Value};

use crate::yaml11::{Plain, resolve};

/// The longest key that stands on the line of its value. Parsers look for a key's colon within 1024 characters.
const LONGEST_KEY: usize = 500;

/// Writes a value: blocks, lists not indented below their key, texts of several lines as literal blocks.
///
/// A text is quoted if YAML 1.1 or 1.2 would take it for anything else.
pub fn to_yaml(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Array(items) if !items.is_empty() => list(&mut text, items, 0, false),
        Value::Object(members) if !members.is_empty() => mapping(&mut text, members, 0, false),
        other => {
            text.push_str(&inline(other));
            text.push('\n');
        }
    }
    text
}

/// Writes the items. Where `begun`, the first one continues a line.
fn list(text: &mut String, items: &[Value], indent: usize, begun: bool) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 || !begun {
            indented(text, indent);
        }
        text.push('-');
        match item {
            Value::Array(items) if !items.is_empty() => {
                text.push(' ');
                list(text, items, indent + 2, true);
            }
            Value::Object(members) if !members.is_empty() => {
                text.push(' ');
                mapping(text, members, indent + 2, true);
            }
            other => scalar(text, other, indent + 2),
        }
    }
}

/// Writes the members. Where `begun`, the first one continues a line.
fn mapping(
    text: &mut String,
    members: &serde_json::Map<String, Value>,
    indent: usize,
    begun: bool,
) {
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 || !begun {
            indented(text, indent);
        }
        let key = quoted(key);
        if key.chars().count() > LONGEST_KEY {
            text.push_str("? ");
            text.push_str(&key);
            text.push('\n');
            indented(text, indent);
        } else {
            text.push_str(&key);
        }
        text.push(':');
        match value {
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                list(text, items, indent, false);
            }
            Value::Object(members) if !members.is_empty() => {
                text.push('\n');
                mapping(text, members, indent + 2, false);
            }
            other => scalar(text, other, indent + 2),
        }
    }
}

/// Writes a value that fits on the line, or a literal block below it.
fn scalar(text: &mut String, value: &Value, indent: usize) {
    text.push(' ');
    match value {
        Value::String(content) if is_literal(content) => {
            let (content, chomping) = match content.strip_suffix('\n') {
                Some(content) => (content, "|"),
                None => (content.as_str(), "|-"),
            };
            text.push_str(chomping);
            text.push('\n');
            for line in content.split('\n') {
                if !line.is_empty() {
                    indented(text, indent);
                    text.push_str(line);
                }
                text.push('\n');
            }
        }
        other => {
            text.push_str(&inline(other));
            text.push('\n');
        }
    }
}

fn indented(text: &mut String, indent: usize) {
    text.extend(std::iter::repeat_n(' ', indent));
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(value),
        Value::String(content) => quoted(content),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// YAML 1.1 takes a number for floating-point only with a point, and an exponent only with its sign.
fn number(value: &Number) -> String {
    let written = value.to_string();
    if !value.is_f64() {
        return written;
    }
    let (mantissa, exponent) = match written.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (written.as_str(), None),
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let exponent = exponent.map_or(String::new(), |exponent| {
        let sign = if exponent.starts_with(['-', '+']) {
            ""
        } else {
            "+"
        };
        format!("e{sign}{exponent}")
    });
    format!("{mantissa}{point}{exponent}")
}

/// Whether a literal block holds the text exactly, without an indicator of its indentation.
fn is_literal(content: &str) -> bool {
    let body = content.strip_suffix('\n').unwrap_or(content);
    body.contains('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && !body.ends_with('\n')
        && body
            .chars()
            .all(|next| next == '\n' || next == '\t' || is_printable(next))
        && body.split('\n').all(|line| !line.ends_with([' ', '\t']))
}

/// Whether every reader takes the character as it is.
fn is_printable(character: char) -> bool {
    matches!(character, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10fffe}')
        && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// A text on one line: as it is, in single quotes, or in double quotes.
fn quoted(content: &str) -> String {
    if !content.chars().all(is_printable) {
        return escaped(content);
    }
    if is_plain(content) {
        content.to_owned()
    } else {
        format!("'{}'", content.replace('\'', "''"))
    }
}

fn escaped(content: &str) -> String {
    let mut text = String::from('"');
    for character in content.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            printable if is_printable(printable) => text.push(printable),
            other => text.push_str(&code(other)),
        }
    }
    text.push('"');
    text
}

/// The shortest escape of a character by its number.
fn code(character: char) -> String {
    let code = u32::from(character);
    match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

/// Whether a printable text means itself without quotes, at every place where this module puts one.
fn is_plain(content: &str) -> bool {
    let Some(first) = content.chars().next() else {
        return false;
    };
    let is_indicator = matches!(
        first,
        '-' | '?'
            | ':'
            | ','
            | '['
            | ']'
            | '{'
            | '}'
            | '#'
            | '&'
            | '*'
            | '!'
            | '|'
            | '>'
            | '\''
            | '"'
            | '%'
            | '@'
            | '`'
    );
    // A `-` may begin a text such as `-a`, but a document's mark or an item looks alike; quotes cost nothing.
    !is_indicator
        && !content.starts_with(' ')
        && !content.ends_with([' ', ':'])
        && !content.contains(": ")
        && !content.contains(" #")
        && content != "="
        && !content.starts_with("...")
        && resolve(content) == Plain::Text
        && !is_number_of_yaml12(content)
        && !is_number_without_digits(content)
}

/// Whether PyYAML takes a text for a number and then fails to read it: `0x_`, `-0b__`.
fn is_number_without_digits(content: &str) -> bool {
    let digits = content.strip_prefix(['-', '+']).unwrap_or(content);
    let digits = digits.strip_prefix("0x").or(digits.strip_prefix("0b"));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte == b'_'))
}

/// Whether YAML 1.2 takes a text for a number that YAML 1.1 does not: `1e3`, `0o17`, `09`, `-.5`.
fn is_number_of_yaml12(content: &str) -> bool {
    let digits = content.strip_prefix(['-', '+']).unwrap_or(content);
    let is_octal = digits
        .strip_prefix("0o")
        .is_some_and(|octal| octal.bytes().all(|byte| byte.is_ascii_digit()));
    let looks_like_a_number = digits
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    is_octal || (looks_like_a_number && digits.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml11;

    #[test]
    fn the_layout_is_that_of_pyyaml() {
        let value = json!({
            "name": "demo",
            "cases": [
                {"name": null, "inputs": {"q": "two", "n": 2}, "evaluators": [], "metadata": {}},
                [[1, 2.0], []],
                "on",
            ],
            "steps": ["it's", "a: b", "1e3", "0x_", 1e20, 1e-7, "- a", "née"],
        });
        let wanted = "name: demo\ncases:\n- name: null\n  inputs:\n    q: two\n    n: 2\n  evaluators: []\n  metadata: {}\n- - - 1\n    - 2.0\n  - []\n- 'on'\nsteps:\n- it's\n- 'a: b'\n- '1e3'\n- '0x_'\n- 1.0e+20\n- 1.0e-7\n- '- a'\n- née\n";
        assert_eq!(to_yaml(&value), wanted);
    }

    #[test]
    fn several_lines_are_a_literal_block() {
        let value = json!({"a": "one\n  two\n\nthree", "b": ["x\ny\n"], "c": "trailing \nblank", "d": "\nfirst"});
        let wanted = "a: |-\n  one\n    two\n\n  three\nb:\n- |\n  x\n  y\nc: \"trailing \\nblank\"\nd: \"\\nfirst\"\n";
        assert_eq!(to_yaml(&value), wanted);
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            any::<String>(),
            "[-?:,\\[\\]{}#&*!|>'\"%@` .a0\n\t=~<+_e]{0,12}",
            "[0-9:._eExob+-]{1,8}",
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((text.clone(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_in_both_versions_of_yaml(value in values()) {
            let text = to_yaml(&value);
            let document = yaml11::read(&text);
            prop_assert!(document.is_ok(), "{document:?}: {text}");
            let document = document.unwrap();
            prop_assert_eq!(&document.errors, &vec![]);
            prop_assert_eq!(&document.warnings, &vec![]);
            prop_assert_eq!(&document.root.to_value(), &value, "{}", &text);
            let tree: Result<Value, _> = serde_saphyr::from_str(&text);
            prop_assert!(tree.is_ok(), "{tree:?}: {text}");
            prop_assert_eq!(&tree.unwrap(), &value, "{}", &text);
        }
    }
}
