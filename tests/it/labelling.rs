//! Labelling in the viewer: nothing tells the judge's verdict before a label is stored, and stored labels are what was sent.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, json as file};
use crate::viewer::{Answer, Viewer};

/// A run of question answering, judged by word overlap, and the viewer.
fn viewed() -> (Sandbox, Viewer, String) {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --profile bm25 --limit 20");
    let viewer = Viewer::start(sandbox.command("view --no-open").env("USER", "ada"));
    let run = sandbox.runs()[0]
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    (sandbox, viewer, run)
}

fn parsed(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Sends a label as a page of the viewer does.
fn post(viewer: &Viewer, run: &str, label: &Value) -> Answer {
    send(viewer, &format!("/run/{run}/labels"), label)
}

fn agreement(viewer: &Viewer, run: &str) -> Value {
    let path = format!("/run/{run}/label/agreement");
    parsed(&send(viewer, &path, &json!({"labeller": "ada"})))
}

fn send(viewer: &Viewer, path: &str, body: &Value) -> Answer {
    viewer.send_json(path, &body.to_string())
}

fn queue(viewer: &Viewer, run: &str, rest: &str) -> Value {
    parsed(&viewer.get(&format!("/run/{run}/label/queue?labeller=ada&{rest}")))
}

fn answer(viewer: &Viewer, run: &str, entry: &Value) -> Value {
    let case = entry["case"].as_str().unwrap();
    parsed(&viewer.get(&format!("/run/{run}/label/answer?case={case}&repeat=1")))
}

/// A label of the first answer of a sample.
fn label(viewer: &Viewer, run: &str, method: &str) -> Value {
    let queue = queue(viewer, run, &format!("method={method}&size=6&seed=7"));
    let entry = &queue["answers"][0];
    json!({
        "labeller": " ada ", "method": method, "size": 6, "seed": 7, "case": entry["case"], "repeat": 1,
        "digest": answer(viewer, run, entry)["digest"], "verdict": "pass", "note": " right year ",
    })
}

fn labels(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("annotations.jsonl")).unwrap();
    let lines = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap());
    lines.map(|line: Value| line["label"].clone()).collect()
}

#[test]
fn nothing_tells_the_verdict_before_a_label_is_stored() {
    let (sandbox, viewer, run) = viewed();
    let report = file(&sandbox.runs()[0].join("report.json"));
    let page = viewer.get(&format!("/run/{run}/label"));
    assert_eq!(page.status, 200);
    assert!(page.body.contains("value=\"ada\""), "{}", page.body);
    let queue = queue(&viewer, &run, "method=stratified&size=6&seed=7");
    let keys: Vec<&String> = queue.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["answers"]);
    let entries = queue["answers"].as_array().unwrap();
    assert_eq!(entries.len(), 6);
    for entry in entries {
        let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            ["case", "repeat", "label"],
            "the label is the labeller's own"
        );
        assert_eq!(entry["label"], Value::Null);
        let answer = answer(&viewer, &run, entry);
        let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "criterion",
                "said",
                "question",
                "reference",
                "answer",
                "digest",
                "passages"
            ]
        );
        let mut cases = report["cases"].as_array().unwrap().iter();
        let case = cases.find(|case| case["id"] == entry["case"]).unwrap();
        assert_eq!(answer["question"], case["input"]);
        assert_eq!(answer["answer"], case["result"]["output"]["text"]);
        let text = answer.to_string();
        for told in [
            "token F1",
            "embedded",
            "overlap",
            "extractive",
            "probability",
        ] {
            assert!(!text.contains(told), "`{told}` in {text}");
        }
    }
    assert!(!sandbox.runs()[0].join("annotations.jsonl").exists());
}

#[test]
fn a_label_is_stored_and_the_verdict_shown_only_on_request() {
    let (sandbox, viewer, run) = viewed();
    let folder = sandbox.runs()[0].clone();
    let before = fs::read(folder.join("report.json")).unwrap();
    let mut first = label(&viewer, &run, "stratified");
    let stored = parsed(&post(&viewer, &run, &first));
    let version = stored["label"]["version"].clone();
    let own = json!({"verdict": "pass", "note": "right year", "version": version});
    assert_eq!(
        stored,
        json!({"label": own, "judged": null}),
        "no count of the judge"
    );
    let kept = &labels(&folder)[0];
    assert_eq!(
        (&kept["labeller"], &kept["note"]),
        (&json!("ada"), &json!("right year"))
    );
    assert_eq!(kept["blind"], true);
    assert_eq!(kept["sampling"]["method"], "stratified");
    let probability = kept["sampling"]["probability"].as_f64().unwrap();
    assert!(probability > 0.0 && probability <= 1.0);
    assert_eq!(
        queue(&viewer, &run, "method=stratified&size=6&seed=7")["answers"][0]["label"],
        own
    );

    first["seen"] = version;
    first["reveal"] = true.into();
    first["verdict"] = "fail".into();
    let shown = parsed(&post(&viewer, &run, &first));
    first["seen"] = shown["label"]["version"].clone();
    assert!(
        shown["judged"]["verdict"]
            .as_str()
            .unwrap()
            .starts_with("The judge "),
        "{shown}"
    );
    assert!(
        shown["judged"]["reason"]
            .as_str()
            .unwrap()
            .ends_with("of the reference's words (50 % needed)"),
        "{shown}"
    );
    first["reveal"] = false.into();
    first["verdict"] = "cannot-say".into();
    parsed(&post(&viewer, &run, &first));
    let kept = labels(&folder);
    let blind: Vec<&Value> = kept.iter().map(|label| &label["blind"]).collect();
    assert_eq!(
        blind,
        [true, true, false],
        "the last one was given in sight of the verdict"
    );
    assert_eq!(fs::read(folder.join("report.json")).unwrap(), before);

    let printed = sandbox.succeed("labels latest");
    let line = printed
        .lines()
        .find(|line| line.starts_with("ada"))
        .unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(
        words[1..4],
        ["0", "0", "1"],
        "the last label counts: {printed}"
    );
}

#[test]
fn a_verdict_changed_after_the_agreement_was_shown_is_not_blind() {
    let (sandbox, viewer, run) = viewed();
    let folder = sandbox.runs()[0].clone();
    assert_eq!(agreement(&viewer, &run), Value::Null);
    assert!(!folder.join("annotations.jsonl").exists());
    let mut first = label(&viewer, &run, "random");
    first["seen"] = parsed(&post(&viewer, &run, &first))["label"]["version"].clone();
    let shown = agreement(&viewer, &run);
    assert_eq!(shown["statistics"][0]["name"], "agreement");
    assert_eq!(shown, agreement(&viewer, &run));
    first["note"] = "an afterthought".into();
    first["seen"] = parsed(&post(&viewer, &run, &first))["label"]["version"].clone();
    first["verdict"] = "fail".into();
    parsed(&post(&viewer, &run, &first));
    let kept: Vec<(Value, Value)> = labels(&folder)
        .iter()
        .map(|label| (label["blind"].clone(), label["revealed"].clone()))
        .collect();
    let expected = [
        (true, Value::Null),
        (true, true.into()),
        (true, Value::Null),
        (false, Value::Null),
    ];
    assert_eq!(
        kept,
        expected.map(|(blind, revealed)| (blind.into(), revealed))
    );
    let printed = sandbox.succeed("labels latest");
    assert!(printed.contains("1 label is not blind"), "{printed}");
}

#[test]
fn a_wrong_label_is_refused_and_not_stored() {
    let (sandbox, viewer, run) = viewed();
    let good = label(&viewer, &run, "random");
    let with = |key: &str, value: Value| {
        let mut label = good.clone();
        label[key] = value;
        label
    };
    let wrong = [
        (
            with("digest", "sha-0".into()),
            "The answer has changed since it was shown",
        ),
        (
            with("case", "nobody".into()),
            "The answer has changed since it was shown",
        ),
        (
            with("labeller", " ".into()),
            "the name of the labeller is empty",
        ),
        (
            with("labeller", "x".repeat(101).into()),
            "longer than 100 characters",
        ),
        (
            with("note", "x".repeat(10_001).into()),
            "the note is longer than 10,000 characters",
        ),
        (
            with("note", "x".repeat(70_000).into()),
            "the note is longer than 10,000 characters",
        ),
        (with("method", "chosen".into()), "A queue is drawn"),
    ];
    for (label, sentence) in wrong {
        let refused = post(&viewer, &run, &label);
        assert_eq!(refused.status, 400, "{}", refused.body);
        let message: Value = serde_json::from_str(&refused.body).unwrap();
        assert!(
            message["message"].as_str().unwrap().contains(sentence),
            "{message}"
        );
    }
    let one = "/label/queue?labeller=ada&method=stratified&size=1&seed=7";
    let refused = viewer.get(&format!("/run/{run}{one}"));
    assert!(
        refused.body.contains("at least 2, one of each"),
        "{}",
        refused.body
    );
    for label in [with("verdict", "maybe".into()), json!({}), json!([])] {
        assert_eq!(post(&viewer, &run, &label).status, 422);
    }
    let refused = post(&viewer, &run, &with("note", "x".repeat(300_000).into()));
    assert_eq!(refused.status, 413);
    assert!(
        refused
            .body
            .contains("the note is longer than 10,000 characters")
    );
    assert_eq!(post(&viewer, "no-run", &good).status, 404);
    assert_eq!(post(&viewer, "..%2F..", &good).status, 404);
    let host = viewer.host();
    let path = viewer.path(&format!("/run/{run}/labels"));
    let foreign = viewer.ask("POST", &path, &[("Host", &host)], &good.to_string());
    assert_eq!(foreign.status, 403);
    assert!(!sandbox.runs()[0].join("annotations.jsonl").exists());
}

#[test]
fn a_label_that_the_labeller_has_not_seen_is_not_replaced() {
    let (sandbox, viewer, run) = viewed();
    let other = Viewer::start(sandbox.command("view --no-open").env("USER", "ada"));
    let folder = sandbox.runs()[0].clone();
    let here = label(&viewer, &run, "random");
    let mut there = here.clone();
    there["verdict"] = "fail".into();
    parsed(&post(&viewer, &run, &here));

    let refused = post(&other, &run, &there);
    assert_eq!(refused.status, 409, "{}", refused.body);
    let refused: Value = serde_json::from_str(&refused.body).unwrap();
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.contains("a label of ada") && message.contains("“pass”"),
        "{message}"
    );
    let stands = &refused["label"];
    assert_eq!(
        (&stands["verdict"], &stands["note"]),
        (&json!("pass"), &json!("right year"))
    );
    assert_eq!(labels(&folder).len(), 1);

    // The same again, as after a reply that was lost, takes nothing away.
    parsed(&post(&other, &run, &here));
    there["seen"] = stands["version"].clone();
    parsed(&post(&other, &run, &there));
    let changed = post(&viewer, &run, &{
        let mut changed = here.clone();
        changed["seen"] = stands["version"].clone();
        changed["note"] = "another year".into();
        changed
    });
    assert_eq!(changed.status, 409, "{}", changed.body);
    assert_eq!(labels(&folder).last().unwrap()["verdict"], "fail");
    there["labeller"] = "eve".into();
    there["seen"] = Value::Null;
    assert_eq!(post(&other, &run, &there).status, 200, "another person's");
}

#[test]
fn runs_with_answers_lead_to_labelling_and_rankings_do_not() {
    let (sandbox, viewer, run) = viewed();
    sandbox.succeed("sample --skip-qa --profile bm25 --limit 3");
    let list = viewer.get("/").body;
    let rankings = sandbox.runs()[1]
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let is_linked =
        |run: &str| list.contains(&format!("href=\".&#x2f;run&#x2f;{run}&#x2f;label\""));
    assert!(is_linked(&run) && !is_linked(&rankings), "{list}");
    let leads = |run: &str| {
        let page = viewer.get(&format!("/run/{run}")).body;
        page.contains(&format!("href=\"..&#x2f;run&#x2f;{run}&#x2f;label\""))
    };
    assert!(leads(&run) && !leads(&rankings));
    let page = viewer.get(&format!("/run/{rankings}/label"));
    assert_eq!(page.status, 422);
    assert!(page.body.contains("is a retrieval run"), "{}", page.body);
}

#[test]
fn a_run_that_is_judged_anew_shows_other_answers_at_once() {
    let (sandbox, viewer, run) = viewed();
    let good = label(&viewer, &run, "random");
    let path = sandbox.runs()[0].join("report.json");
    let mut report = file(&path);
    for case in report["cases"].as_array_mut().unwrap() {
        case["result"]["output"]["text"] =
            "Another answer, which is longer than the one before.".into();
    }
    fs::write(&path, report.to_string()).unwrap();
    assert_eq!(post(&viewer, &run, &good).status, 400);
    let again = label(&viewer, &run, "random");
    assert_ne!(again["digest"], good["digest"]);
    parsed(&post(&viewer, &run, &again));
}
