//! Scores of whole runs: which queries count.

use evals_metrics::{Bootstrap, Queries, Undefined, UndefinedAs, score_run, trec};

use crate::measure;

const QRELS: &str = "q1 0 a 1\nq2 0 a 1\nq3 0 a 0\n";
const RUN: &str = "q1 Q0 a 1 1 t\nq3 Q0 a 1 1 t\nq4 Q0 a 1 1 t\n";

fn score(queries: Queries) -> evals_metrics::RunScores {
    let measures = [measure("RR"), measure("P@1")];
    score_run(
        &trec::parse_qrels(QRELS).unwrap(),
        &trec::parse_run(RUN).unwrap(),
        &measures,
        queries,
    )
}

#[test]
fn scores_queries_with_judgements_and_ranking() {
    let scores = score(Queries::Both);
    let expected: [(&str, &[Result<f64, Undefined>]); 2] = [
        ("q1", &[Ok(1.0), Ok(1.0)]),
        ("q3", &[Err(Undefined::NoRelevantDocuments), Ok(0.0)]),
    ];
    assert_eq!(scores.iter().collect::<Vec<_>>(), expected);
    assert_eq!(scores.unjudged(), ["q4"]);
    assert_eq!(scores.unranked(), ["q2"]);
}

#[test]
fn scores_judged_queries_without_ranking_as_empty() {
    let scores = score(Queries::Judged);
    assert_eq!(scores.len(), 3);
    assert_eq!(scores.get("q2"), Some([Ok(0.0), Ok(0.0)].as_slice()));
}

#[test]
fn means_count_their_exclusions() {
    let scores = score(Queries::Judged);
    let means = scores.means(UndefinedAs::Excluded, &Bootstrap::default());
    let (_, reciprocal_rank) = &means[0];
    assert_eq!((reciprocal_rank.value, reciprocal_rank.n), (Some(0.5), 2));
    assert_eq!(reciprocal_rank.excluded["no relevant documents"], 1);

    let means = scores.means(UndefinedAs::Zero, &Bootstrap::default());
    let (_, reciprocal_rank) = &means[0];
    assert_eq!(
        (reciprocal_rank.value, reciprocal_rank.n),
        (Some(1.0 / 3.0), 3)
    );
    assert!(reciprocal_rank.excluded.is_empty());
}
