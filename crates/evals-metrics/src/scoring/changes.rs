//! Tests whether chance explains the differences between scored runs.

use std::collections::BTreeMap;

use super::{Scores, Statistic};
use crate::{Adjustment, Family, PairedDifference, PairedTest, SIGNIFICANCE, Scale};

/// The changes of all measures from one run to each other one.
#[derive(Debug, Clone, PartialEq)]
pub struct RunChanges {
    /// The position of the run that others are compared with.
    pub baseline: usize,
    /// Whether the means chose the baseline. All pairs of runs are then tested, because each of them could have been shown.
    pub is_best: bool,
    /// Whether the tests count clusters of queries.
    pub is_clustered: bool,
    /// How many p values of the first measure were corrected together.
    pub headline_tests: usize,
    /// How many p values of the other measures were corrected together.
    pub tests: usize,
    /// The change of each measure from the baseline to each other run.
    pub changes: Vec<RunChange>,
}

/// The change of one measure from the baseline to another run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunChange {
    /// The position of the other run.
    pub run: usize,
    /// The position of the measure among the columns.
    pub column: usize,
    /// Both means and their difference.
    pub difference: PairedDifference,
    /// The p value after Holm's correction; `None` if no query changed.
    pub adjusted: Option<f64>,
}

impl RunChanges {
    /// Compares all runs with the first, or with the one of the best first measure. Queries come in `clusters`, which number the cluster of each
    /// query, if there are any. There has to be a run.
    pub fn of(
        runs: &[&Scores],
        clusters: Option<&BTreeMap<String, usize>>,
        with_best: bool,
    ) -> Self {
        let columns = tested(runs[0]);
        let baseline = match (with_best, columns.first()) {
            (true, Some(&column)) => best(runs, column),
            _ => 0,
        };
        let others: Vec<usize> = (0..runs.len()).filter(|run| *run != baseline).collect();
        let mut changes = Vec::new();
        for &run in &others {
            for &column in &columns {
                let found = difference([baseline, run], column, runs, clusters);
                changes.extend(found.map(|difference| RunChange {
                    run,
                    column,
                    difference,
                    adjusted: None,
                }));
            }
        }
        let is_headline = |column: &usize| columns.first() == Some(column);
        let tests = changes.iter();
        let tests = tests.map(|it| (is_headline(&it.column), it.difference.p_value));
        let mut tests: Vec<(bool, Option<f64>)> = tests.collect();
        if with_best {
            for (place, &run) in others.iter().enumerate() {
                for &other in &others[place + 1..] {
                    tests.extend(columns.iter().map(|column| {
                        let found = difference([run, other], *column, runs, clusters);
                        (is_headline(column), found.and_then(|it| it.p_value))
                    }));
                }
            }
        }
        let families = Family::headline_first(&tests, Adjustment::Holm, SIGNIFICANCE);
        for (place, change) in changes.iter_mut().enumerate() {
            change.adjusted = families.iter().find_map(|family| family.adjusted()[place]);
        }
        let [headline_tests, tests] = families.map(|family| family.tests());
        Self {
            baseline,
            is_best: with_best,
            is_clustered: clusters.is_some(),
            headline_tests,
            tests,
            changes,
        }
    }
}

/// Whether the means of all runs are of the same queries.
pub fn have_same_queries(runs: &[&Scores]) -> bool {
    let first = runs[0].queries();
    runs.iter().all(|run| run.queries() == first)
}

impl RunChange {
    /// `higher`, `lower`, `same` if no query changed, or nothing where chance alone could explain the change.
    pub fn verdict(&self) -> &'static str {
        match self.adjusted {
            None if self.difference.equal() == self.difference.n => "same",
            None => "",
            Some(p_value) if p_value > SIGNIFICANCE => "",
            Some(_) if self.difference.difference > 0.0 => "higher",
            Some(_) => "lower",
        }
    }
}

/// The columns that are means of measures.
fn tested(scores: &Scores) -> Vec<usize> {
    let columns = scores.columns().iter().enumerate();
    columns
        .filter(|(_, column)| matches!(column.statistic, Statistic::Mean(_)))
        .map(|(index, _)| index)
        .collect()
}

/// The run with the best mean; of several, the first.
fn best(runs: &[&Scores], column: usize) -> usize {
    let sign = if runs[0].columns()[column].statistic.is_lower_better() {
        -1.0
    } else {
        1.0
    };
    let worth = |run: &Scores| sign * run.summary(column).number().unwrap_or(0.0);
    let mut best = 0;
    for (index, run) in runs.iter().enumerate() {
        if worth(run) > worth(runs[best]) {
            best = index;
        }
    }
    best
}

/// The change of a measure between two runs, by clusters of queries if there are any. `None` if they have no query in common.
fn difference(
    positions: [usize; 2],
    column: usize,
    runs: &[&Scores],
    clusters: Option<&BTreeMap<String, usize>>,
) -> Option<PairedDifference> {
    let [before, after] = positions.map(|position| runs[position]);
    let (queries, pairs): (Vec<&str>, Vec<(f64, f64)>) =
        pairs(before, after, column).into_iter().unzip();
    let clusters: Option<Vec<usize>> = clusters.map(|clusters| {
        let number = |query: &str| clusters.get(query).copied();
        let queries = queries.into_iter();
        queries
            .map(|query| number(query).unwrap_or(usize::MAX))
            .collect()
    });
    PairedTest::default().compare(&pairs, clusters.as_deref(), Scale::Share)
}

/// The values of queries that both runs have. An undefined value counts as 0, as in the mean.
fn pairs<'s>(before: &'s Scores, after: &Scores, column: usize) -> Vec<(&'s str, (f64, f64))> {
    let queries = before.queries().iter().enumerate();
    queries
        .filter_map(|(position, query)| {
            let other = after.queries().binary_search(query).ok()?;
            let value = |scores: &Scores, query: usize| scores.values(query)[column].unwrap_or(0.0);
            let pair = (value(before, position), value(after, other));
            Some((query.as_str(), pair))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::scoring::{Judged, Options, Ranked, Request, score};

    /// A run that ranks the relevant document of each query first, second or third, as `ranks` says, or not at all for 0.
    fn run(name: &str, ranks: &[usize], measures: &[&str]) -> Scores {
        let (mut qrels, mut ranking) = (String::new(), String::new());
        for (query, rank) in ranks.iter().enumerate() {
            writeln!(qrels, "q{query} 0 d0 1").unwrap();
            for place in 1..=3 {
                // Documents that are not relevant have no judgement.
                let document = if place == *rank { 0 } else { place };
                let score = 10 - place;
                writeln!(ranking, "q{query} Q0 d{document} {place} {score} {name}").unwrap();
            }
        }
        let request = Request::parse(measures.iter().copied()).unwrap();
        let judged = Judged::read(&qrels).unwrap();
        let ranked = Ranked::read(&ranking).unwrap();
        score(&judged, &ranked, &request, &Options::default()).unwrap()
    }

    /// Three runs of 16 queries: always second, always first, and second but for a third.
    fn three(measures: &[&str]) -> [Scores; 3] {
        let mut third = [2; 16];
        third[15] = 3;
        [
            run("second", &[2; 16], measures),
            run("first", &[1; 16], measures),
            run("third", &third, measures),
        ]
    }

    fn adjusted(comparison: &RunChanges) -> Vec<Option<f64>> {
        comparison.changes.iter().map(|it| it.adjusted).collect()
    }

    #[test]
    fn a_baseline_that_the_means_chose_is_corrected_for_all_pairs() {
        let runs = three(&["RR"]);
        // All queries rise by 0.5, which has p = 2 / 1.5^16. One of 16 falls: t = -1.
        let named = RunChanges::of(&runs.each_ref(), None, false);
        assert_eq!((named.baseline, named.headline_tests), (0, 2));
        let rise = 2.0 * 1.5_f64.powi(-16);
        let corrected = adjusted(&named)[0].unwrap();
        assert!((corrected / rise - 2.0).abs() < 1e-9, "{corrected}");
        assert!(adjusted(&named)[1].is_some_and(|p| p > 0.3));
        let chosen = RunChanges::of(&runs.each_ref(), None, true);
        assert_eq!((chosen.baseline, chosen.headline_tests), (1, 3));
        let [second, third] = [&chosen.changes[0], &chosen.changes[1]];
        assert_eq!((second.run, third.run), (0, 2));
        // Holm's method of three tests, of which this is the second.
        assert!((second.adjusted.unwrap() / rise - 2.0).abs() < 1e-9);
        assert_eq!([second, third].map(RunChange::verdict), ["lower", "lower"]);
    }

    #[test]
    fn a_measure_that_no_query_changed_in_is_no_test() {
        let measures = ["RR", "R@3"];
        let runs = [
            run("second", &[2; 16], &measures),
            run("first", &[1; 16], &measures),
        ];
        let found = RunChanges::of(&runs.each_ref(), None, false);
        assert_eq!((found.headline_tests, found.tests), (1, 0));
        assert_eq!(adjusted(&found)[0], found.changes[0].difference.p_value);
        assert_eq!(adjusted(&found)[1], None);
        let verdicts: Vec<&str> = found.changes.iter().map(RunChange::verdict).collect();
        assert_eq!(verdicts, ["higher", "same"]);
        assert_eq!(
            RunChanges::of(&runs.each_ref(), None, true).headline_tests,
            1
        );
    }

    #[test]
    fn the_best_share_of_unjudged_documents_is_the_lowest() {
        let measures = ["unj@1"];
        let runs = three(&measures);
        // Only the run `first` has a judged document in the first place.
        assert_eq!(RunChanges::of(&runs.each_ref(), None, true).baseline, 1);
    }

    #[test]
    fn one_of_many_tests_can_be_significant() {
        let cutoffs: Vec<String> = (3..603).map(|cutoff| format!("P@{cutoff}")).collect();
        let mut measures: Vec<&str> = cutoffs.iter().map(String::as_str).collect();
        measures.insert(0, "RR");
        // Reciprocal ranks rise in all 50 queries, and precision in the one that had no relevant document.
        let mut ranks: Vec<usize> = (0..49).map(|query| 2 + query % 2).collect();
        ranks.push(0);
        let runs = [
            run("before", &ranks, &measures),
            run("after", &[1; 50], &measures),
        ];
        let found = RunChanges::of(&runs.each_ref(), None, false);
        assert_eq!((found.headline_tests, found.tests), (1, 600));
        assert_eq!(found.changes[0].verdict(), "higher");
        let others = found.changes[1..].iter();
        assert!(others.clone().all(|it| it.adjusted == Some(1.0)));
    }
}
