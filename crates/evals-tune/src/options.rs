//! The settings of a tuning.

use evals_metrics::{PairTest, PairedTest, RESAMPLES, SIGNIFICANCE, Scale};

use crate::{Figure, TuneError};

/// What may be spent, or was. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// USD.
    pub usd: Option<f64>,
    /// Seconds.
    pub seconds: Option<f64>,
}

/// The settings of a tuning.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The scale of the objective, which its interval depends on. Default: open.
    pub scale: Scale,
    /// The most candidates beside own settings. Default: 64.
    pub trials: usize,
    /// The share of questions that is held out, below 1. Default: a third.
    pub hold_out: f64,
    /// Figures beside the objective, with the largest value that a choice may have.
    pub limits: Vec<(Figure, f64)>,
    /// What may be spent.
    pub budget: Budget,
    /// The probability that the verdict calls settings better that are not. Default: 0.05.
    pub significance: f64,
    /// The test on the held-out part: the number of its random swaps, and the level of its interval. Default: the randomization test with
    /// 10,000 swaps at 0.95.
    pub test: PairedTest,
    /// Random choices of signs, and resamples, behind other figures. Default: 10,000.
    pub draws: u32,
    /// Seeds everything random. Default: 0.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scale: Scale::default(),
            trials: 64,
            hold_out: 1.0 / 3.0,
            limits: Vec::new(),
            budget: Budget::default(),
            significance: SIGNIFICANCE,
            test: PairedTest {
                method: PairTest::Randomization,
                resamples: RESAMPLES,
                ..PairedTest::default()
            },
            draws: RESAMPLES.get(),
            seed: 0,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), TuneError> {
        let is_share = |share: f64| share > 0.0 && share < 1.0;
        let is_amount = |amount: Option<f64>| amount.is_none_or(|it| it >= 0.0);
        let checks = [
            ("trials", self.trials > 0),
            (
                "holdout",
                is_share(self.hold_out) || self.hold_out.abs() <= 0.0,
            ),
            ("significance", is_share(self.significance)),
            ("level", is_share(self.test.level)),
            ("draws", self.draws > 0),
            ("limits", self.limits.iter().all(|(_, most)| *most >= 0.0)),
            (
                "budget",
                is_amount(self.budget.usd) && is_amount(self.budget.seconds),
            ),
        ];
        match checks.into_iter().find(|(_, holds)| !holds) {
            Some((name, _)) => Err(TuneError::Option(name)),
            None => Ok(()),
        }
    }
}
