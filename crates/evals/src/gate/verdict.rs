//! The verdicts of a gate and the numbers behind them.

use std::collections::BTreeSet;

use evals_metrics::Interval;
use serde::{Deserialize, Serialize};

use super::rule::Rule;
use crate::{ByPeople, ClusterCounts, Direction, SchemaVersion, Unit, Verdict};

/// A verdict of a gate. A later one is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// The rule holds, as far as the cases can show it.
    Passed,
    /// The cases are too few to show whether the rule holds.
    CannotTell,
    /// The rule does not hold.
    Failed,
}

/// When a drop fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strictness {
    /// When it is significant and larger than the tolerance: a failure shows that the run is worse.
    #[default]
    Default,
    /// When a drop larger than the tolerance cannot be excluded: a pass shows that the run is not worse by more. This is a test of
    /// non-inferiority.
    Strict,
}

/// The end of a measure's interval that has to meet its floor or ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateBound {
    /// The value itself.
    #[default]
    Point,
    /// The end that is worse, where failed cases count as the worst value: the lower one for a floor, the upper one for a ceiling.
    Pessimistic,
    /// The end that is better.
    Optimistic,
}

/// A difference between the run and its baseline that does not fail the gate, because the user allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allowance {
    /// Other files of the dataset, and cases that were added, removed or edited.
    ChangedDataset,
    /// Another judge, judge prompt or evaluator.
    ChangedJudge,
    /// More failed cases, and cases that lost their value.
    LowerCoverage,
    /// Measures that only the baseline has.
    MissingMeasure,
}

/// The verdicts on one or more runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateReport {
    /// Version of this document's JSON schema, shared with [`Report`](crate::Report).
    pub schema_version: SchemaVersion,
    /// The worst verdict of all checks.
    pub verdict: GateVerdict,
    /// When a drop fails.
    pub strictness: Strictness,
    /// The end of intervals that floors and ceilings are compared with.
    pub bound: GateBound,
    /// The confidence level of intervals and tests, such as 0.95.
    pub level: f64,
    /// How many drops were tested. Holm's method corrects their p values together.
    pub tests: usize,
    /// The seed of the random numbers in tests and intervals.
    pub seed: u64,
    /// What the user allows to differ.
    pub allowed: BTreeSet<Allowance>,
    /// The runs.
    pub runs: Vec<GatedRun>,
}

/// The verdicts on one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatedRun {
    /// The name of the run.
    pub run: String,
    /// The name of its baseline, if it has one.
    pub baseline: Option<String>,
    /// Differences in settings, which explain a change and are no rule.
    pub made_by: Vec<String>,
    /// The number of cases in the run.
    pub cases: usize,
    /// The clusters of its cases; see [`Summary::clusters`](crate::Summary::clusters).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterCounts>,
    /// The number of cases that run and baseline share, with the same content. `None` without a baseline.
    pub pairs: Option<usize>,
    /// The checks: rules in their order, then what has to be the same in run and baseline.
    pub checks: Vec<GateCheck>,
    /// The changes of judges' measures, corrected by labels of people, as far as the caller knows them. They are no rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_people: Vec<ByPeople>,
}

/// One check of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateCheck {
    /// The check in a few words, such as `nDCG@10 drop <= 0.02`.
    pub name: String,
    /// The verdict.
    pub verdict: GateVerdict,
    /// Why, with the numbers, in a sentence.
    pub reason: String,
    /// The numbers.
    #[serde(flatten)]
    pub numbers: CheckNumbers,
}

/// The numbers behind a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum CheckNumbers {
    /// A measure against the baseline.
    Drop(DropCheck),
    /// A quantity of the run against a floor or a ceiling.
    Limit(LimitCheck),
    /// The agreement of a judge with people.
    Agreement(AgreementCheck),
    /// Something that has to be the same in run and baseline.
    Sameness {
        /// Whether the user allows it to differ.
        allowed: bool,
        /// The differences, at most a few of each kind.
        differences: Vec<String>,
    },
}

/// The numbers behind the verdict on a drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DropCheck {
    /// The measure's name in tables.
    pub measure: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Direction,
    /// The largest drop that the rule accepts.
    pub tolerance: f64,
    /// How many cases have a value in both.
    pub n: usize,
    /// How many cases have a value in the baseline only.
    #[serde(default)]
    pub only_before: usize,
    /// How many cases have a value in the run only, because they failed in the baseline.
    #[serde(default)]
    pub only_after: usize,
    /// The mean of these cases in the baseline.
    pub before: Option<f64>,
    /// The mean of these cases in the run.
    pub after: Option<f64>,
    /// The mean of the differences, run minus baseline.
    pub difference: Option<f64>,
    /// The interval of the mean difference: Tango's for passes and failures, Student's t for others, and from Clopper and Pearson's limit if
    /// all differences are equal. `None` if they are equal and the measure has no known scale.
    pub interval: Option<Interval>,
    /// The two-sided p value of the test that belongs to the interval. `None` if no case changed.
    pub p_value: Option<f64>,
    /// The p value, corrected by Holm's method for all drops that the gate tests.
    pub adjusted_p_value: Option<f64>,
    /// The smallest true drop that the test finds four times in five, at the level of the strictest step of Holm's method. `None` if the
    /// differences show no spread, or are too few for any drop.
    pub detectable: Option<f64>,
    /// How many cases, or clusters of them, it would take to find a true drop of the size of the tolerance four times in five. `None` if that cannot be said, or
    /// for a tolerance of 0.
    pub cases_needed: Option<usize>,
}

/// The numbers behind the verdict on a floor or a ceiling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitCheck {
    /// The rule.
    pub limit: Rule,
    /// The unit of the numbers; `None` for USD and counts.
    pub unit: Option<Unit>,
    /// The quantity, if it is known.
    pub value: Option<f64>,
    /// The confidence interval of a mean.
    pub interval: Option<Interval>,
    /// The number of cases or samples.
    pub n: usize,
}

/// The numbers behind the verdict on a judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgreementCheck {
    /// The measure that the judge decides.
    pub measure: String,
    /// The calibration that compares the judge with people; `None` if none fits.
    pub calibration: Option<String>,
    /// The least kappa that the rule accepts.
    pub least_kappa: f64,
    /// Cohen's kappa of judge and people, if it is defined.
    pub kappa: Option<f64>,
    /// The 95 % confidence interval of kappa.
    pub interval: Option<Interval>,
    /// The number of labelled answers.
    pub n: usize,
}

impl GateReport {
    /// The checks with their runs.
    pub fn checks(&self) -> impl Iterator<Item = (&GatedRun, &GateCheck)> {
        let runs = self.runs.iter();
        runs.flat_map(|run| run.checks.iter().map(move |check| (run, check)))
    }

    /// How many checks have a verdict.
    pub fn count(&self, verdict: GateVerdict) -> usize {
        let checks = self.checks();
        checks.filter(|(_, check)| check.verdict == verdict).count()
    }

    /// Whether the gate is closed: a check failed, or under [`Strictness::Strict`] cannot be told.
    pub fn is_closed(&self) -> bool {
        match self.verdict {
            GateVerdict::Failed => true,
            GateVerdict::CannotTell => self.strictness == Strictness::Strict,
            GateVerdict::Passed => false,
        }
    }
}

impl DropCheck {
    /// The verdict on the change, at a level of significance.
    pub fn change(&self, significance: f64) -> Verdict {
        let is_clear = self.adjusted_p_value.is_some_and(|p| p <= significance);
        let gained = self.difference.zip(self.better.gain());
        match gained.map(|(difference, gain)| difference * gain) {
            Some(gained) if is_clear && gained > 0.0 => Verdict::Better,
            Some(gained) if is_clear && gained < 0.0 => Verdict::Worse,
            _ => Verdict::Unclear,
        }
    }
}

impl GateVerdict {
    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::CannotTell => "cannot tell",
            Self::Failed => "failed",
        }
    }
}

impl Allowance {
    /// Every allowance.
    pub const ALL: [Self; 4] = [
        Self::ChangedDataset,
        Self::ChangedJudge,
        Self::LowerCoverage,
        Self::MissingMeasure,
    ];

    /// The word for it in options and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::ChangedDataset => "changed-dataset",
            Self::ChangedJudge => "changed-judge",
            Self::LowerCoverage => "lower-coverage",
            Self::MissingMeasure => "missing-measure",
        }
    }
}
