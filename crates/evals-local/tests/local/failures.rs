//! Folders that hold no model, or one that cannot be run, and the errors about them.

use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use evals_local::{LocalEmbedder, LocalError, LocalSettings, open_reranker};
use evals_models::{Embedder, TextKind};
use serde_json::Value;
use tempfile::TempDir;

use crate::checkpoints::checkpoint;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A copy of a checkpoint to damage.
pub(crate) fn copy(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_into(&checkpoint(name), folder.path());
    folder
}

pub(crate) fn copy_into(from: &Path, to: &Path) {
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
    told(&open_reranker(folder, settings).unwrap_err(), folder)
}

/// The refusal of a checkpoint whose configuration has `to` in the place of `from`.
pub(crate) fn changed(name: &str, from: &str, to: &str) -> String {
    let folder = copy(name);
    rewrite(&folder, "config.json", from, to);
    refusal(&folder, &LocalSettings::default()).0
}

pub(crate) fn told(error: &LocalError, folder: &TempDir) -> (String, String) {
    let place = format!("{}/", folder.path().display());
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    (error.to_string().replace(&place, ""), source)
}

#[test]
fn an_unknown_family_is_refused_by_name() {
    for family in ["mamba", "deberta-v2"] {
        let to = format!(r#""model_type": "{family}""#);
        assert_eq!(
            changed("bert", r#""model_type": "bert""#, &to),
            format!(
                "`config.json` is of the family `{family}`; supported are `bert`, `roberta`, `xlm-roberta`, `modernbert`, \
                 `nomic_bert`, `xlnet`, `qwen2`, `qwen3`"
            )
        );
    }
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
            "`{}` has no weights: neither `model.safetensors` nor `pytorch_model.bin`, nor the shards of either",
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
fn a_pointer_of_git_lfs_is_told_from_the_file() {
    for file in ["model.safetensors", "tokenizer.json"] {
        let folder = copy("bert");
        let pointer =
            "version https://git-lfs.github.com/spec/v1\noid sha256:53aa\nsize 90868376\n";
        fs::write(folder.path().join(file), pointer).unwrap();
        let (message, source) = refusal(&folder, &LocalSettings::default());
        assert!(message.contains(file), "{message}");
        assert_eq!(
            source,
            "it is a Git LFS pointer, not the file itself; fetch the file with `git lfs pull`"
        );
    }
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
fn windows_that_cannot_be_are_refused() {
    let folder = copy("bert");
    let window = |max_tokens| LocalSettings {
        max_tokens: NonZeroUsize::new(max_tokens),
        ..LocalSettings::default()
    };
    assert_eq!(
        refusal(&folder, &window(65)).0,
        "the limit is 65 tokens, but the model has only 64 positions"
    );
    assert_eq!(
        refusal(&folder, &window(2)).0,
        "the limit of 2 tokens leaves no room for a text: 2 of them are special tokens"
    );
}

#[test]
fn prompts_that_leave_nothing_of_a_text_are_refused() {
    // The checkpoint reads 40 tokens.
    let long = Some("gene ".repeat(38));
    for (query_prompt, document_prompt, texts) in [
        (long.clone(), Some(String::new()), "queries"),
        (Some(String::new()), long, "documents"),
    ] {
        let settings = LocalSettings {
            query_prompt,
            document_prompt,
            ..LocalSettings::default()
        };
        assert_eq!(
            refusal(&copy("bert"), &settings).0,
            format!("the limit of 40 tokens leaves no room for a text after the prompt of {texts}")
        );
    }
    let settings = LocalSettings {
        query_prompt: Some("gene ".repeat(37)),
        ..LocalSettings::default()
    };
    LocalEmbedder::open(checkpoint("bert"), &settings).unwrap();
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
                "`{}/refs/main` names `{name}`, which is not a commit of 40 hexadecimal digits",
                repository.display()
            )
        );
    }
}

#[test]
fn architectures_that_a_family_leaves_out_are_refused_by_key() {
    for (name, from, to, refused) in [
        ("xlnet", r#""bi""#, r#""uni""#, "`attn_type` to `uni`"),
        (
            "xlnet",
            r#""bi_data": false"#,
            r#""bi_data": true"#,
            "`bi_data` to `true`",
        ),
        (
            "xlnet",
            r#""d_head": 8"#,
            r#""d_head": 4"#,
            "`d_head` to `4`",
        ),
    ] {
        assert_eq!(
            changed(name, from, to),
            format!("`config.json` sets {refused}, which is not supported")
        );
    }
}

#[test]
fn classifiers_of_another_form_are_refused_by_key() {
    for (from, to, refused) in [
        (r#""last""#, r#""attn""#, "`summary_type` to `attn`"),
        (
            r#""summary_activation": "tanh""#,
            r#""summary_activation": null"#,
            "`summary_activation` to `null`",
        ),
        (
            r#""summary_use_proj": true"#,
            r#""summary_use_proj": false"#,
            "`summary_use_proj` to `false`",
        ),
    ] {
        let folder = copy("xlnet-reranker");
        rewrite(&folder, "config.json", from, to);
        assert_eq!(
            reranker_refusal(&folder, &LocalSettings::default()).0,
            format!("`config.json` sets {refused}, which is not supported")
        );
    }
}

#[test]
fn sizes_that_no_model_has_are_refused_by_key() {
    for (name, from, to, refused) in [
        (
            "bert",
            r#""num_attention_heads": 4"#,
            r#""num_attention_heads": 0"#,
            "`num_attention_heads` to `0`",
        ),
        (
            "modernbert",
            r#""num_attention_heads": 4"#,
            r#""num_attention_heads": 5"#,
            "`num_attention_heads` to `5`",
        ),
        (
            "qwen3",
            r#""head_dim": 12"#,
            r#""head_dim": 11"#,
            "`head_dim` to `11`",
        ),
        (
            "bert",
            r#""max_position_embeddings": 64"#,
            r#""max_position_embeddings": 1000000000000"#,
            "`max_position_embeddings` to `1000000000000`",
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
    assert!(message.contains("`path` to `../elsewhere`"), "{message}");

    let folder = copy("bert");
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    let index = r#"{"weight_map": {"a": "/dev/zero"}}"#;
    fs::write(folder.path().join("model.safetensors.index.json"), index).unwrap();
    let (message, _) = refusal(&folder, &LocalSettings::default());
    assert!(message.contains("`weight_map` to `/dev/zero`"), "{message}");
}

/// Multiplies the weights of a checkpoint's last layer norm, and with them its vectors.
fn scale(folder: &TempDir, factor: f32) {
    let path = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    for tensor in ["bias", "weight"] {
        let offsets = &header[format!("encoder.layer.1.output.LayerNorm.{tensor}")]["data_offsets"];
        let place =
            |end: usize| 8 + length + usize::try_from(offsets[end].as_u64().unwrap()).unwrap();
        for value in bytes[place(0)..place(1)].as_chunks_mut().0 {
            *value = (f32::from_le_bytes(*value) * factor).to_le_bytes();
        }
    }
    fs::write(&path, bytes).unwrap();
}

#[tokio::test]
async fn a_vector_without_a_direction_names_its_text() {
    let settings = LocalSettings {
        normalize: Some(false),
        ..LocalSettings::default()
    };
    for (factor, defect) in [
        (0.0, "all 32 components of its vector are zero"),
        (1e20, "whose square is beyond 32-bit numbers"),
        (1e-25, "whose square is beyond 32-bit numbers"),
    ] {
        let folder = copy("bert");
        scale(&folder, factor);
        let embedder = LocalEmbedder::open(&folder, &settings).unwrap();
        for kind in [TextKind::Document, TextKind::Query] {
            let error = embedder
                .embed(&["how a lung grows"], kind)
                .await
                .unwrap_err();
            let source = error.source().unwrap();
            let text = source.to_string();
            assert!(
                text.starts_with("text 0 of the batch cannot be compared: `"),
                "{text}"
            );
            assert!(text.ends_with("how a lung grows`"), "{text}");
            let source = source.source().unwrap().to_string();
            assert!(source.ends_with(defect), "{source}");
        }
    }
}
