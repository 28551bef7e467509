//! Which kinds of questions are written, how many of each, and for whom.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use evals_metrics::as_f64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Kind;

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
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MixError {
    /// A share is negative, infinite or no number.
    #[error("`questions.mix.{kind}` is {share}; set it to 0 or a positive number")]
    Share {
        /// The kind.
        kind: Kind,
        /// Its share.
        share: f64,
    },
    /// No kind that a model can write has a share.
    #[error(
        "`questions.mix` leaves out every kind of question{}; set one of them above 0",
        if *.one_document { " that one document allows (a comparison needs two)" } else { "" }
    )]
    Empty {
        /// Whether comparisons were left out because there is only one document.
        one_document: bool,
    },
    /// Questions of a log are not written.
    #[error("`questions.mix.logged` cannot be set: questions of a log come from `--from`")]
    Logged,
    /// Nobody asks.
    #[error("`questions.askers` is empty; name at least one person who asks")]
    NoAsker,
}

impl QuestionSettings {
    /// Who asks the question with a number; empty descriptions have no turn. [`apportion`](Self::apportion) checks that somebody asks.
    pub(crate) fn asker(&self, number: usize) -> &str {
        let askers = self.askers.iter().map(|asker| asker.trim());
        let askers: Vec<&str> = askers.filter(|asker| !asker.is_empty()).collect();
        askers[number % askers.len()]
    }

    /// How many questions of each kind make `count`, by largest remainder; of equal remainders, the first kind gets more. With one
    /// document there are no comparisons.
    pub fn apportion(
        &self,
        count: usize,
        one_document: bool,
    ) -> Result<BTreeMap<Kind, usize>, MixError> {
        if self.askers.iter().all(|asker| asker.trim().is_empty()) {
            return Err(MixError::NoAsker);
        }
        let mut shares = self.mix.clone();
        for (kind, share) in &shares {
            let (kind, share) = (*kind, *share);
            if !share.is_finite() || share < 0.0 {
                return Err(MixError::Share { kind, share });
            }
            if kind == Kind::Logged && share > 0.0 {
                return Err(MixError::Logged);
            }
        }
        shares.retain(|kind, share| *share > 0.0 && !(one_document && *kind == Kind::Comparison));
        // Divided first, so that the sum of large shares stays finite.
        let largest = shares.values().copied().fold(0.0, f64::max);
        let sum: f64 = shares.values().map(|share| share / largest).sum();
        if shares.is_empty() {
            return Err(MixError::Empty { one_document });
        }
        let exact = shares
            .iter()
            .map(|(kind, share)| (*kind, share / largest / sum * as_f64(count)));
        Ok(by_largest_remainder(exact.collect(), count))
    }
}

/// Rounds numbers that sum to `count` down, and gives what is left to the largest remainders.
fn by_largest_remainder(exact: Vec<(Kind, f64)>, count: usize) -> BTreeMap<Kind, usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the numbers are from 0 to a count, which was a `usize`"
    )]
    // A sum of shares of 1/3 may fall a rounding error short of a whole number.
    let whole = |number: f64| (number + 1e-9).floor() as usize;
    let mut counts: BTreeMap<Kind, usize> = exact.iter().map(|(k, it)| (*k, whole(*it))).collect();
    let mut remainders = exact;
    remainders.sort_by(|(_, one), (_, other)| {
        let remainder = |it: &f64| it - as_f64(whole(*it));
        remainder(other).total_cmp(&remainder(one))
    });
    let left = count.saturating_sub(counts.values().sum());
    for (kind, _) in remainders.iter().cycle().take(left) {
        *counts.entry(*kind).or_default() += 1;
    }
    counts
}

/// The kinds of `counts`, mixed by `random`, so that the first passages do not all get one kind.
pub(crate) fn in_turns(counts: &BTreeMap<Kind, usize>, seed: u64) -> Vec<Kind> {
    let kinds = counts.iter();
    let kinds = kinds.flat_map(|(kind, count)| (0..*count).map(|number| (*kind, number)));
    let mut kinds: Vec<(Kind, usize)> = kinds.collect();
    kinds.sort_by_cached_key(|(kind, number)| {
        let place = crate::drawing::permanent_number(seed, kind.name(), *number);
        (Reverse(place), *kind)
    });
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
        assert!(settings.mix.keys().eq(Kind::WRITTEN.iter()));
        assert!((settings.mix.values().sum::<f64>() - 1.0).abs() < 1e-12);
        let counts = settings.apportion(100, false).unwrap();
        assert_eq!(counts[&Kind::SingleFact], 25);
        assert_eq!(counts.values().sum::<usize>(), 100);
    }

    #[test]
    fn what_is_left_goes_to_the_largest_remainders() {
        // Of 10: 4.29, 4.29, 1.43, so the remainder of 1 goes to the last.
        let mix = [
            (Kind::SingleFact, 3.0),
            (Kind::Number, 3.0),
            (Kind::YesNo, 1.0),
        ];
        let counts = of(&mix).apportion(10, false).unwrap();
        assert_eq!(counts.values().copied().collect::<Vec<_>>(), [4, 4, 2]);
        let thirds = [Kind::SingleFact, Kind::Number, Kind::YesNo].map(|kind| (kind, 1.0 / 3.0));
        for count in 0..50 {
            let counts = of(&thirds).apportion(count, false).unwrap();
            assert_eq!(counts.values().sum::<usize>(), count);
        }
        let huge = of(&[(Kind::Number, f64::MAX), (Kind::YesNo, f64::MAX)]);
        let counts = huge.apportion(3, false).unwrap();
        assert_eq!(counts.values().copied().collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn one_document_has_nothing_to_compare() {
        let settings = of(&[(Kind::Comparison, 1.0), (Kind::YesNo, 1.0)]);
        let counts = settings.apportion(4, true).unwrap();
        assert_eq!(counts, BTreeMap::from([(Kind::YesNo, 4)]));
        let error = of(&[(Kind::Comparison, 1.0)])
            .apportion(4, true)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "`questions.mix` leaves out every kind of question that one document allows (a comparison needs two); set one of them above 0"
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
        assert_eq!(
            refused(of(&[(Kind::Number, 0.0)])),
            "`questions.mix` leaves out every kind of question; set one of them above 0"
        );
        assert_eq!(
            refused(of(&[(Kind::Logged, 1.0)])),
            MixError::Logged.to_string()
        );
        let nobody = QuestionSettings {
            askers: vec![" ".to_owned()],
            ..QuestionSettings::default()
        };
        assert_eq!(refused(nobody), MixError::NoAsker.to_string());
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
