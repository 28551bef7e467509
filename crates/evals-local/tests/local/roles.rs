//! Embedders given as rerankers, rerankers given as embedders, and settings that are not for the model at hand.

use std::fs;
use std::path::Path;

use evals_local::{LocalEmbedder, LocalError, LocalSettings, RerankPrompt, open_reranker};

use serde_json::Value;

use crate::checkpoints::checkpoint;
use crate::failures::{copy, rewrite};

/// The message with `folder` in the place of the model's own.
fn told(error: &LocalError, folder: &Path) -> String {
    let place = folder.display().to_string();
    error.to_string().replace(&place, "folder")
}

fn refused_embedder(folder: &Path) -> String {
    let error = LocalEmbedder::open(folder, &LocalSettings::default()).unwrap_err();
    told(&error, folder)
}

fn refused_reranker(folder: &Path, settings: &LocalSettings) -> String {
    told(&open_reranker(folder, settings).unwrap_err(), folder)
}

#[test]
fn a_classifier_is_no_embedder() {
    for (name, architecture) in [
        ("bert-reranker", "BertForSequenceClassification"),
        ("xlnet-reranker", "XLNetForSequenceClassification"),
        (
            "qwen3-reranker-classifier",
            "Qwen3ForSequenceClassification",
        ),
    ] {
        assert_eq!(
            refused_embedder(&checkpoint(name)),
            format!(
                "`folder` holds a classifier, `{architecture}`, which has no vector for a text; use it as a reranker"
            )
        );
    }
}

#[test]
fn a_pooling_makes_an_embedder_of_any_architecture() {
    let folder = copy("bert");
    let classifier = "BertForSequenceClassification";
    rewrite(&folder, "config.json", "BertModel", classifier);
    LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap();
    fs::write(
        folder.path().join("modules.json"),
        r#"[{"path": "", "type": "sentence_transformers.models.Transformer"}]"#,
    )
    .unwrap();
    assert!(refused_embedder(folder.path()).contains(classifier));
}

#[test]
fn language_models_are_embedders_without_a_pooling_too() {
    for (name, from, to) in [
        ("bert", "BertModel", "BertForMaskedLM"),
        ("qwen3", "Qwen3Model", "Qwen3ForCausalLM"),
    ] {
        let folder = copy(name);
        rewrite(&folder, "config.json", from, to);
        fs::remove_file(folder.path().join("modules.json")).unwrap();
        LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap();
    }
}

#[test]
fn a_language_model_published_as_a_reranker_is_no_embedder() {
    let advice = |sign: &str| {
        format!(
            "`folder` holds a reranker, as {sign} shows; it has no vector for a text: use it as `reranking.model`"
        )
    };
    for name in ["qwen3-reranker", "mxbai-rerank-base-v2"] {
        assert_eq!(
            refused_embedder(&checkpoint(name)),
            advice(&format!("its name `{name}`"))
        );
        // The same files by another name are any language model's.
        let folder = copy(name);
        LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap();
        let named = LocalSettings {
            name: Some(format!("somebody/{name}")),
            ..LocalSettings::default()
        };
        let error = LocalEmbedder::open(&folder, &named).unwrap_err();
        assert_eq!(
            told(&error, folder.path()),
            advice(&format!("its name `somebody/{name}`"))
        );
    }
    assert_eq!(
        refused_embedder(&checkpoint("qwen3-logit-score")),
        advice("`LogitScore` in `modules.json`")
    );
    // A pooled model is an embedder whatever its name, and so is a model that is no language model.
    for name in ["qwen3", "bert"] {
        let named = LocalSettings {
            name: Some("distilled-from-qwen3-reranker".to_owned()),
            ..LocalSettings::default()
        };
        let folder = copy(name);
        LocalEmbedder::open(&folder, &named).unwrap();
        fs::remove_file(folder.path().join("modules.json")).unwrap();
        let opened = LocalEmbedder::open(&folder, &named);
        assert_eq!(opened.is_ok(), name == "bert");
    }
}

#[test]
fn architectures_that_are_null_are_not_stated() {
    for name in ["bert", "qwen3", "pylate-modernbert", "bert-reranker"] {
        let folder = copy(name);
        let path = folder.path().join("config.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        config["architectures"] = Value::Null;
        fs::write(&path, config.to_string()).unwrap();
        let settings = LocalSettings::default();
        match name {
            "bert" | "qwen3" => {
                // Without this file all depends on the architectures.
                fs::remove_file(folder.path().join("modules.json")).unwrap();
                LocalEmbedder::open(&folder, &settings).map(|_| ())
            }
            _ => open_reranker(&folder, &settings).map(|_| ()),
        }
        .unwrap();
    }
    let folder = copy("qwen3-reranker");
    rewrite(
        &folder,
        "config.json",
        "[\n    \"Qwen3ForCausalLM\"\n  ]",
        "null",
    );
    let asked = LocalSettings {
        rerank_prompt: Some(RerankPrompt::Qwen3),
        ..LocalSettings::default()
    };
    assert_eq!(
        refused_reranker(folder.path(), &asked),
        "`folder/config.json` sets `architectures` to `null`, which is not supported"
    );
}

#[test]
fn settings_of_language_models_are_refused_by_others() {
    let instruction = LocalSettings {
        instruction: Some("Find proteins.".to_owned()),
        ..LocalSettings::default()
    };
    let prompt = LocalSettings {
        rerank_prompt: Some(RerankPrompt::Qwen3),
        ..LocalSettings::default()
    };
    for (settings, setting) in [(instruction, "instruction"), (prompt, "rerank_prompt")] {
        for name in [
            "bert-reranker",
            "xlnet-reranker",
            "colbert",
            "pylate-modernbert",
        ] {
            let folder = checkpoint(name);
            let error = open_reranker(&folder, &settings).unwrap_err();
            assert_eq!(
                told(&error, &folder),
                format!(
                    "`folder` holds a reranker that does not use `{setting}`; only language models do: remove the setting"
                ),
                "{name}"
            );
            assert!(
                matches!(error, LocalError::Setting { setting: named, .. } if named == setting)
            );
        }
        open_reranker(checkpoint("qwen3-reranker"), &settings).unwrap();
    }
}

#[test]
fn an_embedder_is_no_reranker() {
    for (name, tensor) in [
        ("bert", "classifier.weight"),
        ("roberta", "classifier.out_proj.weight"),
        ("xlnet", "logits_proj.weight"),
    ] {
        assert_eq!(
            refused_reranker(&checkpoint(name), &LocalSettings::default()),
            format!("`folder` does not hold a reranker: there is no tensor `{tensor}`")
        );
    }
    assert_eq!(
        refused_reranker(&checkpoint("qwen3"), &LocalSettings::default()),
        "`folder` does not hold a reranker: `modules.json` makes it an embedder, which pools tokens to a vector"
    );
}

#[test]
fn families_without_a_classifier_are_not_offered_for_reranking() {
    let mamba = copy("bert-reranker");
    rewrite(
        &mamba,
        "config.json",
        r#""model_type": "bert""#,
        r#""model_type": "mamba""#,
    );
    for (folder, family) in [
        (mamba.path().to_owned(), "mamba"),
        (checkpoint("nomic_bert"), "nomic_bert"),
    ] {
        assert_eq!(
            refused_reranker(&folder, &LocalSettings::default()),
            format!(
                "`folder/config.json` is of the family `{family}`; supported as rerankers are `bert`, `roberta`, \
                 `xlm-roberta`, `modernbert`, `xlnet`, `qwen2`, `qwen3`"
            )
        );
    }
}
