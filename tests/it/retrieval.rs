//! The retrieval benchmark on the bundled sample.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::{Sandbox, json};

/// A report without timings, durations and paths, which differ between runs.
fn without_timings(mut report: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| {
                    !matches!(
                        key.as_str(),
                        "seconds" | "timings" | "cached_timings" | "task_time"
                    )
                });
                map.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut report);
    report
}

#[test]
fn a_dataset_name_alone_runs_and_prints_a_table() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run("sample --skip-qa");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for expected in [
        "sample_retrieval_evaluation",
        "\nMRR@5",
        "nDCG@5",
        "320 cases",
    ] {
        assert!(
            ended.stdout.contains(expected),
            "no `{expected}` in:\n{}",
            ended.stdout
        );
    }
    assert!(
        !ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'),
        "escape codes in a pipe"
    );
    assert!(
        ended.stderr.starts_with("indexed 64 documents in "),
        "{}",
        ended.stderr
    );
    let runs = sandbox.runs();
    assert_eq!(runs.len(), 1);
    for file in [
        "manifest.json",
        "report.json",
        "report.md",
        "run.trec",
        "qrels.trec",
    ] {
        assert!(runs[0].join(file).is_file(), "{file} is missing");
    }
}

#[test]
fn profiles_are_compared_and_the_baseline_loses() {
    let sandbox = Sandbox::new();
    let printed = sandbox.succeed("sample --skip-qa --profile all --out scores.json");
    for profile in ["unranked", "bm25", "semantic", "hybrid"] {
        assert!(printed.contains(profile), "no `{profile}` in:\n{printed}");
    }
    let comparison = json(&sandbox.work().join("scores.json"));
    let reports: Vec<&str> = comparison["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| report["title"].as_str().unwrap())
        .collect();
    let headline = &comparison["rows"][0];
    let score = |profile: &str| {
        let position = reports
            .iter()
            .position(|report| *report == profile)
            .unwrap();
        headline["cells"][position]["value"]["value"]
            .as_f64()
            .unwrap()
    };
    assert!(
        score("bm25") > 0.5 && score("semantic") > 0.4 && score("hybrid") > 0.5,
        "{headline}"
    );
    assert!(score("unranked") < 0.1, "{headline}");
    assert!(sandbox.work().join("scores.bm25.json").is_file());
    assert_eq!(sandbox.runs().len(), reports.len());
}

#[test]
fn two_runs_only_differ_in_their_timings() {
    let line = "sample-support --skip-qa --profile hybrid --seed 3";
    let [first, second] = [Sandbox::new(), Sandbox::new()].map(|sandbox| {
        sandbox.succeed(line);
        let run = sandbox.runs().remove(0);
        let trec = ["run.trec", "qrels.trec"].map(|file| fs::read(run.join(file)).unwrap());
        (without_timings(json(&run.join("report.json"))), trec)
    });
    assert!(first == second, "two runs of `{line}` differ");
}

#[test]
fn the_exported_ranking_scores_as_the_report_says() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample-support --skip-qa --profile bm25 --measure R@5");
    let run = sandbox.runs().remove(0);
    let line = format!(
        "score --complete --qrels {0}/qrels.trec --run {0}/run.trec --measure R@5 --measure nDCG@10 --format trec_eval",
        run.display()
    );
    let printed = sandbox.succeed(&line);
    let summary = json(&run.join("report.json"))["summary"]["scores"].clone();
    for (line, measure) in printed.lines().zip(["R@5", "nDCG@10"]) {
        let value = summary[measure]["value"].as_f64().unwrap();
        assert!(
            line.ends_with(&format!("\tall\t{value:.4}")),
            "{measure}: {value} against `{line}`"
        );
    }
}

#[test]
fn a_k_below_the_datasets_measures_names_the_measures_in_use() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run("sample --skip-qa --profile bm25 --limit 5 --k 3");
    assert!(
        ended.stderr.contains(
            "`--k 3` keeps 3 documents for each question: RR@3 replaces RR@5, R@3 replaces R@5, nDCG@3 replaces nDCG@5\n"
        ),
        "{}",
        ended.stderr
    );
    let whole = sandbox.run("sample --skip-qa --profile bm25 --limit 5 --k 5");
    assert!(!whole.stderr.contains("replaces"), "{}", whole.stderr);
    let message = sandbox.refuse("sample --skip-qa --k 3 --measure MAP@10");
    assert!(
        message.contains("`--measure AP@10` looks at more documents than `--k 3` keeps"),
        "{message}"
    );
}

#[test]
fn a_limit_asks_fewer_questions_of_the_whole_corpus() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 7 --profile bm25");
    let run = sandbox.runs().remove(0);
    let manifest = json(&run.join("manifest.json"));
    assert_eq!(manifest["dataset"]["limit"], 7);
    assert_eq!(manifest["dataset"]["questions"], 7);
    assert_eq!(manifest["index"]["statistics"]["documents"], 64);
    assert_eq!(
        json(&run.join("report.json"))["cases"]
            .as_array()
            .unwrap()
            .len(),
        7
    );
}

#[test]
fn a_second_run_reuses_the_index() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run("sample --skip-qa").stderr.contains("indexed"));
    let again = sandbox.run("sample --skip-qa --skip-db");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(!again.stderr.contains("indexed"), "{}", again.stderr);
    assert!(json(&sandbox.runs()[1].join("manifest.json"))["index"]["build"].is_null());
}

#[test]
fn an_index_with_other_settings_is_not_reused() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa");
    let message = sandbox.refuse("sample --skip-qa --skip-db --set processing.chunk_size=64");
    assert!(
        message.starts_with("error: `--skip-db` needs an index that matches the settings"),
        "{message}"
    );
    assert!(
        message.contains("chunking: index has `256 tokens"),
        "{message}"
    );
    assert!(message.contains("settings ask for `64 tokens"), "{message}");
}

#[test]
fn a_filter_restricts_every_profile() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("sample --skip-qa --profile all --filter");
    let ended = crate::sandbox::ended(command.arg("metadata LIKE '%Sports%'"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("filter: metadata LIKE '%Sports%'"),
        "{}",
        ended.stdout
    );
    let shown = sandbox.succeed("runs show latest");
    assert!(
        shown.contains("filter: metadata LIKE '%Sports%'"),
        "{shown}"
    );
    for run in sandbox.runs() {
        let report = fs::read_to_string(run.join("report.md")).unwrap();
        assert!(report.contains("metadata LIKE"), "{report}");
        let page = fs::read_to_string(run.join("report.html")).unwrap();
        assert_eq!(page.matches("metadata LIKE").count(), 1, "once");
        let ranked: std::collections::BTreeSet<String> = fs::read_to_string(run.join("run.trec"))
            .unwrap()
            .lines()
            .map(|line| line.split(' ').nth(2).unwrap().to_owned())
            .collect();
        assert!(
            !ranked.is_empty() && ranked.len() <= 8,
            "{}: {ranked:?}",
            run.display()
        );
    }
}

#[test]
fn reports_are_written_in_the_format_of_their_extension() {
    let sandbox = Sandbox::new();
    sandbox.succeed(
        "sample-support --skip-qa --profile bm25 --limit 5 --out a.json --out a.jsonl --out a.csv --out a.md",
    );
    let text = |name: &str| fs::read_to_string(sandbox.work().join(name)).unwrap();
    assert_eq!(
        json(&sandbox.work().join("a.json"))["cases"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    assert_eq!(text("a.jsonl").lines().count(), 5);
    let csv = text("a.csv");
    assert_eq!(csv.lines().count(), 6);
    assert!(csv.lines().next().unwrap().contains("AP@10"), "{csv}");
    assert!(text("a.md").contains("| MAP@10 |"), "{}", text("a.md"));
    let summary = &json(&sandbox.work().join("a.json"))["summary"]["scores"];
    assert!(summary["AP@10"]["value"].is_number(), "{summary}");
    sandbox.succeed("report latest --out again.csv");
    assert_eq!(text("again.csv"), csv);
}

#[test]
fn a_stored_run_prints_as_it_did() {
    let sandbox = Sandbox::new();
    let printed = sandbox.succeed("sample --skip-qa --profile bm25 --limit 30 --seed 5");
    let shown = sandbox.succeed("runs show latest");
    // A run ends with what its first measure means, and leaves out how intervals are computed.
    for line in printed.lines().filter(|it| !it.starts_with("RR@5 is 1 ")) {
        assert!(shown.contains(line), "{line}\n---\n{shown}");
    }
    assert!(shown.contains("intervals: "), "{shown}");
    let listed = sandbox.succeed("runs");
    assert!(
        listed.contains("sample_retrieval_evaluation-bm25"),
        "{listed}"
    );
    assert!(listed.trim_end().ends_with("finished"), "{listed}");
}

#[test]
fn your_own_files_run_by_a_manifest() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "docs.jsonl",
        "{\"id\": \"a\", \"body\": \"the red fox\"}\n{\"id\": \"b\", \"body\": \"a blue whale\"}\n",
    );
    sandbox.write(
        "questions.csv",
        "id,question,doc\n1,what is blue?,b\n2,what is red?,a\n",
    );
    sandbox.write(
        "mine.yaml",
        "name: mine\ndocuments: {source: {path: docs.jsonl}, uri: id, text: body}\n\
         questions: {source: {path: questions.csv}, id: id, text: question, relevant: doc}\n\
         retrieval: {limit: 2, headline: RR@2, measures: [RR@2]}\n",
    );
    sandbox.succeed("run ./mine.yaml --skip-qa --profile bm25");
    let report = json(&sandbox.runs()[0].join("report.json"));
    assert_eq!(report["summary"]["scores"]["RR@2"]["value"], 1.0);
    assert_eq!(report["cases"][0]["id"], "1");
}

#[test]
fn a_hybrid_ranking_of_few_documents_is_the_start_of_a_longer_one() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample-support --skip-qa --profile hybrid-linear --k 3 --limit 20");
    sandbox.succeed("sample-support --skip-qa --profile hybrid-linear --k 50 --limit 20");
    let rankings: Vec<Vec<(String, String)>> = sandbox
        .runs()
        .iter()
        .map(|run| {
            let lines = fs::read_to_string(run.join("run.trec")).unwrap();
            let fields = lines
                .lines()
                .map(|line| line.split(' ').collect::<Vec<_>>());
            let first = fields.filter(|fields| fields[3].parse::<u32>().unwrap() <= 3);
            first
                .map(|fields| (fields[0].to_owned(), fields[2].to_owned()))
                .collect()
        })
        .collect();
    assert!(!rankings[0].is_empty());
    assert_eq!(rankings[0], rankings[1]);
}

#[test]
fn each_repetition_searches_again() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25 --limit 10 --repeat 3");
    let summary = json(&sandbox.runs()[0].join("report.json"))["summary"].clone();
    assert_eq!(summary["timings"]["bm25"]["n"], 30);
    assert_eq!(summary["cached_timings"], serde_json::json!({}));
    assert_eq!(
        summary["scores"]["RR@5"]["n"], 8,
        "repetitions are not further questions, and two of ten are unanswerable"
    );
}

/// A search of many questions at once has the bits of the search of one.
#[test]
fn questions_searched_at_once_rank_as_questions_searched_one_by_one() {
    let sandbox = Sandbox::new();
    let line = "sample --skip-qa --profile all";
    sandbox.succeed(line);
    let sampled = sandbox.run(&format!("{line} --set search.latency_sample=30"));
    assert_eq!(sampled.code, Some(0), "{}", sampled.stderr);
    let runs = sandbox.runs();
    let (alone, together) = runs.split_at(runs.len() / 2);
    assert_eq!((alone.len(), together.len()), (6, 6));
    for (alone, together) in alone.iter().zip(together) {
        let rankings = |run: &Path| fs::read(run.join("run.trec")).unwrap();
        assert!(
            rankings(alone) == rankings(together),
            "{} and {} rank otherwise",
            alone.display(),
            together.display()
        );
        let summary = |run: &Path| json(&run.join("report.json"))["summary"].clone();
        assert_eq!(summary(alone)["scores"], summary(together)["scores"]);
        let report = json(&together.join("report.json"));
        let profile = report["metadata"]["profile"].as_str().unwrap();
        if profile == "unranked" {
            let facts = report["metadata"]["facts"].as_array().unwrap();
            assert!(facts.iter().all(|fact| fact[0] == "judged"), "{facts:?}");
            continue;
        }
        let cases = report["cases"].as_array().unwrap();
        let timed = cases
            .iter()
            .filter(|case| case["attributes"]["untimed"].is_null());
        assert_eq!(timed.count(), 30);
        assert_eq!(
            report["metadata"]["facts"][0],
            serde_json::json!([
                "latency",
                "searches of 30 sampled questions of 320, seed 0; the others were searched all at once"
            ])
        );
    }
}
