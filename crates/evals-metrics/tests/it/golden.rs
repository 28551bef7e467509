//! Compares every score with `tests/golden`, which `generate.py` computed with the reference tools.

use evals_metrics::{
    Bootstrap, Measure, Qrels, Queries, Run, Undefined, UndefinedAs, score_run, trec,
};

use crate::measure;

const QRELS: &str = include_str!("../golden/qrels.trec");
const RUN: &str = include_str!("../golden/run.trec");
const EXPECTED: &str = include_str!("../golden/expected.tsv");

struct Expected {
    query: &'static str,
    measure: Measure,
    value: f64,
}

fn expected() -> impl Iterator<Item = Expected> {
    EXPECTED.lines().map(|line| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap();
        Expected {
            query: field(),
            measure: measure(field()),
            value: field().parse().unwrap(),
        }
    })
}

fn collection() -> (Qrels, Run) {
    (
        trec::parse_qrels(QRELS).unwrap(),
        trec::parse_run(RUN).unwrap(),
    )
}

/// Equal, apart from rounding that depends on the order of a sum.
fn assert_equal(actual: f64, expected: &Expected) {
    let Expected {
        query,
        measure,
        value,
    } = expected;
    let tolerance = 1e-12 * value.abs();
    assert!(
        (actual - value).abs() <= tolerance,
        "query {query}, {measure}: {actual} instead of {value}"
    );
}

#[test]
fn every_score_equals_the_reference() {
    let (qrels, run) = collection();
    let nothing = evals_metrics::Ranking::default();
    let (mut compared, mut undefined) = (0, 0);
    for expected in expected().filter(|expected| qrels.get(expected.query).is_some()) {
        let ranking = run.get(expected.query).unwrap_or(&nothing);
        match expected
            .measure
            .score(qrels.get(expected.query).unwrap(), ranking)
        {
            Ok(actual) => assert_equal(actual, &expected),
            Err(reason) => {
                assert_eq!(reason, Undefined::NoRelevantDocuments);
                assert_equal(0.0, &expected);
                undefined += 1;
            }
        }
        compared += 1;
    }
    assert_eq!((compared, undefined), (2_196, 661));
}

#[test]
fn means_equal_the_reference() {
    let (qrels, run) = collection();
    for (label, queries) in [("-c", Queries::Judged), ("both", Queries::Both)] {
        let rows: Vec<_> = expected()
            .filter(|expected| expected.query == label)
            .collect();
        let measures: Vec<_> = rows.iter().map(|row| row.measure).collect();
        let scores = score_run(&qrels, &run, &measures, queries);
        let means = scores.means(UndefinedAs::Zero, &Bootstrap::default());
        assert_eq!(means.len(), 33);
        for (row, (measure, mean)) in rows.iter().zip(means) {
            assert_eq!(row.measure, measure);
            assert_equal(mean.value.unwrap(), row);
        }
    }
}

#[test]
fn a_written_run_has_the_same_scores() {
    let (qrels, run) = collection();
    let mut written = Vec::new();
    trec::write_run(&mut written, &run, "golden").unwrap();
    let read = trec::parse_run(str::from_utf8(&written).unwrap()).unwrap();
    assert_eq!(read, run);

    let mut written = Vec::new();
    trec::write_qrels(&mut written, &qrels).unwrap();
    assert_eq!(
        trec::parse_qrels(str::from_utf8(&written).unwrap()).unwrap(),
        qrels
    );
}
