//! Registers two evaluators beside the built-in ones, and judges a few answers with them.
//!
//! ```sh
//! cargo run --package evals-evaluators --example custom_evaluator
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Case, Context, Dataset, Evaluator, EvaluatorError, EvaluatorSpec, Experiment, Outcome,
    SpecArguments,
};
use evals_evaluators::{Built, Entry, Parameter, Registry, Resources, Signature, Untyped};
use serde_json::json;

/// An evaluator with an argument: a dataset file writes `WordLimit: 20`.
#[derive(Debug)]
struct WordLimit {
    words: usize,
}

#[async_trait]
impl Evaluator<Untyped> for WordLimit {
    fn name(&self) -> &'static str {
        "WordLimit"
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let answer = context.output.as_str().ok_or("the answer is no text");
        let words = answer
            .map_err(EvaluatorError::new)?
            .split_whitespace()
            .count();
        let outcome = Outcome::assertion(self.name(), words <= self.words);
        Ok(vec![outcome.because(format!("{words} words"))])
    }
}

fn registry() -> Registry {
    let words = Parameter::required(
        "words",
        json!({"type": "integer"}),
        "The most words that pass.",
    );
    Registry::built_in()
        .with(Entry::check(
            "Shouts",
            "Passes if the answer has no small letter.",
            |context| {
                let answer = context.output.as_str().unwrap_or_default();
                !answer.chars().any(char::is_lowercase)
            },
        ))
        .with(Entry::case(
            "WordLimit",
            "Passes if the answer has at most so many words.",
            Signature::new([words]),
            |arguments, _| {
                let words = arguments
                    .value("words")
                    .as_u64()
                    .ok_or("`words` must be a whole number")?;
                Ok(Arc::new(WordLimit {
                    words: usize::try_from(words)?,
                }))
            },
        ))
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let registry = registry();
    let mut evaluators = Vec::new();
    for (name, arguments) in [
        ("Shouts", SpecArguments::None),
        ("WordLimit", SpecArguments::Positional([json!(2)])),
        ("EqualsExpected", SpecArguments::None),
    ] {
        let spec = EvaluatorSpec {
            name: name.to_owned(),
            arguments,
        };
        match registry.build(&spec, &Resources::default())? {
            Built::Case(evaluator) => evaluators.push(evaluator),
            Built::Report(_) => return Err(format!("`{name}` judges reports").into()),
        }
    }
    let cases = [
        Case::new("hello", json!("hello")).expecting(json!("HELLO")),
        Case::new("long", json!("to be or not to be")).expecting(json!("?")),
    ];
    let dataset = Dataset::<Untyped>::new("shouting", cases)?.with_evaluators(evaluators);
    let experiment = Experiment::new(dataset, |case, _scope| async move {
        Ok(json!(
            case.input.as_str().unwrap_or_default().to_uppercase()
        ))
    });
    let report = experiment.run().await;
    for case in &report.cases {
        for outcome in &case.outcomes {
            let reason = outcome.reason.as_deref().unwrap_or("no reason");
            println!(
                "{}: {} {:?} ({reason})",
                case.id, outcome.name, outcome.value
            );
        }
    }
    Ok(())
}
