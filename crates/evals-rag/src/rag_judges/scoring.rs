//! Scores from the evidence of claims, sentences and passages.

use std::fmt::Write as _;

use evals::{Evidence, Outcome};

use crate::call::number;

/// The share of the evidence that holds, as a score with the evidence. `nouns` names the items in words, such as `claims`. Undefined,
/// with `none` as the reason, without any.
pub(super) fn share(name: &str, evidence: Vec<Evidence>, nouns: &str, none: &str) -> Outcome {
    if evidence.is_empty() {
        return Outcome::undefined(name, none);
    }
    let reason = counted(&evidence, nouns);
    Outcome::score(name, held(&evidence))
        .because(reason)
        .on_evidence(evidence)
}

fn held(evidence: &[Evidence]) -> f64 {
    let holding = evidence.iter().filter(|it| it.holds).count();
    number(holding) / number(evidence.len())
}

/// Average precision of passages in the order in which they were found: the mean of the precision at each passage that holds,
///
/// ```text
/// AP = Σ P@k · v_k / Σ v_k,   P@k = (v_1 + … + v_k) / k
/// ```
///
/// where `v_k` is 1 if passage k holds and 0 otherwise. 0 if none holds. This is the context precision of Ragas 0.2
/// (`LLMContextPrecisionWithReference`).
pub(super) fn average_precision(name: &str, evidence: Vec<Evidence>) -> Outcome {
    if evidence.is_empty() {
        return Outcome::undefined(name, "no passages");
    }
    let (mut holding, mut sum) = (0.0, 0.0);
    for (place, passage) in (1_usize..).zip(&evidence) {
        if passage.holds {
            holding += 1.0;
            sum += holding / number(place);
        }
    }
    let score = if holding > 0.0 { sum / holding } else { 0.0 };
    let reason = counted(&evidence, "passages");
    Outcome::score(name, score)
        .because(reason)
        .on_evidence(evidence)
}

/// The verdicts in numbers, such as `3 of 5 claims supported, 1 contradicted, 1 not found`.
fn counted(evidence: &[Evidence], nouns: &str) -> String {
    let mut words: Vec<(&str, usize)> = Vec::new();
    for it in evidence {
        match words.iter_mut().find(|(word, _)| *word == it.verdict) {
            Some((_, count)) => *count += 1,
            None => words.push((&it.verdict, 1)),
        }
    }
    let holding = evidence
        .iter()
        .find(|it| it.holds)
        .map(|it| it.verdict.as_str());
    words.sort_by_key(|(word, _)| Some(*word) != holding);
    let all = evidence.len();
    let (first, rest) = words.split_first().expect("there is evidence");
    let nouns = if all == 1 {
        nouns.trim_end_matches('s')
    } else {
        nouns
    };
    let mut text = format!("{} of {all} {nouns} {}", first.1, first.0);
    for (word, count) in rest {
        // Writing to a string cannot fail.
        let _ = write!(text, ", {count} {word}");
    }
    text
}

#[cfg(test)]
mod tests {
    use evals::Value;

    use super::*;

    fn evidence(verdicts: &[&str]) -> Vec<Evidence> {
        let of = |verdict: &&str| Evidence {
            verdict: (*verdict).to_owned(),
            holds: *verdict == "useful" || *verdict == "supported",
            ..Evidence::default()
        };
        verdicts.iter().map(of).collect()
    }

    fn precision(verdicts: &[&str]) -> Value {
        average_precision("context precision", evidence(verdicts)).value
    }

    #[test]
    fn average_precision_weighs_early_passages_more() {
        // (1/1 + 2/3) / 2, by hand.
        assert_eq!(
            precision(&["useful", "no", "useful"]),
            Value::Score(f64::midpoint(1.0, 2.0 / 3.0))
        );
        // (1/2 + 2/3) / 2.
        let late = precision(&["no", "useful", "useful"]);
        assert_eq!(late, Value::Score(f64::midpoint(0.5, 2.0 / 3.0)));
        assert_eq!(precision(&["useful", "no", "no"]), Value::Score(1.0));
        assert_eq!(precision(&["no"]), Value::Score(0.0));
        assert_eq!(precision(&[]), Value::Undefined);
    }

    #[test]
    fn a_share_counts_what_holds_and_says_what_does_not() {
        let verdicts = ["not found", "supported", "contradicted", "supported"];
        let outcome = share("faithfulness", evidence(&verdicts), "claims", "none");
        assert_eq!(outcome.value, Value::Score(0.5));
        let reason = "2 of 4 claims supported, 1 not found, 1 contradicted";
        assert_eq!(outcome.reason.as_deref(), Some(reason));
        let one = share("faithfulness", evidence(&["supported"]), "claims", "none");
        assert_eq!(one.reason.as_deref(), Some("1 of 1 claim supported"));
        let none = share(
            "faithfulness",
            Vec::new(),
            "claims",
            "the answer makes no claims",
        );
        assert_eq!(
            none,
            Outcome::undefined("faithfulness", "the answer makes no claims")
        );
    }
}
