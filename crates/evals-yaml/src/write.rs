//! Writes YAML that YAML 1.1 and 1.2 read alike.

use serde_json::Value;
use serde_saphyr::{ser_options, to_string_with_options};

/// Writes a value: blocks, lists not indented below their key, texts of several lines as literal blocks.
///
/// A text is quoted if YAML 1.1 or 1.2 would take it for anything else.
pub fn to_yaml(value: &Value) -> String {
    // A text of one line stays on its line, however long it is.
    let options = ser_options! { folded_wrap_chars: usize::MAX };
    to_string_with_options(value, options).expect("every JSON value is one of YAML")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml11;

    #[test]
    fn lists_are_not_indented_below_their_key() {
        let value = json!({
            "name": "demo",
            "cases": [
                {"name": null, "inputs": {"q": "two", "n": 2}, "evaluators": [], "metadata": {}},
                [[1, 2.0], []],
                "on",
            ],
            "steps": ["it's", "a: b", "1e3", "0x_", 1e20, 1e-7, "- a", "née"],
        });
        let wanted = "name: demo\ncases:\n- name: null\n  inputs:\n    q: two\n    \"n\": 2\n  evaluators: []\n  metadata: {}\n- - - 1\n    - 2.0\n  - []\n- \"on\"\nsteps:\n- it's\n- \"a: b\"\n- \"1e3\"\n- \"0x_\"\n- 1.0e+20\n- 1.0e-7\n- \"- a\"\n- née\n";
        assert_eq!(to_yaml(&value), wanted);
    }

    #[test]
    fn several_lines_are_a_literal_block() {
        let value = json!({"a": "one\n  two\n\nthree", "b": ["x\ny\n"], "c": "trailing \nblank", "d": "\nfirst"});
        let wanted = "a: |-\n  one\n    two\n  \n  three\nb:\n- |\n  x\n  y\nc: |-\n  trailing \n  blank\nd: |-\n  \n  first\n";
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
