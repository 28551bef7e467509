//! Fuzz tests: arguments of judges never panic, and no reply that the output could hold becomes a verdict.

use evals::SpecArguments;
use evals_fuzz::Target;
use evals_rag::judging::{Shown, Wanted as _};
use serde_json::Value;

use crate::judges::grade::Grade;
use crate::judges::verdict::RubricVerdict;
use crate::{Registry, Resources};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

#[test]
fn arguments_build_a_judge_or_are_refused() {
    Target::new("judge-arguments", CORPUS)
        .seed(r#"{"rubric": "polite", "model": "a:b", "model_settings": {"temperature": 0}, "include_input": true}"#)
        .seed(r#"{"rubric": ["a", 1], "score": {"evaluation_name": "s", "include_reason": true}, "assertion": false}"#)
        .seed(r#"{"criteria": "c", "evaluation_steps": ["a", "b"], "score_range": [0, 10], "evaluation_name": "g"}"#)
        .dictionary(["null", "[]", "{}", "-1", "1e300", "9007199254740993", "\"score\":", "\"\""])
        .run(|input| {
            let Ok(Value::Object(named)) = serde_json::from_slice(input) else {
                return;
            };
            let registry = Registry::built_in();
            for name in ["LLMJudge", "GEval"] {
                let written = evals::EvaluatorSpec {
                    name: name.to_owned(),
                    arguments: SpecArguments::Named(named.clone()),
                };
                let Ok(crate::Built::Case(built)) = registry.build(&written, &Resources::default())
                else {
                    continue;
                };
                // The specification in a report builds the same evaluator again.
                let spec = built.spec().expect("a judge has a specification");
                let Ok(crate::Built::Case(again)) = registry.build(&spec, &Resources::default())
                else {
                    panic!("{spec:?} does not build again");
                };
                assert_eq!(again.spec(), Some(spec));
                assert_eq!(again.name(), built.name());
            }
        });
}

#[test]
fn a_copied_object_is_never_a_verdict() {
    Target::new("judge-object", CORPUS)
        .seed(r#"{"reason": "so", "pass": true, "score": 1}"#)
        .seed(r#"{"reason": "so", "score": "4"}"#)
        .seed(r#"{"reason": "\u0073o", "p\u0061ss": "yes", "score": 1e2,}"#)
        .dictionary([
            "\"score\":",
            "\"pass\":",
            "\"reason\":",
            "\\u0070",
            "true",
            "1.0",
            ",}",
            "NaN",
        ])
        .run(|input| {
            let object = String::from_utf8_lossy(input);
            let shown = Shown::new(&[&object]);
            if let Some(verdict) = RubricVerdict::parse(&object) {
                assert!(verdict.score.is_finite());
                assert!(
                    !shown.is_legible() || verdict.may_be_from(&shown),
                    "{verdict:?}"
                );
            }
            if let Some(grade) = Grade::parse(&object) {
                assert!(
                    !shown.is_legible() || grade.may_be_from(&shown),
                    "{grade:?}"
                );
            }
        });
}
