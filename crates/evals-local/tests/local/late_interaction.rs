//! Late interaction against the libraries that models of it are made with: see `make_late_interaction.py`.

use std::fs;
use std::num::NonZeroUsize;
use std::sync::Arc;

use evals_local::{Dtype, LocalEmbedder, LocalSettings, open_reranker};
use evals_models::Reranker;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::checkpoints::{checkpoint, furthest};
use crate::failures::{copy, rewrite, told};

#[derive(Deserialize)]
struct Case {
    query: String,
    scores: Vec<f32>,
}

fn golden(name: &str, case: &str) -> (Vec<String>, Vec<Case>) {
    let text = fs::read_to_string(checkpoint(name).join("golden.json")).unwrap();
    let mut golden: Value = serde_json::from_str(&text).unwrap();
    let texts = serde_json::from_value(golden["texts"].take()).unwrap();
    (texts, serde_json::from_value(golden[case].take()).unwrap())
}

fn open(folder: &TempDir, settings: &LocalSettings) -> Arc<dyn Reranker> {
    open_reranker(folder, settings).unwrap()
}

async fn scores(reranker: &Arc<dyn Reranker>, query: &str, texts: &[String]) -> Vec<f32> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    reranker.rerank(query, &texts, 1).await.unwrap().scores
}

/// Compares all scores of a case with those of a folder.
async fn check(folder: &TempDir, name: &str, case: &str) {
    let (texts, cases) = golden(name, case);
    let reranker = open(folder, &LocalSettings::default());
    for expected in cases {
        let found = scores(&reranker, &expected.query, &texts).await;
        let distance = furthest(&found, &expected.scores);
        assert!(
            distance < 1e-4,
            "{name}, {case}, `{}`: {found:?} instead of {:?}",
            expected.query,
            expected.scores
        );
    }
}

#[tokio::test]
async fn colbert_gives_the_scores_of_its_own_code() {
    let folder = copy("colbert");
    check(&folder, "colbert", "scores").await;
    rewrite(
        &folder,
        "artifact.metadata",
        r#""attend_to_mask_tokens": false"#,
        r#""attend_to_mask_tokens": true"#,
    );
    check(&folder, "colbert", "attending").await;
}

#[tokio::test]
async fn pylate_gives_its_scores() {
    let folder = copy("pylate-modernbert");
    check(&folder, "pylate-modernbert", "scores").await;
    let config = "config_sentence_transformers.json";
    rewrite(
        &folder,
        config,
        r#""attend_to_expansion_tokens": false"#,
        r#""attend_to_expansion_tokens": true"#,
    );
    check(&folder, "pylate-modernbert", "attending").await;
    rewrite(
        &folder,
        config,
        r#""do_query_expansion": true"#,
        r#""do_query_expansion": false"#,
    );
    check(&folder, "pylate-modernbert", "unexpanded").await;
}

/// A copy of the checkpoint whose tokens are bytes, with other keys in its file of prompts.
fn prompted(changed: Value) -> TempDir {
    let folder = copy("pylate-bytes");
    let path = folder.path().join("config_sentence_transformers.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let config = config.as_object_mut().unwrap();
    config.extend(serde_json::from_value::<serde_json::Map<_, _>>(changed).unwrap());
    fs::write(&path, serde_json::to_vec(config).unwrap()).unwrap();
    folder
}

/// A copy of it with how its texts are read under one of the older names of that file.
fn lowercased(lowercase: bool) -> TempDir {
    let folder = copy("pylate-bytes");
    let file = |name: &str| folder.path().join(name);
    fs::write(file("sentence_bert_config.json"), "{}").unwrap();
    let config = json!({"max_seq_length": 64, "do_lower_case": lowercase});
    fs::write(file("sentence_roberta_config.json"), config.to_string()).unwrap();
    folder
}

#[tokio::test]
async fn texts_are_stripped_and_prompted_as_pylate_does() {
    let name = "pylate-bytes";
    check(&copy(name), name, "scores").await;
    check(&lowercased(true), name, "in_small_letters").await;
    let by_default = json!({
        "prompts": {"query": "", "document": "", "say": "\n Say: "},
        "default_prompt_name": "say",
    });
    check(&prompted(by_default), name, "by_default").await;
    let named = json!({"prompts": {"query": " Ask: ", "document": "Tell: "}});
    check(&prompted(named), name, "named").await;
}

#[test]
fn an_identity_holds_whether_letters_are_made_small() {
    let digest = |folder: TempDir| {
        let reranker = open(&folder, &LocalSettings::default());
        reranker.identity().digest.clone().unwrap()
    };
    assert_ne!(digest(lowercased(true)), digest(lowercased(false)));
    assert_eq!(digest(lowercased(false)), digest(copy("pylate-bytes")));
}

#[tokio::test]
async fn punctuation_counts_where_it_is_not_masked() {
    let (texts, cases) = golden("colbert", "scores");
    let folder = copy("colbert");
    let masking = open(&folder, &LocalSettings::default());
    rewrite(
        &folder,
        "artifact.metadata",
        r#""mask_punctuation": true"#,
        r#""mask_punctuation": false"#,
    );
    let counting = open(&folder, &LocalSettings::default());
    let mut higher = 0;
    for case in cases {
        let masked = scores(&masking, &case.query, &texts).await;
        let counted = scores(&counting, &case.query, &texts).await;
        // Without any, and with more tokens to choose from.
        assert_eq!(masked[0].to_bits(), counted[0].to_bits());
        assert!(
            masked
                .iter()
                .zip(&counted)
                .all(|(masked, counted)| masked <= counted)
        );
        higher += usize::from(masked != counted);
    }
    assert!(higher > 0);
}

#[tokio::test]
async fn company_changes_no_bit_of_a_score() {
    for name in ["colbert", "pylate-modernbert"] {
        for dtype in [Dtype::F32, Dtype::Int8] {
            let settings = LocalSettings {
                dtype,
                ..LocalSettings::default()
            };
            let reranker = open(&copy(name), &settings);
            let (texts, _) = golden(name, "scores");
            let texts: Vec<String> = texts.into_iter().cycle().take(37).collect();
            let together = scores(&reranker, "what is a gene", &texts).await;
            for (text, together) in texts.iter().zip(together) {
                let alone = scores(&reranker, "what is a gene", std::slice::from_ref(text)).await;
                assert_eq!(alone[0].to_bits(), together.to_bits(), "{name} `{text}`");
            }
        }
    }
}

#[tokio::test]
async fn eight_bits_stay_close() {
    for name in ["colbert", "pylate-modernbert"] {
        let settings = LocalSettings {
            dtype: Dtype::Int8,
            ..LocalSettings::default()
        };
        let reranker = open(&copy(name), &settings);
        // A processor that keeps seven bits of weights makes steps of twice the size.
        let digest = reranker.identity().digest.clone().unwrap();
        let most = if digest.contains("7bit") { 2.0 } else { 1.0 };
        let (texts, cases) = golden(name, "scores");
        for expected in cases {
            let found = scores(&reranker, &expected.query, &texts).await;
            let distance = furthest(&found, &expected.scores);
            // Of 16 and 20, the scores of texts that say just what the query says.
            assert!(distance < most, "{name}: {distance}");
        }
    }
}

#[tokio::test]
async fn a_folder_says_which_reranker_it_holds() {
    for (name, kind) in [
        ("colbert", "max-sim"),
        ("pylate-modernbert", "max-sim"),
        ("bert-reranker", "f32"),
    ] {
        let reranker = open_reranker(checkpoint(name), &LocalSettings::default()).unwrap();
        let digest = reranker.identity().digest.clone().unwrap();
        let second = digest
            .split(',')
            .find(|part| part.parse::<u32>().is_err() && !part.starts_with("sha256"));
        assert_eq!(second, Some(kind), "{digest}");
    }
}

#[test]
fn an_identity_tells_apart_what_gives_other_scores() {
    let digest = |folder: &TempDir, settings: &LocalSettings| {
        let reranker = open(folder, settings);
        reranker.identity().digest.clone().unwrap()
    };
    let folder = copy("colbert");
    let published = digest(&folder, &LocalSettings::default());
    assert!(published.contains(",max-sim,16,24,f32,"), "{published}");
    let shorter = LocalSettings {
        max_tokens: NonZeroUsize::new(20),
        ..LocalSettings::default()
    };
    let int8 = LocalSettings {
        dtype: Dtype::Int8,
        ..LocalSettings::default()
    };
    for settings in [shorter, int8] {
        assert_ne!(digest(&folder, &settings), published);
    }
    for (from, to) in [
        (r#""query_maxlen": 16"#, r#""query_maxlen": 12"#),
        (
            r#""mask_punctuation": true"#,
            r#""mask_punctuation": false"#,
        ),
        (
            r#""attend_to_mask_tokens": false"#,
            r#""attend_to_mask_tokens": true"#,
        ),
        (
            r#""doc_token_id": "[unused1]""#,
            r#""doc_token_id": "[unused0]""#,
        ),
    ] {
        let folder = copy("colbert");
        rewrite(&folder, "artifact.metadata", from, to);
        assert_ne!(
            digest(&folder, &LocalSettings::default()),
            published,
            "{to}"
        );
    }
}

#[test]
fn an_embedder_refuses_it_and_says_what_it_is_for() {
    let without_metadata = copy("colbert");
    fs::remove_file(without_metadata.path().join("artifact.metadata")).unwrap();
    let without_architecture = copy("colbert");
    rewrite(
        &without_architecture,
        "config.json",
        "HF_ColBERT",
        "BertModel",
    );
    for folder in [
        without_metadata,
        without_architecture,
        copy("pylate-modernbert"),
    ] {
        let error = LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "`{}` holds a late-interaction model, which has no single vector for a text; use it as a reranker",
                folder.path().display()
            )
        );
    }
}

#[test]
fn what_cannot_be_run_is_refused_by_name() {
    let refusal = |name: &str, file: &str, from: &str, to: &str| {
        let folder = copy(name);
        rewrite(&folder, file, from, to);
        let error = open_reranker(&folder, &LocalSettings::default()).unwrap_err();
        told(&error, &folder)
    };
    let metadata = |from: &str, to: &str| refusal("colbert", "artifact.metadata", from, to);
    assert_eq!(
        metadata(r#""interaction": "colbert""#, r#""interaction": "flipr""#).0,
        "`artifact.metadata` sets `interaction` to `flipr`, which is not supported"
    );
    assert_eq!(
        metadata(r#""similarity": "cosine""#, r#""similarity": "l2""#).0,
        "`artifact.metadata` sets `similarity` to `l2`, which is not supported"
    );
    assert_eq!(
        metadata(r#""dim": 12"#, r#""dim": 16"#).1,
        "`linear.weight` has the shape [12, 32] instead of [16, 32]"
    );
    assert_eq!(
        metadata(r#""dim": 12"#, r#""dim": 0"#).0,
        "`artifact.metadata` sets `dim` to `0`, which is not supported"
    );
    assert_eq!(
        metadata(r#""query_maxlen": 16"#, r#""query_maxlen": 1000000000000"#).0,
        "`artifact.metadata` sets `query_maxlen` to `1000000000000`, which is not supported"
    );
    assert_eq!(
        metadata("[unused0]", "[Query]"),
        (
            "`tokenizer.json` is not a usable tokenizer".to_owned(),
            "it has no token `[Query]`".to_owned()
        )
    );
    assert_eq!(
        metadata(r#""query_maxlen": 16"#, r#""query_maxlen": 65"#).0,
        "the limit is 65 tokens, but the model has only 64 positions"
    );
    assert_eq!(
        metadata(r#""query_maxlen": 16"#, r#""query_maxlen": 3"#).0,
        "the limit of 3 tokens leaves no room for a text: 3 of them are special tokens"
    );
    let pylate = |file: &str, from: &str, to: &str| refusal("pylate-modernbert", file, from, to).0;
    assert_eq!(
        pylate(
            "config_sentence_transformers.json",
            r#""model_type": "ColBERT""#,
            r#""model_type": "MultiVectorEncoder""#
        ),
        "`config_sentence_transformers.json` sets `model_type` to `MultiVectorEncoder`, which is not supported"
    );
    assert_eq!(
        pylate(
            "modules.json",
            "pylate.models.Dense.Dense",
            "pylate.models.LSTM"
        ),
        "`modules.json` sets `type` to `pylate.models.LSTM`, which is not supported"
    );
    let folder = prompted(json!({"prompts": {"document": "tell ".repeat(40)}}));
    let error = open_reranker(&folder, &LocalSettings::default()).unwrap_err();
    assert_eq!(
        told(&error, &folder).0,
        "the limit of 48 tokens leaves no room for a text after the prompt of documents"
    );
    let folder = copy("bert");
    let file = "artifact.metadata";
    fs::copy(checkpoint("colbert").join(file), folder.path().join(file)).unwrap();
    let error = open_reranker(&folder, &LocalSettings::default()).unwrap_err();
    assert_eq!(
        told(&error, &folder).1,
        "there is no tensor `linear.weight`"
    );
}
