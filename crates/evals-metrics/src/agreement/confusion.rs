//! The four counts of a judge's verdicts against people's labels.

use serde::{Deserialize, Serialize};

use super::answers;
use crate::arithmetic::as_f64;

/// How often a judge and people passed and failed the same answers. People are taken to be right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Confusion {
    /// People and the judge passed the answer.
    #[serde(deserialize_with = "answers")]
    pub true_passes: usize,
    /// People failed the answer, and the judge passed it.
    #[serde(deserialize_with = "answers")]
    pub false_passes: usize,
    /// People passed the answer, and the judge failed it.
    #[serde(deserialize_with = "answers")]
    pub false_fails: usize,
    /// People and the judge failed the answer.
    #[serde(deserialize_with = "answers")]
    pub true_fails: usize,
}

impl Confusion {
    /// Counts one answer.
    pub fn add(&mut self, people_pass: bool, judge_passes: bool) {
        let count = match (people_pass, judge_passes) {
            (true, true) => &mut self.true_passes,
            (false, true) => &mut self.false_passes,
            (true, false) => &mut self.false_fails,
            (false, false) => &mut self.true_fails,
        };
        *count += 1;
    }

    /// The number of answers.
    pub fn n(&self) -> usize {
        self.judge_passes() + self.judge_fails()
    }

    /// How many answers people passed.
    pub fn people_pass(&self) -> usize {
        self.true_passes + self.false_fails
    }

    /// How many answers people failed.
    pub fn people_fail(&self) -> usize {
        self.false_passes + self.true_fails
    }

    /// How many answers the judge passed.
    pub fn judge_passes(&self) -> usize {
        self.true_passes + self.false_passes
    }

    /// How many answers the judge failed.
    pub fn judge_fails(&self) -> usize {
        self.false_fails + self.true_fails
    }

    /// The counts as shares of all answers, people in the rows and the judge in the columns, passes first.
    pub(super) fn shares(&self) -> [[f64; 2]; 2] {
        let n = as_f64(self.n());
        [
            [as_f64(self.true_passes) / n, as_f64(self.false_fails) / n],
            [as_f64(self.false_passes) / n, as_f64(self.true_fails) / n],
        ]
    }
}

impl Extend<(bool, bool)> for Confusion {
    /// Counts answers: whether people pass it, and whether the judge does.
    fn extend<I: IntoIterator<Item = (bool, bool)>>(&mut self, answers: I) {
        for (people_pass, judge_passes) in answers {
            self.add(people_pass, judge_passes);
        }
    }
}

impl FromIterator<(bool, bool)> for Confusion {
    fn from_iter<I: IntoIterator<Item = (bool, bool)>>(answers: I) -> Self {
        let mut confusion = Self::default();
        confusion.extend(answers);
        confusion
    }
}
