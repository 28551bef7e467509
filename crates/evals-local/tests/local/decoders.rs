//! Qwen2 and Qwen3 as embedders and, with the prompts of published rerankers, as rerankers.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use evals_local::{Dtype, LocalEmbedder, LocalSettings, RerankPrompt, open_reranker};
use evals_models::{Embedder, TextKind};
use serde_json::Value;

use crate::checkpoints::{Golden, checkpoint, furthest, open};
use crate::failures::{copy, refusal, reranker_refusal, rewrite, told};

const RERANKERS: [&str; 4] = [
    "qwen3-reranker",
    "mxbai-rerank-base-v2",
    "qwen3-reranker-classifier",
    "qwen3-logit-score",
];

pub(crate) fn floats(value: &Value) -> Vec<f32> {
    serde_json::from_value(value.clone()).unwrap()
}

/// The settings under which the expected scores of `key` were made.
pub(crate) fn settings(golden: &Golden, key: &str) -> LocalSettings {
    let window = golden.values.get("window").and_then(Value::as_u64);
    let window = window.map(|window| usize::try_from(window).unwrap());
    let instruction = golden.values["instructions"][key].as_str();
    LocalSettings {
        max_tokens: window.and_then(NonZeroUsize::new),
        instruction: instruction.map(ToOwned::to_owned),
        ..LocalSettings::default()
    }
}

pub(crate) async fn scores(
    folder: impl AsRef<Path>,
    golden: &Golden,
    settings: &LocalSettings,
) -> Vec<f32> {
    let query = golden.values["query"].as_str().unwrap();
    let reranker = open_reranker(folder, settings).unwrap();
    let found = reranker.rerank(query, &golden.texts(), 1).await.unwrap();
    found.scores
}

#[tokio::test]
async fn rerankers_give_what_their_authors_code_gives() {
    for name in RERANKERS {
        let golden = Golden::read(name);
        for (key, expected) in golden.values["scores"].as_object().unwrap() {
            let found = scores(checkpoint(name), &golden, &settings(&golden, key)).await;
            let expected = floats(expected);
            let distance = furthest(&found, &expected);
            assert!(
                distance < 1e-4,
                "{name}, {key}: {found:?} instead of {expected:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_instruction_of_the_authors_is_the_default() {
    for name in ["qwen3-reranker", "qwen3-logit-score"] {
        let golden = Golden::read(name);
        let settings = LocalSettings {
            instruction: None,
            ..settings(&golden, "default")
        };
        let found = scores(checkpoint(name), &golden, &settings).await;
        assert!(furthest(&found, &floats(&golden.values["scores"]["default"])) < 1e-4);
    }
}

#[tokio::test]
async fn company_changes_no_bit_of_a_score() {
    for name in RERANKERS {
        for dtype in [Dtype::F32, Dtype::Int8] {
            let settings = LocalSettings {
                dtype,
                ..LocalSettings::default()
            };
            let golden = Golden::read(name);
            let reranker = open_reranker(checkpoint(name), &settings).unwrap();
            let texts: Vec<&str> = golden.texts().into_iter().cycle().take(13).collect();
            let together = reranker.rerank("a gene", &texts, 1).await.unwrap().scores;
            for (text, found) in texts.iter().zip(together) {
                let alone = reranker.rerank("a gene", &[text], 1).await.unwrap().scores;
                assert_eq!(alone, [found], "{name} {dtype:?} `{text}`");
            }
        }
    }
}

#[tokio::test]
async fn texts_longer_than_a_block_of_queries_are_the_same() {
    for name in ["qwen2", "qwen3"] {
        let golden = Golden::read(name);
        let settings = LocalSettings {
            max_tokens: NonZeroUsize::new(400),
            ..LocalSettings::default()
        };
        assert_eq!(golden.values["long_window"], 400);
        let text = golden.values["long"].as_str().unwrap();
        let found = open(name, &settings)
            .embed(&[text], TextKind::Document)
            .await
            .unwrap();
        let distance = furthest(found.values(), &floats(&golden.values["long_vector"]));
        assert!(distance < 1e-4, "{name}: {distance}");
    }
}

#[tokio::test]
async fn scores_in_eight_bits_stay_close() {
    for name in RERANKERS {
        let golden = Golden::read(name);
        let exact = settings(&golden, "default");
        let eight = LocalSettings {
            dtype: Dtype::Int8,
            ..exact.clone()
        };
        let exact = scores(checkpoint(name), &golden, &exact).await;
        let eight = scores(checkpoint(name), &golden, &eight).await;
        let range = exact.iter().copied().fold(f32::MIN, f32::max)
            - exact.iter().copied().fold(f32::MAX, f32::min);
        assert!(
            furthest(&eight, &exact) < 0.15 * range,
            "{name}: {eight:?} instead of {exact:?}"
        );
    }
}

#[tokio::test]
async fn a_reranker_of_another_name_needs_its_prompt_stated() {
    for (name, prompt) in [
        ("qwen3-reranker", RerankPrompt::Qwen3),
        ("mxbai-rerank-base-v2", RerankPrompt::Mxbai),
    ] {
        // The copy's folder has a name that says nothing.
        let folder = copy(name);
        let (message, _) = reranker_refusal(&folder, &LocalSettings::default());
        let called = folder.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(
            message,
            format!(
                "`config.json` is of a language model, and neither `modules.json` nor the name `{called}` says which \
                 prompt it reranks with; set `rerank_prompt` to `qwen3` or `mxbai`"
            )
        );
        let golden = Golden::read(name);
        let stated = LocalSettings {
            rerank_prompt: Some(prompt),
            ..settings(&golden, "default")
        };
        let found = scores(&folder, &golden, &stated).await;
        assert!(furthest(&found, &floats(&golden.values["scores"]["default"])) < 1e-4);
        let named = LocalSettings {
            name: Some(format!("somebody/{name}")),
            ..settings(&golden, "default")
        };
        assert_eq!(scores(&folder, &golden, &named).await, found);
    }
}

#[test]
fn an_identity_holds_what_a_reranker_is_asked() {
    let digest = |settings: LocalSettings| {
        let reranker = open_reranker(checkpoint("qwen3-reranker"), &settings).unwrap();
        reranker.identity().digest.clone().unwrap()
    };
    let base = digest(LocalSettings::default());
    assert!(base.contains(",512,f32,"), "{base}");
    let other = LocalSettings {
        instruction: Some("Find proteins.".to_owned()),
        ..LocalSettings::default()
    };
    assert_ne!(digest(other), base);
}

#[test]
fn prompts_without_room_for_a_pair_are_refused() {
    let settings = LocalSettings {
        max_tokens: NonZeroUsize::new(75),
        ..LocalSettings::default()
    };
    let error = open_reranker(checkpoint("qwen3-reranker"), &settings).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the limit of 75 tokens leaves no room for a text: 75 of them are special tokens"
    );
}

#[test]
fn a_decoder_without_outputs_is_no_reranker() {
    // Without this file it is a decoder like any other.
    let folder = copy("qwen3");
    fs::remove_file(folder.path().join("modules.json")).unwrap();
    let settings = LocalSettings {
        rerank_prompt: Some(RerankPrompt::Qwen3),
        ..LocalSettings::default()
    };
    assert_eq!(
        reranker_refusal(&folder, &settings).0,
        "`config.json` sets `architectures` to `Qwen3Model`, which is not supported"
    );
}

#[test]
fn answers_that_are_no_tokens_are_refused() {
    let folder = copy("qwen3-reranker");
    // The word is left to its two halves.
    rewrite(&folder, "tokenizer.json", "\"yes\": ", "\"yes!\": ");
    let path = folder.path().join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let merges = tokenizer["model"]["merges"].as_array_mut().unwrap();
    merges.retain(|pair| *pair != serde_json::json!(["y", "es"]));
    fs::write(&path, tokenizer.to_string()).unwrap();
    let settings = LocalSettings {
        rerank_prompt: Some(RerankPrompt::Qwen3),
        ..LocalSettings::default()
    };
    let (message, source) = reranker_refusal(&folder, &settings);
    assert_eq!(message, "`tokenizer.json` is not a usable tokenizer");
    assert_eq!(source, "it has no token `yes`");
}

#[test]
fn templates_that_refuse_or_leave_out_a_pair_are_not_used() {
    let folder = copy("qwen3-logit-score");
    let template = folder.path().join("chat_template.jinja");
    fs::write(&template, "{{ raise_exception('only users may speak') }}").unwrap();
    let (message, source) = reranker_refusal(&folder, &LocalSettings::default());
    assert_eq!(message, "`chat_template.jinja` has no usable chat template");
    assert!(source.contains("only users may speak"), "{source}");
    fs::write(&template, "{{ messages[0].content }}").unwrap();
    let (message, _) = reranker_refusal(&folder, &LocalSettings::default());
    assert!(message.contains("set `rerank_prompt` to"), "{message}");
}

#[tokio::test]
async fn of_a_vocabulary_s_outputs_only_two_are_read() {
    let golden = Golden::read("mxbai-rerank-base-v2");
    let folder = copy("mxbai-rerank-base-v2");
    let path = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let outputs = header["lm_head.weight"]["data_offsets"][0]
        .as_u64()
        .unwrap();
    let first = 8 + length + usize::try_from(outputs).unwrap();
    // No number, in the row of a token that is no answer.
    bytes[first..first + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let stated = LocalSettings {
        rerank_prompt: Some(RerankPrompt::Mxbai),
        ..settings(&golden, "default")
    };
    let found = scores(&folder, &golden, &stated).await;
    assert!(furthest(&found, &floats(&golden.values["scores"]["default"])) < 1e-4);
}

#[test]
fn prompts_that_would_be_cut_another_way_are_refused() {
    for (from, to, named) in [
        (
            r#""add_generation_prompt": true"#,
            r#""restore_suffix": false"#,
            "`processing_kwargs` to `restore_suffix`",
        ),
        (
            r#""chat_template": {"#,
            r#""text": {"max_length": 5}, "chat_template": {"#,
            r#"`processing_kwargs.text` to `{"max_length":5}`"#,
        ),
        (
            r#""format": "flat""#,
            r#""format": "structured""#,
            "`modality_config.message.format` to `structured`",
        ),
    ] {
        let folder = copy("qwen3-logit-score");
        rewrite(&folder, "sentence_bert_config.json", from, to);
        assert_eq!(
            reranker_refusal(&folder, &LocalSettings::default()).0,
            format!("`sentence_bert_config.json` sets {named}, which is not supported")
        );
    }
}

#[test]
fn what_would_be_computed_otherwise_is_refused() {
    let cases = [
        (
            r#""full_attention","#,
            r#""sliding_attention","#,
            "`layer_types` to `sliding_attention`",
        ),
        (
            r#""rope_type": "default""#,
            r#""rope_type": "yarn""#,
            "`rope_parameters.rope_type` to `yarn`",
        ),
        (
            r#""rope_type": "default""#,
            r#""rope_type": "default", "partial_rotary_factor": 0.5"#,
            "`rope_parameters.partial_rotary_factor` to `0.5`",
        ),
        (
            r#""rope_type": "default""#,
            r#""full_attention": {"rope_theta": 1000.0}"#,
            "`rope_parameters` to `full_attention`",
        ),
        (
            r#""use_cache""#,
            r#""partial_rotary_factor": 0.5, "use_cache""#,
            "`partial_rotary_factor` to `0.5`",
        ),
        (
            r#""use_cache""#,
            r#""is_causal": false, "use_cache""#,
            "`is_causal` to `false`",
        ),
        (
            r#""use_cache""#,
            r#""auto_map": {"AutoModel": "modeling.Model"}, "use_cache""#,
            r#"`auto_map` to `{"AutoModel":"modeling.Model"}`"#,
        ),
        (
            r#""num_key_value_heads": 2"#,
            r#""num_key_value_heads": 3"#,
            "`num_key_value_heads` to `3`",
        ),
    ];
    for (from, to, named) in cases {
        let folder = copy("qwen3");
        rewrite(&folder, "config.json", from, to);
        assert_eq!(
            refusal(&folder, &LocalSettings::default()).0,
            format!("`config.json` sets {named}, which is not supported")
        );
    }
}

#[test]
fn a_sliding_window_is_refused_unless_it_is_off() {
    let older = |window: &str| {
        let folder = copy("qwen2");
        let path = folder.path().join("config.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let config = config.as_object_mut().unwrap();
        // As configurations were before layers were listed.
        for key in ["layer_types", "sliding_window", "max_window_layers"] {
            config.remove(key);
        }
        config.extend(serde_json::from_str::<serde_json::Map<_, _>>(window).unwrap());
        fs::write(&path, serde_json::to_vec(config).unwrap()).unwrap();
        LocalEmbedder::open(&folder, &LocalSettings::default())
            .map(|_| ())
            .map_err(|error| told(&error, &folder).0)
    };
    let used = r#"{"use_sliding_window": true, "sliding_window": 16, "max_window_layers": 2}"#;
    assert_eq!(
        older(used).unwrap_err(),
        "`config.json` sets `sliding_window` to `16`, which is not supported"
    );
    let unstated = r#"{"use_sliding_window": true, "max_window_layers": 2}"#;
    assert_eq!(
        older(unstated).unwrap_err(),
        "`config.json` sets `sliding_window` to `4096`, which is not supported"
    );
    for off in [
        r#"{"use_sliding_window": false, "sliding_window": 16, "max_window_layers": 0}"#,
        r#"{"use_sliding_window": true, "sliding_window": 16, "max_window_layers": 3}"#,
        r#"{"use_sliding_window": true, "sliding_window": null, "max_window_layers": 0}"#,
        // From the 29th layer on.
        r#"{"use_sliding_window": true, "sliding_window": 16}"#,
    ] {
        assert_eq!(older(off), Ok(()), "{off}");
    }
}
