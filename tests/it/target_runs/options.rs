//! Where a target comes from, and what an estimate and an import do.

use std::collections::BTreeMap;

use serde_json::json;

use super::{
    SERVICE, TARGET, asked, newest, own_passages, own_rankings, report, run, scores, service,
};
use crate::sandbox::{Sandbox, json};

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
    for option in ["--profile bm25", "--skip-db", "--db x", "--model ollama:x"] {
        let refused = sandbox.refuse(&format!("sample {TARGET} {option}"));
        let name = option.split(' ').next().unwrap();
        let expected = format!("`{name}` configures our own pipeline");
        assert!(refused.contains(&expected), "{refused}");
    }
    let filter = sandbox.refuse(&format!("sample {TARGET} --filter 1"));
    assert!(
        filter.contains("no template of the target uses `{{ filter }}`"),
        "{filter}"
    );
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
