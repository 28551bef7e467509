//! Reranking with a server for `/rerank` and with a chat model.

use std::time::Duration;

use serde_json::{Value, json};

use crate::qa_server::{self, KEY};
use crate::sandbox::{Ended, Sandbox, ended, json};
use crate::scripted_server::{Reaction, Received, ScriptedServer};

/// Writes settings with a reranker. A reranker behind `/rerank` ignores `mode`.
fn write(sandbox: &Sandbox, server: &ScriptedServer, model: &Value, mode: &str) {
    qa_server::write(sandbox, 12, server);
    let mut settings = qa_server::settings(server);
    settings["reranking"] = json!({"model": model, "candidates": 4, "mode": mode, "batch_size": 3});
    settings["prices"]["ranker"] = json!({"input": 1.0, "output": 2.0});
    sandbox.write("settings.yaml", settings.to_string());
}

fn http(server: &ScriptedServer) -> Value {
    json!({"provider": "http", "name": "ranker", "base_url": server.openai_url(), "api_key_env": "TOWERS_KEY"})
}

fn run(sandbox: &Sandbox, rest: &str) -> Ended {
    let line = format!("run towers.yaml --config settings.yaml {rest}");
    ended(sandbox.command(&line).env("TOWERS_KEY", KEY))
}

/// Ranks the tower with the greatest number first, whatever the question: its number is its score.
fn greatest_first(request: &Received) -> Reaction {
    let texts = request.body["documents"].as_array().unwrap();
    let rows = texts.iter().enumerate().map(
        |(index, text)| json!({"index": index, "relevance_score": number(text.as_str().unwrap())}),
    );
    let rows: Vec<Value> = rows.collect();
    Reaction::json(
        200,
        &json!({"results": rows, "usage": {"total_tokens": 100}}),
    )
}

/// The number of the tower that a text is about; 0 for probes.
fn number(text: &str) -> u32 {
    let mut words = text.split_whitespace();
    words.find_map(|word| word.parse().ok()).unwrap_or(0)
}

/// The documents that a run found for a question, best first.
fn found(report: &Value, question: &str) -> Vec<String> {
    let cases = report["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["id"] == question).unwrap();
    let ranking = case["result"]["output"]["ranking"].as_array().unwrap();
    let ids = ranking
        .iter()
        .map(|it| it["id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[test]
fn the_report_shows_with_and_without_side_by_side() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| greatest_first(request));
    write(&sandbox, &server, &http(&server), "listwise");
    let run = run(
        &sandbox,
        "--skip-qa --profile bm25 --profile bm25+rerank --k 6 --out r.json",
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for expected in [
        "bm25",
        "bm25+rerank",
        "http:ranker, 4 documents for each question",
    ] {
        assert!(
            run.stdout.contains(expected),
            "no `{expected}` in\n{}",
            run.stdout
        );
    }
    let plain = json(&sandbox.work().join("r.bm25.json"));
    let reranked = json(&sandbox.work().join("r.bm25+rerank.json"));
    let (before, after) = (found(&plain, "q0"), found(&reranked, "q0"));
    let mut candidates = before[..4].to_vec();
    candidates.sort_by_key(|id| std::cmp::Reverse(number(&id.replace('d', ""))));
    assert_eq!(after[..4], candidates);
    assert_eq!(after[4..], before[4..], "the rest follows in its old order");
    assert_eq!(reranked["metadata"]["reranker"]["model"]["name"], "ranker");
    assert_eq!(
        reranked["metadata"]["reranker"]["parameters"]["candidates"],
        4
    );

    let manifests = sandbox
        .runs()
        .into_iter()
        .map(|run| json(&run.join("manifest.json")));
    let manifests: Vec<Value> = manifests.collect();
    assert_eq!(manifests[0]["models"].get("reranker"), None);
    assert_eq!(manifests[1]["models"]["reranker"]["provider"], "http");
    assert_eq!(manifests[1]["profile"], "bm25+rerank");
    // Four candidates in batches of three, for twelve questions, and a probe.
    assert_eq!(server.received_at("/rerank").len(), 2 * 12 + 1);
    let request = &server.received_at("/rerank")[1];
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
}

#[test]
fn answers_come_from_the_reranked_passages() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        if request.path.ends_with("/rerank") {
            return greatest_first(request);
        }
        qa_server::reply(request, Duration::ZERO)
    });
    write(&sandbox, &server, &http(&server), "listwise");
    let run = run(
        &sandbox,
        "--skip-retrieval --profile bm25+rerank --limit 3 --out qa.json",
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = json(&sandbox.work().join("qa.json"));
    let case = &report["cases"][0];
    let passages = case["result"]["output"]["passages"].as_array().unwrap();
    let numbers: Vec<u32> = passages
        .iter()
        .map(|passage| number(passage["text"].as_str().unwrap()))
        .collect();
    assert_eq!(numbers.len(), 3);
    assert!(
        numbers.is_sorted_by(|left, right| left > right),
        "{numbers:?}"
    );
    assert_eq!(report["metadata"]["models"]["reranker"]["name"], "ranker");
    // Two batches of 100 tokens for each of three questions, at 1 USD a million.
    let reranking = &report["metadata"]["costs"]["reranking"];
    assert_eq!(reranking["input_tokens"], 600.0);
    assert_eq!(reranking["cost"], 0.0006);
}

#[test]
fn scores_are_paid_for_once_and_cached() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        if request.path.ends_with("/rerank") {
            greatest_first(request)
        } else {
            qa_server::reply(request, Duration::ZERO)
        }
    });
    write(&sandbox, &server, &http(&server), "pointwise");
    let asked = |rest: &str| {
        let before = server.received_at("/rerank").len();
        let line = format!("--profile bm25+rerank --fresh --out r.json {rest}");
        let ran = run(&sandbox, &line);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        // Without the one that finds out what the server speaks.
        server.received_at("/rerank").len() - before - 1
    };
    let report = || json(&sandbox.work().join("r.json"));
    // Four candidates in batches of three, for twelve questions: the same in both benchmarks.
    assert_eq!(asked("--no-cache"), 24);
    let uncached = qa_server::timeless(report());
    assert_eq!(asked("--skip-qa"), 24);
    assert_eq!(qa_server::timeless(report()), uncached);
    assert_eq!(asked(""), 0);
    let stored = report();
    assert_eq!(stored["summary"]["cached_timings"]["rerank"]["n"], 12);
    assert_eq!(
        qa_server::timeless(stored),
        uncached,
        "scores and tokens are as they were"
    );
    // One candidate more for each question; batches hold what is new alone.
    assert_eq!(asked("--skip-qa --set reranking.candidates=5"), 12);
    assert_eq!(asked("--refresh all"), 24);
    let other = "--set reranking.model.extra_body.raw_scores=true";
    assert_eq!(asked(&format!("--skip-qa {other}")), 24);

    let stats = sandbox.succeed("cache stats");
    // Twelve questions with five candidates, and with four by other settings.
    assert!(stats.contains("108 scores, "), "{stats}");
    assert!(stats.contains("http:ranker"), "{stats}");
    sandbox.succeed("cache prune --model http:ranker");
    assert!(sandbox.succeed("cache stats").contains("0 scores, "));
    assert_eq!(asked("--skip-qa"), 24);
}

#[test]
fn an_estimate_includes_reranking_and_makes_no_calls() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        if request.path.ends_with("/rerank") {
            greatest_first(request)
        } else {
            qa_server::reply(request, Duration::ZERO)
        }
    });
    let llm = json!({"provider": "llm", "name": "openai:ranker", "max_tokens": 10});
    for (model, mode, expected) in [
        // Four candidates in batches of three, for twelve questions.
        (
            &http(&server),
            "listwise",
            "http:ranker: 24 requests with 48 pairs, about ",
        ),
        (&llm, "listwise", "openai:ranker: 12 calls, "),
        (&llm, "pointwise", "openai:ranker: 48 calls, "),
    ] {
        write(&sandbox, &server, model, mode);
        let estimated = run(
            &sandbox,
            "--skip-retrieval --profile bm25+rerank --estimate",
        );
        assert_eq!(estimated.code, Some(0), "{}", estimated.stderr);
        let line = estimated
            .stdout
            .lines()
            .find(|line| line.starts_with("reranking"));
        let line = line.unwrap_or_default();
        assert!(line.contains(expected), "{}", estimated.stdout);
        assert!(line.contains('$'), "the price is known: {line}");
    }
    assert_eq!(qa_server::asked(&server), (0, 0));
    // The probes of the server behind `/rerank` alone.
    assert_eq!(server.received_at("/rerank").len(), 1);
}

#[test]
fn a_chat_model_reranks_and_its_replies_are_cached() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        let prompt = request.body["messages"][0]["content"]
            .as_str()
            .unwrap_or_default();
        if prompt.contains("\"score\"") {
            return Reaction::say(r#"{"score": 5}"#);
        }
        Reaction::say(r#"{"ranking": [2, 1]}"#)
    });
    let model = json!({"provider": "llm", "name": "openai:ranker"});
    for (mode, calls) in [("listwise", 3), ("pointwise", 12)] {
        write(&sandbox, &server, &model, mode);
        let line = "--skip-qa --profile bm25+rerank --limit 3 --out r.json";
        let before = server.received_at("/chat/completions").len();
        let first = run(&sandbox, line);
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        let asked = server.received_at("/chat/completions").len() - before;
        assert_eq!(asked, calls, "{mode}");
        // 25 tokens read and 7 written in each call, at 1 and 2 USD a million.
        let tokens = format!("{} tokens read, {} written", calls * 25, calls * 7);
        assert!(first.stdout.contains(&tokens), "{}", first.stdout);
        let report = json(&sandbox.work().join("r.json"));
        let parameters = &report["metadata"]["reranker"]["parameters"];
        assert_eq!(parameters["mode"], mode);
        let again = run(&sandbox, line);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        let asked = server.received_at("/chat/completions").len() - before;
        assert_eq!(asked, calls, "the second run asks nothing");
        let both = [report, json(&sandbox.work().join("r.json"))].map(qa_server::timeless);
        assert_eq!(both[0], both[1]);
    }
}

#[test]
fn an_unreadable_reply_fails_only_its_question() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        let prompt = request.body["messages"][0]["content"]
            .as_str()
            .unwrap_or_default();
        if prompt.contains("Which tower stands in district 1007?") {
            return Reaction::say("the second one");
        }
        Reaction::say(r#"{"ranking": [1]}"#)
    });
    let model = json!({"provider": "llm", "name": "openai:ranker"});
    write(&sandbox, &server, &model, "listwise");
    let run = run(
        &sandbox,
        "--skip-qa --profile bm25+rerank --limit 3 --out r.json",
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = json(&sandbox.work().join("r.json"));
    let failed: Vec<&Value> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["result"]["failure"].is_object())
        .collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["id"], "q1");
    assert_eq!(failed[0]["result"]["failure"]["class"], "content");
    let message = failed[0]["result"]["failure"].to_string();
    assert!(message.contains("could not rank 4 texts"), "{message}");
}

#[test]
fn a_profile_without_a_single_ranking_fails_the_run() {
    let sandbox = Sandbox::new();
    let rambling = "the second one ".repeat(30);
    let server = ScriptedServer::start(move |_, _| Reaction::say(&rambling));
    let model = json!({"provider": "llm", "name": "openai:ranker"});
    write(&sandbox, &server, &model, "listwise");
    let alone = run(&sandbox, "--skip-qa --profile bm25+rerank --limit 3");
    assert_eq!(alone.code, Some(1), "{}", alone.stderr);
    let warning = "warning: no search by `bm25+rerank` succeeded; the report gives the reasons";
    assert!(alone.stderr.contains(warning), "{}", alone.stderr);
    let report = sandbox.runs()[0].join("report.json");
    let located = format!("every failure in full: {}", report.display());
    assert!(alone.stderr.contains(&located), "{}", alone.stderr);
    let whole = json(&report)["cases"][0]["result"]["failure"]["message"].clone();
    let whole = whole.as_str().unwrap();
    assert!(whole.len() > 120, "{whole}");
    let printed = alone.stdout.lines().find(|line| line.contains("q0: "));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words(printed.unwrap()).ends_with(&words(whole)),
        "{}",
        alone.stdout
    );

    let beside = run(
        &sandbox,
        "--skip-qa --profile bm25 --profile bm25+rerank --limit 3",
    );
    assert_eq!(beside.code, Some(1), "{}", beside.stderr);
    assert!(!beside.stderr.contains("by `bm25` "), "{}", beside.stderr);

    // Answers from another profile do not make up for it.
    let followed = run(
        &sandbox,
        "--profile bm25 --profile bm25+rerank --limit 3 --model embedded:extractive --judge embedded:overlap",
    );
    assert_eq!(followed.code, Some(1), "{}", followed.stderr);
}

#[test]
fn a_busy_server_is_waited_for_and_a_wrong_key_ends_the_run() {
    let sandbox = Sandbox::new();
    let busy = ScriptedServer::start(|request, before| match before {
        0 => Reaction::busy(Some("0")),
        _ => greatest_first(request),
    });
    write(&sandbox, &busy, &http(&busy), "listwise");
    let line = "--skip-qa --profile bm25+rerank --limit 2 --out r.json";
    assert_eq!(run(&sandbox, line).code, Some(0));

    let closing = ScriptedServer::start(|request, _| match request.body["query"].as_str() {
        Some("probe") => greatest_first(request),
        _ => Reaction::json(
            401,
            &json!({"error": {"message": "Incorrect API key provided"}}),
        ),
    });
    write(&sandbox, &closing, &http(&closing), "listwise");
    let ended = run(&sandbox, line);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("TOWERS_KEY"), "{}", ended.stderr);
}

#[test]
fn an_unusable_reranker_is_reported_before_indexing() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 5, &server);
    let message = run(&sandbox, "--skip-qa --profile bm25+rerank").stderr;
    assert!(
        message.contains("`bm25+rerank` needs a reranker: set `reranking.model`"),
        "{message}"
    );
    let refused = |model: Value| {
        write(&sandbox, &server, &model, "listwise");
        let ended = run(&sandbox, "--skip-qa --profile bm25+rerank");
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        ended.stderr
    };
    let message = refused(json!({"provider": "splade", "name": "mxbai-rerank-base-v2"}));
    assert!(
        message.contains("unknown reranker provider `splade`; use `http`, `llm` or `local`"),
        "{message}"
    );
    let chatting =
        ScriptedServer::start(|_, _| Reaction::json(200, &json!({"choices": [{"text": "yes"}]})));
    let message = refused(http(&chatting));
    assert!(
        message.contains("`http:ranker` cannot be used")
            && message.contains("gave no score for 1 of 1 text\n"),
        "{message}"
    );
    let gone = json!({"provider": "http", "name": "ranker", "base_url": "http://127.0.0.1:9"});
    let message = refused(gone);
    assert!(message.contains("cannot be reached"), "{message}");
    assert!(!sandbox.data().join("dbs").exists(), "nothing is indexed");
}

#[test]
fn all_includes_a_reranked_profile_if_there_is_a_reranker() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| greatest_first(request));
    write(&sandbox, &server, &http(&server), "listwise");
    let all = run(&sandbox, "--skip-qa --profile all --limit 2");
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    assert!(all.stdout.contains("hybrid+rerank"), "{}", all.stdout);
    let none = run(&sandbox, "--skip-qa --profile bm25 --limit 2");
    assert_eq!(none.code, Some(0), "{}", none.stderr);
    assert!(
        none.stderr
            .contains("no profile of this run ends in `+rerank`"),
        "{}",
        none.stderr
    );
}
