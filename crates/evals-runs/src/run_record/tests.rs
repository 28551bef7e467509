//! Tests of records: their comparison, and files of earlier versions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::{Benchmark, Configuration, Origin, RunRecord, Sameness, System, differences};

/// The record of a run, as its file has it.
fn manifest() -> Value {
    json!({
        "schema_version": 1, "benchmark": "retrieval", "name": "n", "profile": "hybrid", "k": 5, "seed": 0,
        "dataset": {"name": "sample", "questions": 20, "limit": null}, "models": {"embedder": {"provider": "p", "name": "m"}},
        "index": {"uri": "/a", "table": "t", "identity": {}, "statistics": {}, "build": null},
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

fn record(manifest: &Value) -> RunRecord {
    serde_json::from_value(manifest.clone()).unwrap()
}

fn configuration(manifest: &Value) -> Configuration {
    Configuration::of(&record(manifest))
}

#[test]
fn the_prefix_of_questions_counts_for_a_target_that_gets_their_vectors() {
    let target = |parameters: &Value, prefix: &str| {
        let mut manifest = with("/settings/search", json!({}));
        manifest["profile"] = json!("http://h");
        manifest["target"] = json!({"kind": "http", "name": "http://h", "parameters": parameters});
        manifest["settings"]["embeddings"] = json!({"model": {"query_prefix": prefix}});
        configuration(&manifest)
    };
    let path = "embeddings.model.query_prefix:";
    let embedder = json!({"embedder": {"model": {"provider": "p", "name": "m"}, "dimension": 2}});
    for (parameters, differ) in [(embedder, true), (json!({}), false)] {
        let [one, other] = ["query: ", "search: "].map(|prefix| target(&parameters, prefix));
        let found = differing(&one, &other);
        assert_eq!(
            found.iter().any(|it| it.starts_with(path)),
            differ,
            "{found:?}"
        );
    }
}

fn differing(one: &Configuration, other: &Configuration) -> Vec<String> {
    differences(one, other, Sameness::Configuration)
}

#[test]
fn time_speed_and_keys_do_not_tell_runs_apart() {
    let of = |manifest: &Value| {
        let mut manifest = manifest.clone();
        manifest["settings"]["qa"]["model"] = json!({"name": "m", "api_key_env": "KEY"});
        manifest["settings"]["providers"] =
            json!({"openai": {"base_url": "http://a", "timeout": 5.0}});
        manifest["settings"]["search"]["latency_sample"] = json!(100);
        manifest["settings"]["prices"] = json!({});
        manifest
    };
    let one = of(&manifest());
    let mut other = one.clone();
    other["started"] = json!("later");
    other["concurrency"] = json!(32);
    other["index"]["build"] = json!({"wall": 1.0});
    other["settings"]["evaluations"]["concurrency"] = json!(32);
    other["settings"]["search"]["latency_sample"] = json!(null);
    other["settings"]["providers"]["openai"]["timeout"] = json!(60.0);
    other["settings"]["qa"]["model"]["api_key_env"] = json!("OTHER");
    other["settings"]["batch"] = json!({"enabled": true});
    other["settings"]["prices"]["m"] = json!({"input": 1.0, "output": 2.0});
    assert_eq!(
        record(&one).differences(&record(&other)),
        Vec::<String>::new()
    );
    let mut identity = one.clone();
    let root = identity.as_object_mut().unwrap();
    root.insert("repeat".to_owned(), json!(1));
    root.insert("prompts".to_owned(), json!({}));
    root.insert("measures".to_owned(), json!([]));
    root.insert("filter".to_owned(), json!(null));
    root["dataset"]["provenance"] = json!(null);
    for (object, member) in [
        ("/index", "uri"),
        ("/index", "statistics"),
        ("/index", "build"),
        ("/settings", "prices"),
        ("/settings/search", "latency_sample"),
        ("/settings/reranking", "batch_size"),
        ("/settings/qa/model", "api_key_env"),
        ("/settings/providers/openai", "timeout"),
    ] {
        let object = identity.pointer_mut(object).unwrap().as_object_mut();
        object.unwrap().shift_remove(member).unwrap();
    }
    assert_eq!(
        record(&one).identity(),
        identity,
        "journals begin with these members"
    );
}

#[test]
fn what_tells_runs_apart_is_listed_with_both_values() {
    let one = record(&manifest());
    let mut other = manifest();
    other["seed"] = json!(1);
    other["settings"]["qa"]["model"] = json!({"name": "n", "temperature": 0.5});
    other["index"]["identity"]["full_text"] = json!({"stemming": true});
    other["profile"] = json!("semantic");
    let expected = [
        "index.identity.full_text.stemming: none -> true",
        "profile: hybrid -> semantic",
        "seed: 0 -> 1",
        "qa.model.name: none -> n",
        "qa.model.temperature: none -> 0.5",
    ];
    assert_eq!(one.differences(&record(&other)), expected);
    let back = record(&other).differences(&one);
    assert_eq!(back.len(), 5, "a removed member is a difference too");
}

#[test]
fn members_of_later_versions_are_kept_and_tell_runs_apart() {
    let mut later = manifest();
    later["weather"] = json!({"sky": "grey"});
    let read = record(&later);
    assert_eq!(
        serde_json::to_value(&read).unwrap()["weather"],
        later["weather"]
    );
    let found = record(&manifest()).differences(&read);
    assert_eq!(found, ["weather.sky: none -> grey"]);
}

#[test]
fn settings_that_a_benchmark_does_not_use_are_ignored() {
    let one = configuration(&manifest());
    let radius = with("/settings/search/context_radius", json!(1));
    assert_eq!(one, configuration(&radius));
    let candidates = with("/settings/reranking/candidates", json!(20));
    assert_eq!(one, configuration(&candidates));
    assert_ne!(one, configuration(&with("/k", json!(10))));
}

#[test]
fn differing_settings_are_listed_with_their_values() {
    let answers = |radius: u32| {
        let mut manifest = with("/settings/search/context_radius", json!(radius));
        manifest["benchmark"] = "qa".into();
        configuration(&manifest)
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
        names(&configuration(&other), &far),
        "filter=x, repeat=3, qa.context_tokens=100, 1 more, models.embedder as of 2026-05-01 12:00:00"
    );
}

#[test]
fn a_target_and_our_pipeline_differ_in_their_profile() {
    let ours = configuration(&manifest());
    let mut theirs = manifest();
    theirs.as_object_mut().unwrap().shift_remove("index");
    theirs["models"] = json!({});
    theirs["profile"] = "http://localhost".into();
    theirs["target"] = json!({"kind": "http", "name": "http://localhost"});
    let theirs = configuration(&theirs);
    assert_eq!(
        differing(&ours, &theirs),
        ["profile: hybrid -> http://localhost"]
    );
    assert!(ours.has_data_of(&theirs) && theirs.has_data_of(&ours));
}

#[test]
fn settings_of_a_target_are_named_as_users_write_them() {
    let of = |mode: &str, k: u32| {
        let mut manifest = manifest();
        let parameters = json!({"parameters": {"mode": mode}, "body": {"k": k}});
        manifest["target"] = json!({"kind": "http", "name": "http://h", "parameters": parameters});
        manifest["settings"]["target"] = json!({"parameters": {"mode": mode}, "body": {"k": k}});
        manifest
    };
    let (one, other) = (of("vector", 5), of("hybrid", 6));
    let expected = [
        "target.body.k: 5 -> 6",
        "target.parameters.mode: vector -> hybrid",
    ];
    let found = differing(&configuration(&one), &configuration(&other));
    assert_eq!(found, expected);
    // The whole record has them twice.
    assert_eq!(record(&one).differences(&record(&other)), expected);
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
        configuration(&manifest)
    };
    let (one, other) = (of('1'), of('2'));
    assert_eq!(
        one.distinction([&other].into_iter(), "2026-05-01 12:00:00"),
        "answer.md.jinja and dataset files as of 2026-05-01 12:00:00"
    );
    assert_eq!(
        differing(&one, &other),
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
        if let Some(unanswerable) = unanswerable {
            manifest["dataset"]["unanswerable"] = json!(unanswerable);
        }
        configuration(&manifest)
    };
    let (measured, left_out) = (of(None), of(Some(64)));
    assert_eq!(
        differing(&measured, &left_out),
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
        let model = json!({"provider": "p", "name": name, "digest": digest});
        manifest["index"]["identity"]["embedder"]["model"] = model.clone();
        manifest["models"]["embedder"] = model;
        configuration(&manifest)
    };
    assert_eq!(
        differing(&of("a", "1"), &of("b", "2")),
        ["models.embedder.name: a -> b"]
    );
    assert_eq!(
        differing(&of("a", "1"), &of("a", "2")),
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
        configuration(&manifest)
    };
    let bm25 = of("bm25", None, true);
    assert_eq!(bm25, of("bm25", Some(256), true));
    assert_eq!(
        differing(
            &of("bm25+rerank", None, true),
            &of("bm25+rerank", Some(256), false)
        ),
        ["index.identity.full_text.stemming: true -> false"]
    );
    let semantic = of("semantic", Some(256), true);
    assert_eq!(semantic, of("semantic", Some(256), false));
    assert_eq!(
        differing(&semantic, &of("semantic", Some(128), true)),
        ["index.identity.embedder.dimension: 256 -> 128"]
    );
    assert_eq!(differing(&bm25, &semantic), ["profile: bm25 -> semantic"]);
    assert_eq!(
        differing(
            &of("hybrid", Some(256), true),
            &of("hybrid", Some(128), false)
        ),
        [
            "index.identity.embedder.dimension: 256 -> 128",
            "index.identity.full_text.stemming: true -> false"
        ]
    );
}

/// The files in `tests/records`, by name: manifests that version 0.1.0 wrote.
fn stored() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records");
    let files = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        (name.to_owned(), fs::read_to_string(&path).unwrap())
    });
    files.collect()
}

#[test]
fn manifests_of_version_0_1_0_are_read_and_written_again() {
    let files = stored();
    let manifests = files.iter().filter(|(name, _)| !name.contains("identity"));
    let mut seen = BTreeSet::new();
    for (name, text) in manifests {
        let written: Value = serde_json::from_str(text).unwrap();
        let record = record(&written);
        assert_eq!(serde_json::to_value(&record).unwrap(), written, "{name}");
        if record.benchmark != Benchmark::Eval && record.rejudged().is_none() {
            let again = serde_json::to_string_pretty(&record).unwrap();
            assert_eq!(format!("{again}\n"), *text, "{name}: the order of members");
        }
        assert_eq!(record.further.len(), 0, "{name}");
        record.settings.prices().unwrap();
        seen.insert(match (&record.system, &record.origin) {
            (_, Origin::Rejudgement(..)) => "rejudgement",
            (_, Origin::Merge(_)) => "merge",
            (System::Pipeline(_), _) => "pipeline",
            (System::Target(target), _) if target.is_file() => "import",
            (System::Target(_), _) if record.benchmark == Benchmark::Eval => "dataset file",
            (System::Target(_), _) => "target",
            (System::Unknown, _) => "unknown",
        });
    }
    let expected = [
        "dataset file",
        "import",
        "merge",
        "pipeline",
        "rejudgement",
        "target",
    ];
    assert_eq!(Vec::from_iter(seen), expected);
}

#[test]
fn journals_of_version_0_1_0_belong_to_their_runs() {
    let files: BTreeMap<String, String> = stored().into_iter().collect();
    for (name, identity) in files.iter().filter(|(name, _)| name.contains("identity")) {
        let manifest = &files[&name.replace(".identity", "")];
        let record: RunRecord = serde_json::from_str(manifest).unwrap();
        let identity: Value = serde_json::from_str(identity).unwrap();
        assert_eq!(record.identity(), identity, "{name}");
    }
}
