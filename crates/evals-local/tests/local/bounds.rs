//! Folders with sizes, tables and files from which a model would be made that fails later, or never comes to an end.

use std::fs;

use evals_local::LocalSettings;
use serde_json::{Value, json};

use crate::failures::{changed, copy, refusal, rewrite};

#[test]
fn widths_of_nothing_are_refused_by_key() {
    for (name, key, stated, other) in [
        ("bert", "hidden_size", 32, 0),
        ("bert", "intermediate_size", 48, 0),
        ("bert", "num_hidden_layers", 2, 0),
        ("bert", "num_hidden_layers", 2, 1_u64 << 40),
        ("nomic_bert", "intermediate_size", 48, 0),
        ("modernbert", "hidden_size", 32, 0),
        // Heads of one value, which rotary positions cannot turn.
        ("modernbert", "num_attention_heads", 4, 32),
        ("xlnet", "d_model", 32, 0),
        ("xlnet", "n_layer", 2, 0),
        ("xlnet", "d_inner", 48, 0),
        ("qwen3", "head_dim", 12, 1 << 62),
    ] {
        let (from, to) = (
            format!(r#""{key}": {stated}"#),
            format!(r#""{key}": {other}"#),
        );
        assert_eq!(
            changed(name, &from, &to),
            format!("`config.json` sets `{key}` to `{other}`, which is not supported"),
            "{name}"
        );
    }
    let stray = r#""num_attention_heads": 5, "head_dim": 8"#;
    assert_eq!(
        changed("bert", r#""num_attention_heads": 4"#, stray),
        "`config.json` sets `num_attention_heads` to `5`, which is not supported"
    );
}

#[test]
fn rotary_tables_have_a_bound() {
    let folder = copy("qwen3");
    let set = |from: &str, to: &str| rewrite(&folder, "config.json", from, to);
    set(r#""head_dim": 12"#, r#""head_dim": 4096"#);
    set(
        r#""max_position_embeddings": 512"#,
        r#""max_position_embeddings": 1048576"#,
    );
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "`config.json` sets `max_position_embeddings` to `1048576`, which is not supported"
    );
}

#[test]
fn tables_without_rows_are_refused() {
    let folder = copy("bert");
    let name = "embeddings.token_type_embeddings.weight";
    let path = folder.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    header[name]["shape"] = json!([0, 32]);
    header[name]["data_offsets"] = json!([0, 0]);
    let header = header.to_string();
    let length_now = (header.len() as u64).to_le_bytes();
    let whole = [&length_now, header.as_bytes(), &bytes[8 + length..]].concat();
    fs::write(&path, whole).unwrap();
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).1,
        format!("`{name}` has the shape [0, 32] instead of [1, 32]")
    );
}

#[test]
fn special_tokens_beyond_the_vocabulary_are_refused() {
    let folder = copy("bert");
    let path = folder.path().join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    tokenizer["post_processor"]["special_tokens"]["[SEP]"]["ids"] = json!([5_000]);
    fs::write(&path, tokenizer.to_string()).unwrap();
    let (message, source) = refusal(&folder, &LocalSettings::default());
    assert_eq!(message, "`tokenizer.json` is not a usable tokenizer");
    assert!(
        source.starts_with("it has tokens up to number 5000, but the model has only "),
        "{source}"
    );
}

#[cfg(unix)]
#[test]
fn devices_in_place_of_files_are_refused() {
    use std::os::unix::fs::symlink;

    let folder = copy("bert");
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    symlink("/dev/zero", folder.path().join("shard.safetensors")).unwrap();
    let index = r#"{"weight_map": {"a": "shard.safetensors"}}"#;
    fs::write(folder.path().join("model.safetensors.index.json"), index).unwrap();
    let irregular = |file: &str| {
        (
            format!("cannot read `{file}`"),
            "it is a device, not a file".to_owned(),
        )
    };
    let default = LocalSettings::default();
    assert_eq!(refusal(&folder, &default), irregular("shard.safetensors"));

    let folder = copy("bert");
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    symlink("/dev/zero", folder.path().join("tokenizer.json")).unwrap();
    assert_eq!(refusal(&folder, &default), irregular("tokenizer.json"));
}
