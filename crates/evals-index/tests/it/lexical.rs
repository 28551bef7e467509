//! Full-text search: scores, ties and passages.

use evals_index::{FullText, SearchOptions};

use crate::corpus::{Fixture, chunks_of, documents, ids, lexical, pairs};

fn assert_scores(actual: &[(String, f32)], expected: &[(&str, f32)]) {
    assert_eq!(
        ids(actual),
        expected.iter().map(|(id, _)| *id).collect::<Vec<_>>()
    );
    for ((id, score), (_, expected)) in actual.iter().zip(expected) {
        assert!(
            (score - expected).abs() < 1e-5,
            "{id}: {score} instead of {expected}"
        );
    }
}

/// Three chunks of 2, 3 and 4 terms: the mean length is 3.
async fn fruit() -> Fixture {
    let texts = [
        ("a", "apple banana"),
        ("b", "apple apple cherry"),
        ("c", "durian elder fig grape"),
    ];
    Fixture::new(&lexical(), documents(&texts)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn scores_follow_the_bm25_formula() {
    let fixture = fruit().await;
    // idf(apple) = ln(1 + 1.5/2.5) = 0.470004; a: 2.2 · 1/(1 + 0.9), b: 2.2 · 2/(2 + 1.2).
    let apple = [("b", 0.646_255), ("a", 0.544_215)];
    assert_scores(&fixture.ranking("bm25", "apple", 10).await, &apple);
    // idf(fig) = ln(1 + 2.5/1.5) = 0.980829; c: 2.2 · 1/(1 + 1.5).
    let both = [("c", 0.863_130), ("b", 0.646_255), ("a", 0.544_215)];
    assert_scores(
        &fixture.ranking("bm25", "Figs, and an Apple!", 10).await,
        &both,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_query_term_counts_each_time() {
    let fixture = fruit().await;
    let twice = [("b", 2.0 * 0.646_255), ("a", 2.0 * 0.544_215)];
    assert_scores(&fixture.ranking("bm25", "apple apple", 10).await, &twice);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_without_terms_find_nothing() {
    let fixture = fruit().await;
    for question in ["", "  \n", "the of and", "?!", "zebra"] {
        assert_eq!(
            fixture.ranking("bm25", question, 5).await,
            [],
            "`{question}`"
        );
    }
    assert_eq!(fixture.ranking("bm25", "apple", 0).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn ties_are_broken_by_descending_id() {
    let texts: Vec<_> = (0..300)
        .map(|number| (format!("t{number:03}"), "same words"))
        .collect();
    let texts: Vec<_> = texts
        .iter()
        .map(|(uri, text)| (uri.as_str(), *text))
        .collect();
    let fixture = Fixture::new(&lexical(), documents(&texts)).await;
    let ranking = fixture.ranking("bm25", "words", 3).await;
    assert_eq!(ids(&ranking), ["t299", "t298", "t297"]);
    assert_eq!(fixture.ranking("bm25", "words", 1000).await.len(), 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_scores_as_its_best_chunk() {
    let mut texts: Vec<_> = (0..40)
        .map(|number| (format!("x{number:02}"), "lighthouse keeper"))
        .collect();
    // One document of 200 chunks, each better than those of the others.
    texts.push(("many".to_owned(), "lighthouse lighthouse"));
    let repeated = "lighthouse lighthouse ".repeat(200);
    let texts: Vec<_> = texts
        .iter()
        .map(|(uri, text)| {
            (
                uri.as_str(),
                if uri == "many" {
                    repeated.as_str()
                } else {
                    *text
                },
            )
        })
        .collect();
    let recipe = evals_index::Recipe::new("test", chunks_of(2));
    let fixture = Fixture::new(&recipe, documents(&texts)).await;
    assert_eq!(fixture.index.statistics().await.unwrap().chunks, 240);
    let ranking = fixture.ranking("bm25", "lighthouse", 5).await;
    assert_eq!(ids(&ranking), ["many", "x39", "x38", "x37", "x36"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn passages_are_the_best_chunks_of_the_ranked_documents() {
    let texts = [
        ("a", "harbor lights harbor lights harbor"),
        ("b", "harbor wall"),
        ("c", "harbor"),
    ];
    let recipe = evals_index::Recipe::new("test", chunks_of(2));
    let fixture = Fixture::new(&recipe, documents(&texts)).await;
    let options = SearchOptions {
        passages: 3,
        ..SearchOptions::default()
    };
    let retrieved = fixture.retrieve_with("bm25", "harbor", 2, options).await;
    // Chunks of one word score best: c has one; a has one and two chunks of two words.
    assert_eq!(ids(&pairs(&retrieved)), ["c", "a"]);
    let passages: Vec<_> = retrieved
        .passages
        .iter()
        .map(|passage| {
            (
                passage.document.as_str(),
                passage.ordinal,
                passage.text.as_str(),
            )
        })
        .collect();
    assert_eq!(
        passages,
        [
            ("c", 0, "harbor"),
            ("a", 2, "harbor"),
            ("a", 0, "harbor lights")
        ]
    );
    assert_eq!(retrieved.passages[0].title.as_deref(), Some("Title of c"));
    assert_eq!(
        retrieved.passages[0].score.to_bits(),
        pairs(&retrieved)[0].1.to_bits()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn best_of_adds_the_best_passage_of_each_document() {
    let texts = [
        ("a", "harbor lights harbor lights harbor"),
        ("b", "harbor wall"),
        ("c", "harbor"),
    ];
    let recipe = evals_index::Recipe::new("test", chunks_of(2));
    let fixture = Fixture::new(&recipe, documents(&texts)).await;
    let passages = async |passages, best_of| {
        let options = SearchOptions {
            passages,
            best_of,
            ..SearchOptions::default()
        };
        let retrieved = fixture.retrieve_with("bm25", "harbor", 3, options).await;
        let passages = retrieved.passages.iter();
        passages
            .map(|passage| (passage.document.clone(), passage.ordinal))
            .collect::<Vec<_>>()
    };
    let passage = |document: &str, ordinal| (document.to_owned(), ordinal);
    // The order of all chunks: c 0, a 2, then the chunks of two words, b before a.
    assert_eq!(
        passages(0, 3).await,
        [passage("c", 0), passage("a", 2), passage("b", 0)]
    );
    assert_eq!(passages(0, 2).await, [passage("c", 0), passage("a", 2)]);
    assert_eq!(
        passages(1, 3).await,
        [passage("c", 0), passage("a", 2), passage("b", 0)]
    );
    assert_eq!(
        passages(4, 1).await,
        [
            passage("c", 0),
            passage("a", 2),
            passage("b", 0),
            passage("a", 0)
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn full_text_settings_control_stemming_and_stop_words() {
    let texts = documents(&[("a", "the running foxes"), ("b", "he ran")]);
    let plain = FullText {
        stem: false,
        remove_stop_words: false,
        ..FullText::default()
    };
    let stemmed = Fixture::new(&lexical(), texts.clone()).await;
    let plain = Fixture::new(&lexical().with_full_text(plain), texts).await;
    assert_eq!(ids(&stemmed.ranking("bm25", "fox runs", 5).await), ["a"]);
    assert_eq!(plain.ranking("bm25", "fox runs", 5).await, []);
    assert_eq!(ids(&plain.ranking("bm25", "the", 5).await), ["a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn control_characters_emoji_and_sql_are_plain_text() {
    let texts = [
        ("nul", "walnut\0pecan"),
        ("emoji", "🦀 crab 🦀"),
        ("quotes", r#"it's a "quoted" -- DROP TABLE; \ %"#),
        ("o'brien", "surname"),
        ("zero-width", "\u{200b}\u{feff}ghost"),
    ];
    let fixture = Fixture::new(&lexical(), documents(&texts)).await;
    let options = SearchOptions {
        passages: 1,
        ..SearchOptions::default()
    };
    for (question, id) in [
        ("crab 🦀 '\"\\", "emoji"),
        ("drop table; --", "quotes"),
        ("surname", "o'brien"),
    ] {
        let retrieved = fixture
            .retrieve_with("bm25", question, 1, options.clone())
            .await;
        assert_eq!(ids(&pairs(&retrieved)), [id]);
        let text = texts.iter().find(|(uri, _)| *uri == id).unwrap().1;
        assert_eq!(retrieved.passages[0].text, text);
    }
    assert_eq!(ids(&fixture.ranking("bm25", "pecan", 5).await), ["nul"]);
}
