//! Both benchmarks over somebody else's system: a shell script that answers from files.

mod compared;
mod depth;
mod engines;
mod measures;
mod options;
mod services;

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ended, json};

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

/// Name and mean of every score of a report.
fn scores(report: &Value) -> BTreeMap<String, f64> {
    let scores = report["summary"]["scores"].as_object().unwrap();
    let value = |(name, score): (&String, &Value)| Some((name.clone(), score["value"].as_f64()?));
    scores.iter().filter_map(value).collect()
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
