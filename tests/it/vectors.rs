//! The cache of vectors in front of embedding models.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, json as read, wait_for};
use crate::scripted_server::{Reaction, Received, ScriptedServer};

const RUN: &str = "run stories.yaml --config settings.yaml --skip-qa --profile semantic";
/// Documents of a single chunk with any chunk size.
const SHORT: usize = 10;
/// Documents of two paragraphs.
const LONG: usize = 3;

fn short(number: usize) -> String {
    format!("Boat {number} is in the harbour.")
}

fn paragraphs(number: usize) -> [String; 2] {
    let paragraph = |colour: &str| format!("Ship {number} sails {}", colour.repeat(30));
    [paragraph("north "), paragraph("south ")].map(|text| format!("{}.", text.trim()))
}

fn question(number: usize) -> String {
    format!("Where is boat {number}?")
}

/// Writes the documents, a question for each short one, and settings that embed with the server.
fn write(sandbox: &Sandbox, server: &ScriptedServer) {
    let (mut documents, mut questions) = (String::new(), String::new());
    for number in 0..SHORT {
        let document = json!({"id": format!("b{number}"), "text": short(number)});
        let question = json!({"q": question(number), "relevant": format!("b{number}")});
        writeln!(documents, "{document}").unwrap();
        writeln!(questions, "{question}").unwrap();
    }
    for number in 0..LONG {
        let text = paragraphs(number).join("\n\n");
        writeln!(
            documents,
            "{}",
            json!({"id": format!("s{number}"), "text": text})
        )
        .unwrap();
    }
    sandbox.write("documents.jsonl", documents);
    sandbox.write("questions.jsonl", questions);
    sandbox.write(
        "stories.yaml",
        "name: stories\n\
         documents: {source: {path: documents.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: questions.jsonl}, text: q, relevant: [relevant]}\n",
    );
    let settings = json!({
        "embeddings": {"model": {"provider": "openai", "name": "scripted"}},
        "processing": {"chunk_size": 40},
        "providers": {"openai": {"base_url": server.openai_url()}},
    });
    sandbox.write("settings.yaml", settings.to_string());
}

fn sound() -> ScriptedServer {
    ScriptedServer::start(|_, _| Reaction::Sound)
}

fn texts_of(request: &Received) -> Vec<String> {
    let input = request.body["input"].as_array().cloned();
    let texts = input.unwrap_or_default();
    let texts = texts.iter().filter_map(Value::as_str);
    // The probe for the dimension, and the first search.
    texts
        .filter(|text| *text != "probe" && !text.ends_with("warm-up"))
        .map(str::to_owned)
        .collect()
}

/// The texts in the requests of a server, in order, starting at request `from`.
fn asked(server: &ScriptedServer, from: usize) -> Vec<String> {
    let requests = server.received();
    requests[from..].iter().flat_map(texts_of).collect()
}

/// Runs a command, and returns the texts that it sent to the server.
fn asked_by(sandbox: &Sandbox, server: &ScriptedServer, line: &str) -> Vec<String> {
    let before = server.received().len();
    sandbox.succeed(line);
    asked(server, before)
}

fn set(texts: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    texts.into_iter().collect()
}

fn questions() -> BTreeSet<String> {
    set((0..SHORT).map(question))
}

fn last_ranking(sandbox: &Sandbox) -> String {
    let runs = sandbox.runs();
    fs::read_to_string(runs.last().unwrap().join("run.trec")).unwrap()
}

#[test]
fn another_chunking_requests_only_new_texts() {
    let (sandbox, server) = (Sandbox::new(), sound());
    write(&sandbox, &server);
    let first = asked_by(&sandbox, &server, RUN);
    let cut = set((0..LONG).flat_map(paragraphs)).into_iter();
    let boats = (0..SHORT).map(short);
    let expected = set(cut.chain(boats).chain(questions()));
    assert_eq!((first.len(), set(first)), (expected.len(), expected));

    let whole = format!("{RUN} --set processing.chunk_size=256");
    let second = asked_by(&sandbox, &server, &whole);
    let joined = set((0..LONG).map(|number| paragraphs(number).join("\n\n")));
    assert_eq!((second.len(), set(second)), (LONG, joined));
    let report = read(&sandbox.runs()[1].join("report.json"));
    let summary = &report["summary"];
    assert_eq!(summary["cached_timings"]["embed"]["n"], SHORT, "{summary}");
    assert_eq!(summary["timings"]["embed"], Value::Null);
    let build = &read(&sandbox.runs()[1].join("manifest.json"))["index"]["build"];
    assert_eq!(build["stored_vectors"], SHORT);

    let third = asked_by(&sandbox, &server, &format!("{whole} --profile hybrid"));
    assert_eq!(third, Vec::<String>::new());
}

#[test]
fn a_benchmark_of_indexes_requests_only_new_texts() {
    let (sandbox, server) = (Sandbox::new(), sound());
    write(&sandbox, &server);
    sandbox.succeed(RUN);
    let line = "bench index stories.yaml --config settings.yaml --db another --types ivf-flat --quick --seconds 0.1";
    assert_eq!(asked_by(&sandbox, &server, line), Vec::<String>::new());
}

#[test]
fn without_the_cache_all_texts_are_requested_and_the_ranking_is_the_same() {
    let (sandbox, server) = (Sandbox::new(), sound());
    write(&sandbox, &server);
    let all = asked_by(&sandbox, &server, RUN).len();
    asked_by(&sandbox, &server, &format!("{RUN} --db cached"));
    let cached = last_ranking(&sandbox);
    let stats = sandbox.succeed("cache stats");
    let line = format!("{RUN} --no-cache --db uncached");
    assert_eq!(asked_by(&sandbox, &server, &line).len(), all);
    assert!(cached.lines().count() > SHORT && last_ranking(&sandbox) == cached);
    assert_eq!(sandbox.succeed("cache stats"), stats);

    let empty = Sandbox::new();
    write(&empty, &server);
    empty.succeed(&format!("{RUN} --no-cache"));
    assert!(!empty.data().join("cache").exists(), "nothing is stored");
}

#[test]
fn a_refresh_and_repetitions_request_questions_again() {
    let (sandbox, server) = (Sandbox::new(), sound());
    write(&sandbox, &server);
    sandbox.succeed(RUN);
    let refreshed = asked_by(&sandbox, &server, &format!("{RUN} --refresh all"));
    assert_eq!((refreshed.len(), set(refreshed)), (SHORT, questions()));
    let repeated = asked_by(&sandbox, &server, &format!("{RUN} --repeat 3"));
    assert_eq!((repeated.len(), set(repeated)), (3 * SHORT, questions()));
    let refreshed = format!("{RUN} --refresh all --db other");
    let all = SHORT + 2 * LONG + SHORT;
    assert_eq!(asked_by(&sandbox, &server, &refreshed).len(), all);
}

#[test]
fn another_server_or_prefix_makes_another_model() {
    let (sandbox, server, other) = (Sandbox::new(), sound(), sound());
    write(&sandbox, &server);
    let all = asked_by(&sandbox, &server, RUN).len();
    let line = format!(
        "{RUN} --set providers.openai.base_url={}",
        other.openai_url()
    );
    assert_eq!(asked_by(&sandbox, &other, &line).len(), all);
    let line = format!("{RUN} --set embeddings.model.query_prefix=query");
    assert_eq!(asked_by(&sandbox, &server, &line).len(), all);
}

#[test]
fn vectors_are_shown_and_pruned_beside_replies() {
    let (sandbox, server) = (Sandbox::new(), sound());
    write(&sandbox, &server);
    let none = sandbox.run("cache stats").stderr;
    assert!(none.contains("no cached replies yet") && none.contains("no cached vectors yet"));
    sandbox.succeed(RUN);
    let stats = sandbox.succeed("cache stats");
    // The first search warms up.
    let all = SHORT + 2 * LONG + SHORT + 1;
    assert!(stats.starts_with(&format!("{all} vectors, ")), "{stats}");
    let row = stats.lines().last().unwrap();
    let columns: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        columns,
        ["openai:scripted", &all.to_string(), "1", "kB"],
        "{stats}"
    );
    let unknown = sandbox.run("cache prune --model openai:script");
    assert_eq!(unknown.code, Some(0));
    assert!(
        unknown
            .stderr
            .contains("no cache has entries of `openai:script`"),
        "{}",
        unknown.stderr
    );
    assert!(!unknown.stderr.contains("removed"), "{}", unknown.stderr);
    let pruned = sandbox.run("cache prune --model openai:scripted");
    assert!(
        pruned.stderr.contains(&format!("removed {all} vectors")),
        "{}",
        pruned.stderr
    );
    assert!(sandbox.succeed("cache stats").starts_with("0 vectors, "));
    assert_eq!(
        asked_by(&sandbox, &server, RUN).len(),
        SHORT,
        "the index is there"
    );
}

#[test]
fn vectors_of_the_embedded_model_are_not_cached() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 5 --profile semantic");
    assert!(!sandbox.data().join("cache").exists());
}

/// A process that is killed when dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn vectors_received_before_a_kill_are_not_requested_again() {
    const ANSWERED: usize = 3;
    let sandbox = Sandbox::new();
    let (hangs, batches) = (Arc::new(AtomicBool::new(true)), AtomicUsize::new(0));
    let hanging = Arc::clone(&hangs);
    let server = ScriptedServer::start(move |request, _| {
        let is_batch = texts_of(request).len() > 1;
        let late = is_batch && batches.fetch_add(1, Ordering::SeqCst) >= ANSWERED;
        if late && hanging.load(Ordering::SeqCst) {
            Reaction::Hang
        } else {
            Reaction::Sound
        }
    });
    write(&sandbox, &server);
    let documents =
        (0..1_000).map(|number| json!({"id": format!("b{number}"), "text": short(number)}));
    let documents: Vec<String> = documents.map(|document| document.to_string()).collect();
    sandbox.write("documents.jsonl", documents.join("\n"));
    let mut command = sandbox.command(RUN);
    let child = Killed(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let requests = || -> Vec<Vec<String>> {
        let requests = server.received_at("/embeddings");
        requests
            .iter()
            .map(texts_of)
            .filter(|texts| texts.len() > 1)
            .collect()
    };
    wait_for("a request that hangs", || requests().len() > ANSWERED);
    let answered = set(requests().into_iter().take(ANSWERED).flatten());
    let stored = format!("{} vectors, ", answered.len());
    wait_for("what was answered", || {
        sandbox.run("cache stats").stdout.starts_with(&stored)
    });
    drop(child);
    hangs.store(false, Ordering::SeqCst);

    let again = set(asked_by(&sandbox, &server, RUN));
    assert!(again.is_disjoint(&answered));
    assert_eq!(again.len() + answered.len(), 1_000 + SHORT);
}

#[test]
fn embedding_is_part_of_what_a_run_costs() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        let texts = request.body["input"].as_array().map_or(0, Vec::len);
        let rows: Vec<Value> = (0..texts)
            .map(|index| json!({"index": index, "embedding": [1.0, index]}))
            .collect();
        // A thousand tokens for each text.
        let usage = json!({"prompt_tokens": 1000 * texts});
        Reaction::json(200, &json!({"data": rows, "usage": usage}))
    });
    write(&sandbox, &server);
    let price = "prices.scripted={input: 10}";
    let run = |line: &str| crate::sandbox::ended(sandbox.command(line).args(["--set", price]));
    let first = run(RUN);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    // Ten short documents, three of two chunks, ten questions, a probe and the warm-up of searches, at a cent each.
    let expected = "while embedding: openai:scripted, 28000 tokens read, $0.2800";
    assert!(first.stderr.contains(expected), "{}", first.stderr);
    let again = run(RUN);
    let expected = "while embedding: openai:scripted, 1000 tokens read, $0.0100";
    assert!(again.stderr.contains(expected), "{}", again.stderr);

    // The index spends the budget, so the ten questions are not answered.
    let qa = "run stories.yaml --config settings.yaml --skip-retrieval --profile semantic --no-cache --db other";
    let refused = sandbox.refuse(&format!("{qa} --budget 0.2"));
    let expected = "`--budget` needs the price of the embedding model `scripted`: set `prices: {scripted: {input: …}}`";
    assert!(refused.contains(expected), "{refused}");
    let stopped = run(&format!("{qa} --budget 0.1"));
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let expected = "the budget of $0.1 is spent";
    assert!(stopped.stderr.contains(expected), "{}", stopped.stderr);
}
