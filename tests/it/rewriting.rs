//! Questions of conversations that a model rewrites before they are searched.

use serde_json::{Value, json};

use crate::sandbox::{Ended, Sandbox, json as read_json, unwrapped};
use crate::scripted_server::{Reaction, Received, ScriptedServer};

const TOWERS: [&str; 3] = ["north", "south", "east"];

/// A conversation about each tower, whose second turn does not name it, and a document with the words of these turns.
fn dataset(sandbox: &Sandbox, server: &ScriptedServer) {
    let documents = TOWERS.map(|name| {
        let text = format!("The {name} tower was built in 1412 and has {name} bells.");
        json!({"id": name, "text": text}).to_string()
    });
    let decoy = json!({"id": "decoy", "text": "And how old is it? And how old is it?"});
    let turns = TOWERS.map(|name| {
        let row = |turn: u8, text: String, answer: String| {
            json!({"chat": name, "turn": turn, "text": text, "answer": answer, "doc": name})
                .to_string()
        };
        let first = row(
            1,
            format!("Which tower has {name} bells?"),
            format!("The {name} tower."),
        );
        let second = row(2, "And how old is it?".to_owned(), "From 1412.".to_owned());
        format!("{first}\n{second}\n")
    });
    sandbox.write("talks.jsonl", turns.concat());
    sandbox.write(
        "corpus.jsonl",
        format!("{}\n{decoy}\n", documents.join("\n")),
    );
    sandbox.write(
        "talks.yaml",
        "name: talks\n\
         documents: {source: {path: corpus.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: talks.jsonl}, text: text, answer: answer, relevant: doc, conversation: chat, turn: turn}\n\
         retrieval: {limit: 4, headline: RR@4, measures: [RR@4]}\n",
    );
    let settings = json!({
        "search": {"profile": "bm25", "limit": 2, "history": "rewrite", "rewriter": "openai:rewriter"},
        "qa": {"model": "openai:answerer"},
        "evaluations": {"judge": "openai:judge", "concurrency": 2},
        "providers": {"openai": {"base_url": server.openai_url(), "max_attempts": 1}},
        "prices": {
            "rewriter": {"input": 1.0, "output": 2.0},
            "answerer": {"input": 1.0, "output": 2.0},
            "judge": {"input": 1.0, "output": 2.0},
        },
    });
    sandbox.write("settings.yaml", settings.to_string());
}

/// Rewrites a question about the tower that the conversation names, unless it is `mute` about that tower.
fn server(mute: &'static str) -> ScriptedServer {
    ScriptedServer::start(move |request, _| {
        Reaction::say(&match request.body["model"].as_str() {
            Some("rewriter") => {
                let prompt = prompt(request);
                let is_about = |name: &&&str| prompt.contains(&format!("The {name} tower."));
                match TOWERS.iter().find(is_about) {
                    Some(name) if *name != mute => format!("When was the {name} tower built?"),
                    _ => String::new(),
                }
            }
            Some("judge") => r#"{"reason": "the same year", "pass": true}"#.to_owned(),
            _ => "It is from 1412 [1].".to_owned(),
        })
    })
}

fn prompt(request: &Received) -> String {
    let prompt = request.body["messages"][0]["content"].as_str();
    prompt.unwrap_or_default().to_owned()
}

fn asked(server: &ScriptedServer, model: &str) -> Vec<String> {
    let received = server.received_at("/chat/completions");
    let asked = received.iter().filter(|it| it.body["model"] == model);
    asked.map(prompt).collect()
}

fn run(sandbox: &Sandbox, rest: &str) -> Ended {
    sandbox.run(&format!(
        "run talks.yaml --config settings.yaml --no-progress {rest}"
    ))
}

/// The newest report and the manifest of a benchmark.
fn stored(sandbox: &Sandbox, benchmark: &str) -> (Value, Value) {
    let runs = sandbox.runs();
    let mut records = runs.iter().rev().map(|run| {
        let record = read_json(&run.join("manifest.json"));
        (read_json(&run.join("report.json")), record)
    });
    records.find(|it| it.1["benchmark"] == benchmark).unwrap()
}

fn case<'r>(report: &'r Value, id: &str) -> &'r Value {
    let mut cases = report["cases"].as_array().unwrap().iter();
    cases.find(|case| case["id"] == id).unwrap()
}

fn reciprocal_rank(report: &Value) -> f64 {
    report["summary"]["scores"]["RR@4"]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("{}", report["summary"]))
}

#[test]
fn both_benchmarks_search_for_the_rewritten_question_at_the_price_of_one_call() {
    let sandbox = Sandbox::new();
    let server = server("");
    dataset(&sandbox, &server);
    let plain = run(&sandbox, "--skip-qa --set search.history=0");
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    assert!(reciprocal_rank(&stored(&sandbox, "retrieval").0) < 0.8);
    assert!(
        plain.stderr.contains("`search.rewriter` is set"),
        "{}",
        plain.stderr
    );

    let ended = run(&sandbox, "");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let said = unwrapped(&ended.stdout);
    // 25 tokens read and 7 written in each call, at 1 and 2 USD a million.
    let account = "openai:rewriter, 3 of 6 searches for a rewritten question, 75 tokens read, 21 written, $0.0001";
    assert!(said.contains(account), "{said}");
    let (report, record) = stored(&sandbox, "retrieval");
    assert!((reciprocal_rank(&report) - 1.0).abs() < 1e-12);
    let second = case(&report, "north-2");
    assert_eq!(
        second["attributes"]["rewritten question"],
        "When was the north tower built?"
    );
    assert_eq!(second["input"], "And how old is it?");
    let first = &case(&report, "north-1")["attributes"];
    assert!(first["rewritten question"].is_null(), "{first}");
    assert_eq!(report["metadata"]["rewriter"]["model"]["name"], "rewriter");

    let (answers, of_answers) = stored(&sandbox, "qa");
    for record in [&record, &of_answers] {
        assert_eq!(record["models"]["rewriter"]["name"], "rewriter");
        assert_eq!(record["parameters"]["rewriter"]["temperature"], 0.0);
        let digest = record["prompts"]["rewrite.md.jinja"].as_str().unwrap();
        assert_eq!(digest.len(), 64);
    }
    let costs = &answers["metadata"]["costs"];
    assert_eq!(costs["rewriting"]["input_tokens"], 75.0);
    let cost = costs["rewriting"]["cost"].as_f64().unwrap();
    assert!((cost - 0.000_117).abs() < 1e-12, "{cost}");
    let found = &case(&answers, "east-2")["result"]["output"]["ranking"];
    assert_eq!(found[0]["id"], "east");
    let rewriting = asked(&server, "rewriter");
    assert_eq!(rewriting.len(), 3, "both benchmarks share the calls");
    assert!(rewriting.iter().all(|it| it.contains("And how old is it?")));
    let reads_both = |it: &&String| {
        it.contains("\nThe north tower.\n</assistant-")
            && it.contains("The question:\n\nAnd how old is it?")
    };
    assert_eq!(
        asked(&server, "answerer").iter().filter(reads_both).count(),
        1
    );

    let again = run(&sandbox, "--fresh");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(asked(&server, "rewriter").len(), 3, "replies are stored");
    let uncached = run(
        &sandbox,
        "--fresh --no-cache --profile bm25 --profile semantic",
    );
    assert_eq!(uncached.code, Some(0), "{}", uncached.stderr);
    assert_eq!(
        asked(&server, "rewriter").len(),
        6,
        "and shared without a store"
    );
}

#[test]
fn a_question_that_is_not_rewritten_fails_in_both_benchmarks() {
    let sandbox = Sandbox::new();
    let server = server("south");
    dataset(&sandbox, &server);
    let ended = run(&sandbox, "");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for benchmark in ["retrieval", "qa"] {
        let (report, _) = stored(&sandbox, benchmark);
        let failed: Vec<&Value> = report["cases"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|case| case["result"]["failure"].is_object())
            .collect();
        assert_eq!(failed.len(), 1, "{benchmark}");
        assert_eq!(failed[0]["id"], "south-2");
        assert_eq!(failed[0]["result"]["failure"]["class"], "content");
        let message = failed[0]["result"]["failure"].to_string();
        assert!(
            message.contains("the question was not rewritten from its conversation"),
            "{message}"
        );
        assert!(message.contains("replied without text"), "{message}");
        assert_eq!(failed[0]["metrics"]["rewrite input tokens"], 25.0);
    }
    assert_eq!(asked(&server, "answerer").len(), 5);
}

#[test]
fn an_estimate_counts_the_calls_and_makes_none() {
    let sandbox = Sandbox::new();
    let server = server("");
    dataset(&sandbox, &server);
    let estimate = |rest: &str| {
        let ended = run(&sandbox, &format!("--estimate {rest}"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let line = ended.stdout.lines().find(|it| it.starts_with("rewriting"));
        line.unwrap_or_default().to_owned()
    };
    let once = estimate("--set search.rewriter.max_tokens=50");
    assert!(once.contains("openai:rewriter: 3 calls, "), "{once}");
    assert!(
        once.contains("at most 150 output tokens, at most $"),
        "{once}"
    );
    let twice = estimate("--repeat 2");
    assert!(twice.contains("openai:rewriter: 6 calls, "), "{twice}");
    assert!(server.received_at("/chat/completions").is_empty());
}

#[test]
fn a_spent_budget_stops_rewriting() {
    let sandbox = Sandbox::new();
    let server = server("");
    dataset(&sandbox, &server);
    let ended = run(&sandbox, "--concurrency 1 --budget 0.00004");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("is spent"), "{}", ended.stderr);
    assert_eq!(asked(&server, "rewriter").len(), 2);
    let unpriced = "--budget 1 --set search.rewriter.name=dear";
    let unpriced = run(&sandbox, unpriced);
    assert_eq!(unpriced.code, Some(2));
    assert!(
        unpriced.stderr.contains("the price of `dear`"),
        "{}",
        unpriced.stderr
    );
}

#[test]
fn settings_that_cannot_rewrite_are_refused() {
    let sandbox = Sandbox::new();
    let server = server("");
    dataset(&sandbox, &server);
    for (rest, expected) in [
        (
            "--set search.history=often",
            "expected a number of turns, or `rewrite` for a model that rewrites questions",
        ),
        (
            "--set search.rewriter=null --set qa.model=embedded:extractive",
            "`rewrite` asks a language model, and `embedded:extractive` is none: set `search.rewriter`",
        ),
        (
            "--set qa.mode=agent",
            "`rewrite` has no effect on an agent, which writes its queries itself",
        ),
    ] {
        let refused = run(&sandbox, rest);
        assert_eq!(refused.code, Some(2), "{rest}: {}", refused.stderr);
        let message = unwrapped(&refused.stderr);
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("search.history"), "{message}");
    }
    let own = run(&sandbox, "--skip-qa --set search.rewriter=null");
    assert_eq!(own.code, Some(0), "{}", own.stderr);
    let (_, record) = stored(&sandbox, "retrieval");
    assert_eq!(record["models"]["rewriter"]["name"], "answerer");
    assert!(
        server
            .received_at("/chat/completions")
            .iter()
            .all(|it| it.body["model"] == "answerer")
    );
}
