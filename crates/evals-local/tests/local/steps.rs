//! The steps that a model's files state: those that cannot be run, and the errors about them.

use std::fs;

use evals_local::{LocalEmbedder, LocalSettings, Pooling, open_reranker};
use evals_models::Embedder;
use serde_json::Value;
use tempfile::TempDir;

use crate::checkpoints::checkpoint;
use crate::failures::{copy, copy_into, refusal, rewrite, told};

#[test]
fn steps_that_cannot_be_run_are_refused() {
    let folder = copy("bert");
    rewrite(&folder, "modules.json", "Normalize\"", "Router\"");
    let (message, _) = refusal(&folder, &LocalSettings::default());
    assert!(
        message.starts_with("`modules.json` sets `type` to `"),
        "{message}"
    );
    assert!(
        message.ends_with("Router`, which is not supported"),
        "{message}"
    );
    let folder = copy("bert-dense");
    rewrite(
        &folder,
        "2_Dense/config.json",
        "activation.Tanh",
        "activation.PReLU",
    );
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`2_Dense/config.json` sets `activation_function` to `torch.nn.modules.activation.PReLU`, which is not supported"
    );
    let folder = copy("bert-dense");
    rewrite(&folder, "modules.json", "pooling.Pooling", "pooling.Dense");
    rewrite(&folder, "modules.json", "1_Pooling", "2_Dense");
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`modules.json` sets `type` to `sentence_transformers.sentence_transformer.modules.pooling.Dense`, which is not \
         supported",
        "a linear map of the vectors of tokens"
    );
}

#[test]
fn an_encoder_in_a_subfolder_is_refused_with_advice() {
    let advice = "`modules.json` names a subfolder for the encoder, `0_Transformer`; move its files beside `modules.json` and \
                  set its `path` there to an empty string";
    for name in ["bert", "pylate-modernbert", "qwen3-logit-score"] {
        let folder = copy(name);
        // The files of the encoder are there twice, as any others could be.
        copy_into(&checkpoint(name), &folder.path().join("0_Transformer"));
        rewrite(
            &folder,
            "modules.json",
            r#""path": """#,
            r#""path": "0_Transformer""#,
        );
        assert_eq!(refusal(&folder, &LocalSettings::default()).0, advice);
        let error = open_reranker(&folder, &LocalSettings::default()).unwrap_err();
        assert_eq!(told(&error, &folder).0, advice);
        for file in ["config.json", "tokenizer.json", "model.safetensors"] {
            fs::remove_file(folder.path().join(file)).unwrap();
        }
        assert_eq!(refusal(&folder, &LocalSettings::default()).0, advice);
    }
}

#[test]
fn a_prompt_left_out_of_pooling_is_refused_whatever_the_settings_pool() {
    let folder = copy("bert");
    rewrite(
        &folder,
        "1_Pooling/config.json",
        r#""include_prompt": true"#,
        r#""include_prompt": false"#,
    );
    for pooling in [None, Some(Pooling::Mean), Some(Pooling::Cls)] {
        let settings = LocalSettings {
            pooling,
            ..LocalSettings::default()
        };
        assert_eq!(
            refusal(&folder, &settings).0,
            "`1_Pooling/config.json` sets `include_prompt` to `false`, which is not supported"
        );
    }
}

#[test]
fn a_default_prompt_has_to_be_there() {
    for name in ["bert", "pylate-bytes", "qwen3-logit-score"] {
        let folder = copy(name);
        let file = "config_sentence_transformers.json";
        let path = folder.path().join(file);
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        config["default_prompt_name"] = "web search".into();
        fs::write(&path, config.to_string()).unwrap();
        let error = match name {
            "bert" => LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap_err(),
            _ => open_reranker(&folder, &LocalSettings::default()).unwrap_err(),
        };
        assert_eq!(
            told(&error, &folder).0,
            format!("`{file}` sets `default_prompt_name` to `web search`, which is not supported")
        );
    }
}

#[test]
fn an_activation_stated_as_nothing_is_refused() {
    for (name, from, refused) in [
        (
            "bert-dense",
            r#""torch.nn.modules.activation.Tanh""#,
            "2_Dense",
        ),
        (
            "pylate-bytes",
            r#""torch.nn.modules.linear.Identity""#,
            "1_Dense",
        ),
    ] {
        let folder = copy(name);
        rewrite(&folder, &format!("{refused}/config.json"), from, "null");
        let error = match name {
            "bert-dense" => LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap_err(),
            _ => open_reranker(&folder, &LocalSettings::default()).unwrap_err(),
        };
        assert_eq!(
            told(&error, &folder).0,
            format!(
                "`{refused}/config.json` sets `activation_function` to `null`, which is not supported"
            )
        );
    }
}

#[test]
fn linear_maps_that_do_not_fit_are_refused() {
    let folder = copy("bert-dense");
    rewrite(
        &folder,
        "3_Dense/config.json",
        r#""in_features": 24"#,
        r#""in_features": 32"#,
    );
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`3_Dense/config.json` sets `in_features` to `32`, which is not supported"
    );
    let folder = copy("bert-dense");
    rewrite(
        &folder,
        "3_Dense/config.json",
        r#""out_features": 16"#,
        r#""out_features": 0"#,
    );
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`3_Dense/config.json` sets `out_features` to `0`, which is not supported"
    );
    let folder = copy("bert-dense");
    rewrite(
        &folder,
        "2_Dense/config.json",
        r#""module_input_name": "sentence_embedding""#,
        r#""module_input_name": "token_embeddings""#,
    );
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`2_Dense/config.json` sets `module_input_name` to `token_embeddings`, which is not supported"
    );
    let folder = copy("bert-dense");
    fs::remove_file(folder.path().join("3_Dense/pytorch_model.bin")).unwrap();
    assert_eq!(
        refusal(&folder, &LocalSettings::default())
            .0
            .replace(&folder.path().display().to_string(), ""),
        "`3_Dense` has no weights: neither `model.safetensors` nor `pytorch_model.bin`, nor the shards of either"
    );
}

#[test]
fn linear_maps_are_part_of_the_identity() {
    let digest = |folder: &TempDir| {
        let embedder = LocalEmbedder::open(folder, &LocalSettings::default()).unwrap();
        assert_eq!(embedder.dimension(), 16);
        embedder.identity().digest.clone()
    };
    let folder = copy("bert-dense");
    let published = digest(&folder);
    rewrite(&folder, "2_Dense/config.json", "Tanh", "ReLU");
    assert_ne!(digest(&folder), published);
    let folder = copy("bert-dense");
    let weights = folder.path().join("3_Dense/pytorch_model.bin");
    let mut bytes = fs::read(&weights).unwrap();
    // Within the only storage, which is larger than all else in the file.
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&weights, bytes).unwrap();
    assert_ne!(digest(&folder), published);
}

#[test]
fn pooling_that_is_announced_has_to_be_stated() {
    let folder = copy("bert");
    fs::remove_file(folder.path().join("1_Pooling/config.json")).unwrap();
    let (message, _) = refusal(&folder, &LocalSettings::default());
    assert!(message.contains("config.json"), "{message}");
}
