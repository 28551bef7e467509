//! The files beside the weights: the effect of their settings, and the settings that are refused.

use std::fs;
use std::path::Path;

use evals_local::{LocalEmbedder, LocalSettings, open_reranker};
use evals_models::{Embedder, TextKind};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::checkpoints::{Golden, checkpoint, furthest};
use crate::decoders::floats;
use crate::failures::{copy, refusal, reranker_refusal, told};

/// Lays `stated` over a file of JSON, where `null` takes a key out. Lists replace the file.
fn state(folder: &TempDir, file: &str, stated: &Value) {
    let path = folder.path().join(file);
    let Some(stated) = stated.as_object() else {
        return fs::write(path, stated.to_string()).unwrap();
    };
    let present = fs::read(&path).unwrap_or_else(|_| b"{}".to_vec());
    let mut all: Map<String, Value> = serde_json::from_slice(&present).unwrap();
    all.extend(stated.clone());
    all.retain(|_, value| !value.is_null());
    fs::write(path, Value::from(all).to_string()).unwrap();
}

/// The expected values of `name` beside the checkpoint `source`, and the folder that they are of.
fn changed(source: &str, name: &str) -> (Golden, TempDir) {
    let text = fs::read_to_string(checkpoint(source).join(format!("{name}.json"))).unwrap();
    let golden: Golden = serde_json::from_str(&text).unwrap();
    let folder = copy(source);
    for (file, stated) in golden.values["files"].as_object().unwrap() {
        state(&folder, &format!("{file}.json"), stated);
    }
    (golden, folder)
}

async fn assert_vectors(folder: impl AsRef<Path>, golden: &Golden, what: &str) {
    let embedder = LocalEmbedder::open(folder, &LocalSettings::default()).unwrap();
    let texts = golden.texts();
    let found = embedder.embed(&texts, TextKind::Document).await.unwrap();
    let expected = golden.values["document"].as_array().unwrap();
    for ((text, found), expected) in texts.iter().zip(found.rows()).zip(expected) {
        let distance = furthest(found, &floats(expected));
        assert!(distance < 1e-4, "{what}, `{text}`: {distance}");
    }
}

#[tokio::test]
async fn embedders_do_as_their_files_state() {
    for (source, name) in [
        // The tokens that mean padding have no position of their own.
        ("roberta", "padded"),
        // The class of the tokenizer goes by its own configuration.
        ("bert", "cased"),
        ("bert", "end"),
        ("modernbert", "narrow"),
        ("nomic_bert", "base"),
    ] {
        let (golden, folder) = changed(source, name);
        assert_vectors(&folder, &golden, name).await;
    }
}

#[tokio::test]
async fn the_end_that_is_cut_may_be_stated_by_the_tokenizer_itself() {
    let (golden, _) = changed("bert", "end");
    let folder = copy("bert");
    let direction = json!({"truncation": {
        "direction": "Left", "max_length": 5, "strategy": "LongestFirst", "stride": 0
    }});
    state(&folder, "tokenizer.json", &direction);
    let nothing = json!({"truncation_side": null});
    state(&folder, "tokenizer_config.json", &nothing);
    assert_vectors(&folder, &golden, "end").await;
    let digest = |folder: &Path| {
        let embedder = LocalEmbedder::open(folder, &LocalSettings::default()).unwrap();
        embedder.identity().digest.clone()
    };
    let (_, left) = changed("bert", "end");
    assert_ne!(digest(left.path()), digest(&checkpoint("bert")));
}

#[tokio::test]
async fn cross_encoders_do_as_their_files_state() {
    let (golden, folder) = changed("xlm-roberta-reranker", "stated");
    let reranker = open_reranker(&folder, &LocalSettings::default()).unwrap();
    let query = golden.values["query"].as_str().unwrap();
    let found = reranker.rerank(query, &golden.texts(), 1).await.unwrap();
    let expected = floats(&golden.values["scores"]);
    let distance = furthest(&found.scores, &expected);
    assert!(
        distance < 1e-4,
        "{:?} instead of {expected:?}",
        found.scores
    );
    let with = reranker.identity().digest.clone();
    let prompts = json!({"prompts": {"cell": "The Gene: "}});
    state(&folder, "config_sentence_transformers.json", &prompts);
    let reranker = open_reranker(&folder, &LocalSettings::default()).unwrap();
    assert_ne!(reranker.identity().digest, with);
}

#[test]
fn the_length_of_texts_has_an_older_name() {
    let folder = copy("xlm-roberta-reranker");
    let older = json!({"model_max_length": null, "max_len": 20});
    state(&folder, "tokenizer_config.json", &older);
    let reranker = open_reranker(&folder, &LocalSettings::default()).unwrap();
    let digest = reranker.identity().digest.clone().unwrap();
    assert!(digest.contains(",20,f32,"), "{digest}");
}

/// The error of an embedder after one of its files was changed.
fn refused(source: &str, file: &str, stated: &Value) -> String {
    let folder = copy(source);
    state(&folder, file, stated);
    let (message, _) = refusal(&folder, &LocalSettings::default());
    let sets = format!("`{file}` sets ");
    let message = message.strip_prefix(&sets).map(ToOwned::to_owned);
    let message = message.unwrap_or_else(|| panic!("another file than {file}"));
    message.replace(", which is not supported", "")
}

#[test]
fn what_configurations_ask_for_beyond_the_published_models_is_refused() {
    let linear = json!({"rope_type": "linear", "factor": 2.0});
    for (source, stated, message) in [
        (
            "bert",
            json!({"is_decoder": true}),
            "`is_decoder` to `true`",
        ),
        (
            "roberta",
            json!({"is_decoder": true}),
            "`is_decoder` to `true`",
        ),
        (
            "roberta",
            json!({"pad_token_id": -1}),
            "`pad_token_id` to `-1`",
        ),
        (
            "modernbert",
            json!({"rope_parameters": {"full_attention": linear.clone()}}),
            "`rope_parameters.full_attention.rope_type` to `linear`",
        ),
        (
            "modernbert",
            json!({"rope_parameters": {"rope_theta": 100.0}}),
            "`rope_parameters` to `rope_theta`",
        ),
        (
            "modernbert",
            json!({"rope_scaling": linear.clone()}),
            "`rope_scaling.rope_type` to `linear`",
        ),
        (
            "modernbert",
            json!({"rope_scaling": {"rope_theta": 100.0}}),
            "`rope_scaling.rope_theta` to `100.0`",
        ),
        (
            "modernbert",
            json!({"layer_types": ["full_attention"]}),
            "`layer_types` to `1 kinds for 3 layers`",
        ),
        (
            "modernbert",
            json!({"layer_types": ["full_attention", "sliding_attention", "chunked_attention"]}),
            "`layer_types` to `chunked_attention`",
        ),
        (
            "nomic_bert",
            json!({"rope_parameters": linear.clone()}),
            "`rope_parameters.rope_type` to `linear`",
        ),
        (
            "nomic_bert",
            json!({"rope_scaling": linear}),
            "`rope_scaling.rope_type` to `linear`",
        ),
        ("nomic_bert", json!({"causal": true}), "`causal` to `true`"),
        (
            "nomic_bert",
            json!({"parallel_block": true}),
            "`parallel_block` to `true`",
        ),
        (
            "nomic_bert",
            json!({"use_rms_norm": true}),
            "`use_rms_norm` to `true`",
        ),
        (
            "qwen3",
            json!({"layer_types": ["full_attention"]}),
            "`layer_types` to `1 kinds for 3 layers`",
        ),
    ] {
        assert_eq!(refused(source, "config.json", &stated), message, "{source}");
    }
}

#[test]
fn padding_that_is_stated_as_nothing_is_refused() {
    let folder = copy("roberta");
    let path = folder.path().join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    config["pad_token_id"] = Value::Null;
    fs::write(&path, config.to_string()).unwrap();
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`config.json` sets `pad_token_id` to `null`, which is not supported"
    );
}

#[test]
fn other_ways_to_read_a_text_are_refused() {
    for (stated, message) in [
        (
            json!({"transformer_task": "fill-mask"}),
            "`transformer_task` to `fill-mask`",
        ),
        (
            json!({"module_output_name": "scores"}),
            "`module_output_name` to `scores`",
        ),
        (
            json!({"modality_config": {"text": {"method": "forward", "method_output_name": "pooler_output"}}}),
            "`modality_config.text.method_output_name` to `pooler_output`",
        ),
        (
            json!({"modality_config": {"message": {}}}),
            r#"`modality_config` to `{"message":{}}`"#,
        ),
        (
            json!({"processing_kwargs": {"text": {"max_length": 7}}}),
            r#"`processing_kwargs.text` to `{"max_length":7}`"#,
        ),
        (json!({"query_length": 8}), "`query_length` to `8`"),
        (json!({"document_length": 8}), "`document_length` to `8`"),
        (
            json!({"query_expansion": {"strategy": "min"}}),
            r#"`query_expansion` to `{"strategy":"min"}`"#,
        ),
        (
            json!({"tokenizer_name_or_path": "bert"}),
            "`tokenizer_name_or_path` to `bert`",
        ),
        (
            json!({"tokenizer_args": {"model_max_length": 9}}),
            "`tokenizer_args` to `model_max_length`",
        ),
        (
            json!({"config_kwargs": {"hidden_act": "relu"}}),
            "`config_kwargs` to `hidden_act`",
        ),
        (
            json!({"model_args": {"torch_dtype": "float32", "rotary_scaling_factor": 2}}),
            "`model_args` to `rotary_scaling_factor`",
        ),
    ] {
        assert_eq!(
            refused("bert", "sentence_bert_config.json", &stated),
            message
        );
    }
    for (stated, message) in [
        (
            json!({"truncation_side": "middle"}),
            "`truncation_side` to `middle`",
        ),
        (
            json!({"split_special_tokens": true}),
            "`split_special_tokens` to `true`",
        ),
    ] {
        assert_eq!(refused("bert", "tokenizer_config.json", &stated), message);
    }
    for (stated, message) in [
        (
            json!({"model_type": "SparseEncoder"}),
            "`model_type` to `SparseEncoder`",
        ),
        (json!({"truncate_dim": 16}), "`truncate_dim` to `16`"),
    ] {
        let file = "config_sentence_transformers.json";
        assert_eq!(refused("bert", file, &stated), message);
    }
}

#[test]
fn arguments_that_change_nothing_are_not_refused() {
    let folder = copy("bert");
    let stated = json!({
        "model_args": {"torch_dtype": "float16", "attn_implementation": "sdpa"}, "tokenizer_kwargs": {},
        "processor_kwargs": {"padding_side": "left"}, "config_args": {"use_cache": false},
        "processing_kwargs": {"chat_template": {"add_generation_prompt": true}, "text": {}},
    });
    state(&folder, "sentence_bert_config.json", &stated);
    LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap();
}

#[test]
fn steps_of_a_model_s_own_code_and_out_of_order_are_refused() {
    let transformer = json!({"path": "", "type": "sentence_transformers.models.Transformer"});
    let normalize = json!({"path": "", "type": "sentence_transformers.models.Normalize"});
    for (steps, kind) in [
        (
            json!([{"path": "", "type": "custom_st.Transformer"}]),
            "custom_st.Transformer",
        ),
        (
            json!([transformer, normalize]),
            "sentence_transformers.models.Normalize",
        ),
    ] {
        assert_eq!(
            refused("bert", "modules.json", &steps),
            format!("`type` to `{kind}`")
        );
    }
    let folder = copy("xlm-roberta-reranker");
    state(&folder, "modules.json", &json!([transformer, normalize]));
    assert_eq!(
        reranker_refusal(&folder, &LocalSettings::default()).0,
        "`modules.json` sets `type` to `sentence_transformers.models.Normalize`, which is not supported"
    );
}

#[test]
fn fillers_with_other_vectors_are_refused() {
    let open = |file: &str, stated: Value, fills: bool| {
        let folder = copy("pylate-modernbert");
        state(&folder, file, &stated);
        let expansion = json!({"do_query_expansion": fills});
        state(&folder, "config_sentence_transformers.json", &expansion);
        let opened = open_reranker(&folder, &LocalSettings::default());
        opened.map(|_| ()).map_err(|error| told(&error, &folder).0)
    };
    let left = json!({"padding_side": "left"});
    let refused = "`tokenizer_config.json` sets `padding_side` to `left`, which is not supported";
    assert_eq!(
        open("tokenizer_config.json", left.clone(), true),
        Err(refused.to_owned())
    );
    assert_eq!(open("tokenizer_config.json", left, false), Ok(()));
}

#[test]
fn prompts_that_are_read_or_answered_otherwise_are_refused() {
    let refused = |file: &str, stated: Value| {
        let folder = copy("qwen3-logit-score");
        state(&folder, file, &stated);
        reranker_refusal(&folder, &LocalSettings::default()).0
    };
    let file = "sentence_bert_config.json";
    for (stated, asks) in [
        (json!({"do_lower_case": true}), "`do_lower_case` to `true`"),
        (json!({"query_length": 5}), "`query_length` to `5`"),
        (
            json!({"config_args": {"rms_norm_eps": 0.5}}),
            "`config_args` to `rms_norm_eps`",
        ),
        (
            json!({"transformer_task": "feature-extraction"}),
            "`transformer_task` to `feature-extraction`",
        ),
    ] {
        assert_eq!(
            refused(file, stated),
            format!("`{file}` sets {asks}, which is not supported")
        );
    }
    assert_eq!(
        refused("tokenizer_config.json", json!({"truncation_side": "left"})),
        "`tokenizer_config.json` sets `truncation_side` to `left`, which is not supported"
    );
}
