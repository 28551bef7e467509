//! Tests of configurations and their differences.

use serde_json::{Value, json};

use super::{Configuration, differences};

fn manifest() -> Value {
    json!({
        "benchmark": "retrieval", "profile": "hybrid", "k": 5, "models": {"embedder": {"name": "m"}},
        "settings": {
            "search": {"context_radius": 0},
            "qa": {"context_tokens": 4096},
            "reranking": {"model": null, "candidates": 50, "batch_size": 32},
        },
    })
}

fn with(path: &str, value: Value) -> Value {
    let mut manifest = manifest();
    *manifest.pointer_mut(path).unwrap() = value;
    manifest
}

#[test]
fn settings_that_a_benchmark_does_not_use_are_ignored() {
    let one = Configuration::of(&manifest());
    let radius = with("/settings/search/context_radius", json!(1));
    assert_eq!(one, Configuration::of(&radius));
    let candidates = with("/settings/reranking/candidates", json!(20));
    assert_eq!(one, Configuration::of(&candidates));
    assert_ne!(one, Configuration::of(&with("/k", json!(10))));
}

#[test]
fn differing_settings_are_listed_with_their_values() {
    let answers = |radius: u32| {
        let mut manifest = with("/settings/search/context_radius", json!(radius));
        manifest["benchmark"] = "qa".into();
        Configuration::of(&manifest)
    };
    let (near, far) = (answers(0), answers(2));
    let seen = "2026-05-01 12:00:00";
    let names = |one: &Configuration, other| one.distinction([other].into_iter(), seen);
    assert_eq!(names(&near, &far), "search.context_radius=0");
    assert_eq!(names(&far, &near), "search.context_radius=2");
    assert_eq!(names(&far, &far), "");
    let mut other = manifest();
    other["benchmark"] = "qa".into();
    other["models"]["embedder"]["digest"] = "0123456789abcdef0123456789abcdef".into();
    other["settings"]["qa"]["context_tokens"] = 100.into();
    other["repeat"] = 3.into();
    other["filter"] = "x".into();
    assert_eq!(
        names(&Configuration::of(&other), &far),
        "filter=x, repeat=3, qa.context_tokens=100, 1 more, models.embedder as of 2026-05-01 12:00:00"
    );
}

#[test]
fn a_target_and_our_pipeline_differ_in_their_profile() {
    let ours = Configuration::of(&manifest());
    let mut theirs = manifest();
    theirs.as_object_mut().unwrap().remove("index");
    theirs["models"] = json!({});
    theirs["profile"] = "http://localhost".into();
    theirs["target"] = json!({"kind": "http", "name": "http://localhost"});
    let theirs = Configuration::of(&theirs);
    assert_eq!(
        differences(&ours, &theirs),
        ["profile: hybrid -> http://localhost"]
    );
    assert!(ours.has_data_of(&theirs) && theirs.has_data_of(&ours));
}

#[test]
fn changed_files_are_named_without_their_digests() {
    let of = |digit: char| {
        let digest: String = std::iter::repeat_n(digit, 64).collect();
        let mut manifest = manifest();
        manifest["dataset"]["provenance"]["documents"]["files"] =
            json!([{"path": "rows.csv", "sha256": digest}]);
        manifest["index"]["identity"]["dataset"] = digest.clone().into();
        manifest["prompts"] = json!({"answer.md.jinja": digest});
        Configuration::of(&manifest)
    };
    let (one, other) = (of('1'), of('2'));
    assert_eq!(
        one.distinction([&other].into_iter(), "2026-05-01 12:00:00"),
        "answer.md.jinja and dataset files as of 2026-05-01 12:00:00"
    );
    assert_eq!(
        differences(&one, &other),
        [
            "dataset files: other content",
            "answer.md.jinja: other content"
        ]
    );
    assert!(!one.has_data_of(&other));
    assert_ne!(one.without_data(), other.without_data(), "the prompt");
}

#[test]
fn measuring_unanswerable_questions_makes_another_configuration() {
    let of = |unanswerable: Option<u32>| {
        let mut manifest = manifest();
        manifest["dataset"]["unanswerable"] = json!(unanswerable);
        Configuration::of(&manifest)
    };
    let (measured, left_out) = (of(None), of(Some(64)));
    assert_eq!(
        differences(&measured, &left_out),
        ["unanswerable questions: none left out -> left out"]
    );
    assert_eq!(measured, of(Some(0)));
    assert_eq!(left_out, of(Some(3)), "the number varies with `--limit`");
    assert_eq!(measured.without_data(), left_out.without_data());
    assert!(measured.has_data_of(&left_out), "the files are the same");
}

#[test]
fn a_changed_model_is_listed_once_by_its_name() {
    let of = |name: &str, digest: &str| {
        let mut manifest = with("/k", json!(5));
        let model = json!({"name": name, "digest": digest});
        manifest["index"]["identity"]["embedder"]["model"] = model.clone();
        manifest["models"]["embedder"] = model;
        Configuration::of(&manifest)
    };
    assert_eq!(
        differences(&of("a", "1"), &of("b", "2")),
        ["models.embedder.name: a -> b"]
    );
    assert_eq!(
        differences(&of("a", "1"), &of("a", "2")),
        ["models.embedder.digest: 1 -> 2"]
    );
}

#[test]
fn settings_that_a_profile_does_not_use_are_no_difference() {
    let of = |profile: &str, dimension: Option<u32>, stemming: bool| {
        let mut manifest = with("/profile", json!(profile));
        let model = json!({"provider": "embedded", "name": "static"});
        manifest["index"]["identity"]["full_text"] = json!({"stemming": stemming});
        if let Some(dimension) = dimension {
            manifest["models"]["embedder"] = model.clone();
            manifest["index"]["identity"]["embedder"] =
                json!({"model": model, "dimension": dimension});
            manifest["settings"]["embeddings"] = json!({"model": {"dtype": "f32"}});
        } else {
            manifest["models"] = json!({});
        }
        Configuration::of(&manifest)
    };
    let bm25 = of("bm25", None, true);
    assert_eq!(bm25, of("bm25", Some(256), true));
    assert_eq!(
        differences(
            &of("bm25+rerank", None, true),
            &of("bm25+rerank", Some(256), false)
        ),
        ["index.identity.full_text.stemming: true -> false"]
    );
    let semantic = of("semantic", Some(256), true);
    assert_eq!(semantic, of("semantic", Some(256), false));
    assert_eq!(
        differences(&semantic, &of("semantic", Some(128), true)),
        ["index.identity.embedder.dimension: 256 -> 128"]
    );
    assert_eq!(differences(&bm25, &semantic), ["profile: bm25 -> semantic"]);
    assert_eq!(
        differences(
            &of("hybrid", Some(256), true),
            &of("hybrid", Some(128), false)
        ),
        [
            "index.identity.embedder.dimension: 256 -> 128",
            "index.identity.full_text.stemming: true -> false"
        ]
    );
}
