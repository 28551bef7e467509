//! Semantic search, and unusable vectors.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals_index::{Fusion, IndexError, Profile, Recipe, SearchOptions};
use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, RowOrigin, TextKind};

use crate::corpus::{
    Fixture, Letters, chain, documents, embedded, generated, ids, lexical, try_build,
};

fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

#[tokio::test(flavor = "multi_thread")]
async fn semantic_scores_are_exact_cosines() {
    let documents = generated(700);
    let fixture = Fixture::new(&embedded(), documents.clone()).await;
    for question in ["amber fjord", "kelp", "a quite different question"] {
        let vector = Letters::vector(question);
        let mut expected: Vec<_> = documents
            .iter()
            .map(|document| {
                (
                    cosine(&vector, &Letters::vector(&document.text)),
                    &document.uri,
                )
            })
            .collect();
        expected.sort_by(|left, right| right.0.total_cmp(&left.0));
        let ranking = fixture.ranking("semantic", question, 50).await;
        for ((_, score), (expected, _)) in ranking.iter().zip(&expected) {
            assert!(
                (f64::from(*score) - expected).abs() < 1e-5,
                "{score} instead of {expected}"
            );
        }
        assert_eq!(ranking.len(), 50);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn semantic_ties_are_broken_by_descending_id() {
    let texts: Vec<_> = (0..250).map(|number| format!("t{number:03}")).collect();
    let texts: Vec<_> = texts.iter().map(|uri| (uri.as_str(), "same")).collect();
    let fixture = Fixture::new(&embedded(), documents(&texts)).await;
    let ranking = fixture.ranking("semantic", "some", 2).await;
    assert_eq!(ids(&ranking), ["t249", "t248"]);
    assert_eq!(fixture.ranking("semantic", "some", 10_000).await.len(), 250);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_without_text_counts_but_is_never_found() {
    let texts = [("a", "some text"), ("empty", ""), ("blank", " \n ")];
    let fixture = Fixture::new(&embedded(), documents(&texts)).await;
    assert_eq!(fixture.index.statistics().await.unwrap().documents, 3);
    assert_eq!(ids(&fixture.ranking("semantic", "text", 5).await), ["a"]);
    assert_eq!(
        ids(&fixture.ranking("unranked", "text", 5).await),
        ["a", "empty", "blank"]
    );
    assert_eq!(fixture.ranking("semantic", " ", 5).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn semantic_profiles_refuse_an_index_without_vectors() {
    let fixture = Fixture::new(&lexical(), documents(&[("a", "text")])).await;
    for profile in Profile::all() {
        let searcher = fixture
            .index
            .searcher(profile, &SearchOptions::default())
            .await;
        match searcher {
            Ok(_) => assert!(!profile.needs_embeddings()),
            Err(error) => assert_eq!(
                error.to_string(),
                format!("the profile `{profile}` needs embeddings, which the index does not have")
            ),
        }
    }
}

/// Gives all documents one vector and all questions another.
#[derive(Debug)]
struct Constant {
    identity: ModelIdentity,
    vector: Vec<f32>,
    of_questions: Vec<f32>,
}

#[async_trait]
impl Embedder for Constant {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        2
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        let vector = match kind {
            TextKind::Query => &self.of_questions,
            TextKind::Document => &self.vector,
        };
        Ok(Embeddings::new(vector.len(), vector.repeat(texts.len()))?)
    }
}

fn constant(vector: &[f32], of_questions: &[f32]) -> Recipe {
    lexical().with_embedder(Arc::new(Constant {
        identity: ModelIdentity::new("test", "constant"),
        vector: vector.to_vec(),
        of_questions: of_questions.to_vec(),
    }))
}

async fn build_with(vector: &[f32]) -> Result<(), IndexError> {
    let recipe = constant(vector, vector);
    let folder = tempfile::tempdir().unwrap();
    let texts = documents(&[("a", "text"), ("b", "text")]);
    try_build(folder.path(), &recipe, texts).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_vector_is_refused_with_its_document() {
    assert!(build_with(&[0.5, -0.5]).await.is_ok());
    for (vector, defect) in [
        (vec![0.0, 0.0], "all 2 components of its vector are zero"),
        (vec![1.0, f32::NAN], "component 1 of its vector is `NaN`"),
        (
            vec![1e20, 0.0],
            "its vector has the length 1.0e20, whose square is beyond 32-bit numbers",
        ),
        (
            vec![1e-25, 1e-25],
            "its vector has the length 1.4e-25, whose square is beyond 32-bit numbers",
        ),
        (vec![1.0, 2.0, 3.0], "it has 3 components instead of 2"),
    ] {
        let error = build_with(&vector).await.unwrap_err();
        assert_eq!(
            chain(&error),
            format!(
                "the embedding by `test:constant` of chunk 0 of document `a` is unusable: {defect}"
            )
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_question_vector_is_an_error() {
    for (vector, defect) in [
        ([0.0, 0.0], "all 2 components of its vector are zero"),
        ([1e20, 0.0], "whose square is beyond 32-bit numbers"),
        ([0.0, 1e-25], "whose square is beyond 32-bit numbers"),
    ] {
        let fixture = Fixture::new(&constant(&[0.5, 0.5], &vector), documents(&[("a", "x")])).await;
        for profile in [Profile::Semantic, Profile::Hybrid(Fusion::default())] {
            let options = SearchOptions::default();
            let searcher = fixture.index.searcher(profile, &options).await.unwrap();
            let error = searcher.search("which one?", 5).await.unwrap_err();
            let message = chain(&error);
            assert!(message.contains("`which one?`"), "{message}");
            assert!(message.ends_with(defect), "{message}");
        }
    }
}

/// A store in front of a model, which has the vector of every text but `new`.
#[derive(Debug)]
struct Remembering(Arc<dyn Embedder>);

#[async_trait]
impl Embedder for Remembering {
    fn identity(&self) -> &ModelIdentity {
        self.0.identity()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        let origin = RowOrigin {
            stored: texts.iter().filter(|text| **text != "new").count(),
            took: Duration::from_millis(5),
        };
        Ok(self.0.embed(texts, kind).await?.with_origin(origin))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_vectors_are_marked_and_keep_their_time() {
    let remembering = Arc::new(Remembering(Letters::named("letters")));
    let recipe = lexical().with_embedder(remembering);
    let folder = tempfile::tempdir().unwrap();
    let texts = documents(&[("a", "old"), ("b", "new"), ("c", "older")]);
    let built = try_build(folder.path(), &recipe, texts).await.unwrap();
    assert_eq!(built.report.unwrap().stored_vectors, 2);
    let (semantic, options) = ("semantic".parse().unwrap(), SearchOptions::default());
    let searcher = built.index.searcher(semantic, &options).await.unwrap();
    for (question, stored) in [("old", true), ("new", false)] {
        let found = searcher.search(question, 3).await.unwrap();
        let embed = &found.timings[0];
        assert_eq!((embed.stage.as_str(), embed.cached), ("embed", stored));
        assert_eq!(embed.duration, Duration::from_millis(5), "{question}");
    }
}
