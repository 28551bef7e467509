//! `ExactMatch`, `TokenF1`, `RougeL`, `NumberMatch` and `Levenshtein`: how close an answer comes to a reference.

use std::borrow::Cow;

use evals::{Case, Context, EvaluatorError, FailureClass, ValueKind};
use evals_metrics::as_f64;
use evals_rag::text::{alignment, numbers, rouge, squad};
use serde::Deserialize;
use serde_json::{Value, json};

use super::check::{self, Check};
use super::long;
use crate::python::type_name;
use crate::{ArgumentError, Arguments, Entry, Finding, Parameter, Untyped};

/// `RougeL` and `Levenshtein` compare every word, or letter, with every other one. Above this many comparisons, which take some
/// seconds, they fail.
const MOST_COMPARISONS: usize = 100_000_000_000;

/// Compares the output's text with that of references, and keeps the best result.
#[derive(Debug)]
struct Similarity {
    /// `None` for the case's expected output.
    reference: Option<Vec<String>>,
    comparison: Comparison,
}

/// One way of comparing two texts.
#[derive(Clone, Copy, Debug)]
enum Comparison {
    ExactMatch,
    TokenF1,
    RougeL,
    NumberMatch,
    Levenshtein { case_sensitive: bool },
}

#[derive(Deserialize)]
struct CaseSensitive {
    case_sensitive: bool,
}

pub(super) fn entries() -> [Entry; 5] {
    let case_sensitive = Parameter::flag("case_sensitive", true, "Whether case counts.");
    [
        entry(
            "ExactMatch",
            "Passes if the output equals the reference, without case, punctuation and articles (SQuAD).",
            [],
            |_| Ok(Comparison::ExactMatch),
        ),
        entry(
            "TokenF1",
            "Scores how many words output and reference share, from 0 to 1 (F1, as in SQuAD).",
            [],
            |_| Ok(Comparison::TokenF1),
        ),
        entry(
            "RougeL",
            "Scores the length of the longest common subsequence of words in output and reference, from 0 to 1.",
            [],
            |_| Ok(Comparison::RougeL),
        ),
        entry(
            "NumberMatch",
            "Passes if the output has every number of the reference, within one percent.",
            [],
            |_| Ok(Comparison::NumberMatch),
        ),
        entry(
            "Levenshtein",
            "Scores how similar output and reference are, from 0 to 1, by the number of letters to change (normalised edit distance).",
            [case_sensitive],
            |arguments| {
                let CaseSensitive { case_sensitive } = arguments.read()?;
                Ok(Comparison::Levenshtein { case_sensitive })
            },
        ),
    ]
}

fn entry(
    name: &'static str,
    description: &'static str,
    further: impl IntoIterator<Item = Parameter>,
    read: fn(&Arguments) -> Result<Comparison, ArgumentError>,
) -> Entry {
    let reference = Parameter::optional(
        "reference",
        Value::Null,
        json!({"anyOf": [{"type": ["string", "number", "null"]}, {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1}]}),
        "What the output should be, or a list of references of which the closest counts; by default the case's expected output.",
    );
    let parameters = [reference]
        .into_iter()
        .chain(further)
        .chain([Parameter::evaluation_name()]);
    check::strict(name, description, parameters, move |arguments, _| {
        let written = arguments.value("reference");
        let wrong = || ArgumentError::new("reference", "a text or a list of texts", written);
        let reference = match written {
            Value::Null => None,
            written => Some(references(written).ok_or_else(wrong)?),
        };
        Ok(Similarity {
            reference,
            comparison: read(arguments)?,
        })
    })
}

/// The texts of a reference: one, or a list of several.
fn references(written: &Value) -> Option<Vec<String>> {
    match written {
        Value::Array(items) if !items.is_empty() => items.iter().map(as_text).collect(),
        single => Some(vec![as_text(single)?]),
    }
}

/// A text, or a number as JSON writes it.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

impl Check for Similarity {
    fn kind(&self) -> Option<ValueKind> {
        Some(match self.comparison {
            Comparison::ExactMatch | Comparison::NumberMatch => ValueKind::Assertion,
            Comparison::TokenF1 | Comparison::RougeL | Comparison::Levenshtein { .. } => {
                ValueKind::Score
            }
        })
    }

    fn has_value(&self, case: &Case<Untyped>) -> bool {
        let references = self.references(case);
        references.is_ok_and(|references| {
            let mut references = references.iter();
            references.any(|reference| self.comparison.takes(reference))
        })
    }

    fn is_long(&self, context: &Context<'_, Untyped>) -> bool {
        let references = self.reference.iter().flatten().map(String::as_str);
        long::is_long(context) || long::are_long(references)
    }

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let references = match self.references(context.case) {
            Ok(references) => references,
            Err(reason) => return Ok(Finding::undefined(reason)),
        };
        // Undefined outcomes are in no mean, so a system that answers hard questions with something else would gain by it.
        let output = as_text(context.output).ok_or_else(|| {
            let found = type_name(context.output);
            let error = format!("the output is of type {found}, not a text");
            EvaluatorError::new(error).classed(FailureClass::Content)
        })?;
        let mut best = Finding::undefined("there is no reference");
        for reference in references.iter() {
            best = best.or_better(self.comparison.compare(&output, reference)?);
        }
        Ok(best)
    }
}

impl Similarity {
    /// Returns the references of a case, or the reason why the case has no reference.
    fn references(&self, case: &Case<Untyped>) -> Result<Cow<'_, [String]>, &'static str> {
        match (&self.reference, &case.expected) {
            (Some(references), _) => Ok(Cow::Borrowed(references)),
            (None, Some(written)) if !written.is_null() => {
                let references = references(written).map(Cow::Owned);
                references.ok_or("the expected output is not a text")
            }
            (None, _) => Err("the case has no expected output"),
        }
    }
}

impl Comparison {
    /// Whether outputs can be compared with a reference.
    fn takes(self, reference: &str) -> bool {
        match self {
            Self::RougeL => rouge::has_words(reference),
            Self::NumberMatch => !numbers::numbers(reference).is_empty(),
            Self::ExactMatch | Self::TokenF1 | Self::Levenshtein { .. } => true,
        }
    }

    /// How close the output comes to a reference.
    fn compare(self, output: &str, reference: &str) -> Result<Finding, EvaluatorError> {
        Ok(match self {
            Self::ExactMatch => Finding::passed(squad::exact_match(output, reference)),
            Self::TokenF1 => Finding::score(squad::token_f1(output, reference)),
            Self::RougeL if !self.takes(reference) => {
                Finding::undefined("the reference has no words of ASCII letters")
            }
            Self::RougeL => {
                let words = |text: &str| text.split_ascii_whitespace().count();
                comparable(words(output), words(reference), "words")?;
                Finding::score(rouge::rouge_l(output, reference))
            }
            Self::NumberMatch => numbers::all_found(output, reference).map_or(
                Finding::undefined("the reference has no number"),
                Finding::passed,
            ),
            Self::Levenshtein { case_sensitive } => {
                let letters = |text: &str| -> Vec<char> {
                    if case_sensitive {
                        text.chars().collect()
                    } else {
                        text.to_lowercase().chars().collect()
                    }
                };
                let [output, reference] = [output, reference].map(letters);
                comparable(output.len(), reference.len(), "letters")?;
                Finding::score(equal_share(&output, &reference))
            }
        })
    }
}

/// The share of the longer text that does not have to change.
fn equal_share(output: &[char], reference: &[char]) -> f64 {
    let longest = output.len().max(reference.len());
    if longest == 0 {
        return 1.0;
    }
    let distance = alignment::edit_distance(output, reference);
    1.0 - as_f64(distance) / as_f64(longest)
}

fn comparable(output: usize, reference: usize, of: &str) -> Result<(), EvaluatorError> {
    if output.saturating_mul(reference) > MOST_COMPARISONS {
        return Err(EvaluatorError::new(format!(
            "the output of {output} {of} is too long to compare with a reference of {reference}"
        )));
    }
    Ok(())
}
