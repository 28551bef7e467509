//! How small a drop a paired test can see.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use evals_metrics::NoStatistic;

use crate::pair_testing::{Sensitivity, SensitivityKey};

/// The probability with which a test finds a drop of the detectable size.
pub const POWER: f64 = 0.8;

/// What a paired test can see in the differences of some cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sight {
    /// It finds a true drop of this size with a probability of [`POWER`].
    Drop(f64),
    /// So few cases cannot be significant, whatever they show.
    FewCases,
    /// So few cases changed that nothing is known about how changes scatter.
    FewChanged,
    /// The differences are equal, so nothing is known about how changes scatter.
    NoSpread,
}

/// What tests at a level of significance can see. It remembers what it computed, because the simulation of a gate asks thousands of times.
#[derive(Debug)]
pub(crate) struct Sights {
    significance: f64,
    /// Detectable differences in standard deviations.
    known: Mutex<HashMap<SensitivityKey, Result<f64, NoStatistic>>>,
}

impl Sight {
    /// The smallest drop that the test finds, if there is one.
    pub(crate) fn detectable(self) -> Option<f64> {
        match self {
            Self::Drop(size) => Some(size),
            Self::FewCases | Self::FewChanged | Self::NoSpread => None,
        }
    }
}

impl Sights {
    pub(crate) fn at(significance: f64) -> Self {
        Self {
            significance,
            known: Mutex::default(),
        }
    }

    /// What the test can see in differences that scatter like this.
    pub(crate) fn of(&self, sensitivity: &Sensitivity) -> Sight {
        let (unit, factor) = sensitivity.in_units();
        let key = unit.key();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = known().get(&key).copied();
        let detectable = remembered.unwrap_or_else(|| {
            let computed = unit.detectable(self.significance, POWER);
            known().insert(key, computed);
            computed
        });
        match detectable {
            Ok(size) => Sight::Drop(size * factor),
            Err(NoStatistic::OutOfReach) => Sight::FewCases,
            Err(NoStatistic::FewChanged { .. }) => Sight::FewChanged,
            Err(_) => Sight::NoSpread,
        }
    }

    /// How many cases the test needs to find a true drop of this size; `None` for a size of 0.
    pub(crate) fn cases_for(&self, sensitivity: &Sensitivity, size: f64) -> Option<usize> {
        let cases = sensitivity.cases_for(size, self.significance, POWER);
        cases.ok()
    }
}
