//! Every family on random weights against transformers and sentence-transformers.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use evals_local::{Dtype, LocalEmbedder, LocalSettings, Pooling, open_reranker};
use evals_models::{Embedder, TextKind};
use serde::Deserialize;

use crate::failures::{copy, rewrite};

#[derive(Deserialize)]
pub(crate) struct Golden {
    texts: Vec<String>,
    #[serde(flatten)]
    pub(crate) values: BTreeMap<String, serde_json::Value>,
}

impl Golden {
    pub(crate) fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(checkpoint(name).join("golden.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn vectors(&self, kind: &str) -> Vec<Vec<f32>> {
        serde_json::from_value(self.values[kind].clone()).unwrap()
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(String::as_str).collect()
    }
}

pub(crate) fn checkpoint(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/local/checkpoints")
        .join(name)
}

pub(crate) fn open(name: &str, settings: &LocalSettings) -> LocalEmbedder {
    LocalEmbedder::open(checkpoint(name), settings).unwrap()
}

pub(crate) fn furthest(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let distances = found
        .iter()
        .zip(expected)
        .map(|(found, expected)| (found - expected).abs());
    distances.fold(0.0, f32::max)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[tokio::test]
async fn embedders_give_what_sentence_transformers_gives() {
    for name in [
        "bert",
        "bert-dense",
        "roberta",
        "xlm-roberta",
        "modernbert",
        "nomic_bert",
        "xlnet",
        "qwen2",
        "qwen3",
    ] {
        let golden = Golden::read(name);
        let embedder = open(name, &LocalSettings::default());
        for (kind, key) in [(TextKind::Query, "query"), (TextKind::Document, "document")] {
            let found = embedder.embed(&golden.texts(), kind).await.unwrap();
            for (text, (found, expected)) in found.rows().zip(golden.vectors(key)).enumerate() {
                let distance = furthest(found, &expected);
                assert!(distance < 1e-4, "{name}, {key}, text {text}: {distance}");
            }
        }
    }
}

#[tokio::test]
async fn texts_are_read_as_the_older_names_of_a_file_say() {
    let text = std::fs::read_to_string(checkpoint("qwen3").join("older.json")).unwrap();
    let golden: Golden = serde_json::from_str(&text).unwrap();
    let folder = copy("qwen3");
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    // The one says nothing, the last one is not looked at.
    write("sentence_bert_config.json", "{}");
    write(
        "sentence_distilbert_config.json",
        r#"{"max_seq_length": 12, "do_lower_case": true}"#,
    );
    write("sentence_xlnet_config.json", r#"{"max_seq_length": 9}"#);
    // The folder's own prompt of queries would take all of the 12 tokens.
    let settings = LocalSettings {
        query_prompt: Some(String::new()),
        ..LocalSettings::default()
    };
    let embedder = LocalEmbedder::open(&folder, &settings).unwrap();
    let found = embedder
        .embed(&golden.texts(), TextKind::Document)
        .await
        .unwrap();
    for (text, (found, expected)) in found.rows().zip(golden.vectors("document")).enumerate() {
        let distance = furthest(found, &expected);
        assert!(distance < 1e-4, "text {text}: {distance}");
    }
}

#[tokio::test]
async fn a_linear_map_without_an_activation_has_tanh() {
    let folder = copy("bert-dense");
    rewrite(
        &folder,
        "2_Dense/config.json",
        r#""activation_function": "torch.nn.modules.activation.Tanh","#,
        "",
    );
    let golden = Golden::read("bert-dense");
    let embedder = LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap();
    let found = embedder
        .embed(&golden.texts(), TextKind::Document)
        .await
        .unwrap();
    for (found, expected) in found.rows().zip(golden.vectors("document")) {
        assert!(furthest(found, &expected) < 1e-4);
    }
}

#[tokio::test]
async fn a_pooling_of_no_way_is_the_mean() {
    let folder = copy("bert");
    std::fs::write(
        folder.path().join("1_Pooling/config.json"),
        r#"{"word_embedding_dimension": 32, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": false}"#,
    )
    .unwrap();
    let golden = Golden::read("bert");
    let embedder = LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap();
    let found = embedder
        .embed(&golden.texts(), TextKind::Document)
        .await
        .unwrap();
    for (found, expected) in found.rows().zip(golden.vectors("document")) {
        assert!(furthest(found, &expected) < 1e-4);
    }
}

#[tokio::test]
async fn rerankers_give_what_transformers_gives() {
    for name in [
        "bert-reranker",
        "xlm-roberta-reranker",
        "modernbert-reranker",
        "xlnet-reranker",
    ] {
        let golden = Golden::read(name);
        let query = golden.values["query"].as_str().unwrap();
        let expected: Vec<f32> = serde_json::from_value(golden.values["scores"].clone()).unwrap();
        let reranker = open_reranker(checkpoint(name), &LocalSettings::default()).unwrap();
        let found = reranker.rerank(query, &golden.texts(), 1).await.unwrap();
        let distance = furthest(&found.scores, &expected);
        assert!(
            distance < 1e-4,
            "{name}: {:?} instead of {expected:?}",
            found.scores
        );
    }
}

#[tokio::test]
async fn company_changes_no_bit_of_a_vector() {
    for name in ["bert", "bert-dense", "modernbert", "xlnet", "qwen3"] {
        for dtype in [Dtype::F32, Dtype::Int8] {
            let settings = LocalSettings {
                dtype,
                ..LocalSettings::default()
            };
            let embedder = open(name, &settings);
            let golden = Golden::read(name);
            let texts: Vec<&str> = golden.texts().into_iter().cycle().take(61).collect();
            let together = embedder.embed(&texts, TextKind::Document).await.unwrap();
            for (text, found) in texts.iter().zip(together.rows()) {
                let alone = embedder.embed(&[text], TextKind::Document).await.unwrap();
                assert_eq!(alone.row(0), Some(found), "{name} {dtype:?} `{text}`");
            }
        }
    }
}

#[tokio::test]
async fn segments_are_left_out_where_the_tokenizer_s_configuration_leaves_them_out() {
    let folder = copy("xlnet");
    let file = "tokenizer_config.json";
    rewrite(&folder, file, "\"token_type_ids\",", "");
    let golden = Golden::read("xlnet");
    let embedder = LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap();
    let found = embedder
        .embed(&golden.texts(), TextKind::Document)
        .await
        .unwrap();
    for (found, expected) in found.rows().zip(golden.vectors("without_segments")) {
        assert!(furthest(found, &expected) < 1e-4);
    }
    let with = open("xlnet", &LocalSettings::default());
    assert_ne!(
        with.identity().digest,
        embedder.identity().digest,
        "{:?}",
        golden.texts
    );
}

#[tokio::test]
async fn eight_bits_stay_close() {
    for name in ["xlnet", "qwen2", "qwen3"] {
        let settings = LocalSettings {
            dtype: Dtype::Int8,
            ..LocalSettings::default()
        };
        let golden = Golden::read(name);
        let found = open(name, &settings)
            .embed(&golden.texts(), TextKind::Document)
            .await
            .unwrap();
        for (text, (found, expected)) in found.rows().zip(golden.vectors("document")).enumerate() {
            let cosine = cosine(found, &expected);
            assert!(cosine > 0.99, "{name}, text {text}: {cosine}");
        }
    }
}

#[tokio::test]
async fn settings_go_before_the_model_s_files() {
    let golden = Golden::read("bert");
    let settings = LocalSettings {
        query_prompt: Some("the cell: ".to_owned()),
        ..LocalSettings::default()
    };
    let found = open("bert", &settings)
        .embed(&golden.texts(), TextKind::Query)
        .await
        .unwrap();
    for (found, expected) in found.rows().zip(golden.vectors("document")) {
        assert!(furthest(found, &expected) < 1e-4);
    }
    let settings = LocalSettings {
        normalize: Some(false),
        pooling: Some(Pooling::Cls),
        ..LocalSettings::default()
    };
    let found = open("bert", &settings)
        .embed(&["x"], TextKind::Query)
        .await
        .unwrap();
    let length = found
        .values()
        .iter()
        .map(|value| value * value)
        .sum::<f32>()
        .sqrt();
    assert!((length - 1.0).abs() > 0.1, "{length}");
}

#[test]
fn an_identity_tells_apart_what_gives_other_vectors() {
    let plain = open("bert", &LocalSettings::default());
    assert_eq!(plain.identity().to_string(), "local:bert");
    let digest =
        |settings: LocalSettings| open("bert", &settings).identity().digest.clone().unwrap();
    let base = digest(LocalSettings::default());
    assert!(base.starts_with("sha256:"), "{base}");
    assert!(base.contains(",mean,normalized,40,f32,"), "{base}");
    let others = [
        LocalSettings {
            dtype: Dtype::Int8,
            ..LocalSettings::default()
        },
        LocalSettings {
            pooling: Some(Pooling::Max),
            ..LocalSettings::default()
        },
        LocalSettings {
            normalize: Some(false),
            ..LocalSettings::default()
        },
        LocalSettings {
            max_tokens: NonZeroUsize::new(20),
            ..LocalSettings::default()
        },
        LocalSettings {
            query_prompt: Some(String::new()),
            ..LocalSettings::default()
        },
        LocalSettings {
            document_prompt: Some(String::new()),
            ..LocalSettings::default()
        },
    ];
    for other in others {
        assert_ne!(digest(other.clone()), base, "{other:?}");
    }
    let threads = LocalSettings {
        threads: NonZeroUsize::new(1),
        ..LocalSettings::default()
    };
    assert_eq!(digest(threads), base);
}

#[test]
fn the_window_leaves_out_special_tokens_and_the_prompt() {
    // 40 tokens, less `[CLS]` and `[SEP]`, less `the`, `cell` and `:` (which the vocabulary lacks, so it is one token).
    assert_eq!(
        open("bert", &LocalSettings::default()).max_tokens(),
        Some(35)
    );
    assert_eq!(
        open("roberta", &LocalSettings::default()).max_tokens(),
        Some(38)
    );
    let xlnet = open("xlnet", &LocalSettings::default());
    // Neither its files nor its positions state a limit.
    assert_eq!(xlnet.max_tokens(), Some(8190));
    let digest = xlnet.identity().digest.clone().unwrap();
    assert!(digest.contains(",mean,as-is,8192,f32,"), "{digest}");
    let short = LocalSettings {
        max_tokens: NonZeroUsize::new(1_000),
        ..LocalSettings::default()
    };
    assert_eq!(open("xlnet", &short).max_tokens(), Some(998));
    let longer = LocalSettings {
        max_tokens: NonZeroUsize::new(10_000),
        ..LocalSettings::default()
    };
    assert_eq!(open("xlnet", &longer).max_tokens(), Some(9_998));
}

#[tokio::test]
async fn what_is_read_of_a_text_has_a_bound_without_positions_too() {
    let texts = [9_000, 20_000].map(|words| "gene ".repeat(words));
    let texts = texts.each_ref().map(String::as_str);
    let embedder = open("xlnet", &LocalSettings::default());
    let found = embedder.embed(&texts, TextKind::Document).await.unwrap();
    let (cut, longer) = found.values().split_at(found.dimension());
    assert_eq!(cut, longer);
}

#[tokio::test]
async fn texts_that_were_cut_are_counted() {
    let short = LocalSettings {
        max_tokens: NonZeroUsize::new(8),
        ..LocalSettings::default()
    };
    let embedder = open("bert", &short);
    let reads = embedder.max_tokens().unwrap();
    let fits = "a ".repeat(reads);
    embedder
        .embed(&["a", &fits], TextKind::Document)
        .await
        .unwrap();
    assert!(embedder.notes().is_empty(), "{:?}", embedder.notes());
    let longer = "a ".repeat(reads + 1);
    for expected in [
        "1 text is longer than the model reads and was truncated",
        "2 texts are longer than the model reads and were truncated",
    ] {
        embedder
            .embed(&["a", &longer], TextKind::Document)
            .await
            .unwrap();
        assert_eq!(embedder.notes(), [expected]);
    }
}
