//! Settings files, `--set` and the command `config`.

use crate::sandbox::Sandbox;

#[test]
fn config_show_prints_a_settings_file() {
    let sandbox = Sandbox::new();
    let shown = sandbox.succeed("config show --set search.limit=7");
    assert!(
        shown.starts_with("# from: built-in defaults, `--set`\n"),
        "{shown}"
    );
    sandbox.write("evaluations.yaml", &shown);
    let again = sandbox.succeed("config show");
    assert_eq!(
        again.lines().skip(1).collect::<Vec<_>>(),
        shown.lines().skip(1).collect::<Vec<_>>()
    );
    assert!(again.contains("limit: 7"), "{again}");
}

#[test]
fn an_unknown_key_names_file_line_and_the_nearest_one() {
    let sandbox = Sandbox::new();
    sandbox.write("evaluations.yaml", "search:\n  limt: 3\n");
    let path = sandbox.work().join("evaluations.yaml");
    assert_eq!(
        sandbox.refuse("sample --skip-qa"),
        format!(
            "error: {}:2: unknown setting `search.limt`; did you mean `search.limit`?\n",
            path.display()
        )
    );
}

#[test]
fn a_haiku_rag_file_is_read_and_its_other_keys_are_ignored() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "haiku.rag.yaml",
        "environment: production\nstorage:\n  data_dir: x\nprocessing:\n  chunk_size: 128\nsearch:\n  limit: 9\n",
    );
    let ended = sandbox.run("config show");
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.contains("chunk_size: 128"), "{}", ended.stdout);
    assert!(ended.stdout.contains("limit: 9"), "{}", ended.stdout);
    assert!(
        ended.stderr.ends_with(
            "ignored settings that only haiku.rag has: `environment` (line 1), `storage` (line 2)\n"
        ),
        "{}",
        ended.stderr
    );
}

#[test]
fn evaluations_yaml_comes_before_haiku_rag_yaml() {
    let sandbox = Sandbox::new();
    sandbox.write("haiku.rag.yaml", "search: {limit: 8}\n");
    sandbox.write("evaluations.yaml", "search: {limit: 9}\n");
    assert!(sandbox.succeed("config show").contains("limit: 9"));
    assert!(
        sandbox
            .succeed("config show --config haiku.rag.yaml")
            .contains("limit: 8")
    );
}

#[test]
fn a_missing_settings_file_is_an_error() {
    let message = Sandbox::new().refuse("sample --skip-qa --config nowhere.yaml");
    assert!(
        message.starts_with("error: cannot read settings file `nowhere.yaml`\n  caused by: "),
        "{message}"
    );
}

#[test]
fn the_schema_describes_every_section() {
    let schema: serde_json::Value =
        serde_json::from_str(&Sandbox::new().succeed("config schema")).unwrap();
    let sections: Vec<&str> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        sections,
        [
            "embeddings",
            "processing",
            "search",
            "reranking",
            "qa",
            "evaluations",
            "prompts",
            "questions",
            "batch",
            "providers",
            "prices",
            "store",
            "matrix",
            "tune",
            "conversations",
            "target"
        ]
    );
}

#[test]
fn a_haiku_rag_file_for_servers_does_not_stop_a_run_without_servers() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "haiku.rag.yaml",
        "embeddings:\n  model:\n    provider: ollama\n    name: qwen3-embedding\n    vector_dim: 4096\n\
         reranking:\n  model:\n    provider: mxbai\n    name: mxbai-rerank-base-v2\n",
    );
    let lexical = sandbox.run("sample-support --skip-qa --profile bm25 --limit 5");
    assert_eq!(lexical.code, Some(0), "{}", lexical.stderr);
    assert!(
        lexical.stderr.contains("warning: `reranking.model` is "),
        "{}",
        lexical.stderr
    );
    let message = sandbox.refuse("sample-support --skip-qa --profile semantic");
    assert!(
        message.contains("`ollama:qwen3-embedding` cannot be used")
            && message.contains("ollama serve"),
        "{message}"
    );
}

#[test]
fn an_error_in_a_manifests_settings_names_its_file_and_line() {
    let sandbox = Sandbox::new();
    let manifest = "name: mine\nsource: {path: rows.csv}\ndocuments: {uri: id, text: text}\n\
                    questions: {text: question, relevant: id}\nsettings:\n  search:\n";
    for (setting, message) in [
        (
            "limt: 3",
            "unknown setting `search.limt`; did you mean `search.limit`?",
        ),
        (
            "limit: 0",
            "bad value for `search.limit`: expected a whole number of at least 1, found `0`",
        ),
    ] {
        sandbox.write("mine.yaml", format!("{manifest}    {setting}\n"));
        assert_eq!(
            sandbox.refuse("./mine.yaml --skip-qa"),
            format!("error: ./mine.yaml:7: {message}\n")
        );
    }
    sandbox.write(
        "mine.yaml",
        format!("{manifest}    limit: 3\n    limit: 4\n"),
    );
    assert_eq!(
        sandbox.refuse("./mine.yaml --skip-qa"),
        "error: ./mine.yaml:8:5: duplicate key `limit`\n"
    );
}

#[test]
fn a_named_file_without_settings_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.yaml", "# nothing yet\n");
    assert_eq!(
        sandbox.refuse("sample --skip-qa --config empty.yaml"),
        "error: settings file `empty.yaml` sets nothing; `evaluations config show` prints a file with every setting\n"
    );
    sandbox.write("evaluations.yaml", "# nothing yet\n");
    assert!(sandbox.succeed("config show").contains("limit: 5"));
    sandbox.write("evaluations.yaml", "search: {limit: 9}\n");
    if cfg!(unix) {
        assert!(
            sandbox
                .succeed("config show --config /dev/null")
                .contains("limit: 5")
        );
    }
}

#[test]
fn a_manifest_with_the_name_of_a_built_in_dataset_gets_a_note() {
    let sandbox = Sandbox::new();
    let manifest = "name: sample\nsource: {path: rows.jsonl}\ndocuments: {uri: id, text: text}\n\
                    questions: {id: qid, text: question, relevant: id}\n";
    let row =
        "{\"id\": \"d\", \"text\": \"a tower\", \"qid\": \"q\", \"question\": \"which tower?\"}\n";
    for folder in ["datasets", "elsewhere"] {
        sandbox.write(&format!("{folder}/sample.yaml"), manifest);
        sandbox.write(&format!("{folder}/rows.jsonl"), row);
    }
    for (dataset, file) in [
        ("sample", "datasets/sample.yaml"),
        ("elsewhere/sample.yaml", "elsewhere/sample.yaml"),
    ] {
        let run = sandbox.run(&format!("{dataset} --skip-qa --profile bm25"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let note = run
            .stderr
            .lines()
            .find(|line| line.contains("built-in dataset of that name"));
        let note = note.unwrap_or_else(|| panic!("no note in {}", run.stderr));
        assert!(
            note.starts_with("`sample` is read from ") && note.contains(file),
            "{note}"
        );
    }
    let other = sandbox.run("sample-support --skip-qa --profile bm25 --limit 1");
    assert!(!other.stderr.contains("built-in"), "{}", other.stderr);
}

#[test]
fn a_run_says_whose_target_it_asks_and_which_files_beside_the_dataset_it_does_not_use() {
    let sandbox = Sandbox::new();
    sandbox.succeed("init --to mine");
    sandbox.write("mine/evaluations.yaml", "search: {limit: 3}\n");
    sandbox.write("mine/target.yaml", "address: outputs:replies.jsonl\n");
    sandbox.write("replies.jsonl", "{\"id\": \"1\", \"documents\": []}\n");
    let line = "mine/dataset.yaml --skip-qa --no-progress";
    let outside = sandbox.run(line).stderr;
    for part in [
        "mine/target.yaml is not used, because settings are read from the working folder: run the command in `mine`, or add `--target ADDRESS`",
        "mine/evaluations.yaml is not used, because",
    ] {
        assert!(outside.contains(part), "{outside}");
    }
    for file in ["evaluations.yaml", "target.yaml"] {
        let path = sandbox.work().join("mine").join(file);
        std::fs::copy(path, sandbox.work().join(file)).unwrap();
    }
    let inside = sandbox.run(line).stderr;
    for part in [
        "target from ./target.yaml\n",
        "mine/evaluations.yaml is not used",
    ] {
        assert!(inside.contains(part), "{inside}");
    }
    assert!(!inside.contains("mine/target.yaml"), "{inside}");
    let named = sandbox.run(&format!("{line} --target outputs:replies.jsonl"));
    assert!(!named.stderr.contains("./target.yaml"), "{}", named.stderr);
}
