//! Folders that hold no model, or one that cannot be run, and what is said about them.

use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use evals_models::local::{
    LocalEmbedder, LocalError, LocalReranker, LocalSettings, Pooling, open_reranker,
};
use evals_models::{Embedder, TextKind};
use tempfile::TempDir;

use crate::checkpoints::checkpoint;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A copy of a checkpoint to damage.
pub(crate) fn copy(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_into(&checkpoint(name), folder.path());
    folder
}

fn copy_into(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_into(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

pub(crate) fn rewrite(folder: &TempDir, file: &str, from: &str, to: &str) {
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "`{from}` is not in {text}");
    fs::write(&path, text.replace(from, to)).unwrap();
}

/// The message without the folder, and that of its source.
pub(crate) fn refusal(folder: &TempDir, settings: &LocalSettings) -> (String, String) {
    told(&LocalEmbedder::open(folder, settings).unwrap_err(), folder)
}

/// The same of a reranker.
pub(crate) fn reranker_refusal(folder: &TempDir, settings: &LocalSettings) -> (String, String) {
    told(&LocalReranker::open(folder, settings).unwrap_err(), folder)
}

pub(crate) fn told(error: &LocalError, folder: &TempDir) -> (String, String) {
    let place = format!("{}/", folder.path().display());
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    (error.to_string().replace(&place, ""), source)
}

#[test]
fn an_unknown_family_is_refused_by_name() {
    let folder = copy("bert");
    rewrite(
        &folder,
        "config.json",
        r#""model_type": "bert""#,
        r#""model_type": "mamba""#,
    );
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`config.json` is of the family `mamba`; supported are `bert`, `roberta`, `xlm-roberta`, `modernbert`, `nomic_bert`, \
         `deberta-v2`, `xlnet`, `qwen2`, `qwen3`"
    );
}

#[test]
fn missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`{}` has no `config.json`", folder.path().display())
    );
    let folder = copy("bert");
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    let error = LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`{}` has no `tokenizer.json`", folder.path().display())
    );
    let folder = copy("bert");
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    let error = LocalEmbedder::open(&folder, &LocalSettings::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` has neither `model.safetensors` nor `pytorch_model.bin`, nor the shards of either",
            folder.path().display()
        )
    );
}

#[test]
fn weights_that_do_not_fit_are_named() {
    let folder = copy("bert");
    rewrite(
        &folder,
        "config.json",
        r#""intermediate_size": 48"#,
        r#""intermediate_size": 64"#,
    );
    let (message, source) = refusal(&folder, &LocalSettings::default());
    assert_eq!(
        message,
        "`model.safetensors` does not hold the weights that `config.json` describes"
    );
    assert_eq!(
        source,
        "`encoder.layer.0.intermediate.dense.weight` has the shape [48, 32] instead of [64, 32]"
    );
}

#[test]
fn a_truncated_file_of_weights_is_an_error() {
    let folder = copy("bert");
    let path = folder.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (_, source) = refusal(&folder, &LocalSettings::default());
    assert_eq!(
        source,
        "the file ends before `encoder.layer.0.intermediate.dense.weight` does"
    );
    fs::write(&path, [0xff; 40]).unwrap();
    let (_, source) = refusal(&folder, &LocalSettings::default());
    assert_eq!(
        source,
        "the header is damaged: it claims 18446744073709551615 bytes"
    );
}

#[test]
fn steps_that_cannot_be_run_are_refused() {
    let folder = copy("bert");
    rewrite(&folder, "modules.json", "Normalize\"", "Router\"");
    let (message, _) = refusal(&folder, &LocalSettings::default());
    assert!(
        message.starts_with("`modules.json` asks for `type` = `"),
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
        "`2_Dense/config.json` asks for `activation_function` = `torch.nn.modules.activation.PReLU`, which is not supported"
    );
    let folder = copy("bert-dense");
    rewrite(&folder, "modules.json", "pooling.Pooling", "pooling.Dense");
    rewrite(&folder, "modules.json", "1_Pooling", "2_Dense");
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`modules.json` asks for `type` = `sentence_transformers.sentence_transformer.modules.pooling.Dense`, which is not \
         supported",
        "a linear map of the vectors of tokens"
    );
}

#[test]
fn windows_that_cannot_be_are_refused() {
    let folder = copy("bert");
    let window = |max_tokens| LocalSettings {
        max_tokens: NonZeroUsize::new(max_tokens),
        ..LocalSettings::default()
    };
    assert_eq!(
        refusal(&folder, &window(65)).0,
        "65 tokens are to be read, but the model has 64 positions"
    );
    assert_eq!(
        refusal(&folder, &window(2)).0,
        "at most 2 tokens are to be read, of which 2 are special tokens"
    );
}

#[tokio::test]
async fn the_hub_s_cache_is_read_by_its_main() {
    let cache = tempfile::tempdir().unwrap();
    let repository = cache.path().join("models--owner--tiny-bert");
    let snapshot = repository.join("snapshots").join(COMMIT);
    copy_into(&checkpoint("bert"), &snapshot);
    fs::create_dir_all(repository.join("refs")).unwrap();
    fs::write(repository.join("refs/main"), format!("{COMMIT}\n")).unwrap();
    let embedder = LocalEmbedder::open(&repository, &LocalSettings::default()).unwrap();
    assert_eq!(embedder.identity().to_string(), "local:owner/tiny-bert");
    let none = embedder.embed(&[], TextKind::Query).await.unwrap();
    assert_eq!((none.len(), none.dimension()), (0, 32));
    let snapshot = LocalEmbedder::open(snapshot, &LocalSettings::default()).unwrap();
    assert_eq!(snapshot.identity(), embedder.identity());
}

#[test]
fn what_is_no_commit_is_not_followed() {
    let cache = tempfile::tempdir().unwrap();
    let repository = cache.path().join("models--owner--tiny-bert");
    copy_into(&checkpoint("bert"), &repository.join("elsewhere"));
    for folder in ["refs", "snapshots"] {
        fs::create_dir_all(repository.join(folder)).unwrap();
    }
    for name in ["../elsewhere", "0123abc", &COMMIT.replace('0', "g"), ""] {
        fs::write(repository.join("refs/main"), name).unwrap();
        let error = LocalEmbedder::open(&repository, &LocalSettings::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "`{}/refs/main` names `{name}`, which is no commit of 40 hexadecimal digits",
                repository.display()
            )
        );
    }
}

#[test]
fn an_encoder_in_a_folder_of_its_own_is_refused_with_advice() {
    let advice = "`modules.json` has the encoder in a folder of its own, `0_Transformer`; move what is in it beside \
                  `modules.json` and empty its `path` there";
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
            "`1_Pooling/config.json` asks for `include_prompt` = `false`, which is not supported"
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
            format!(
                "`{file}` asks for `default_prompt_name` = `web search`, which is not supported"
            )
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
                "`{refused}/config.json` asks for `activation_function` = `null`, which is not supported"
            )
        );
    }
}

/// The refusal of a checkpoint whose configuration has `to` in the place of `from`.
pub(crate) fn changed(name: &str, from: &str, to: &str) -> String {
    let folder = copy(name);
    rewrite(&folder, "config.json", from, to);
    refusal(&folder, &LocalSettings::default()).0
}

#[test]
fn architectures_that_a_family_leaves_out_are_refused_by_key() {
    let absent = r#""legacy": true"#;
    for (name, from, to, refused) in [
        (
            "deberta",
            absent,
            r#""conv_kernel_size": 3"#,
            "`conv_kernel_size` = `3`",
        ),
        (
            "deberta",
            absent,
            r#""embedding_size": 16"#,
            "`embedding_size` = `16`",
        ),
        (
            "deberta",
            absent,
            r#""attention_head_size": 6"#,
            "`attention_head_size` = `6`",
        ),
        (
            "deberta",
            r#""relative_attention": true"#,
            r#""relative_attention": false"#,
            "`relative_attention` = `false`",
        ),
        ("deberta", r#""c2p""#, r#""p2p""#, "`pos_att_type` = `p2p`"),
        (
            "deberta",
            r#""layer_norm""#,
            r#""layer_norm|rms""#,
            "`norm_rel_ebd` = `rms`",
        ),
        ("xlnet", r#""bi""#, r#""uni""#, "`attn_type` = `uni`"),
        (
            "xlnet",
            r#""bi_data": false"#,
            r#""bi_data": true"#,
            "`bi_data` = `true`",
        ),
        (
            "xlnet",
            r#""d_head": 8"#,
            r#""d_head": 4"#,
            "`d_head` = `4`",
        ),
    ] {
        assert_eq!(
            changed(name, from, to),
            format!("`config.json` asks for {refused}, which is not supported")
        );
    }
}

#[test]
fn classifiers_of_another_form_are_refused_by_key() {
    for (from, to, refused) in [
        (r#""last""#, r#""attn""#, "`summary_type` = `attn`"),
        (
            r#""summary_activation": "tanh""#,
            r#""summary_activation": null"#,
            "`summary_activation` = `null`",
        ),
        (
            r#""summary_use_proj": true"#,
            r#""summary_use_proj": false"#,
            "`summary_use_proj` = `false`",
        ),
    ] {
        let folder = copy("xlnet-reranker");
        rewrite(&folder, "config.json", from, to);
        assert_eq!(
            reranker_refusal(&folder, &LocalSettings::default()).0,
            format!("`config.json` asks for {refused}, which is not supported")
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
        "`3_Dense/config.json` asks for `in_features` = `32`, which is not supported"
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
        "`3_Dense/config.json` asks for `out_features` = `0`, which is not supported"
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
        "`2_Dense/config.json` asks for `module_input_name` = `token_embeddings`, which is not supported"
    );
    let folder = copy("bert-dense");
    fs::remove_file(folder.path().join("3_Dense/pytorch_model.bin")).unwrap();
    assert_eq!(
        refusal(&folder, &LocalSettings::default())
            .0
            .replace(&folder.path().display().to_string(), ""),
        "`3_Dense` has neither `model.safetensors` nor `pytorch_model.bin`, nor the shards of either"
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
fn sizes_that_no_model_has_are_refused_by_key() {
    for (name, from, to, refused) in [
        (
            "bert",
            r#""num_attention_heads": 4"#,
            r#""num_attention_heads": 0"#,
            "`num_attention_heads` = `0`",
        ),
        (
            "modernbert",
            r#""num_attention_heads": 4"#,
            r#""num_attention_heads": 5"#,
            "`num_attention_heads` = `5`",
        ),
        (
            "qwen3",
            r#""head_dim": 12"#,
            r#""head_dim": 11"#,
            "`head_dim` = `11`",
        ),
        (
            "deberta",
            r#""max_position_embeddings": 320"#,
            r#""max_position_embeddings": 1000000000000"#,
            "`max_position_embeddings` = `1000000000000`",
        ),
        (
            "deberta",
            r#""max_relative_positions": -1"#,
            r#""max_relative_positions": 5"#,
            "`max_relative_positions` = `5`",
        ),
    ] {
        let message = changed(name, from, to);
        assert!(message.contains(refused), "{name}: {message}");
    }
}

#[test]
fn a_model_names_nothing_outside_its_folder() {
    let folder = copy("bert");
    rewrite(&folder, "modules.json", "1_Pooling", "../elsewhere");
    let (message, _) = refusal(&folder, &LocalSettings::default());
    assert!(message.contains("`path` = `../elsewhere`"), "{message}");

    let folder = copy("bert");
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    let index = r#"{"weight_map": {"a": "/dev/zero"}}"#;
    fs::write(folder.path().join("model.safetensors.index.json"), index).unwrap();
    let (message, _) = refusal(&folder, &LocalSettings::default());
    assert!(message.contains("`weight_map` = `/dev/zero`"), "{message}");
}

#[test]
fn pooling_that_is_announced_has_to_be_stated() {
    let folder = copy("bert");
    fs::remove_file(folder.path().join("1_Pooling/config.json")).unwrap();
    let (message, _) = refusal(&folder, &LocalSettings::default());
    assert!(message.contains("config.json"), "{message}");
}
