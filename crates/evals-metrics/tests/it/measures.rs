//! Measures against values computed by hand.

use evals_metrics::{Ranking, Undefined};

use crate::{judgements, measure, ranking};

/// Ranks 1 to 5: unjudged, grade 1, grade 0, grade 2, negative. The grades 1 and 3 of two more
/// documents are not retrieved.
fn score(text: &str) -> f64 {
    let judged = judgements(&[
        ("b", 1),
        ("c", 0),
        ("d", 2),
        ("e", -1),
        ("missed", 1),
        ("best", 3),
    ]);
    measure(text)
        .score(&judged, &ranking(&["a", "b", "c", "d", "e"]))
        .unwrap()
}

fn assert_close(actual: f64, expected: f64) {
    assert!(
        (actual - expected).abs() < 1e-15,
        "{actual} instead of {expected}"
    );
}

#[test]
fn reciprocal_rank() {
    assert_close(score("RR"), 1.0 / 2.0);
    assert_close(score("RR@2"), 1.0 / 2.0);
    assert_close(score("RR@1"), 0.0);
    assert_close(score("RR(rel=2)"), 1.0 / 4.0);
}

#[test]
fn average_precision() {
    assert_close(score("AP"), (1.0 / 2.0 + 2.0 / 4.0) / 4.0);
    assert_close(score("AP@2"), (1.0 / 2.0) / 4.0);
    assert_close(score("AP(rel=2)"), (1.0 / 4.0) / 2.0);
}

#[test]
fn ndcg() {
    let dcg = 1.0 / 3_f64.log2() + 2.0 / 5_f64.log2();
    let ideal = 3.0 + 2.0 / 3_f64.log2() + 1.0 / 2.0 + 1.0 / 5_f64.log2();
    assert_close(score("nDCG"), dcg / ideal);
    assert_close(
        score("nDCG@2"),
        (1.0 / 3_f64.log2()) / (3.0 + 2.0 / 3_f64.log2()),
    );
}

#[test]
fn ndcg_with_exponential_gain() {
    let dcg = 1.0 / 3_f64.log2() + 3.0 / 5_f64.log2();
    let ideal = 7.0 + 3.0 / 3_f64.log2() + 1.0 / 2.0 + 1.0 / 5_f64.log2();
    assert_close(score("nDCG(dcg='exp-log2')"), dcg / ideal);
}

#[test]
fn exponential_gain_does_not_overflow() {
    let judged = judgements(&[("a", i32::MAX), ("b", i32::MAX - 1)]);
    let swapped = measure("nDCG(dcg='exp-log2')")
        .score(&judged, &ranking(&["b", "a"]))
        .unwrap();
    let discount = 1.0 / 3_f64.log2();
    assert_close(swapped, (0.5 + discount) / (1.0 + 0.5 * discount));
}

#[test]
fn precision_divides_by_the_cutoff() {
    assert_close(score("P@2"), 1.0 / 2.0);
    assert_close(score("P@4"), 2.0 / 4.0);
    assert_close(score("P@10"), 2.0 / 10.0);
}

#[test]
fn recall_divides_by_all_relevant_documents() {
    assert_close(score("R@1"), 0.0);
    assert_close(score("R@2"), 1.0 / 4.0);
    assert_close(score("R@100"), 2.0 / 4.0);
    assert_close(score("R(rel=3)@100"), 0.0);
}

#[test]
fn success() {
    assert_close(score("Success@1"), 0.0);
    assert_close(score("Success@2"), 1.0);
}

#[test]
fn r_precision() {
    assert_close(score("Rprec"), 2.0 / 4.0);
    assert_close(score("Rprec(rel=2)"), 0.0);
}

#[test]
fn judged_divides_by_the_retrieved_documents() {
    assert_close(score("Judged@1"), 0.0);
    assert_close(score("Judged@2"), 1.0 / 2.0);
    assert_close(score("Judged@100"), 4.0 / 5.0);
    assert_close(score("Judged"), 4.0 / 5.0);
}

#[test]
fn measures_that_divide_by_relevant_documents_need_them() {
    let judged = judgements(&[("a", 0), ("b", -1)]);
    for text in [
        "RR",
        "AP",
        "nDCG",
        "nDCG(dcg='exp-log2')@5",
        "R@5",
        "Rprec",
        "Success@5",
    ] {
        let score = measure(text).score(&judged, &ranking(&["a"]));
        assert_eq!(score, Err(Undefined::NoRelevantDocuments), "{text}");
    }
    assert_eq!(measure("P@5").score(&judged, &ranking(&["a"])), Ok(0.0));
    assert_eq!(
        measure("Judged@5").score(&judged, &ranking(&["a"])),
        Ok(1.0)
    );
}

#[test]
fn a_minimum_grade_above_all_grades_leaves_nothing_relevant() {
    let score = measure("RR(rel=2)").score(&judgements(&[("a", 1)]), &ranking(&["a"]));
    assert_eq!(score, Err(Undefined::NoRelevantDocuments));
}

#[test]
fn an_empty_ranking_of_an_answerable_query_scores_zero() {
    let judged = judgements(&[("a", 1)]);
    for text in ["RR", "AP", "nDCG", "P@5", "R@5", "Rprec", "Success@5"] {
        assert_eq!(
            measure(text).score(&judged, &Ranking::default()),
            Ok(0.0),
            "{text}"
        );
    }
    let share = measure("Judged").score(&judged, &Ranking::default());
    assert_eq!(share, Err(Undefined::EmptyRanking));
}

#[test]
fn finding_nothing_relevant_scores_zero_and_not_minus_zero() {
    let judged = crate::judgements(&[("a", 1)]);
    let found = evals_metrics::Ranking::new([evals_metrics::ScoredDocument {
        id: "b".to_owned(),
        score: 1.0,
    }])
    .unwrap();
    for name in [
        "AP", "nDCG", "nDCG@10", "AP@100", "RR", "P@5", "R@5", "Rprec",
    ] {
        let score = crate::measure(name).score(&judged, &found).unwrap();
        assert_eq!(score.to_bits(), 0.0_f64.to_bits(), "{name} is {score:?}");
    }
}

#[test]
fn the_examples_of_the_documentation_are_right() {
    let page = include_str!("../../../../docs/measures.md");
    let judgements = judgements(&[("d1", 1), ("d2", 0), ("d3", 2)]);
    let ranking = ranking(&["d2", "d1", "d9", "d3"]);
    for (name, row, shown) in [
        ("infAP", "`infAP`", "0.5"),
        ("11pt_avg", "`11pt_avg`", "0.5"),
        ("binG", "`binG`", "0.5655"),
        ("SetF", "`SetF`", "0.6667"),
        ("SetAP", "`SetAP`", "0.5"),
        ("nDCG", "`nDCG`", "0.5672"),
        ("nDCG(dcg='exp-log2')", "`nDCG(dcg", "0.5296"),
        ("ndcg_rel", "`ndcg_rel`", "0.4035"),
        ("Rndcg", "`Rndcg`", "0.2690"),
        ("G", "`G`", "0.5000"),
        ("RBP(p=0.9)", "`RBP(p=0.9)`", "0.1179"),
        ("RBP(rel=1)", "`RBP(rel=1)`", "0.2624"),
        ("ERR", "`ERR`", "0.0752"),
        ("NERR8(max_rel=4)@4", "`NERR8", "0.1786"),
        ("NERR9(max_rel=4)@4", "`NERR9", "0.1129"),
        ("NERR10(max_rel=4)", "`NERR10", "0.0904"),
    ] {
        let score = measure(name).score(&judgements, &ranking).unwrap();
        let decimals = shown.len() - 2;
        assert_eq!(format!("{score:.decimals$}"), shown, "{name}");
        let mut rows = page.lines().filter_map(|line| line.strip_prefix("| "));
        let row = rows.find(|line| line.starts_with(row)).unwrap();
        assert!(row.contains(&format!("{shown} |")), "{name}: {row}");
    }
}
