//! Several settings in one command: `run --set-each` and the setting `matrix`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{Sandbox, json, wait_for};
use crate::scripted_server::{Reaction, ScriptedServer};

fn manifests(sandbox: &Sandbox) -> Vec<Value> {
    let runs = sandbox.runs().into_iter();
    runs.map(|run| json(&run.join("manifest.json"))).collect()
}

fn titles(sandbox: &Sandbox) -> Vec<String> {
    let manifests = manifests(sandbox).into_iter();
    manifests
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn each_value_is_a_run_and_the_table_is_that_of_compare() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run(
        "sample --skip-qa --profile bm25 --set-each processing.chunk_size=16,64,256 --out all.json --figures figures",
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(
            "3 variants of sample, one after another: chunk_size=16 chunk_size=64 chunk_size=256"
        ),
        "{}",
        ended.stderr
    );
    assert_eq!(
        titles(&sandbox),
        ["chunk_size=16", "chunk_size=64", "chunk_size=256"]
    );
    let sizes: Vec<Value> = manifests(&sandbox)
        .iter()
        .map(|it| it["settings"]["processing"]["chunk_size"].clone())
        .collect();
    assert_eq!(sizes, [16, 64, 256].map(Value::from));
    let runs = sandbox.runs();
    let runs: Vec<String> = runs
        .iter()
        .map(|run| run.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let again = sandbox.succeed(&format!("compare {}", runs.join(" ")));
    assert_eq!(ended.stdout, again);
    let all = json(&sandbox.work().join("all.json"));
    assert_eq!(all["reports"][0]["title"], "chunk_size=16");
    assert!(sandbox.work().join("figures/standings.svg").exists());
    let left = fs::read_dir(sandbox.data().join("unfinished")).unwrap();
    assert_eq!(left.count(), 0, "the command is done");
}

#[test]
fn every_combination_of_the_matrix_runs() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "evaluations.yaml",
        "matrix:\n  processing.chunk_size: [16, 64]\n  search.fusion.k: [10, 60]\n",
    );
    sandbox.succeed("sample --skip-qa --profile hybrid --limit 40 --name try");
    assert_eq!(
        titles(&sandbox),
        [
            "try,chunk_size=16,k=10",
            "try,chunk_size=16,k=60",
            "try,chunk_size=64,k=10",
            "try,chunk_size=64,k=60"
        ]
    );
    for manifest in manifests(&sandbox) {
        assert!(manifest["settings"].get("matrix").is_none());
    }
}

#[test]
fn bad_variants_are_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    for (options, expected) in [
        (
            "--set-each procesing.chunk_size=16,64",
            "unknown setting `procesing`; did you mean `processing`?",
        ),
        (
            "--set-each processing.chunk_size=16,ten",
            "variant `chunk_size=ten`",
        ),
        (
            "--set-each processing.chunk_size=16,16",
            "the value is there twice",
        ),
        (
            "--set-each processing.chunk_size",
            "is not of the form KEY=A,B,…",
        ),
        ("--set-each search.limit=1,,2", "a value is empty"),
        (
            "--set-each search.limit=1,2 --set search.limit=3",
            "set the same key; leave one of them out",
        ),
        (
            "--set-each search.limit=1,2 --set-each search.limit=3",
            "is there twice",
        ),
        (
            "--set-each search.limit=1,2,3,4,5 --set-each processing.chunk_size=1,2,3,4,5",
            "5 × 5 values make more than 20 variants",
        ),
        (
            "--set-each search.limit=1,2 --out all.jsonl",
            "a comparison of runs has no lines",
        ),
    ] {
        let message = sandbox.refuse(&format!("sample --skip-qa --profile bm25 {options}"));
        assert!(message.contains(expected), "{options}: {message}");
    }
    assert!(sandbox.runs().is_empty());
}

#[test]
fn a_variant_that_fails_does_not_stop_the_others() {
    let sandbox = Sandbox::new();
    let line = "sample --skip-qa --profile semantic --limit 30 --set providers.ollama.base_url=http://127.0.0.1:9 \
                --set-each embeddings.model=ollama:absent,embedded:static-minilm";
    let ended = sandbox.run(line);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("`embeddings=ollama:absent` failed:"),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .contains("1 of 2 variants failed: embeddings=ollama:absent"),
        "{}",
        ended.stderr
    );
    assert_eq!(titles(&sandbox), ["embeddings=embedded:static-minilm"]);
    // The same command runs only the failed one again.
    let again = sandbox.run(line);
    assert_eq!(again.code, Some(2));
    assert!(
        again
            .stderr
            .contains("`embeddings=embedded:static-minilm` (2 of 2) is done:"),
        "{}",
        again.stderr
    );
    assert_eq!(sandbox.runs().len(), 1);
}

#[test]
fn a_killed_command_continues_with_the_variants_that_are_left() {
    let sandbox = Sandbox::new();
    let line = "sample --skip-qa --profile bm25 --set-each processing.chunk_size=16,32,64,128";
    let mut child = sandbox
        .command(line)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let folder = sandbox.data().join("unfinished");
    let is_one_done = || {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        // A file that is still being written has another extension.
        let records = entries.filter(|it| it.path().extension() == Some(OsStr::new("json")));
        let mut files = records.filter_map(|it| fs::read_to_string(it.path()).ok());
        files.any(|text| text.contains("chunk_size=16"))
    };
    wait_for("one variant", is_one_done);
    child.kill().unwrap();
    child.wait().unwrap();
    let ended = sandbox.run(line);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("`chunk_size=16` (1 of 4) is done: "),
        "{}",
        ended.stderr
    );
    let first = titles(&sandbox)
        .into_iter()
        .filter(|it| it == "chunk_size=16");
    assert_eq!(first.count(), 1);
    assert!(ended.stdout.contains("chunk_size=128"), "{}", ended.stdout);
    // Now that it is done, the same command starts over.
    let fresh = sandbox.run(line);
    assert!(!fresh.stderr.contains("is done: "), "{}", fresh.stderr);
}

#[test]
fn each_embedding_model_makes_its_own_index() {
    let (sandbox, server) = (
        Sandbox::new(),
        ScriptedServer::start(|_, _| Reaction::Sound),
    );
    let ended = sandbox.run(&format!(
        "sample --skip-qa --profile semantic --limit 40 --set providers.openai.base_url={} \
         --set-each embeddings.model=openai:one,openai:two,embedded:static-minilm",
        server.openai_url()
    ));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let models: Vec<String> = manifests(&sandbox)
        .iter()
        .map(|it| {
            it["models"]["embedder"]["name"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(models, ["one", "two", "static-minilm"]);
    let asked: BTreeSet<String> = server
        .received()
        .iter()
        .filter_map(|request| Some(request.body["model"].as_str()?.to_owned()))
        .collect();
    assert_eq!(asked, BTreeSet::from(["one".to_owned(), "two".to_owned()]));
    let title = "embeddings=embedded:static-minilm";
    assert!(ended.stdout.contains(title), "{}", ended.stdout);
}

#[test]
fn compare_without_arguments_compares_the_variants_of_the_last_command() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25 --limit 40");
    let line =
        "sample --skip-qa --profile bm25 --limit 40 --set-each processing.chunk_size=16,64,256";
    let printed = sandbox.succeed(line);
    let again = sandbox.run("compare --out again.json");
    assert_eq!(again.stdout, printed);
    assert!(
        again.stderr.contains(
            "comparing the 3 runs of the last command with each other: chunk_size=16 chunk_size=64 chunk_size=256"
        ),
        "{}",
        again.stderr
    );
    let stored = json(&sandbox.work().join("again.json"));
    assert_eq!(stored["reports"].as_array().unwrap().len(), 3);
    let refused = sandbox.refuse("compare --fail-if-worse");
    assert!(
        refused.contains("the last command ran 3 variants"),
        "{refused}"
    );
    // A command with one setting is compared with the run before it.
    sandbox.succeed("sample --skip-qa --profile bm25 --limit 40 --set processing.chunk_size=256");
    let page = sandbox.succeed("compare");
    assert!(page.starts_with("before: "), "{page}");
}

#[test]
fn commands_that_do_not_try_the_matrix_say_so() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "evaluations.yaml",
        "matrix:\n  processing.chunk_size: [16, 64]\n",
    );
    let ended = sandbox.run("doctor");
    assert!(
        ended
            .stderr
            .contains("only `run` tries the values of the setting `matrix`"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_dimension_in_the_settings_file_is_that_of_its_model_alone() {
    let (sandbox, server) = (
        Sandbox::new(),
        ScriptedServer::start(|_, _| Reaction::Sound),
    );
    let base = server.openai_url();
    // The server's vectors have another dimension.
    sandbox.write(
        "evaluations.yaml",
        format!(
            "embeddings:\n  model: {{provider: openai, name: large, vector_dim: 3000}}\nproviders:\n  openai: {{base_url: '{base}'}}\n"
        ),
    );
    let line = "sample --skip-qa --profile semantic --limit 20";
    let ended = sandbox.run(&format!(
        "{line} --set-each embeddings.model=openai:one,openai:two"
    ));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let both = sandbox.run(&format!(
        "{line} --set embeddings.model.vector_dim=3000 --set-each embeddings.model=openai:one,openai:two"
    ));
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    assert!(
        both.stderr.contains("embeddings.model.vector_dim"),
        "{}",
        both.stderr
    );
}
