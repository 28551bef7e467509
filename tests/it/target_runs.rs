//! Both benchmarks over somebody else's system: a shell script that answers from files.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::qa_server;
use crate::sandbox::{Sandbox, ended, json, wait_for};
use crate::scripted_server::{Reaction, ScriptedServer};

/// Replies with the file of the question's id, and notes every question in `asked.txt`. `$1` is the time that a reply takes.
const SERVICE: &str = r#"while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    printf '%s\n' "$id" >> asked.txt
    sleep "${1:-0}"
    cat "replies/$id.json"
done
"#;

const TARGET: &str = "--target exec:sh";

/// Writes the service. Each reply gets the id of its question.
fn service(sandbox: &Sandbox, replies: &BTreeMap<String, Value>) {
    sandbox.write("service.sh", SERVICE);
    for (id, reply) in replies {
        let mut reply = reply.clone();
        reply["id"] = json!(id);
        sandbox.write(&format!("replies/{id}.json"), format!("{reply}\n"));
    }
}

/// A run of the service. The command of the target has blanks, so it is an argument of its own.
fn run(sandbox: &Sandbox, options: &str) -> crate::sandbox::Ended {
    ended(&mut command(sandbox, options))
}

fn command(sandbox: &Sandbox, options: &str) -> std::process::Command {
    let mut command = sandbox.command("sample --no-progress");
    command.args(["--target", "exec:sh service.sh"]);
    command.args(options.split_whitespace());
    command
}

/// The report of the newest run of a benchmark.
fn report(sandbox: &Sandbox, benchmark: &str) -> Value {
    json(&newest(sandbox, benchmark).join("report.json"))
}

fn newest(sandbox: &Sandbox, benchmark: &str) -> std::path::PathBuf {
    let is_of =
        |run: &&std::path::PathBuf| json(&run.join("manifest.json"))["benchmark"] == benchmark;
    sandbox.runs().iter().rev().find(is_of).unwrap().clone()
}

/// Name and mean of every score of a report.
fn scores(report: &Value) -> BTreeMap<String, f64> {
    let scores = report["summary"]["scores"].as_object().unwrap();
    let value = |(name, score): (&String, &Value)| Some((name.clone(), score["value"].as_f64()?));
    scores.iter().filter_map(value).collect()
}

fn cases(report: &Value) -> impl Iterator<Item = (String, &Value)> {
    let cases = report["cases"].as_array().unwrap();
    cases
        .iter()
        .map(|case| (case["id"].as_str().unwrap().to_owned(), case))
}

fn asked(sandbox: &Sandbox) -> Vec<String> {
    let asked = fs::read_to_string(sandbox.work().join("asked.txt")).unwrap_or_default();
    asked.lines().map(str::to_owned).collect()
}

/// The reasons of the undefined outcomes with this name.
fn reasons(report: &Value, outcome: &str) -> Vec<String> {
    let outcomes = cases(report).flat_map(|(_, case)| case["outcomes"].as_array().unwrap());
    let of_name = outcomes.filter(|it| it["name"] == outcome && it["value"] == "undefined");
    of_name
        .map(|it| it["reason"].as_str().unwrap().to_owned())
        .collect()
}

/// Our own rankings of the first questions, as the replies of a service.
fn own_rankings(sandbox: &Sandbox, limit: usize) -> BTreeMap<String, Value> {
    sandbox.succeed(&format!(
        "sample --profile bm25 --skip-qa --no-progress --limit {limit}"
    ));
    let own = report(sandbox, "retrieval");
    let reply = |(id, case): (String, &Value)| {
        let ranking = case["result"]["output"]["ranking"].as_array().unwrap();
        let ids: Vec<&Value> = ranking.iter().map(|document| &document["id"]).collect();
        (id, json!({"documents": ids}))
    };
    cases(&own).map(reply).collect()
}

/// Our own passages, as the replies of a service: with the ids of their documents, and with ids of their own.
fn own_passages(sandbox: &Sandbox, limit: usize) -> [BTreeMap<String, Value>; 3] {
    sandbox.succeed(&format!(
        "sample --profile bm25 --skip-retrieval --no-progress --limit {limit}"
    ));
    let own = report(sandbox, "qa");
    let replies = |document: &dyn Fn(usize, &Value) -> Value| {
        let reply = |(id, case): (String, &Value)| {
            let output = &case["result"]["output"];
            let passages = output["passages"].as_array().unwrap().iter().enumerate();
            let documents: Vec<Value> = passages.map(|(at, it)| document(at, it)).collect();
            (
                id,
                json!({"answer": output["text"], "documents": documents}),
            )
        };
        cases(&own).map(reply).collect()
    };
    [
        replies(&|_, passage| json!({"id": passage["document"]})),
        replies(&|at, passage| {
            let file = format!(
                "docs/{}.txt?chunk={at}",
                passage["document"].as_str().unwrap()
            );
            json!({"id": file, "score": 1.0})
        }),
        replies(&|at, passage| json!({"id": format!("chunk {at}"), "text": passage["text"]})),
    ]
}

#[test]
fn a_system_with_our_rankings_has_our_measures_and_compares_with_our_runs() {
    let sandbox = Sandbox::new();
    let replies = own_rankings(&sandbox, 40);
    let own = scores(&report(&sandbox, "retrieval"));
    service(&sandbox, &replies);
    let measured = run(&sandbox, "--skip-qa --limit 40");
    assert_eq!(measured.code, Some(0), "{}", measured.stderr);
    let theirs = report(&sandbox, "retrieval");
    assert_eq!(scores(&theirs), own);
    assert!(own.values().any(|value| *value > 0.5), "{own:?}");
    assert_eq!(theirs["metadata"]["target"]["name"], "sh service.sh");
    assert_eq!(theirs["metadata"]["documents_matched"]["id"], 200);

    let change = sandbox.succeed("compare");
    assert!(
        change.contains("profile: bm25 -> exec:sh service.sh"),
        "{change}"
    );
    assert!(change.contains("n = 32 pairs"), "{change}");
    assert!(
        !change.contains("index.identity") && !change.contains("other content"),
        "{change}"
    );
    let folder = newest(&sandbox, "retrieval");
    let (trec, qrels) = (folder.join("run.trec"), folder.join("qrels.trec"));
    let line = format!(
        "score --run {} --qrels {} --measure RR@5",
        trec.display(),
        qrels.display()
    );
    let expected = format!("{:.4}", own["RR@5"]);
    assert!(sandbox.succeed(&line).contains(&expected));
}

#[test]
fn measures_are_equal_by_id_by_rule_and_by_text() {
    let sandbox = Sandbox::new();
    let [by_id, by_rule, by_text] = own_passages(&sandbox, 30);
    sandbox.write("rule.yaml", "target: {match: {id: last path segment}}\n");
    let mut measured = Vec::new();
    for (replies, options, how) in [
        (by_id, "", "id"),
        (by_rule, "--config rule.yaml", "rule"),
        (by_text, "", "text"),
    ] {
        service(&sandbox, &replies);
        let done = run(&sandbox, &format!("--skip-qa --limit 30 {options}"));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let report = report(&sandbox, "retrieval");
        assert_eq!(report["metadata"]["documents_matched"][how], 150, "{how}");
        measured.push(scores(&report));
    }
    assert!(measured[0]["RR@5"] > 0.5, "{measured:?}");
    assert_eq!(measured[0], measured[1]);
    assert_eq!(measured[0], measured[2]);
}

#[test]
fn both_benchmarks_ask_once_and_a_finished_run_asks_again() {
    let sandbox = Sandbox::new();
    let [replies, ..] = own_passages(&sandbox, 6);
    service(&sandbox, &replies);
    let first = run(&sandbox, "--limit 6 --judge embedded:overlap");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let mut once = asked(&sandbox);
    once.sort();
    assert!(once.iter().eq(replies.keys()), "{once:?}");
    let answers = report(&sandbox, "qa");
    assert_eq!(answers["summary"]["finished"], 6);
    assert_eq!(
        answers["summary"]["timings"],
        json!({}),
        "the other benchmark asked"
    );
    assert_eq!(answers["summary"]["cached_timings"]["target"]["n"], 6);

    let again = run(&sandbox, "--limit 6 --judge embedded:overlap");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(!again.stderr.contains("resuming"), "{}", again.stderr);
    assert_eq!(asked(&sandbox).len(), 12);
}

#[test]
fn what_a_reply_lacks_is_undefined_with_that_reason() {
    let sandbox = Sandbox::new();
    let rankings = own_rankings(&sandbox, 4);
    service(&sandbox, &rankings);
    let documents = run(&sandbox, "--limit 4 --judge embedded:overlap");
    assert_eq!(documents.code, Some(0), "{}", documents.stderr);
    let answers = report(&sandbox, "qa");
    let unanswered = vec!["the target returned no answer"; 4];
    assert_eq!(reasons(&answers, "equivalent"), unanswered);
    assert!(!scores(&answers).contains_key("token F1"));

    let answers = rankings
        .keys()
        .map(|id| (id.clone(), json!({"answer": "in May"})));
    service(&sandbox, &answers.collect());
    let answers = run(&sandbox, "--limit 4 --judge embedded:overlap");
    assert_eq!(answers.code, Some(0), "{}", answers.stderr);
    let ranked = report(&sandbox, "retrieval");
    let mut lacking = reasons(&ranked, "RR@5");
    lacking.retain(|reason| reason != "unanswerable");
    assert!(!lacking.is_empty());
    assert!(
        lacking
            .iter()
            .all(|reason| reason == "the target returned no documents")
    );
    assert!(
        answers
            .stderr
            .contains("no reply of the target has documents"),
        "{}",
        answers.stderr
    );
    assert!(reasons(&report(&sandbox, "qa"), "equivalent").is_empty());

    let nothing = rankings
        .keys()
        .map(|id| (id.clone(), json!({"attributes": {"a": 1}})));
    service(&sandbox, &nothing.collect());
    let nothing = run(&sandbox, "--limit 4 --judge embedded:overlap");
    assert_eq!(nothing.code, Some(1), "{}", nothing.stderr);
    let failures = report(&sandbox, "retrieval");
    assert_eq!(failures["summary"]["failed"], 4);
    let (_, case) = cases(&failures).next().unwrap();
    let message = case["result"]["failure"]["message"].as_str().unwrap();
    assert!(
        message.contains("neither `answer` nor `documents`"),
        "{message}"
    );
}

#[test]
fn documents_that_the_corpus_has_not_are_named_and_count_as_not_relevant() {
    let sandbox = Sandbox::new();
    let mut replies = own_rankings(&sandbox, 4);
    for reply in replies.values_mut() {
        let documents = reply["documents"].as_array_mut().unwrap();
        documents.splice(..0, ["elsewhere 1", "elsewhere 2"].map(Value::from));
        documents.truncate(3);
    }
    service(&sandbox, &replies);
    let done = run(&sandbox, "--skip-qa --limit 4");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let warning = "8 of 12 documents of the target are not in the corpus and count as not relevant: `elsewhere 1`";
    assert!(done.stderr.contains(warning), "{}", done.stderr);
    assert!(
        done.stdout.contains("4 of 12 matched (4 by id)"),
        "{}",
        done.stdout
    );
    let report = report(&sandbox, "retrieval");
    let best = scores(&report)["RR@5"];
    assert!(best > 0.0 && best <= 1.0 / 3.0, "{best}");
    let trec = fs::read_to_string(newest(&sandbox, "retrieval").join("run.trec")).unwrap();
    assert!(trec.contains("unmatched:elsewhere%201"), "{trec}");
}

#[test]
fn ids_that_the_corpus_has_for_other_documents_are_pointed_out() {
    let sandbox = Sandbox::new();
    let [by_id, _, by_text] = own_passages(&sandbox, 20);
    let ids: Vec<Value> = by_id
        .values()
        .flat_map(|reply| reply["documents"].as_array().unwrap())
        .map(|document| document["id"].clone())
        .collect();
    // The texts of our passages with the ids of other documents, as if both numbered theirs; then with their own.
    for (shift, warned) in [(7, true), (0, false)] {
        let mut replies = by_text.clone();
        let documents = replies
            .values_mut()
            .flat_map(|reply| reply["documents"].as_array_mut().unwrap());
        for (at, document) in documents.enumerate() {
            document["id"] = ids[(at + shift) % ids.len()].clone();
        }
        service(&sandbox, &replies);
        let done = run(&sandbox, "--skip-qa --limit 20");
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let says = "have an id of the corpus but another text";
        assert_eq!(done.stderr.contains(says), warned, "{}", done.stderr);
        let fact = "matched by id have another text";
        assert_eq!(done.stdout.contains(fact), warned, "{}", done.stdout);
        let report = report(&sandbox, "retrieval");
        let check = &report["metadata"]["documents_matched_by_id"];
        let compared = check["compared"].as_u64().unwrap();
        assert!(compared > 20 && compared <= 100, "{check}");
        assert_eq!(check["differ"].as_u64().unwrap() * 2 > compared, warned);
    }
}

#[cfg(unix)]
#[test]
fn a_killed_run_resumes_without_asking_again() {
    let sandbox = Sandbox::new();
    let [replies, ..] = own_passages(&sandbox, 40);
    service(&sandbox, &replies);
    sandbox.write(
        "target.yaml",
        "address: 'exec:sh service.sh 0.05'\nmax_concurrency: 2\n",
    );
    let start = |line: &str| {
        let mut command = sandbox.command(line);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let line = "sample --no-progress --limit 40 --judge embedded:overlap --concurrency 2";
    let mut killed = start(line);
    wait_for("a recorded reply", || asked(&sandbox).len() >= 12);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = asked(&sandbox);
    assert!(before.len() < 40, "it was too quick");

    let resumed = sandbox.run(line);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("resuming: "), "{}", resumed.stderr);
    for benchmark in ["retrieval", "qa"] {
        assert_eq!(report(&sandbox, benchmark)["summary"]["finished"], 40);
    }
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for id in asked(&sandbox) {
        *times.entry(id).or_default() += 1;
    }
    assert!(times.keys().eq(replies.keys()));
    let twice = times.values().filter(|times| **times > 1).count();
    assert!(
        twice <= 2,
        "{twice} questions were asked twice, 2 were in flight"
    );

    // The run is finished, so the next one asks again.
    let again = sandbox.run(line);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(asked(&sandbox).len() >= 80);
}

#[test]
fn a_target_comes_from_a_file_the_settings_or_an_option() {
    let sandbox = Sandbox::new();
    let replies = own_rankings(&sandbox, 2);
    service(&sandbox, &replies);
    let target = |sandbox: &Sandbox| {
        let manifest = json(&newest(sandbox, "retrieval").join("manifest.json"));
        manifest["target"].clone()
    };
    sandbox.write(
        "target.yaml",
        "address: 'exec:sh service.sh file'\nversion: '1'\n",
    );
    sandbox.write("service.sh", SERVICE.replace("sleep \"${1:-0}\"", ":"));
    sandbox.succeed("sample --skip-qa --limit 2 --no-progress");
    assert_eq!(
        target(&sandbox),
        json!({"kind": "exec", "name": "sh service.sh file", "version": "1"})
    );

    sandbox.write(
        "evaluations.yaml",
        "target: 'exec:sh service.sh settings'\n",
    );
    sandbox.succeed("sample --skip-qa --limit 2 --no-progress");
    assert_eq!(target(&sandbox)["name"], "sh service.sh settings");

    let done = run(&sandbox, "--skip-qa --limit 2 --target-version 2.1");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(target(&sandbox)["name"], "sh service.sh");
    assert_eq!(target(&sandbox)["version"], "2.1");
    assert!(
        done.stdout.contains("(exec:sh service.sh @2.1)"),
        "{}",
        done.stdout
    );
}

#[test]
fn options_and_settings_that_a_target_cannot_use_are_refused() {
    let sandbox = Sandbox::new();
    for option in [
        "--profile bm25",
        "--skip-db",
        "--db x",
        "--filter 1",
        "--model ollama:x",
    ] {
        let refused = sandbox.refuse(&format!("sample {TARGET} {option}"));
        let name = option.split(' ').next().unwrap();
        let expected = format!("`{name}` configures our own pipeline");
        assert!(refused.contains(&expected), "{refused}");
    }
    let both = sandbox.refuse(&format!("sample {TARGET} --skip-qa --skip-retrieval"));
    assert!(both.contains("leave nothing to ask"), "{both}");
    let nowhere = sandbox.refuse("sample --target ftp://x");
    assert!(nowhere.contains("`ftp://x` names no target"), "{nowhere}");
    let alone = sandbox.refuse("sample --target-version 2");
    assert!(
        alone.contains("`--target-version` needs a target"),
        "{alone}"
    );
    for (setting, expected) in [
        ("match.id=(", "bad value for `target.match.id`"),
        ("match.by=rule", "`rule` needs `match.id`"),
        ("match.threshold=0", "must be more than 0 and at most 1"),
        ("method=GET", "has no meaning for a target `exec:`"),
    ] {
        let refused = sandbox.refuse(&format!("sample {TARGET} --set target.{setting}"));
        assert!(refused.contains(expected), "{refused}");
    }
    sandbox.write("target.yaml", "adress: http://localhost\n");
    let unknown = sandbox.refuse("sample");
    assert!(
        unknown.contains("target.yaml:1") && unknown.contains("target.address"),
        "{unknown}"
    );
    assert_eq!(sandbox.runs(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn an_estimate_asks_nothing() {
    let sandbox = Sandbox::new();
    service(&sandbox, &BTreeMap::new());
    let estimated = run(
        &sandbox,
        "--limit 7 --repeat 2 --estimate --judge embedded:overlap",
    );
    assert_eq!(estimated.code, Some(0), "{}", estimated.stderr);
    assert!(
        estimated.stdout.contains("14 requests"),
        "{}",
        estimated.stdout
    );
    assert_eq!(asked(&sandbox), Vec::<String>::new());
    assert_eq!(sandbox.runs(), Vec::<std::path::PathBuf>::new());
    let replies = sandbox.data().join("replies");
    assert!(!replies.exists(), "{}", replies.display());
}

#[test]
fn an_estimate_for_a_file_of_replies_has_no_request_and_no_cost_of_a_target() {
    let sandbox = Sandbox::new();
    sandbox.write("answers.jsonl", r#"{"id": "x", "answer": "y"}"#);
    let line =
        "run sample --target outputs:answers.jsonl --limit 5 --estimate --judge embedded:overlap";
    let estimated = sandbox.succeed(line);
    assert!(estimated.contains("5 questions"), "{estimated}");
    for absent in ["asking", "request", "cost unknown", "what the target costs"] {
        assert!(!estimated.contains(absent), "{absent} in {estimated}");
    }
}

#[test]
fn answers_of_a_target_are_judged_again_and_tabulated() {
    let sandbox = Sandbox::new();
    let [replies, ..] = own_passages(&sandbox, 5);
    service(&sandbox, &replies);
    let done = run(
        &sandbox,
        "--limit 5 --judge embedded:overlap --skip-retrieval",
    );
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(
        done.stdout.contains("tokens not reported, cost unknown"),
        "{}",
        done.stdout
    );
    let before = asked(&sandbox).len();
    let again = sandbox.succeed("rejudge latest --judge embedded:overlap --no-progress");
    assert!(again.contains("exec:sh service.sh"), "{again}");
    assert_eq!(asked(&sandbox).len(), before);
    let tables = sandbox.succeed("table");
    assert!(tables.contains("exec:sh service.sh"), "{tables}");
}

#[test]
fn a_service_that_names_its_model_and_tokens_has_a_price() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        if request.path != "/ask" {
            return qa_server::reply(request, Duration::ZERO);
        }
        let number = request.body["id"]
            .as_str()
            .unwrap()
            .trim_start_matches('q')
            .to_owned();
        let district = 1000 + 7 * number.parse::<usize>().unwrap();
        let text = format!("TOWER number\n{number}  stands in district {district}.");
        Reaction::json(
            200,
            &json!({
                "answer": format!("Tower number {number}"),
                "documents": [{"id": "chunk 1", "text": text}, {"text": "of no document"}],
                "citations": ["chunk 1"], "usage": {"input_tokens": 1000, "output_tokens": 500},
                "model": "answerer", "version": "7",
            }),
        )
    });
    qa_server::write(&sandbox, 6, &server);
    let address = server.openai_url().replace("/v1", "/ask");
    let line = format!("run towers.yaml --target {address} --no-progress");
    let done = ended(&mut qa_server::with_settings(&sandbox, &line));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(server.received_at("/ask").len(), 6);
    let ranked = report(&sandbox, "retrieval");
    assert_eq!(ranked["metadata"]["documents_matched"]["unmatched"], 6);
    assert_eq!(scores(&ranked).get("RR@10"), Some(&1.0));
    let answers = report(&sandbox, "qa");
    let costs = &answers["metadata"]["costs"];
    // 6 × (1000 × $1 + 500 × $2) per million tokens.
    assert_eq!(costs["answering"]["cost"], 0.012);
    assert!(costs["total"].as_f64().unwrap() > 0.012);
    assert_eq!(answers["summary"]["assertions"]["cited"]["value"], 1.0);
    assert_eq!(answers["metadata"]["target_versions"], json!(["7"]));
}

#[test]
fn a_service_that_is_down_ends_the_run_and_nothing_is_recorded() {
    let sandbox = Sandbox::new();
    let settings = "--set target.max_attempts=1 --judge embedded:overlap --no-progress";
    let line = format!("sample --limit 3 --target http://127.0.0.1:9/ask {settings}");
    let down = sandbox.run(&line);
    assert_ne!(down.code, Some(0));
    assert!(down.stdout.contains("127.0.0.1:9"), "{down:?}");
    let again = sandbox.run(&line);
    assert!(!again.stderr.contains("recorded in"), "{}", again.stderr);
}

#[test]
fn an_import_is_a_run_of_a_file() {
    let sandbox = Sandbox::new();
    let [replies, ..] = own_passages(&sandbox, 5);
    let rows: Vec<String> = replies
        .iter()
        .map(|(id, reply)| {
            json!({"id": id, "answer": reply["answer"], "documents": reply["documents"]})
                .to_string()
        })
        .collect();
    sandbox.write("answers.jsonl", rows.join("\n"));
    sandbox.succeed(
        "import answers.jsonl --dataset sample --limit 5 --judge embedded:overlap --no-progress",
    );
    for benchmark in ["retrieval", "qa"] {
        let imported = report(&sandbox, benchmark);
        assert_eq!(imported["summary"]["finished"], 5);
        assert_eq!(imported["summary"]["failed"], 0);
        assert_eq!(imported["metadata"]["target"]["kind"], "outputs");
        assert!(imported["metadata"]["target"]["parameters"]["sha256"].is_string());
    }
    let measured = scores(&report(&sandbox, "retrieval"));

    let run = newest(&sandbox, "retrieval").join("run.trec");
    let line = format!(
        "import {} --dataset sample --limit 5 --no-progress",
        run.display()
    );
    sandbox.succeed(&line);
    let trec = report(&sandbox, "retrieval");
    assert_eq!(trec["metadata"]["target"]["kind"], "trec");
    assert_eq!(scores(&trec), measured);
}

/// A service that asks for a key, is busy at times, and answers with the number of the question.
fn protected_service() -> ScriptedServer {
    ScriptedServer::start(|request, before| {
        let key = request
            .headers
            .get("x-api-key")
            .cloned()
            .unwrap_or_default();
        if key != qa_server::KEY {
            return Reaction::json(401, &json!({"detail": format!("`{key}` is no key")}));
        }
        if before == 0 {
            return Reaction::busy(Some("0"));
        }
        let answer = format!("You sent {key}.");
        Reaction::json(200, &json!({"result": {"text": answer}, "hits": []}))
    })
}

#[test]
fn a_service_is_asked_with_its_key_which_is_nowhere_written() {
    let sandbox = Sandbox::new();
    let server = protected_service();
    let settings = json!({
        "address": format!("{}/ask", server.ollama_url()),
        "headers": {"X-Api-Key": "${SERVICE_KEY}"},
        "body": {"q": "{{ question }}", "k": "{{ k }}"},
        "response": {"answer": "$.result.text", "documents": "$.hits[*]"},
    });
    sandbox.write("target.yaml", settings.to_string());
    let missing = sandbox.refuse("sample --limit 2");
    assert!(
        missing.contains("the environment variable `SERVICE_KEY` is not set"),
        "{missing}"
    );

    let command = |line: &str, key: &str| {
        let mut command = sandbox.command(line);
        command.env("SERVICE_KEY", key);
        ended(&mut command)
    };
    let refused = command("sample --limit 2", "wrong-key-0123456789");
    assert_ne!(refused.code, Some(0));
    assert!(
        refused
            .stderr
            .contains("answered 401: `[redacted]` is no key; check the credentials"),
        "{}",
        refused.stderr
    );

    let run = command("sample --limit 2", qa_server::KEY);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let notice = "target.yaml sends the environment variable `SERVICE_KEY` to `http://127.0.0.1:";
    assert!(run.stderr.contains(notice), "{}", run.stderr);
    assert!(
        server
            .received()
            .iter()
            .all(|request| request.body["k"].is_u64())
    );
    let mut folders = vec![sandbox.data()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(qa_server::KEY), "{}", path.display());
        }
    }
    let doctor = command("doctor", qa_server::KEY);
    assert!(
        doctor.stdout.contains("replies within") || doctor.stdout.contains("answered 429"),
        "{}",
        doctor.stdout
    );
    let doctor = command("doctor", "wrong-key-0123456789");
    assert!(
        doctor.stdout.contains("bad   target: `http://") && doctor.stdout.contains("answered 401"),
        "{}",
        doctor.stdout
    );
}
