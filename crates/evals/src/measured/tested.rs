//! The tests of every pair of reports in every measure.

use std::num::NonZeroUsize;
use std::thread;

use evals_metrics::PairedDifference;
use serde::{Deserialize, Serialize};

use super::UntestedMeasure;
use crate::pair_testing::{self, Finding, PairTesting, Tested, UncorrectedFinding, judge};

/// Two reports in one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairOutcome {
    /// The position of the one report.
    pub first: usize,
    /// The position of the other.
    pub second: usize,
    /// Both means and their difference, second minus first. Its p value is not corrected.
    pub difference: PairedDifference,
    /// The test's corrected p value and its verdict on the second report against the first.
    #[serde(flatten)]
    pub finding: Finding,
}

impl PairOutcome {
    pub(crate) fn is_of(&self, reports: [usize; 2]) -> bool {
        [self.first, self.second] == reports || [self.second, self.first] == reports
    }

    /// Whether the test tells the two apart.
    pub fn is_distinct(&self) -> bool {
        self.finding.is_significant()
    }
}

/// Tests every pair of every measure, and corrects the p values of the headline measure together, and those of all others. Returns the numbers of
/// tests of both, and the pairs of each measure.
pub(crate) fn tested(
    measured: &[UntestedMeasure<'_>],
    is_headline: impl Fn(usize) -> bool,
    testing: &PairTesting,
) -> ([usize; 2], Vec<Vec<PairOutcome>>) {
    let tasks: Vec<(usize, (usize, usize))> = measured
        .iter()
        .enumerate()
        .flat_map(|(place, it)| it.pairs().map(move |pair| (place, pair)))
        .collect();
    let tested = on_all_cores(&tasks, |(place, pair)| {
        measured[*place].test(*pair, &testing.paired)
    });
    let differences = tasks.iter().zip(&tested);
    let differences =
        differences.map(|((place, _), tested)| (tested.as_ref(), measured[*place].better));
    let finer = testing.resolving(pair_testing::tests(differences));
    let tested: Vec<_> = tasks.iter().zip(tested).collect();
    let tested = on_all_cores(&tested, |((place, pair), tested)| match tested {
        Some(rough) if rough.is_rough(testing, &finer) => measured[*place].test(*pair, &finer),
        settled => settled.clone(),
    });
    let mut outcomes: Vec<(usize, PairOutcome, Tested)> = tasks
        .iter()
        .zip(tested)
        .filter_map(|((place, (first, second)), tested)| {
            let tested = tested?;
            let reports = &measured[*place].reports;
            let outcome = PairOutcome {
                first: reports[*first],
                second: reports[*second],
                difference: tested.difference.clone(),
                finding: Finding::of(Some(&tested)),
            };
            Some((*place, outcome, tested))
        })
        .collect();
    let pairs = outcomes.iter_mut();
    let mut findings: Vec<_> = pairs
        .map(|(place, outcome, tested)| UncorrectedFinding {
            finding: &mut outcome.finding,
            tested: Some(&*tested),
            better: measured[*place].better,
            is_headline: is_headline(*place),
        })
        .collect();
    let tests = judge(&mut findings, testing);
    let mut of_measures: Vec<Vec<PairOutcome>> = measured.iter().map(|_| Vec::new()).collect();
    for (place, outcome, _) in outcomes {
        of_measures[place].push(outcome);
    }
    (tests, of_measures)
}

/// Calls a function for each task, on all cores, and returns the results in order.
pub(crate) fn on_all_cores<T: Sync, R: Send>(tasks: &[T], call: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = tasks.len().div_ceil(threads).max(1);
    let call = &call;
    thread::scope(|scope| {
        let parts: Vec<_> = tasks
            .chunks(share)
            .map(|tasks| scope.spawn(move || tasks.iter().map(call).collect::<Vec<R>>()))
            .collect();
        let results = parts.into_iter().flat_map(|part| match part.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    })
}
