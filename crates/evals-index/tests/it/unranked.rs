//! The profile that ignores the question.

use crate::corpus::{Fixture, chunks_of, documents, ids};

#[tokio::test(flavor = "multi_thread")]
async fn every_question_gets_the_first_documents() {
    let texts = [
        ("m", "one two three"),
        ("z", "two"),
        ("a", "three four five"),
    ];
    let recipe = evals_index::Recipe::new("test", chunks_of(1));
    let fixture = Fixture::new(&recipe, documents(&texts)).await;
    for question in ["two", "", "anything"] {
        let ranking = fixture.ranking("unranked", question, 2).await;
        assert_eq!(ranking, [("m".to_owned(), 1.0), ("z".to_owned(), 0.5)]);
    }
    assert_eq!(
        ids(&fixture.ranking("unranked", "x", 9).await),
        ["m", "z", "a"]
    );
}
