//! Local embedding models: from a folder, from a fake hub on loopback, and from the cache.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::fake_hub::{FakeHub, Fault, REPO};
use crate::sandbox::{Sandbox, ended, json};

/// A model of the right shape with random weights.
const CHECKPOINT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/evals-local/tests/local/checkpoints/bert"
);
const RUN: &str = "sample --skip-qa --limit 5 --profile semantic";

/// The files of the model, by their paths in a repository.
fn files() -> Vec<(String, Vec<u8>)> {
    let top = Path::new(CHECKPOINT);
    let mut folders = vec![top.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(top).unwrap().to_str().unwrap();
                files.push((name.replace('\\', "/"), fs::read(&path).unwrap()));
            }
        }
    }
    files
}

/// A sandbox with the model in `./model` and settings that embed with the model `name`.
fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for (path, bytes) in files() {
        sandbox.write(&format!("model/{path}"), bytes);
    }
    let settings = format!("embeddings:\n  model:\n    provider: local\n    name: {name}\n");
    sandbox.write("evaluations.yaml", settings);
    sandbox
}

/// A hub that has the model.
fn hub() -> FakeHub {
    let hub = FakeHub::start_with_model();
    files().into_iter().fold(hub, |hub, (path, bytes)| {
        if path.ends_with(".safetensors") {
            hub.with(&path, bytes)
        } else {
            hub.with_small(&path, bytes)
        }
    })
}

/// A command with a network that only reaches `hub`.
fn online(sandbox: &Sandbox, hub: &FakeHub, line: &str) -> Command {
    let mut command = sandbox.command(line);
    command
        .env_remove("HF_HUB_OFFLINE")
        .env("HF_ENDPOINT", hub.endpoint())
        .env("HF_HOME", home(sandbox));
    command
}

fn home(sandbox: &Sandbox) -> PathBuf {
    sandbox.work().join("hf")
}

fn manifests(sandbox: &Sandbox) -> Vec<Value> {
    let runs = sandbox.runs();
    runs.iter()
        .map(|run| json(&run.join("manifest.json")))
        .collect()
}

fn rankings(sandbox: &Sandbox) -> Vec<String> {
    let runs = sandbox.runs();
    runs.iter()
        .map(|run| fs::read_to_string(run.join("run.trec")).unwrap())
        .collect()
}

#[test]
fn a_folder_embeds_documents_and_questions() {
    let sandbox = sandbox("./model");
    let report = sandbox.succeed(RUN);
    assert!(report.contains("nDCG@5"), "{report}");
    let manifest = &manifests(&sandbox)[0];
    let embedder = &manifest["models"]["embedder"];
    assert_eq!(
        (&embedder["provider"], &embedder["name"]),
        (&Value::from("local"), &Value::from("model"))
    );
    assert!(!manifest["index"]["build"].is_null());
    sandbox.succeed(RUN);
    let again = &manifests(&sandbox)[1];
    assert!(
        again["index"]["build"].is_null(),
        "the index is found again"
    );
    let rankings = rankings(&sandbox);
    assert!(rankings[0].lines().count() > 5 && rankings[0] == rankings[1]);
}

#[test]
fn the_cache_distinguishes_vectors_by_number_format() {
    let sandbox = sandbox("./model");
    sandbox.succeed(RUN);
    sandbox.succeed(&format!("{RUN} --set embeddings.model.dtype=int8"));
    let stats = sandbox.succeed("cache stats");
    assert!(stats.contains("local:model (int8) "), "{stats}");
    assert!(stats.contains("local:model "), "{stats}");
    let mut prune = sandbox.command("cache prune --model");
    let pruned = ended(prune.arg("local:model (int8)"));
    assert!(pruned.stderr.contains("removed "), "{}", pruned.stderr);
    let left = sandbox.succeed("cache stats");
    assert!(
        !left.contains("(int8)") && left.contains("local:model "),
        "{left}"
    );
}

#[test]
fn settings_that_affect_vectors_make_another_index() {
    let sandbox = sandbox("./model");
    let settings = [
        "",
        " --set embeddings.model.dtype=int8",
        " --set embeddings.model.pooling=cls",
        " --set embeddings.model.max_tokens=16",
        " --set embeddings.model.document_prefix=passage",
        " --set embeddings.model.query_prefix=query",
    ];
    for setting in settings {
        sandbox.succeed(&format!("{RUN}{setting}"));
    }
    let mut tables: Vec<String> = manifests(&sandbox)
        .iter()
        .map(|manifest| manifest["index"]["table"].to_string())
        .collect();
    tables.sort();
    tables.dedup();
    assert_eq!(tables.len(), settings.len(), "{tables:?}");
}

#[test]
fn a_model_of_the_hub_is_downloaded_once_and_then_runs_offline() {
    let hub = hub();
    let sandbox = sandbox(REPO);
    let examined = ended(&mut online(&sandbox, &hub, "doctor"));
    assert!(
        examined.stdout.contains(
            "note  embedder: `owner/name` is not in the hub cache; the first run that needs vectors downloads it\n"
        ),
        "{}",
        examined.stdout
    );
    assert_eq!(hub.requests().len(), 1, "nothing is fetched to find out");
    assert_eq!(hub.count("/api/whoami-v2"), 1);
    let line = format!("ok    hub: {}\n", hub.endpoint());
    assert!(examined.stdout.contains(&line), "{}", examined.stdout);
    let mut counts = BTreeSet::new();
    // The index is built, then reused, then built from cached vectors.
    for index in ["first", "first", "second"] {
        let ran = ended(&mut online(&sandbox, &hub, &format!("{RUN} --db {index}")));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let note = " are longer than the embedding model reads; only the beginning was embedded";
        assert!(ran.stderr.contains(note), "{index}: {}", ran.stderr);
        let runs = sandbox.runs();
        let manifest = json(&runs.last().unwrap().join("manifest.json"));
        counts.insert(manifest["index"]["statistics"]["cut_chunks"].to_string());
    }
    assert_eq!(counts.len(), 1, "{counts:?}");
    assert_eq!(hub.count("/resolve/main/"), 0, "files of one commit");
    assert_eq!(hub.count("model.safetensors"), 1, "fetched once");
    assert_eq!(hub.count("golden.json"), 0, "no part of a model");
    drop(hub);
    let offline = |line: &str| ended(sandbox.command(line).env("HF_HOME", home(&sandbox)));
    let ran = offline(RUN);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let examined = offline("doctor");
    assert!(
        examined
            .stdout
            .contains("ok    embedder: local:owner/name, 32 dimensions\n"),
        "{}",
        examined.stdout
    );
    // The same weights from a folder give the same rankings, whatever the name of the model.
    sandbox.succeed(&format!("{RUN} --set embeddings.model.name=./model"));
    let rankings = rankings(&sandbox);
    assert_eq!(rankings.len(), 5);
    assert!(rankings.iter().all(|ranking| *ranking == rankings[0]));
}

#[test]
fn a_model_that_the_hub_does_not_have_is_reported_with_its_line() {
    let hub = hub();
    let sandbox = sandbox("owner/other");
    let settings = sandbox.work().join("evaluations.yaml");
    let refused = |line: &str| {
        let ended = ended(&mut online(&sandbox, &hub, line));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        ended.stderr
    };
    assert_eq!(
        refused(RUN),
        format!(
            "error: {}:4: bad value for `embeddings.model.name`: the hub has no model repository `owner/other`: check the \
             name\n",
            settings.display()
        )
    );
    let line =
        format!("{RUN} --set embeddings.model.name={REPO} --set embeddings.model.revision=v9");
    assert_eq!(
        refused(&line),
        "error: `--set`: bad value for `embeddings.model.revision`: the model repository `owner/name` has no revision `v9`\n"
    );
    hub.fail("/revision/", Fault::Status(401), 1);
    let private = refused(RUN);
    assert!(
        private.starts_with(
            "error: cannot fetch the model `owner/other`\n  caused by: the hub asks for a token to read the model repository \
             `owner/other`"
        ),
        "{private}"
    );
}

#[test]
fn offline_an_uncached_model_is_reported() {
    let sandbox = sandbox(REPO);
    let ended = ended(sandbox.command(RUN).env("HF_HOME", home(&sandbox)));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.starts_with(
            "error: cannot fetch the model `owner/name`\n  caused by: nothing is cached for the model repository `owner/name` at \
             `main` in the hub cache `"
        ),
        "{}",
        ended.stderr
    );
    sandbox.succeed("sample --skip-qa --limit 5 --profile bm25");
}

#[test]
fn a_folder_that_is_not_a_model_is_reported_with_its_line() {
    let sandbox = sandbox("./nowhere");
    let settings = sandbox.work().join("evaluations.yaml");
    let named = format!(
        "error: {}:4: bad value for `embeddings.model.name`: ",
        settings.display()
    );
    assert_eq!(
        sandbox.refuse("sample --skip-qa --profile bm25"),
        format!(
            "{named}`./nowhere` is neither a folder nor a model on the Hugging Face hub, such as `owner/name`\n"
        ),
        "also where no vectors are compared"
    );
    sandbox.write(
        "evaluations.yaml",
        "embeddings:\n  model:\n    provider: local\n    name: ./other\n",
    );
    sandbox.write("other/README.md", "no model");
    let empty = sandbox.refuse(RUN);
    assert_eq!(empty, format!("{named}`./other` has no `config.json`\n"));
    sandbox.write("other/config.json", "{\"model_type\": \"t5\"}");
    let family = sandbox.refuse(RUN);
    let start =
        format!("{named}`./other/config.json` is of the family `t5`; supported are `bert`, ");
    assert!(family.starts_with(&start), "{family}");
    assert_eq!(sandbox.runs(), Vec::<PathBuf>::new());
}

#[test]
fn settings_that_do_not_apply_to_a_local_model_are_refused() {
    let sandbox = sandbox("./model\n    base_url: http://localhost:1");
    let settings = sandbox.work().join("evaluations.yaml");
    assert_eq!(
        sandbox.refuse(RUN),
        format!(
            "error: {}:5: bad value for `embeddings.model.base_url`: embedding models of `local` do not have this setting; those of \
             `ollama` and `openai` do\n",
            settings.display()
        )
    );
    let other = "embeddings: {model: {provider: local, name: ./model}}\n";
    sandbox.write("evaluations.yaml", other);
    let set = |setting: &str| sandbox.refuse(&format!("{RUN} --set embeddings.model.{setting}"));
    let refused = |field: &str, message: &str| {
        format!("error: `--set`: bad value for `embeddings.model.{field}`: {message}\n")
    };
    assert_eq!(
        set("revision=main"),
        refused("revision", "a folder has no revisions; remove the setting")
    );
    assert_eq!(
        set("vector_dim=384"),
        refused(
            "vector_dim",
            "the model's vectors have 32 dimensions; set this number, or remove the setting"
        )
    );
    assert_eq!(
        set("max_tokens=65"),
        refused(
            "max_tokens",
            "the limit is 65 tokens, but the model has only 64 positions"
        )
    );
    let dtype = set("dtype=f16");
    assert!(
        dtype.contains("`embeddings.model.dtype`") && dtype.contains("f16"),
        "{dtype}"
    );
}
