//! Interpolated precision against trec_eval and hand-computed values.

use evals_metrics::{
    Bootstrap, RECALL_LEVELS, Undefined, interpolated_precision, mean_interpolated_precision, trec,
};

use crate::{judgements, ranking};

const QRELS: &str = include_str!("../golden/qrels.trec");
const RUN: &str = include_str!("../golden/run.trec");
/// `iprec_at_recall` by `pytrec_eval`.
const EXPECTED: &str = include_str!("../golden/interpolated.tsv");

fn close(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() <= 1e-12
}

#[test]
fn every_level_equals_the_reference() {
    let qrels = trec::parse_qrels(QRELS).unwrap();
    let run = trec::parse_run(RUN).unwrap();
    let (mut compared, mut undefined) = (0, 0);
    for line in EXPECTED.lines() {
        let (query, values) = line.split_once('\t').unwrap();
        let expected = values
            .split('\t')
            .map(|value| value.parse::<f64>().unwrap());
        match interpolated_precision(qrels.get(query).unwrap(), &run[query]) {
            Ok(actual) => {
                let pairs: Vec<_> = actual.into_iter().zip(expected).collect();
                let is_equal = pairs.iter().all(|(ours, theirs)| close(*ours, *theirs));
                assert!(is_equal, "query {query}: {pairs:?}");
                compared += 1;
            }
            Err(reason) => {
                assert_eq!(reason, Undefined::NoRelevantDocuments);
                assert!(expected.into_iter().all(|value| close(value, 0.0)));
                undefined += 1;
            }
        }
    }
    assert_eq!((compared, undefined), (37, 17));
}

/// The example of Manning, Raghavan and Schütze, figure 8.2: relevant documents at ranks 1, 3, 6, 10 and 15 of five.
#[test]
fn the_highest_precision_of_all_later_ranks_counts() {
    let judged = judgements(&[("a", 1), ("b", 2), ("c", 1), ("d", 1), ("e", 1), ("x", 0)]);
    let ids = [
        "a", "x", "b", "x1", "x2", "c", "x3", "x4", "x5", "d", "x6", "x7", "x8", "x9", "e",
    ];
    let precision = interpolated_precision(&judged, &ranking(&ids)).unwrap();
    let expected = [
        1.0,
        1.0,
        1.0,
        2.0 / 3.0,
        2.0 / 3.0,
        0.5,
        0.5,
        0.4,
        0.4,
        1.0 / 3.0,
        1.0 / 3.0,
    ];
    for ((level, actual), expected) in RECALL_LEVELS.iter().zip(precision).zip(expected) {
        assert!(close(actual, expected), "recall {level}: {actual}");
    }
}

#[test]
fn means_say_how_many_queries_they_exclude() {
    let [one, none] = [judgements(&[("a", 1)]), judgements(&[("a", 0)])];
    let [first, second] = [ranking(&["a", "b"]), ranking(&["b", "a"])];
    let queries = [(&one, &first), (&one, &second), (&none, &first)];
    let precisions = queries.map(|(judged, found)| interpolated_precision(judged, found));
    let means = mean_interpolated_precision(&precisions, &Bootstrap::default());
    for mean in &means {
        assert_eq!((mean.value, mean.n), (Some(0.75), 2));
        assert_eq!(mean.excluded["no relevant documents"], 1);
    }
    // t = 12.7 with one degree of freedom, and the standard error 0.25: the scale ends before the interval.
    let interval = means[10].interval.unwrap();
    assert!(close(interval.low, 0.0) && close(interval.high, 1.0));
    let nothing = mean_interpolated_precision::<Undefined>(&[], &Bootstrap::default());
    assert_eq!(nothing[0].value, None);
}
