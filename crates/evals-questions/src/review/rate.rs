//! How many questions of a set are defective.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use evals_metrics::{as_f64, wilson_of_effective};
use serde::{Deserialize, Serialize};

use super::{Review, ReviewVerdict, current};
use crate::{Item, Kind};

/// The confidence level of all intervals.
const LEVEL: f64 = 0.95;

/// The share of defective questions, as people found it in a random sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct DefectRate {
    /// The kind of question; `None` for all kinds that have a reviewed question.
    pub kind: Option<Kind>,
    /// How many questions of this kind the set has.
    pub questions: usize,
    /// How many of them were drawn and reviewed.
    pub reviewed: usize,
    /// How many of these have to be edited or dropped.
    pub defective: usize,
    /// The estimated share of defective questions.
    pub rate: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The share of defective questions by kind and overall, with intervals of 95 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefectRates {
    /// The digest of the set that was reviewed.
    pub set: String,
    /// The kinds of which a question was drawn and reviewed.
    pub kinds: Vec<DefectRate>,
    /// All these kinds together, each weighted by its size in the set.
    pub all: DefectRate,
    /// The kinds of the set of which no question was reviewed. The rates say nothing about them.
    pub missing: Vec<Kind>,
}

impl fmt::Display for DefectRate {
    /// The rate with its interval.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rate, low, high] = [self.rate, self.low, self.high].map(|share| share * 100.0);
        write!(formatter, "{rate:.1} % [{low:.1}, {high:.1}]")
    }
}

impl fmt::Display for DefectRates {
    /// A sentence with all rates.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all;
        write!(
            formatter,
            "{all} of the set before review ({} of {} reviewed, of {} questions)",
            all.defective, all.reviewed, all.questions
        )?;
        for it in &self.kinds {
            let kind = it.kind.map(|kind| kind.to_string()).unwrap_or_default();
            write!(
                formatter,
                "; {kind} {it} ({} of {})",
                it.defective, it.reviewed
            )?;
        }
        let mut missing = self.missing.iter();
        missing.try_for_each(|kind| write!(formatter, "; {kind} not reviewed"))
    }
}

impl DefectRates {
    /// The key of the rates in the record of a set and in reports.
    pub const KEY: &str = "defects";

    /// The rates of a set; `None` if no question of a sample was reviewed. A question is defective if the last review of it says `edit` or
    /// `drop`. Questions that people picked themselves do not count, because people pick those that look wrong, unless every question is
    /// reviewed.
    ///
    /// ```text
    /// rate = Σ N_k p_k / Σ N_k,   n* = (Σ N_k)² / Σ (N_k² / n_k) × (N - 1) / (N - n)
    /// ```
    ///
    /// where `N_k` questions of a kind are in the set, `n_k` of them were reviewed, and a share `p_k` of these is defective. The interval is Wilson's
    /// with n* for the number of trials: n* is Kish's effective sample size for weights, with the correction for finite
    /// populations, so that a set which was reviewed completely has an interval without width. That strata make a sample more precise is
    /// left out, which makes intervals rather too wide.
    ///
    /// Sources: Kish, *Survey Sampling* (1965), section 11.7; Cochran, *Sampling Techniques* (3rd edition, 1977), sections 2.6 and 5.3; and see
    /// [`wilson_of_effective`].
    pub fn of(items: &[Item], reviews: &[Review]) -> Option<Self> {
        let drawn: BTreeSet<&str> = reviews
            .iter()
            .filter(|review| review.seed.is_some())
            .map(|review| review.id.as_str())
            .collect();
        let current = current(reviews);
        // Nobody picked the questions of a set that is reviewed completely.
        let is_whole = items.iter().all(|it| current.contains_key(&*it.id));
        let mut kinds: BTreeMap<Kind, DefectRate> = BTreeMap::new();
        for item in items {
            let counts = kinds.entry(item.kind).or_default();
            counts.kind = Some(item.kind);
            counts.questions += 1;
            let review = current.get(item.id.as_str());
            if let Some(review) = review.filter(|it| is_whole || drawn.contains(it.id.as_str())) {
                counts.reviewed += 1;
                counts.defective += usize::from(review.verdict != ReviewVerdict::Keep);
            }
        }
        let (known, missing) = kinds
            .into_values()
            .partition::<Vec<_>, _>(|it| it.reviewed > 0);
        Some(Self {
            set: crate::set_folder::digest(items),
            all: DefectRate::over(None, &known)?,
            kinds: known
                .iter()
                .filter_map(|it| DefectRate::over(it.kind, &[*it]))
                .collect(),
            missing: missing.into_iter().filter_map(|it| it.kind).collect(),
        })
    }
}

impl DefectRate {
    /// The rate over the counts of kinds, each of which has a reviewed question; `None` without any.
    fn over(kind: Option<Kind>, kinds: &[Self]) -> Option<Self> {
        if kinds.is_empty() {
            return None;
        }
        let total = |of: fn(&Self) -> usize| kinds.iter().map(of).sum::<usize>();
        let (questions, reviewed) = (total(|it| it.questions), total(|it| it.reviewed));
        let weighted = |of: fn(f64, &Self) -> f64| {
            let terms = kinds.iter().map(|it| of(as_f64(it.questions), it));
            terms.sum::<f64>()
        };
        let all = as_f64(questions);
        let defects = weighted(|size, it| size * as_f64(it.defective) / as_f64(it.reviewed));
        // A share of 1 stays 1, whatever the order of adding.
        let rate = (defects / all).min(1.0);
        let (low, high) = if reviewed == questions {
            (rate, rate)
        } else {
            let effective = all * all / weighted(|size, it| size * size / as_f64(it.reviewed));
            let finite = as_f64(questions - 1) / as_f64(questions - reviewed);
            let interval = wilson_of_effective(rate, effective * finite, LEVEL);
            (interval.low, interval.high)
        };
        Some(Self {
            kind,
            questions,
            reviewed,
            defective: total(|it| it.defective),
            rate,
            low,
            high,
        })
    }
}
