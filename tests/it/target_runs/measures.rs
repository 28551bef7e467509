//! Measures of replies: equal to our own, undefined where a reply lacks something.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::{
    asked, cases, newest, own_passages, own_rankings, reasons, report, run, scores, service,
};
use crate::qa_server;
use crate::sandbox::{Sandbox, ended};
use crate::scripted_server::{Reaction, ScriptedServer};

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
fn rank_measures_are_undefined_if_the_corpus_has_no_document_of_the_run() {
    let sandbox = Sandbox::new();
    let replies = own_rankings(&sandbox, 4);
    let elsewhere = json!({"documents": ["elsewhere 1", "elsewhere 2"]});
    let replies = replies.into_keys().map(|id| (id, elsewhere.clone()));
    service(&sandbox, &replies.collect());
    let done = run(&sandbox, "--skip-qa --limit 4");
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    for part in [
        "0 of 8 documents matched, so rank measures are undefined: the target names `elsewhere 1` and `elsewhere 2`, and the dataset has `",
        "set `match` for the target",
        "no document of the target is in the corpus, so every rank measure is undefined",
        "next: correct this, then run the same command again",
    ] {
        assert!(done.stderr.contains(part), "{}", done.stderr);
    }
    assert!(!done.stdout.contains("more passages"), "{}", done.stdout);
    let report = report(&sandbox, "retrieval");
    assert!(scores(&report).is_empty(), "{}", done.stdout);
    let lacking = reasons(&report, "RR@5");
    let reason = "no document of the target is in the corpus";
    assert!(lacking.iter().any(|it| it == reason), "{lacking:?}");
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
        let says = "have an id of the corpus but a different text";
        assert_eq!(done.stderr.contains(says), warned, "{}", done.stderr);
        let fact = "matched by id have a different text";
        assert_eq!(done.stdout.contains(fact), warned, "{}", done.stdout);
        let report = report(&sandbox, "retrieval");
        let check = &report["metadata"]["documents_matched_by_id"];
        let compared = check["compared"].as_u64().unwrap();
        assert!(compared > 20 && compared <= 100, "{check}");
        assert_eq!(check["differ"].as_u64().unwrap() * 2 > compared, warned);
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
