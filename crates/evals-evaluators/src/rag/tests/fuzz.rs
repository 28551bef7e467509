//! Fuzz test: any output and any expectation give defined outcomes in range, undefined ones with a reason, or a failure.

use evals::{SpecArguments, Value as Verdict};
use evals_fuzz::Target;
use futures::executor::block_on;
use serde_json::{Value, json};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

#[test]
fn outputs_of_any_shape_are_measured_or_refused() {
    Target::new("rag-output", CORPUS)
        .seed(r#"{"output": {"answer": "Paris [1].", "documents": [{"id": "a"}, 7], "citations": ["a"], "refused": false}, "expected": {"answer": "Paris", "relevant": {"a": 1}}}"#)
        .seed(r#"{"output": ["a", "b"], "expected": ["b"], "metadata": {"answerable": true}}"#)
        .seed(r#"{"output": "I don't know.", "expected": null, "metadata": {"relevant": ["a"], "answerable": false}}"#)
        .dictionary(["null", "[]", "{}", "\"id\":", "\"documents\":", "\"relevant\":", "-1", "1.5", "[1]", "2147483648"])
        .run(|input| {
            let Ok(Value::Object(mut parts)) = serde_json::from_slice(input) else {
                return;
            };
            let mut part = |name: &str| parts.remove(name).unwrap_or(Value::Null);
            let (output, expected, metadata) = (part("output"), part("expected"), part("metadata"));
            let case = super::case(expected, metadata);
            for (name, arguments) in [
                ("RankMeasures", SpecArguments::None),
                ("CitationPrecision", SpecArguments::None),
                ("CiteRate", SpecArguments::None),
                ("Refusal", SpecArguments::None),
                ("Judge", super::positional(json!("embedded:overlap"))),
            ] {
                let judged = block_on(super::judged(name, arguments, &case, output.clone()));
                for outcome in judged.into_iter().flatten() {
                    match outcome.value {
                        Verdict::Score(score) => assert!((0.0..=1.0).contains(&score), "{score}"),
                        Verdict::Undefined => assert!(outcome.reason.is_some()),
                        Verdict::Assertion(_) => {}
                        Verdict::Label(label) => panic!("{label}"),
                    }
                }
            }
        });
}
