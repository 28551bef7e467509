//! Exporting datasets, and running what was exported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use evals_local::StaticEmbedder;
use evals_models::{Embedder as _, TextKind};
use serde_json::Value;

use crate::sandbox::{Sandbox, json};

/// The lines of a file of JSON Lines.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The cases of a report: ids, outcomes and the ranked documents.
fn figures(report: &Value) -> Vec<Value> {
    let cases = report["cases"].as_array().unwrap();
    let figure = |case: &Value| {
        serde_json::json!({
            "id": case["id"], "outcomes": case["outcomes"], "ranking": case["result"]["output"]["ranking"],
            "expected": case["expected"],
        })
    };
    cases.iter().map(figure).collect()
}

#[test]
fn an_exported_dataset_runs_with_the_same_figures() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample-support --skip-qa --out original.json");
    let original = figures(&json(&sandbox.work().join("original.json")));
    for format in ["jsonl", "parquet"] {
        let ended = sandbox.run(&format!(
            "export sample-support --to {format} --format {format} --with-answers"
        ));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(
            ended.stderr,
            format!(
                "wrote 96 documents and 64 questions with answers to {format}; `evaluations run {format}/dataset.yaml` runs it\n"
            )
        );
        sandbox.succeed(&format!("{format}/dataset.yaml --skip-qa --out again.json"));
        let again = figures(&json(&sandbox.work().join("again.json")));
        assert_eq!(again, original, "{format}");
    }
}

#[test]
fn answers_are_written_only_on_request() {
    let sandbox = Sandbox::new();
    sandbox.succeed("export sample --to corpus");
    let questions = lines(&sandbox.work().join("corpus/questions.jsonl"));
    assert_eq!(questions.len(), 320);
    for question in &questions {
        let keys: Vec<&String> = question.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "question"]);
    }
    let documents = lines(&sandbox.work().join("corpus/documents.jsonl"));
    assert_eq!(documents.len(), 64);
    assert!(documents[0]["metadata"]["document_topic"].is_string());
    assert!(!sandbox.work().join("corpus/dataset.yaml").exists());

    sandbox.succeed("export sample --to asked --questions-only --with-answers");
    let questions = lines(&sandbox.work().join("asked/questions.jsonl"));
    assert!(questions[0]["answer"].is_string() && questions[0]["relevant"].is_object());
    assert_eq!(
        fs::read_dir(sandbox.work().join("asked")).unwrap().count(),
        1
    );
}

#[test]
fn texts_have_a_file_each() {
    let sandbox = Sandbox::new();
    sandbox.succeed("export sample --to corpus --format text");
    let manifest = lines(&sandbox.work().join("corpus/manifest.jsonl"));
    assert_eq!(manifest.len(), 64);
    for entry in &manifest {
        let file = sandbox
            .work()
            .join("corpus")
            .join(entry["file"].as_str().unwrap());
        assert!(
            !fs::read_to_string(&file).unwrap().is_empty(),
            "{}",
            file.display()
        );
    }
    let files = fs::read_dir(sandbox.work().join("corpus/documents")).unwrap();
    assert_eq!(files.count(), 64);
}

#[test]
fn a_folder_in_use_is_refused_and_keeps_its_files() {
    let sandbox = Sandbox::new();
    sandbox.write("corpus/mine.txt", "mine");
    let message = sandbox.refuse("export sample --to corpus");
    assert_eq!(
        message,
        "error: `corpus` is not empty; name a folder that does not exist, or an empty one\n"
    );
    assert_eq!(
        fs::read_dir(sandbox.work().join("corpus")).unwrap().count(),
        1
    );
    let message = sandbox.refuse("export sampl --to other");
    assert!(message.contains("did you mean `sample`"), "{message}");
    let message = sandbox.refuse("export sample --to no/such");
    assert!(
        message.contains("the folder `no` for `no/such` does not exist"),
        "{message}"
    );
    assert_eq!(fs::read_dir(sandbox.work()).unwrap().count(), 1);
}

/// A chunk of an export in any format.
#[derive(Debug, PartialEq)]
struct Chunk {
    id: String,
    document: String,
    title: Option<String>,
    text: String,
    metadata: Value,
    vector: Vec<f32>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A chunk from its fields and its vector. Metadata may be JSON in a text.
fn chunk(fields: &Value, id: &str, vector: &Value) -> Chunk {
    let metadata = &fields["metadata"];
    let parsed = metadata
        .as_str()
        .map(|it| serde_json::from_str(it).unwrap());
    #[expect(
        clippy::cast_possible_truncation,
        reason = "as an engine reads a vector"
    )]
    let components = vector
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_f64().unwrap() as f32);
    Chunk {
        id: text(&fields[id]),
        document: text(&fields["document_id"]),
        // Objects of Weaviate have an empty one in place of none.
        title: fields["title"]
            .as_str()
            .filter(|it| !it.is_empty())
            .map(str::to_owned),
        text: text(&fields["text"]),
        metadata: parsed.unwrap_or_else(|| metadata.clone()),
        vector: components.collect(),
    }
}

/// The elements of `key` in the requests of a file, which have at most 100 each, and distinct UUIDs.
fn of_requests(path: &Path, key: &str) -> Vec<Value> {
    let requests = lines(path);
    assert!(requests.len() > 1);
    assert!(
        requests
            .iter()
            .all(|request| request[key].as_array().unwrap().len() <= 100)
    );
    let elements: Vec<Value> = requests
        .iter()
        .flat_map(|request| request[key].as_array().unwrap().clone())
        .collect();
    let ids: BTreeSet<String> = elements
        .iter()
        .map(|element| text(&element["id"]))
        .collect();
    assert_eq!(ids.len(), elements.len());
    let is_uuid = |id: &String| {
        let groups: Vec<usize> = id.split('-').map(str::len).collect();
        groups == [8, 4, 4, 4, 12] && id.as_bytes()[14] == b'8'
    };
    assert!(ids.iter().all(is_uuid));
    elements
}

/// The rows of a script, as PostgreSQL reads them.
fn of_script(path: &Path) -> Vec<Chunk> {
    let script = fs::read_to_string(path).unwrap();
    let (head, rows) = script.split_once("COPY chunks FROM stdin;\n").unwrap();
    assert!(
        head.contains("    metadata json,\n    vector vector(256)\n);"),
        "{head}"
    );
    let rows = rows.strip_suffix("\\.\nCOMMIT;\n").unwrap();
    let cell = |cell: &str| {
        let mut characters = cell.chars();
        let mut read = String::new();
        while let Some(character) = characters.next() {
            read.push(match character {
                '\\' => match characters.next().unwrap() {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                },
                other => other,
            });
        }
        read
    };
    let row = |row: &str| {
        let cells = row.split('\t').map(|it| (it != "\\N").then(|| cell(it)));
        let cells: Vec<Option<String>> = cells.collect();
        let [id, document_id, title, text, metadata, Some(vector)] = cells.as_slice() else {
            panic!("{row}");
        };
        let fields = serde_json::json!({
            "id": id, "document_id": document_id, "title": title, "text": text, "metadata": metadata,
        });
        chunk(&fields, "id", &serde_json::from_str(vector).unwrap())
    };
    rows.lines().map(row).collect()
}

/// The chunks of a parquet file, which the program reads as documents.
fn of_parquet(sandbox: &Sandbox) -> Vec<Chunk> {
    sandbox.write(
        "parquet/asked.jsonl",
        r#"{"id": "q", "question": "What does the ferry cost?", "relevant": {"sild-line-battery-ferry#0": 1}}"#,
    );
    sandbox.write(
        "parquet/mine.yaml",
        "{name: mine, documents: {source: {path: chunks.parquet}, uri: id, title: title, text: text, metadata: [document_id, metadata, vector]}, \
         questions: {source: {path: asked.jsonl}, id: id, text: question, relevant: relevant}}",
    );
    sandbox.succeed("export parquet/mine.yaml --to again");
    let rows = lines(&sandbox.work().join("again/documents.jsonl")).into_iter();
    let chunks = rows.map(|row| {
        let mut fields = row["metadata"].clone();
        for key in ["id", "title", "text"] {
            fields[key] = row[key].clone();
        }
        chunk(&fields, "id", &fields["vector"])
    });
    chunks.collect()
}

#[test]
fn every_format_has_the_chunks_of_the_index_with_their_vectors() {
    let sandbox = Sandbox::new();
    let exported = |format: &str| {
        let line = format!("export sample --chunks --vectors --format {format} --to {format}");
        let ended = sandbox.run(&line);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        (
            sandbox.work().join(format).join("chunks.jsonl"),
            ended.stderr,
        )
    };
    let (path, notes) = exported("jsonl");
    let expected: Vec<Chunk> = lines(&path)
        .iter()
        .map(|line| chunk(line, "id", &line["vector"]))
        .collect();
    let count = expected.len();
    assert!(
        notes.contains(&format!("indexed 64 documents in {count} chunks")),
        "{notes}"
    );
    let wrote = format!("wrote {count} chunks with vectors and 320 questions to jsonl\n");
    assert!(notes.ends_with(&wrote), "{notes}");
    is_made_of_the_documents(&sandbox, &expected);

    let fields = |path: &Path, key: &str| -> Vec<Chunk> {
        let fields = lines(path)
            .into_iter()
            .filter_map(|line| line.get(key).cloned());
        fields.map(|it| chunk(&it, "id", &it["vector"])).collect()
    };
    let (path, notes) = exported("vespa");
    assert!(
        !notes.contains("indexed"),
        "the index is used again: {notes}"
    );
    assert_eq!(fields(&path, "fields"), expected);
    let put = format!("id:evaluations:chunks::{}", expected[7].id);
    assert_eq!(lines(&path)[7]["put"], put);

    let bulk = lines(&exported("opensearch").0);
    let documents = bulk.chunks(2).map(|action| {
        assert!(action[0]["index"]["_id"].is_string());
        chunk(&action[1], "id", &action[1]["vector"])
    });
    assert_eq!(documents.collect::<Vec<_>>(), expected);

    let points = of_requests(&exported("qdrant").0, "points").into_iter();
    let points = points.map(|point| chunk(&point["payload"], "id", &point["vector"]));
    assert_eq!(points.collect::<Vec<_>>(), expected);
    let objects = of_requests(&exported("weaviate").0, "objects").into_iter();
    let objects = objects.map(|it| chunk(&it["properties"], "chunk_id", &it["vector"]));
    assert_eq!(objects.collect::<Vec<_>>(), expected);

    exported("sql");
    assert_eq!(of_script(&sandbox.work().join("sql/chunks.sql")), expected);
    exported("parquet");
    assert_eq!(of_parquet(&sandbox), expected);
}

/// Checks chunks against the documents that they were cut from, and vectors against the model.
fn is_made_of_the_documents(sandbox: &Sandbox, chunks: &[Chunk]) {
    sandbox.succeed("export sample --to documents");
    let documents = lines(&sandbox.work().join("documents/documents.jsonl"));
    let documents: BTreeMap<String, Value> = documents
        .into_iter()
        .map(|document| (text(&document["id"]), document))
        .collect();
    let model = StaticEmbedder::static_minilm();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let vectors = model.embed(&texts, TextKind::Document);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let vectors = runtime.block_on(vectors).unwrap();
    for (row, chunk) in chunks.iter().enumerate() {
        let document = &documents[&chunk.document];
        assert!(
            text(&document["text"]).contains(&chunk.text),
            "{}",
            chunk.id
        );
        assert_eq!(document["title"].as_str(), chunk.title.as_deref());
        assert_eq!(document["metadata"], chunk.metadata);
        assert_eq!(vectors.row(row).unwrap(), chunk.vector, "{}", chunk.id);
    }
    let ids: BTreeSet<&str> = chunks.iter().map(|chunk| chunk.id.as_str()).collect();
    assert_eq!(ids.len(), chunks.len());
}

#[test]
fn chunks_follow_the_settings() {
    let sandbox = Sandbox::new();
    sandbox.succeed(
        "export sample-support --chunks --set processing.chunk_size=null --to whole --db here",
    );
    let whole = lines(&sandbox.work().join("whole/chunks.jsonl"));
    assert_eq!(whole.len(), 96);
    assert!(whole.iter().all(|chunk| chunk.get("vector").is_none()));
    assert!(sandbox.work().join("here").is_dir());
    sandbox.succeed(
        "export sample-support --chunks --set processing.chunk_size=32 --to parts --db here",
    );
    assert!(lines(&sandbox.work().join("parts/chunks.jsonl")).len() > 96);
    for (line, expected) in [
        ("--format qdrant", "is for chunks; add `--chunks`"),
        ("--chunks --format text", "`--format text` writes documents"),
        (
            "--set processing.chunk_size=8",
            "add `--chunks`, or leave out `--config` and `--set`",
        ),
        ("--vectors", "--chunks"),
        (
            "--chunks --set processing.chunk_siz=8",
            "did you mean `processing.chunk_size`",
        ),
    ] {
        let message = sandbox.refuse(&format!("export sample --to no {line}"));
        assert!(message.contains(expected), "{line}: {message}");
        assert!(!sandbox.work().join("no").exists());
    }
}
