//! Chat templates of rerankers: where they stand and what they may use.

use std::fs;

use evals_local::{LocalSettings, open_reranker};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::checkpoints::{Golden, furthest};
use crate::decoders::{floats, scores, settings};
use crate::failures::{copy, reranker_refusal};

/// The checkpoint with a template, without the file of its template, and with these keys in `tokenizer_config.json`.
fn templated(tokenizer: impl FnOnce(&str) -> Value) -> TempDir {
    let folder = copy("qwen3-logit-score");
    let template = folder.path().join("chat_template.jinja");
    let source = fs::read_to_string(&template).unwrap();
    fs::remove_file(&template).unwrap();
    let path = folder.path().join("tokenizer_config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let Value::Object(stated) = tokenizer(&source) else {
        panic!("keys and values");
    };
    config.as_object_mut().unwrap().extend(stated);
    fs::write(&path, config.to_string()).unwrap();
    folder
}

#[tokio::test]
async fn templates_are_found_where_transformers_finds_them() {
    let unused = "{{ messages[0].content }}";
    let alone = templated(|source| json!({"chat_template": source}));
    let listed = templated(|source| {
        json!({"chat_template": [
            {"name": "tool_use", "template": unused},
            {"name": "default", "template": source},
        ]})
    });
    let keyed = templated(|source| json!({"chat_template": {"default": source, "rag": unused}}));
    let in_folder = templated(|source| json!({"chat_template": unused, "source": source}));
    let path = in_folder.path().join("tokenizer_config.json");
    let config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let others = in_folder.path().join("additional_chat_templates");
    fs::create_dir(&others).unwrap();
    fs::write(in_folder.path().join("chat_template.jinja"), unused).unwrap();
    fs::write(
        others.join("default.jinja"),
        config["source"].as_str().unwrap(),
    )
    .unwrap();
    let golden = Golden::read("qwen3-logit-score");
    let expected = floats(&golden.values["scores"]["default"]);
    for folder in [alone, listed, keyed, in_folder] {
        let found = scores(&folder, &golden, &settings(&golden, "default")).await;
        assert!(furthest(&found, &expected) < 1e-4, "{found:?}");
    }
}

#[test]
fn an_identity_holds_the_template() {
    let digest = |template: &dyn Fn(&str) -> String| {
        let folder = templated(|source| json!({"chat_template": template(source)}));
        let settings = LocalSettings::default();
        let reranker = open_reranker(&folder, &settings).unwrap();
        reranker.identity().digest.clone().unwrap()
    };
    let plain = digest(&str::to_owned);
    assert_eq!(digest(&str::to_owned), plain);
    // Both ask the same about all but long texts.
    let of_long = "{% if messages[-1].content | length > 1000 %}This is long. {% endif %}";
    assert_ne!(digest(&|source| format!("{of_long}{source}")), plain);
}

#[tokio::test]
async fn special_tokens_are_written_as_text_or_as_objects() {
    let with = |token: Value| {
        templated(|source| {
            assert!(source.contains("<|im_end|>"));
            let source = source.replace("<|im_end|>", "{{ eos_token }}");
            json!({"chat_template": source, "eos_token": token})
        })
    };
    let object = json!({"__type": "AddedToken", "content": "<|im_end|>", "lstrip": false});
    let older = with(json!("<|endoftext|>"));
    let map = json!({"eos_token": {"content": "<|im_end|>", "lstrip": false}});
    let file = older.path().join("special_tokens_map.json");
    fs::write(file, map.to_string()).unwrap();
    let golden = Golden::read("qwen3-logit-score");
    let expected = floats(&golden.values["scores"]["default"]);
    for folder in [with(json!("<|im_end|>")), with(object), older] {
        let found = scores(&folder, &golden, &settings(&golden, "default")).await;
        assert!(furthest(&found, &expected) < 1e-4, "{found:?}");
    }
    assert_eq!(
        reranker_refusal(
            &with(json!({"text": "<|im_end|>"})),
            &LocalSettings::default()
        )
        .0,
        "`tokenizer_config.json` sets `content` to `eos_token`, which is not supported"
    );
}

#[test]
fn templates_without_a_default_or_an_end_are_refused() {
    let named = templated(
        |source| json!({"chat_template": [{"name": "rag", "template": source}, {"name": "a", "template": ""}]}),
    );
    assert_eq!(
        reranker_refusal(&named, &LocalSettings::default()).0,
        "`tokenizer_config.json` sets `chat_template` to `a, rag`, which is not supported"
    );
    let in_folder = templated(|source| json!({"chat_template": source}));
    let others = in_folder.path().join("additional_chat_templates");
    fs::create_dir(&others).unwrap();
    fs::write(others.join("rag.jinja"), "").unwrap();
    assert_eq!(
        reranker_refusal(&in_folder, &LocalSettings::default()).0,
        "`additional_chat_templates` sets `chat_template` to `rag.jinja`, which is not supported"
    );
    let rounds = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
    let endless = templated(|_| json!({"chat_template": rounds}));
    let (message, source) = reranker_refusal(&endless, &LocalSettings::default());
    assert_eq!(
        message,
        "`tokenizer_config.json` has no usable chat template"
    );
    assert_eq!(
        source,
        "engine ran out of fuel: stopped after a million steps"
    );
}
