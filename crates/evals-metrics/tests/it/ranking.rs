//! The order of documents, ties included.

use evals_metrics::{Ranking, RankingError};

use crate::{ranking, scored};

fn ids(ranking: &Ranking) -> Vec<&str> {
    ranking
        .iter()
        .map(|document| document.id.as_str())
        .collect()
}

#[test]
fn ties_go_to_the_greater_id_in_byte_order() {
    let documents = ["a", "Z", "é", "a1", "b"].map(|id| scored(id, 0.5));
    assert_eq!(
        ids(&Ranking::new(documents).unwrap()),
        ["é", "b", "a1", "a", "Z"]
    );
}

#[test]
fn zeros_of_both_signs_tie() {
    let ranking = Ranking::new([scored("a", 0.0), scored("b", -0.0), scored("c", 0.0)]).unwrap();
    assert_eq!(ids(&ranking), ["c", "b", "a"]);
}

#[test]
fn truncation_keeps_the_best() {
    let mut ranking = ranking(&["b", "a", "c"]);
    ranking.truncate(2);
    assert_eq!(ids(&ranking), ["b", "a"]);
}

#[test]
fn a_document_has_one_rank() {
    let error = Ranking::new([scored("a", 1.0), scored("b", 2.0), scored("a", 3.0)]).unwrap_err();
    assert_eq!(error, RankingError::DuplicateId { id: "a".to_owned() });
    assert_eq!(error.to_string(), "document `a` is ranked twice");
}

#[test]
fn scores_are_finite() {
    for (score, name) in [
        (f32::NAN, "NaN"),
        (f32::INFINITY, "inf"),
        (f32::NEG_INFINITY, "-inf"),
    ] {
        let error = Ranking::new([scored("a", 1.0), scored("b", score)]).unwrap_err();
        let message = format!("document `b` has the score `{name}`, which is not a finite number");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn reads_back_sorted_and_checked() {
    let ranking: Ranking =
        serde_json::from_str(r#"[{"id":"a","score":0.1},{"id":"b","score":0.25}]"#).unwrap();
    let json = serde_json::to_string(&ranking).unwrap();
    assert_eq!(json, r#"[{"id":"b","score":0.25},{"id":"a","score":0.1}]"#);

    let twice = r#"[{"id":"a","score":1.0},{"id":"a","score":2.0}]"#;
    let error = serde_json::from_str::<Ranking>(twice).unwrap_err();
    assert_eq!(error.to_string(), "document `a` is ranked twice");
}
