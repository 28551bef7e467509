//! Search engines as targets: requests with the vector of the question.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{cases, newest, report};
use crate::sandbox::{Sandbox, json as read};
use crate::scripted_server::{Reaction, ScriptedServer};

#[test]
fn every_listed_engine_has_a_description_that_is_valid() {
    let sandbox = Sandbox::new();
    let list = sandbox.succeed("targets list");
    let names: Vec<_> = list
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let all = [
        "chroma",
        "elasticsearch",
        "meilisearch",
        "milvus",
        "opensearch",
        "postgres",
        "qdrant",
        "solr",
        "typesense",
        "vespa",
        "weaviate",
    ];
    for engine in all {
        assert!(names.contains(&engine), "{list}");
    }
    for name in names {
        let text = sandbox.succeed(&format!("targets show {name}"));
        assert!(
            text.lines().nth(1).unwrap().starts_with("# https://"),
            "{text}"
        );
        sandbox.write("target.yaml", text);
        sandbox.succeed("validate target.yaml");
    }
    let message = sandbox.refuse("targets show quadrant");
    assert!(message.contains("did you mean `qdrant`?"), "{message}");
}

/// Meilisearch, which finds nothing, described by the file that `targets show` prints.
fn engine(sandbox: &Sandbox) -> ScriptedServer {
    let server = ScriptedServer::start(|_, _| Reaction::json(200, &json!({"hits": []})));
    let text = sandbox.succeed("targets show meilisearch");
    let text = text.replace("http://localhost:7700", &server.ollama_url());
    sandbox.write("target.yaml", text);
    server
}

/// The lengths of the vectors that an engine got, and `None` for a request without one.
fn dimensions(server: &ScriptedServer) -> BTreeSet<Option<usize>> {
    let length = |body: &Value| Some(body.get("vector")?.as_array()?.len());
    let received = server.received().into_iter();
    received.map(|request| length(&request.body)).collect()
}

const LINE: &str = "sample --limit 3 --skip-qa --no-progress";

#[test]
fn a_request_carries_the_vector_and_its_time_and_its_model_are_recorded() {
    let sandbox = Sandbox::new();
    let server = engine(&sandbox);
    sandbox.succeed(LINE);
    assert_eq!(dimensions(&server), BTreeSet::from([Some(256)]));
    let report_of_vectors = report(&sandbox, "retrieval");
    for (id, case) in cases(&report_of_vectors) {
        let timings = case["timings"].as_array().unwrap();
        let stages: Vec<_> = timings
            .iter()
            .map(|it| it["stage"].as_str().unwrap())
            .collect();
        assert_eq!(stages, ["embed", "target"], "{id}");
    }
    let first = newest(&sandbox, "retrieval");
    let embedder = read(&first.join("manifest.json"))["target"]["parameters"]["embedder"].take();
    assert_eq!(embedder["model"]["name"], "static-minilm");
    assert_eq!(embedder["dimension"], 256);

    sandbox.succeed(&format!("{LINE} --set embeddings.model.vector_dim=64"));
    assert!(dimensions(&server).contains(&Some(64)));
    let second = newest(&sandbox, "retrieval");
    let names = [first, second].map(|run| run.file_name().unwrap().to_str().unwrap().to_owned());
    let compared = sandbox.succeed(&format!("compare {}", names.join(" ")));
    assert!(compared.contains("dimension"), "{compared}");
}

#[test]
fn a_mode_without_vectors_embeds_nothing() {
    let sandbox = Sandbox::new();
    let server = engine(&sandbox);
    sandbox.succeed(&format!(
        "{LINE} --set-each target.parameters.mode=keyword,vector"
    ));
    assert_eq!(dimensions(&server), BTreeSet::from([None, Some(256)]));
    sandbox.succeed(&format!("{LINE} --set target.parameters.mode=keyword"));
    let report = report(&sandbox, "retrieval");
    assert!(!report.to_string().contains("\"embed\""), "{report}");
}

#[test]
fn a_filter_reaches_the_engine_or_is_refused() {
    let sandbox = Sandbox::new();
    let server = engine(&sandbox);
    sandbox.succeed(&format!("{LINE} --filter year>2020"));
    for request in server.received() {
        assert_eq!(request.body["filter"], "year>2020");
    }
    for (own, is_named) in [
        ("", false),
        ("--set target.parameters.filter=year>2020", false),
        ("--set target.parameters.filter=year>2010", true),
    ] {
        let said = sandbox
            .run(&format!("{LINE} --filter year>2020 {own}"))
            .stderr;
        let warning = "`--filter` replaces the target's own `parameters.filter`, `year>2010`";
        assert_eq!(said.contains(warning), is_named, "{own}: {said}");
    }
    sandbox.write(
        "target.yaml",
        format!("address: {}/ask\n", server.ollama_url()),
    );
    let message = sandbox.refuse(&format!("{LINE} --filter year>2020"));
    let expected = "no template of the target uses `{{ filter }}`";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_typo_in_a_variant_is_found_before_the_first_one_runs() {
    let sandbox = Sandbox::new();
    let server = engine(&sandbox);
    sandbox.write(
        "search.sql",
        "SELECT '{{ mode | among(\"words\", \"vectors\") }}' AS id",
    );
    let file = "--target postgres://127.0.0.1:9/x --set target.statement.file=search.sql \
                --set-each target.parameters.mode=words,vectrs";
    for (options, variant, expected) in [
        (
            "--set-each target.parameters.mode=keyword,vectr",
            "mode=vectr",
            "bad value for `target.parameters`: invalid operation: `vectr` is none of `keyword`, `vector`, `hybrid`",
        ),
        (
            "--set-each target.match.threshold=0.5,5",
            "threshold=5",
            "must be more than 0 and at most 1",
        ),
        (
            "--target lancedb:theirs#chunks --set-each target.parameters.distance=cosine,l3",
            "distance=l3",
            "bad value for `target.parameters`",
        ),
        (
            file,
            "mode=vectrs",
            "`vectrs` is none of `words`, `vectors`",
        ),
    ] {
        let message = sandbox.refuse(&format!("{LINE} {options}"));
        let variant = format!("variant `{variant}`");
        assert!(message.contains(&variant), "{options}: {message}");
        assert!(message.contains(expected), "{options}: {message}");
    }
    assert!(server.received().is_empty());
    assert!(sandbox.runs().is_empty());
}
