//! The embedded model: its vectors, which are the same in every batch.

use std::sync::Arc;

use evals_local::StaticEmbedder;
use evals_models::{Embedder, Embeddings, TextKind};
use serde::Deserialize;
use sha2::{Digest, Sha256};

const ASSET: &[u8] = include_bytes!("../assets/static-minilm.bin");
/// Length of the header. The digest covers everything after it.
const HEADER: usize = 56;

fn model() -> StaticEmbedder {
    StaticEmbedder::static_minilm()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Cosine of two texts.
fn similarity(a: &str, b: &str) -> f32 {
    let (a, b) = (model().embed_batch(&[a]), model().embed_batch(&[b]));
    cosine(a.values(), b.values())
}

#[test]
fn a_process_loads_the_model_once() {
    let smaller = model().with_dimension(64).unwrap();
    assert!(Arc::ptr_eq(&model().tokenizer(), &smaller.tokenizer()));
    assert_eq!(
        (model().dimension(), smaller.dimension()),
        (256, 64),
        "what is set on one is not set on the next"
    );
}

#[test]
fn the_asset_is_the_one_that_the_identity_names() {
    let digest = Sha256::digest(&ASSET[HEADER..]);
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 0xF]);
    let digest: String = digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect();
    let model = model();
    assert_eq!(model.identity().to_string(), "embedded:static-minilm");
    assert_eq!(model.identity().digest, Some(format!("sha256:{digest}")));
    assert!(
        ASSET.len() <= 9_000_000,
        "{} bytes travel with every copy of the program",
        ASSET.len()
    );
}

#[derive(Deserialize)]
struct Golden {
    text: String,
    vector: Vec<f32>,
}

/// `golden/vectors.json` was computed with numpy 2.4 in single precision by the recipe of the example `distill`, from the same model and
/// without quantisation; it was tokenised by `tokenizers` 0.23.3.
#[test]
fn vectors_are_those_of_the_recipe() {
    let golden: Vec<Golden> = serde_json::from_str(include_str!("golden/vectors.json")).unwrap();
    assert!(golden.len() >= 8);
    for Golden { text, vector } in golden {
        let found = model().embed_batch(&[&text]);
        let near = cosine(found.values(), &vector);
        assert!(near > 0.9995, "{text:?}: cosine {near}");
        for (axis, (found, expected)) in found.values().iter().zip(&vector).enumerate() {
            assert!(
                (found - expected).abs() < 0.005,
                "{text:?}, axis {axis}: {found} instead of {expected}"
            );
        }
    }
}

#[test]
fn related_texts_are_nearer_than_unrelated_ones() {
    let pairs = [
        (
            "How do I reset my password?",
            "Steps to recover access to your account",
            "The orchestra played until midnight",
        ),
        (
            "The hospital hired forty nurses",
            "Medical staff shortage at the clinic",
            "A volcano erupted under the glacier",
        ),
        (
            "Vitamin D protects against fractures",
            "Supplements and bone density in the elderly",
            "Tax law for small companies",
        ),
        ("Der Hund", "der kleine Hund", "quarterly revenue"),
        (
            "The team won the championship final",
            "Football players celebrate their victory",
            "Photosynthesis in algae",
        ),
    ];
    for (text, related, unrelated) in pairs {
        let (near, far) = (similarity(text, related), similarity(text, unrelated));
        assert!(
            near > far + 0.1,
            "{text:?}: {near} with {related:?}, {far} with {unrelated:?}"
        );
    }
}

#[test]
fn case_and_accents_do_not_matter() {
    assert!((similarity("CAFÉ MENU", "cafe menu") - 1.0).abs() < 1e-6);
}

#[test]
fn a_batch_keeps_its_order_whatever_the_threads() {
    let texts: Vec<String> = (0..1_000_u32)
        .map(|index| format!("report {index} about {} cities", index * 7919 % 1_000))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let alone: Vec<f32> = texts
        .iter()
        .flat_map(|text| model().embed_batch(&[text]).into_values())
        .collect();
    for count in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
        let embedded = pool
            .build()
            .unwrap()
            .install(|| model().embed_batch(&texts));
        assert_eq!(embedded.values(), alone, "{count} threads");
    }
}

#[test]
fn every_vector_has_length_one() {
    let texts = [
        "",
        "a",
        "the the the",
        "Straße 中文 😀",
        "\0",
        &"long ".repeat(10_000),
    ];
    for vector in model().embed_batch(&texts).rows() {
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    }
}

#[test]
fn a_text_without_known_tokens_is_near_to_nothing() {
    let known = [
        "the",
        "Gene expression in T cells",
        "How do I cancel my subscription?",
        "Lightning strikes the tower again",
    ];
    for empty in ["", " \n", "\u{200B}"] {
        for text in known {
            let cosine = similarity(empty, text);
            assert!(cosine.abs() < 0.15, "{empty:?} and {text:?}: {cosine}");
        }
    }
}

#[test]
fn ten_megabytes_are_read_to_the_end() {
    let (cats, ships) = ("cats and kittens purr. ", "ships sail the ocean. ");
    let text = cats.repeat(230_000) + &ships.repeat(230_000);
    assert!(text.len() > 10_000_000);
    let embeddings = model().embed_batch(&[&text, cats, ships]);
    let nearness: Vec<f32> = embeddings
        .rows()
        .skip(1)
        .map(|row| cosine(row, embeddings.values()))
        .collect();
    assert!(nearness.iter().all(|cosine| *cosine > 0.5), "{nearness:?}");
}

#[test]
fn fewer_dimensions_are_the_first_ones_at_length_one() {
    let text = ["Stories of the harbour"];
    let whole = model().embed_batch(&text);
    let whole = whole.row(0).unwrap();
    let model = model().with_dimension(64).unwrap();
    assert_eq!(model.dimension(), 64);
    let short = model.embed_batch(&text);
    let length = cosine(&whole[..64], &whole[..64]).sqrt();
    for (short, whole) in short.values().iter().zip(whole) {
        assert!((short - whole / length).abs() < 1e-6);
    }
}

#[test]
fn equal_identities_mean_equal_vectors() {
    let at = |dimension| model().with_dimension(dimension).unwrap();
    let digest = |model: &StaticEmbedder| model.identity().digest.clone().unwrap();
    assert_eq!(at(256).identity(), model().identity());
    assert_eq!(
        digest(&at(64)),
        format!("{},dimension=64", digest(&model()))
    );
    assert_ne!(at(64).identity(), at(32).identity());
    let again = at(64).with_dimension(32).unwrap();
    assert_eq!(again.identity(), at(32).identity());
    let text = ["Stories of the harbour"];
    assert_eq!(again.embed_batch(&text), at(32).embed_batch(&text));
    assert_eq!(
        at(64).with_dimension(256).unwrap().identity(),
        model().identity()
    );
}

#[test]
fn dimensions_that_the_model_does_not_have_are_refused() {
    for requested in [0, 257] {
        let error = model().with_dimension(requested).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "`embedded:static-minilm` can return vectors of 1 to 256 dimensions, not {requested}"
            )
        );
    }
}

#[test]
fn a_vocabulary_must_fit_the_vectors() {
    // Header of one token of one dimension, and a vocabulary of two lines.
    let mut asset = b"EVSTATIC\x01\0\0\0\x01\0\0\0\x01\0\0\0\x08\0\0\0".to_vec();
    let body = b"[UNK]\nab\0\0\x80\x3F\x01";
    asset.extend(Sha256::digest(body));
    asset.extend(body);
    let error = StaticEmbedder::from_asset("tiny", asset.leak()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "static model is damaged: it has not one vector for each token"
    );
}

#[tokio::test]
async fn the_trait_gives_the_same_vectors() {
    let model = model();
    let embedder: &dyn Embedder = &model;
    let texts = ["one", "two"];
    let embeddings = embedder.embed(&texts, TextKind::Query).await.unwrap();
    assert_eq!(embeddings, model.embed_batch(&texts));
    assert_eq!(
        embedder.embed(&[], TextKind::Document).await.unwrap(),
        Embeddings::new(256, Vec::new()).unwrap()
    );
    assert_eq!(embedder.max_tokens(), None);
}
