//! Compares measures of readers who stop with `tests/golden/cascade.tsv`, which `generate.py` computed with gdeval and `cwl_eval`.

use evals_metrics::{Undefined, trec};

use crate::measure;

const QRELS: &str = include_str!("../golden/qrels.trec");
const RUN: &str = include_str!("../golden/run.trec");
const EXPECTED: &str = include_str!("../golden/cascade.tsv");

#[test]
fn every_score_equals_the_reference() {
    let qrels = trec::parse_qrels(QRELS).unwrap();
    let run = trec::parse_run(RUN).unwrap();
    let (mut compared, mut undefined) = (0, 0);
    for line in EXPECTED.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        let &[query, name, value] = &fields[..] else {
            panic!("{line}")
        };
        let value: f64 = value.parse().unwrap();
        let judgements = qrels.get(query).unwrap();
        let actual = match measure(name).score(judgements, &run[query]) {
            Ok(actual) => actual,
            Err(reason) => {
                assert_eq!(reason, Undefined::NoRelevantDocuments);
                undefined += 1;
                0.0
            }
        };
        // gdeval prints five decimals. cwl_eval ends RBP after 1000 documents.
        let tolerance = if name.starts_with("ERR") { 5e-6 } else { 1e-12 };
        assert!((actual - value).abs() <= tolerance, "{line}: {actual}");
        compared += 1;
    }
    assert_eq!((compared, undefined), (540, 190));
}

#[test]
fn a_grade_above_the_highest_one_is_no_satisfaction_above_certainty() {
    let qrels = trec::parse_qrels("q 0 a 5\n").unwrap();
    let run = trec::parse_run("q Q0 a 1 1 t\n").unwrap();
    let judgements = qrels.get("q").unwrap();
    for name in ["ERR@5", "NERR8(max_rel=4)@5"] {
        let score = measure(name).score(judgements, &run["q"]);
        assert_eq!(score, Err(Undefined::GradeAboveMaximum), "{name}");
    }
    let score = measure("ERR(max_rel=5)@5").score(judgements, &run["q"]);
    assert_eq!(score, Ok(31.0 / 32.0));
}
