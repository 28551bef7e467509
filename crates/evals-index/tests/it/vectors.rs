//! A table of vectors without texts: exact search, several indexes in turn, and the files that remain.

use std::num::NonZeroU32;
use std::sync::Arc;

use evals_index::{Approximation, Store, VectorCollection, VectorNeighbour, VectorWriter};
use evals_rag::{VectorSearch, VectorSearchKind};
use tempfile::TempDir;

use crate::corpus::{Fixture, embedded, generated};

const DIMENSION: usize = 16;
const COUNT: usize = 700;

/// Vectors of which no two point into the same direction.
fn values() -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(3);
    std::iter::repeat_with(|| random.f32() - 0.5)
        .take(COUNT * DIMENSION)
        .collect()
}

async fn collection(folder: &TempDir) -> VectorCollection {
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    let mut writer = VectorWriter::create(&store, DIMENSION).await.unwrap();
    for block in values().chunks(100 * DIMENSION) {
        writer.add(block).await.unwrap();
    }
    writer.finish().await.unwrap()
}

fn approximation(settings: &VectorSearch) -> Approximation {
    let search = Approximation::of(settings, COUNT, DIMENSION);
    search.unwrap().expect("it is not exact")
}

fn exhaustive(kind: VectorSearchKind) -> Approximation {
    let number = |parameter, value| {
        NonZeroU32::new(value).filter(|_| kind.parameters().contains(&parameter))
    };
    approximation(&VectorSearch {
        kind,
        partitions: NonZeroU32::new(2),
        probes: NonZeroU32::new(2),
        ef: number("ef", 100_000),
        refine: number("refine", 100).map(NonZeroU32::get),
        ..VectorSearch::default()
    })
}

fn numbers(found: &[VectorNeighbour]) -> Vec<u32> {
    found.iter().map(|it| it.number).collect()
}

#[tokio::test]
async fn one_pass_and_the_engine_find_the_vectors_with_the_greatest_cosines() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = collection(&folder).await;
    assert_eq!((vectors.count(), vectors.dimension()), (COUNT, DIMENSION));
    let question = &values()[5 * DIMENSION..6 * DIMENSION];
    let cosine = |vector: &[f32]| {
        let dot =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        dot(question, vector) / (dot(question, question) * dot(vector, vector)).sqrt()
    };
    let mut expected: Vec<(f64, u32)> = values().chunks(DIMENSION).map(cosine).zip(0..).collect();
    expected.sort_by(|left, right| right.0.total_cmp(&left.0));
    let expected: Vec<u32> = expected[..10].iter().map(|it| it.1).collect();
    let engine = vectors.nearest(question, 10, None).await.unwrap();
    assert_eq!(numbers(&engine), expected);
    assert_eq!(engine[0].number, 5);
    let questions: Arc<[f32]> = question.into();
    let pass = vectors.exact(questions, 10, |_| {}).await.unwrap();
    assert_eq!(pass, [engine], "equal to the bit");
}

/// Of dimensions for which the engine has kernels of their own, and of others. Most vectors differ only in the last bits of a few components.
#[tokio::test]
async fn exact_search_has_the_bits_of_the_engine() {
    const COUNT: usize = 500;
    for dimension in [3, 8, 16, 31, 384] {
        let mut random = fastrand::Rng::with_seed(5);
        let direction: Vec<f32> = (0..dimension).map(|_| random.f32() - 0.5).collect();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
        let mut writer = VectorWriter::create(&store, dimension).await.unwrap();
        let mut values = Vec::new();
        for _ in 0..COUNT {
            let scale = [1.0, 1.0, 1e-14, 1e15][random.usize(..4)];
            let mut vector = direction.clone();
            for _ in 0..random.usize(..4) {
                let component = &mut vector[random.usize(..dimension)];
                *component = component.next_up();
            }
            values.extend(vector.iter().map(|value| value * scale));
        }
        writer.add(&values).await.unwrap();
        let vectors = writer.finish().await.unwrap();
        let questions = &values[..2 * dimension];
        let together = vectors
            .exact(questions.into(), COUNT, |_| {})
            .await
            .unwrap();
        for (question, together) in questions.chunks(dimension).zip(together) {
            let engine = vectors.nearest(question, COUNT, None).await.unwrap();
            let alone = vectors.exact(question.into(), COUNT, |_| {}).await.unwrap();
            assert_eq!(together, engine, "{dimension}");
            assert_eq!(alone, [engine], "{dimension}");
        }
    }
}

#[tokio::test]
async fn indexes_replace_each_other_and_leave_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = collection(&folder).await;
    let question = &values()[..DIMENSION];
    let exact = vectors.nearest(question, 20, None).await.unwrap();
    let (rows, nothing) = vectors.bytes();
    assert_eq!(nothing, 0);
    assert!(rows >= (COUNT * DIMENSION * 4) as u64, "{rows}");
    let mut sizes = Vec::new();
    for kind in VectorSearchKind::ALL.into_iter().skip(1) {
        let search = exhaustive(kind);
        vectors.build(&search.built).await.unwrap();
        vectors.check(&search).await.unwrap();
        let found = vectors.nearest(question, 20, Some(&search)).await.unwrap();
        assert_eq!(numbers(&found), numbers(&exact), "{kind}");
        let reopened = vectors.reopened().await.unwrap();
        let again = reopened.nearest(question, 20, Some(&search)).await.unwrap();
        assert_eq!(again, found, "{kind}");
        sizes.push((kind, vectors.bytes().1));
    }
    let size = |kind| sizes.iter().find(|it| it.0 == kind).unwrap().1;
    let flat = size(VectorSearchKind::IvfFlat);
    assert!(flat >= (COUNT * DIMENSION * 4) as u64, "{flat}");
    assert!(flat < 3 * (COUNT * DIMENSION * 4) as u64, "{flat}");
    assert!(size(VectorSearchKind::IvfSq) < flat, "{sizes:?}");
    let searches = vectors.nearest(question, 20, None).await.unwrap();
    assert_eq!(searches, exact, "the vectors are as before");
}

#[tokio::test]
async fn a_search_that_would_not_use_the_index_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = collection(&folder).await;
    let search = exhaustive(VectorSearchKind::IvfFlat);
    let error = vectors.check(&search).await.unwrap_err().to_string();
    assert!(
        error.starts_with(
            "the storage engine would not use only the index of the vectors; its plan is\n"
        ),
        "{error}"
    );
    assert!(error.contains("KNNVectorDistance"), "{error}");
}

#[tokio::test]
async fn the_vectors_of_an_index_are_copied_with_their_documents() {
    let fixture = Fixture::new(&embedded(), generated(300)).await;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    let mut writer = VectorWriter::create(&store, DIMENSION).await.unwrap();
    let documents = fixture
        .index
        .copy_vectors(&mut writer, |_| {})
        .await
        .unwrap();
    let vectors = writer.finish().await.unwrap();
    assert_eq!(documents, (0..300).collect::<Vec<_>>());
    let uris: Vec<&str> = fixture.index.documents().collect();
    let question = crate::corpus::Letters::vector("harbor and indigo");
    let found = vectors.nearest(&question, 1, None).await.unwrap();
    let expected = fixture.ranking("semantic", "harbor and indigo", 300).await;
    let best = uris[documents[found[0].number as usize]];
    let score = expected.iter().find(|it| it.0 == best).unwrap().1;
    assert_eq!(score.to_bits(), expected[0].1.to_bits(), "{best}");
    assert_eq!(score.to_bits(), found[0].score.to_bits());
}
