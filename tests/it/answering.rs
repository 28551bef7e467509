//! Question answering with the embedded models and with a server that always replies correctly.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::qa_server::{self, KEY, asked};
use crate::sandbox::{Sandbox, ended, json};

#[test]
fn without_a_server_the_embedded_models_answer_and_judge() {
    let sandbox = Sandbox::new();
    let page = sandbox.succeed("sample --limit 20 --skip-retrieval");
    for expected in [
        "equivalent",
        "refusal recall",
        "token F1",
        "embedded:extractive, part of this program, no LLM",
        "embedded:overlap, part of this program, no LLM",
    ] {
        assert!(page.contains(expected), "no `{expected}` in\n{page}");
    }
    let [run] = sandbox.runs().try_into().unwrap();
    let report = json(&run.join("report.json"));
    assert_eq!(report["cases"].as_array().unwrap().len(), 20);
    let manifest = json(&run.join("manifest.json"));
    assert_eq!(manifest["benchmark"], "qa");
    assert_eq!(manifest["name"], "sample_qa_evaluation");
    assert_eq!(manifest["models"]["answerer"]["name"], "extractive");
    assert_eq!(manifest["models"]["judge"]["name"], "overlap");
    assert_eq!(
        fs::read_to_string(run.join("journal.jsonl"))
            .unwrap()
            .lines()
            .count(),
        21,
        "a header and a line for each case"
    );
}

#[test]
fn both_benchmarks_run_one_after_the_other() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 5 --out report.json");
    let names: Vec<_> = sandbox
        .runs()
        .iter()
        .map(|run| json(&run.join("manifest.json"))["benchmark"].clone())
        .collect();
    assert_eq!(names, ["retrieval", "qa"]);
    assert!(json(&sandbox.work().join("report.json"))["summary"]["scores"]["RR@5"].is_object());
    let answers = json(&sandbox.work().join("report.qa.json"));
    assert!(answers["summary"]["assertions"]["equivalent"].is_object());
}

#[test]
fn a_model_without_a_judge_is_refused_with_a_hint() {
    let sandbox = Sandbox::new();
    let message = sandbox.refuse("sample --model ollama:gpt-oss:20b");
    for expected in [
        "the answers of `ollama:gpt-oss:20b`",
        "--judge PROVIDER:NAME",
        "evaluations.judge",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    let message = sandbox.refuse("sample --model gpt-oss");
    assert!(message.contains("PROVIDER:NAME"), "{message}");
    let message = sandbox.refuse("sample --model nowhere:x --judge embedded:overlap");
    assert!(message.contains("unknown provider `nowhere`"), "{message}");
}

#[test]
fn every_case_is_answered_and_judged_once() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 30, &server);
    let run = ended(&mut qa_server::command(&sandbox, "--out report.json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(asked(&server), (30, 30));

    let report = json(&sandbox.work().join("report.json"));
    let summary = &report["summary"];
    assert_eq!(summary["assertions"]["equivalent"]["value"], 1.0);
    assert_eq!(summary["assertions"]["cited"]["value"], 1.0);
    assert_eq!(summary["scores"]["citation AP"]["value"], 1.0);
    // 25 tokens read and 7 written for each of 30 answers and 30 verdicts, at 1 and 2 USD a million.
    let total = report["metadata"]["costs"]["total"].as_f64().unwrap();
    assert!(
        (total - 60.0 * (25.0 + 14.0) / 1e6).abs() < 1e-12,
        "{total}"
    );

    let request = &server.received_at("/chat/completions")[0];
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request.body["temperature"], 0.0);
}

#[test]
fn repeating_a_command_makes_no_calls() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 10, &server);
    let first = ended(&mut qa_server::command(&sandbox, "--out first.json"));
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let second = ended(&mut qa_server::command(&sandbox, "--out second.json"));
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert_eq!(asked(&server), (10, 10));
    assert!(
        second.stderr.contains("0 calls made by this command"),
        "{}",
        second.stderr
    );
    let [first, second] =
        ["first.json", "second.json"].map(|name| json(&sandbox.work().join(name)));
    assert_eq!(qa_server::timeless(first), qa_server::timeless(second));

    let anew = ended(&mut qa_server::command(&sandbox, "--refresh all"));
    assert_eq!(anew.code, Some(0), "{}", anew.stderr);
    assert_eq!(asked(&server), (20, 20));
    let without = ended(&mut qa_server::command(&sandbox, "--no-cache"));
    assert_eq!(without.code, Some(0), "{}", without.stderr);
    assert_eq!(asked(&server), (30, 30));
}

#[test]
fn each_repetition_makes_its_own_calls() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 4, &server);
    let run = ended(&mut qa_server::command(&sandbox, "--repeat 3"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(asked(&server), (12, 12));
}

#[test]
fn an_estimate_makes_no_calls() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 10, &server);
    let run = ended(&mut qa_server::command(&sandbox, "--estimate"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(asked(&server), (0, 0));
    assert!(run.stdout.contains("10 calls"), "{}", run.stdout);
    assert_eq!(sandbox.runs(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_spent_budget_stops_the_run_and_a_larger_one_resumes_it() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(5));
    qa_server::write(&sandbox, 60, &server);
    // One case costs 2 x 39 millionths of a dollar.
    let run = ended(&mut qa_server::command(&sandbox, "--budget 0.0008"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("the budget of $0.0008 is spent"),
        "{}",
        run.stderr
    );
    let (answers, _) = asked(&server);
    assert!(
        (10..40).contains(&answers),
        "{answers} answers were asked for"
    );

    let rest = ended(&mut qa_server::command(
        &sandbox,
        "--budget 1 --out report.json",
    ));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    assert_eq!(asked(&server), (60, 60));
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["cases"].as_array().unwrap().len(), 60);
    assert_eq!(sandbox.runs().len(), 1, "one run in two sessions");
}

#[test]
fn a_run_is_resumed_with_another_timeout_and_pays_nothing_twice() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(5));
    qa_server::write(&sandbox, 40, &server);
    let stopped = ended(&mut qa_server::command(&sandbox, "--budget 0.0008"));
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let longer = "--budget 1 --set providers.openai.timeout=100 --out report.json";
    let rest = ended(&mut qa_server::command(&sandbox, longer));
    assert_eq!(rest.code, Some(0), "{}", rest.stderr);
    assert!(rest.stderr.contains("resuming"), "{}", rest.stderr);
    assert_eq!(asked(&server), (40, 40));
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["cases"].as_array().unwrap().len(), 40);
    assert_eq!(sandbox.runs().len(), 1, "one run in two sessions");
}

#[test]
fn other_settings_start_a_new_run_and_explain_why() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(5));
    qa_server::write(&sandbox, 40, &server);
    let run = ended(&mut qa_server::command(&sandbox, "--budget 0.0004"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let other = ended(&mut qa_server::command(&sandbox, "--set search.limit=2"));
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    assert!(
        other.stderr.contains("search.limit: 3 -> 2"),
        "{}",
        other.stderr
    );
    assert_eq!(sandbox.runs().len(), 2);
}

#[test]
fn a_run_with_other_settings_explains_once_why_it_does_not_resume() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::from_millis(5));
    qa_server::write(&sandbox, 40, &server);
    let stopped = ended(&mut qa_server::command(&sandbox, "--budget 0.0004"));
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let other = "--set search.limit=2";
    let other_settings = ended(&mut qa_server::command(&sandbox, other));
    assert_eq!(other_settings.code, Some(0), "{}", other_settings.stderr);
    assert!(
        other_settings
            .stderr
            .contains("cannot be resumed because these values differ")
            && other_settings.stderr.contains("search.limit: 3 -> 2"),
        "{}",
        other_settings.stderr
    );
    let third = ended(&mut qa_server::command(&sandbox, "--set search.limit=1"));
    assert!(
        !third.stderr.contains("cannot be resumed"),
        "{}",
        third.stderr
    );
}

#[test]
fn stored_answers_are_judged_again_with_both_verdicts() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 10, &server);
    let run = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let again = sandbox.run("rejudge latest --judge embedded:overlap --out again.json");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(asked(&server), (10, 10), "nobody is asked again");
    let summary = &json(&sandbox.work().join("again.json"))["summary"]["assertions"];
    assert_eq!(
        summary["equivalent"]["value"], 0.0,
        "no word in common with the references"
    );
    assert_eq!(summary["equivalent (openai:judge)"]["value"], 1.0);
    let without = sandbox.refuse("rejudge latest");
    assert!(without.contains("no judge is set"), "{without}");
    let [_, rejudged] = sandbox.runs().try_into().unwrap();
    let manifest = json(&rejudged.join("manifest.json"));
    assert_eq!(manifest["models"]["judge"]["name"], "overlap");
    assert_eq!(manifest["models"]["answerer"]["name"], "answerer");
    assert!(manifest["parameters"]["judge"].is_null(), "{manifest}");
    let prompts: Vec<_> = manifest["prompts"].as_object().unwrap().keys().collect();
    assert_eq!(prompts, ["answer.md.jinja"]);
    let third = sandbox.run("rejudge latest --judge embedded:overlap --out third.json");
    assert_eq!(third.code, Some(0), "{}", third.stderr);
    let summary = &json(&sandbox.work().join("third.json"))["summary"]["assertions"];
    let first = &summary["equivalent (openai:judge)"]["value"];
    assert_eq!(first, 1.0, "the first verdict is kept over two rejudgings");
}

#[test]
fn judging_again_with_the_same_judge_keeps_both_verdicts() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --limit 5");
    for _ in 0..3 {
        sandbox.succeed("rejudge latest --out again.json");
    }
    let report = json(&sandbox.work().join("again.json"));
    let judges = report["metadata"]["former_judges"].as_array().unwrap();
    let names: Vec<&str> = judges
        .iter()
        .map(|former| former["outcome"].as_str().unwrap())
        .collect();
    let judge = "equivalent (embedded:overlap)";
    assert_eq!(
        names,
        [judge, &format!("{judge} #2"), &format!("{judge} #3")]
    );
    assert_eq!(judges[0]["judge"]["name"], "overlap");
    let assertions = report["summary"]["assertions"].as_object().unwrap();
    let verdicts: Vec<&str> = assertions
        .keys()
        .map(String::as_str)
        .filter(|name| name.starts_with("equivalent"))
        .collect();
    assert_eq!(verdicts.len(), 4, "{verdicts:?}");
    for name in names {
        assert_eq!(assertions[name], assertions["equivalent"], "{name}");
    }
}

#[test]
fn answers_name_their_profile() {
    let sandbox = Sandbox::new();
    let page = sandbox.succeed("sample --limit 3 --profile bm25 --profile hybrid");
    assert!(
        page.contains("\n\nsample_qa_evaluation (hybrid)\n"),
        "{page}"
    );
    let run = sandbox.runs().pop().unwrap();
    assert_eq!(json(&run.join("manifest.json"))["profile"], "hybrid");
    let written = fs::read_to_string(run.join("report.md")).unwrap();
    assert!(
        written.starts_with("# sample\\_qa\\_evaluation (hybrid)\n"),
        "{written}"
    );
}

#[test]
fn an_assignment_overrides_the_model_option() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 2, &server);
    let line = "--model openai:other --set qa.model.temperature=0.7 --set qa.model.max_tokens=77";
    let run = ended(&mut qa_server::command(&sandbox, line));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let requests = server.received_at("/chat/completions");
    let request = requests
        .iter()
        .find(|request| !qa_server::is_judging(request))
        .unwrap();
    assert_eq!(request.body["model"], "other");
    assert_eq!(request.body["temperature"], 0.7);
    assert_eq!(request.body["max_tokens"], 77);
}

#[test]
fn the_cache_is_shown_and_emptied() {
    let sandbox = Sandbox::new();
    let server = qa_server::right(Duration::ZERO);
    qa_server::write(&sandbox, 5, &server);
    assert!(
        sandbox
            .run("cache stats")
            .stderr
            .contains("no cached replies yet")
    );
    let run = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let stats = sandbox.succeed("cache stats");
    assert!(stats.starts_with("10 replies"), "{stats}");
    assert!(stats.contains("openai:judge"), "{stats}");
    let which = sandbox.refuse("cache prune");
    assert!(
        which.contains("<--older-than <AGE>|--model <PROVIDER:NAME>|--all>"),
        "{which}"
    );
    let both = sandbox.refuse("cache prune --all --model openai:judge");
    assert!(both.contains("cannot be used with"), "{both}");
    sandbox.succeed("cache prune --model openai:judge");
    assert!(sandbox.succeed("cache stats").starts_with("5 replies"));
    sandbox.succeed("cache prune --all");
    assert!(sandbox.succeed("cache stats").starts_with("0 replies"));
}

#[test]
fn stored_answers_are_shown_and_written_again() {
    let sandbox = Sandbox::new();
    let printed = sandbox.succeed("sample --limit 5 --skip-retrieval");
    let shown = sandbox.succeed("runs show latest");
    // A run ends with what its first measure means, and leaves out how intervals are computed.
    let is_of_run = |line: &&str| !line.ends_with("passed `equivalent`");
    for line in printed.lines().filter(is_of_run) {
        assert!(shown.contains(line), "{line}\n---\n{shown}");
    }
    assert!(
        shown.contains("intervals: Wilson's score interval"),
        "{shown}"
    );
    sandbox.succeed("report latest --out report.csv --out report.md");
    let rows = fs::read_to_string(sandbox.work().join("report.csv")).unwrap();
    assert_eq!(rows.lines().count(), 6, "{rows}");
}

#[test]
fn fresh_runs_at_once_share_the_replies_of_models() {
    let server = qa_server::right(Duration::from_millis(300));
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, 6, &server);
    let starting = |()| {
        let mut command = qa_server::command(&sandbox, "--fresh --no-progress");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let runs = [(); 4].map(starting);
    for run in runs {
        let ended = run.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
    assert_eq!(asked(&server), (6, 6));
    assert_eq!(sandbox.runs().len(), 4);
}
