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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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

impl DefectRate {
    /// The kind in words.
    pub fn name(&self) -> String {
        self.kind.map_or("all".to_owned(), |kind| kind.to_string())
    }
}

impl fmt::Display for DefectRate {
    /// The rate with its interval.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rate, low, high] = [self.rate, self.low, self.high].map(|share| share * 100.0);
        write!(formatter, "{rate:.1} % [{low:.1}, {high:.1}]")
    }
}

impl fmt::Display for DefectRates {
    /// A line with all rates.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all;
        write!(
            formatter,
            "{all} of the set before review ({} of {} reviewed, of {} questions)",
            all.defective, all.reviewed, all.questions
        )?;
        let kinds = self.kinds.iter();
        let kinds: Vec<String> = kinds.map(|it| format!("{} {it}", it.name())).collect();
        write!(formatter, "; {}", kinds.join(", "))?;
        if !self.missing.is_empty() {
            let missing: Vec<String> = self.missing.iter().map(Kind::to_string).collect();
            write!(formatter, "; not reviewed: {}", missing.join(", "))?;
        }
        Ok(())
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
        let mut kinds: BTreeMap<Kind, Counts> = BTreeMap::new();
        for item in items {
            let counts = kinds.entry(item.kind).or_default();
            counts.questions += 1;
            let review = current.get(item.id.as_str());
            if let Some(review) = review.filter(|it| is_whole || drawn.contains(it.id.as_str())) {
                counts.reviewed += 1;
                counts.defective += usize::from(review.verdict != ReviewVerdict::Keep);
            }
        }
        let missing = kinds.iter().filter(|(_, counts)| counts.reviewed == 0);
        let missing = missing.map(|(kind, _)| *kind).collect();
        kinds.retain(|_, counts| counts.reviewed > 0);
        let all: Vec<Counts> = kinds.values().copied().collect();
        let kinds = kinds.iter();
        let kinds = kinds.filter_map(|(kind, counts)| rate(Some(*kind), &[*counts]));
        Some(Self {
            set: crate::set_folder::digest(items),
            kinds: kinds.collect(),
            all: rate(None, &all)?,
            missing,
        })
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    questions: usize,
    reviewed: usize,
    defective: usize,
}

/// The rate over strata, each of which has a reviewed question; `None` without strata.
fn rate(kind: Option<Kind>, strata: &[Counts]) -> Option<DefectRate> {
    if strata.is_empty() {
        return None;
    }
    let total = |of: fn(&Counts) -> usize| strata.iter().map(of).sum::<usize>();
    let (questions, reviewed) = (total(|it| it.questions), total(|it| it.reviewed));
    let weighted = |of: fn(f64, &Counts) -> f64| {
        let terms = strata.iter().map(|it| of(as_f64(it.questions), it));
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
    Some(DefectRate {
        kind,
        questions,
        reviewed,
        defective: total(|it| it.defective),
        rate,
        low,
        high,
    })
}
