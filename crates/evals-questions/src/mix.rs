//! Which kinds of questions are written, how many of each, and for whom.

use std::collections::BTreeMap;

use evals_metrics::as_f64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Kind;
use crate::drawing::permanent_number;

/// Which questions are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QuestionSettings {
    /// The share of each kind of question. Shares are divided by their sum, and 0 leaves a kind out.
    pub mix: BTreeMap<Kind, f64>,
    /// The people who ask, each in a few words. They take turns.
    pub askers: Vec<String>,
    /// The metadata field over whose values the passages are spread. `null`: over the folders of the document ids.
    pub spread_over: Option<String>,
}

impl Default for QuestionSettings {
    fn default() -> Self {
        let mix = [
            (Kind::SingleFact, 0.25),
            (Kind::Number, 0.1),
            (Kind::Procedure, 0.15),
            (Kind::Comparison, 0.1),
            (Kind::YesNo, 0.1),
            (Kind::Keywords, 0.1),
            (Kind::Vague, 0.1),
            (Kind::Unanswerable, 0.1),
        ];
        let askers = [
            "a newcomer who does not know the terms of the documents",
            "a customer with a problem to solve",
            "an expert who looks up a detail",
            "an employee in a hurry",
        ];
        Self {
            mix: mix.into(),
            askers: askers.map(str::to_owned).into(),
            spread_over: None,
        }
    }
}

/// Why the settings do not say which questions to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`questions.{setting}` {fault}")]
pub struct MixError {
    setting: String,
    /// What is wrong with it, and how to mend it.
    fault: String,
}

impl MixError {
    pub(crate) fn new(setting: impl Into<String>, fault: impl Into<String>) -> Self {
        Self {
            setting: setting.into(),
            fault: fault.into(),
        }
    }
}

impl QuestionSettings {
    /// Who asks the question with a number. [`apportion`](Self::apportion) checks that somebody asks.
    pub(crate) fn asker(&self, number: usize) -> &str {
        &self.askers[number % self.askers.len()]
    }

    /// How many questions of each kind make `count`. With one document there are no comparisons.
    pub fn apportion(
        &self,
        count: usize,
        one_document: bool,
    ) -> Result<BTreeMap<Kind, usize>, MixError> {
        if self.askers.is_empty() || self.askers.iter().any(|it| it.trim().is_empty()) {
            let fault = "is empty, or one of them is; describe each person who asks in a few words";
            return Err(MixError::new("askers", fault));
        }
        let mut shares = self.mix.clone();
        for (kind, share) in &shares {
            let fault = if !share.is_finite() || *share < 0.0 {
                format!("is {share}; set it to 0 or a positive number")
            } else if *kind == Kind::Logged && *share > 0.0 {
                "cannot be set: questions of a log come from `--from`".to_owned()
            } else {
                continue;
            };
            return Err(MixError::new(format!("mix.{kind}"), fault));
        }
        shares.retain(|kind, share| *share > 0.0 && !(one_document && *kind == Kind::Comparison));
        if shares.is_empty() {
            let fault = "leaves out every kind of question (a comparison needs two documents); set one of them above 0";
            return Err(MixError::new("mix", fault));
        }
        let weights: Vec<f64> = shares.values().copied().collect();
        let counts = share_out(&weights, vec![0; weights.len()], count);
        Ok(shares.into_keys().zip(counts).collect())
    }
}

/// Gives further `places` by weight until they are `count`, one by one, to the largest w / (2n + 1), where n is the number of places so far; of
/// equal ones to the first. This is the method of Webster and Sainte-Laguë, which takes no place back when there are more of them: Balinski
/// and Young, *Fair Representation* (1982).
pub(crate) fn share_out(weights: &[f64], mut places: Vec<usize>, count: usize) -> Vec<usize> {
    for _ in places.iter().sum()..count {
        let claim = |it: usize| weights[it] / as_f64(2 * places[it] + 1);
        let all = (0..weights.len()).rev();
        let next = all.max_by(|one, other| claim(*one).total_cmp(&claim(*other)));
        if let Some(next) = next {
            places[next] += 1;
        }
    }
    places
}

/// The kinds of `counts` in a random order, so that the first passages do not all get one kind.
pub(crate) fn in_turns(counts: &BTreeMap<Kind, usize>, seed: u64) -> Vec<Kind> {
    let kinds = counts.iter();
    let kinds = kinds.flat_map(|(kind, count)| (0..*count).map(|number| (*kind, number)));
    let mut kinds: Vec<(Kind, usize)> = kinds.collect();
    kinds.sort_by_cached_key(|(kind, number)| permanent_number(seed, &kind.to_string(), *number));
    kinds.into_iter().map(|(kind, _)| kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mix: &[(Kind, f64)]) -> QuestionSettings {
        QuestionSettings {
            mix: mix.iter().copied().collect(),
            ..QuestionSettings::default()
        }
    }

    #[test]
    fn the_default_mix_has_every_kind_that_a_model_writes() {
        let settings = QuestionSettings::default();
        assert_eq!(settings.mix.len(), 8);
        assert!((settings.mix.values().sum::<f64>() - 1.0).abs() < 1e-12);
        let counts = settings.apportion(100, false).unwrap();
        assert_eq!(counts[&Kind::SingleFact], 25);
        assert_eq!(counts.values().sum::<usize>(), 100);
    }

    #[test]
    fn counts_follow_the_shares() {
        // By hand: the tenth place is claimed with 3 / 9 and with 1 / 3, and goes to the first.
        let mix = [
            (Kind::SingleFact, 3.0),
            (Kind::Number, 3.0),
            (Kind::YesNo, 1.0),
        ];
        let counts = of(&mix).apportion(10, false).unwrap();
        assert_eq!(counts.values().copied().collect::<Vec<_>>(), [5, 4, 1]);
        let huge = of(&[(Kind::Number, f64::MAX), (Kind::YesNo, f64::MAX)]);
        let counts = huge.apportion(3, false).unwrap();
        assert_eq!(counts.values().copied().collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn one_document_has_nothing_to_compare() {
        let settings = of(&[(Kind::Comparison, 1.0), (Kind::YesNo, 1.0)]);
        let counts = settings.apportion(4, true).unwrap();
        assert_eq!(counts, BTreeMap::from([(Kind::YesNo, 4)]));
        let alone = of(&[(Kind::Comparison, 1.0)]);
        let error = alone.apportion(4, true).unwrap_err().to_string();
        assert!(
            error.starts_with("`questions.mix` leaves out every kind"),
            "{error}"
        );
    }

    #[test]
    fn useless_settings_are_refused() {
        let refused = |settings: QuestionSettings| {
            let error = settings.apportion(4, false).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            refused(of(&[(Kind::Number, -1.0)])),
            "`questions.mix.number` is -1; set it to 0 or a positive number"
        );
        let error = refused(of(&[(Kind::Number, 0.0)]));
        assert!(error.contains("leaves out every kind"), "{error}");
        assert_eq!(
            refused(of(&[(Kind::Logged, 1.0)])),
            "`questions.mix.logged` cannot be set: questions of a log come from `--from`"
        );
        let nobody = QuestionSettings {
            askers: vec![" ".to_owned()],
            ..QuestionSettings::default()
        };
        let error = refused(nobody);
        assert!(error.starts_with("`questions.askers` is empty"), "{error}");
    }

    #[test]
    fn the_order_of_kinds_depends_on_the_seed_alone() {
        let counts = QuestionSettings::default().apportion(40, false).unwrap();
        let kinds = in_turns(&counts, 7);
        assert_eq!(kinds, in_turns(&counts, 7));
        assert_ne!(kinds, in_turns(&counts, 8));
        let count = |kind| kinds.iter().filter(|it| **it == kind).count();
        assert!(counts.iter().all(|(kind, wanted)| count(*kind) == *wanted));
    }
}
