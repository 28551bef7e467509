//! People's labels of judged answers, and how the answers were drawn.

use super::NoCorrection;
use crate::{Agreement, Confusion, Estimate, VerdictCounts};

/// People's labels of judged answers, and how the answers were drawn. The drawing matters: a sample that has half of its answers
/// from those that the judge failed has too many errors of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeLabels {
    /// All answers of a run, or some of them at random.
    Random(Confusion),
    /// Answers drawn separately among those that the judge passed and failed.
    ByVerdict {
        /// The labels.
        labels: Confusion,
        /// How many answers the judge passed and failed in the run that the labelled ones were drawn from.
        drawn_from: VerdictCounts,
    },
}

impl JudgeLabels {
    /// With fewer labelled answers, no correction is given.
    pub const FEWEST: usize = 20;

    /// The counts of the labels.
    pub fn confusion(&self) -> &Confusion {
        match self {
            Self::Random(labels) | Self::ByVerdict { labels, .. } => labels,
        }
    }

    /// Agreement of the judge with the labels, weighted by the drawing.
    pub fn agreement(&self, level: f64) -> Agreement {
        match self {
            Self::Random(labels) => Agreement::of_sample(labels, level),
            Self::ByVerdict { labels, drawn_from } => {
                Agreement::stratified(labels, *drawn_from, level)
            }
        }
    }
}

/// Refuses labels that are too few, or of one kind only.
pub(super) fn check_labels(labels: &Confusion, level: f64) -> Result<(), NoCorrection> {
    if !(level > 0.0 && level < 1.0) {
        return Err(NoCorrection::Level);
    }
    if labels.n() < JudgeLabels::FEWEST {
        return Err(NoCorrection::FewLabels {
            n: labels.n(),
            least: JudgeLabels::FEWEST,
        });
    }
    if labels.people_pass() == 0 {
        return Err(NoCorrection::NoPasses);
    }
    if labels.people_fail() == 0 {
        return Err(NoCorrection::NoFails);
    }
    Ok(())
}

impl VerdictCounts {
    /// The judge's pass rate with Wilson's interval. Undefined without a verdict.
    ///
    /// # Errors
    ///
    /// [`NoCorrection::NoVerdicts`] without a verdict.
    pub fn pass_rate(self, level: f64) -> Result<Estimate, NoCorrection> {
        raw_rate(self, level)
    }
}

/// The judge's pass rate with Wilson's interval.
pub(super) fn raw_rate(run: VerdictCounts, level: f64) -> Result<Estimate, NoCorrection> {
    let n = run.passes + run.fails;
    if n == 0 {
        return Err(NoCorrection::NoVerdicts);
    }
    Ok(Estimate {
        value: crate::arithmetic::share(run.passes, n),
        n,
        interval: Some(crate::wilson::wilson_interval(run.passes, n, level)),
    })
}
