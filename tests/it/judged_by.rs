//! The record of who judged: gates and calibrations tell judges apart by it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::labels::fill;
use crate::qa_server;
use crate::sandbox::{Ended, Sandbox, ended, json as read_json};
use crate::scripted_server::{Reaction, Saying, ScriptedServer};

/// The judge fails every third tower.
fn server() -> ScriptedServer {
    ScriptedServer::start(|request, _| {
        let prompt = request.body["messages"][0]["content"].as_str();
        let prompt = prompt.unwrap_or_default();
        let fails = (0..COUNT)
            .filter(|number: &usize| number.is_multiple_of(3))
            .any(|number| prompt.contains(&format!("district {}?", 1000 + number * 7)));
        if !qa_server::is_judging(request) {
            return qa_server::reply(request, std::time::Duration::ZERO);
        }
        let verdict = if prompt.contains("by one criterion") {
            let (_, after) = prompt.rsplit_once(r#""id": ""#).unwrap();
            json!({"reason": "brief", "id": &after[..16], "level": 2})
        } else {
            json!({"reason": "so it is", "pass": !fails})
        };
        Reaction::Say(Saying::of(&verdict.to_string()))
    })
}

const COUNT: usize = 36;

/// Runs question answering under a name with changed settings of `evaluations`.
fn run(sandbox: &Sandbox, server: &ScriptedServer, name: &str, changed: &[(&str, Value)]) {
    let mut settings = qa_server::settings(server);
    for (key, value) in changed {
        settings["evaluations"][*key] = value.clone();
    }
    sandbox.write("settings.yaml", settings.to_string());
    let ended = ended(&mut qa_server::command(sandbox, &format!("--name {name}")));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

fn gate(sandbox: &Sandbox, rest: &str) -> Ended {
    ended(&mut sandbox.command(&format!("gate {rest}")))
}

/// A text without the line breaks of the terminal.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Labels every answer as its judge does, but for the first two.
fn label(sandbox: &Sandbox, name: &str) {
    sandbox.succeed(&format!(
        "labels {name} --export labels.csv --sample {COUNT}"
    ));
    fill(sandbox, "labels.csv", |id| {
        let number: usize = id[1..].parse().unwrap();
        if number.is_multiple_of(3) == (number >= 2) {
            "fail"
        } else {
            "pass"
        }
    });
}

#[test]
fn a_gate_asks_for_a_judge_that_agrees_with_people() {
    let server = server();
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, COUNT, &server);
    run(&sandbox, &server, "first", &[]);
    let missing = gate(&sandbox, "first --require-calibrated-judge κ=0.6");
    assert_eq!(missing.code, Some(1), "{}", missing.stderr);
    for part in [
        "judge of equivalent: kappa >= 0.6",
        "no calibration of this judge on this dataset; label answers with",
        "evaluations calibrate ",
    ] {
        let printed = unwrapped(&missing.stdout);
        assert!(printed.contains(part), "{part}: {printed}");
    }

    label(&sandbox, "first");
    sandbox.succeed("calibrate first --labels labels.csv --labeller ada");
    let met = gate(
        &sandbox,
        "first --require-calibrated-judge kappa=0.6 --min accuracy=0.1 --out gate.json",
    );
    assert_eq!(met.code, Some(0), "{}{}", met.stdout, met.stderr);
    let checks = read_json(&sandbox.work().join("gate.json"));
    let check = &checks["runs"][0]["checks"][1];
    assert_eq!(
        (&check["check"], &check["n"]),
        (&"agreement".into(), &COUNT.into())
    );
    // 34 of 36 agree. By chance: (24 · 24 + 12 · 12) / 36² = 0.5556, so κ = (0.9444 - 0.5556) / 0.4444.
    let kappa = check["kappa"].as_f64().unwrap();
    assert!((kappa - 0.875).abs() < 1e-4, "{kappa}");
    assert!(check["interval"]["low"].as_f64().unwrap() < kappa);

    let missed = gate(&sandbox, "first --require-calibrated-judge κ=0.9");
    assert_eq!(missed.code, Some(1), "{}", missed.stdout);
    assert!(missed.stdout.contains("0.8750 ["), "{}", missed.stdout);
    let pessimistic = "first --require-calibrated-judge κ=0.85 --bound pessimistic";
    assert_eq!(gate(&sandbox, pessimistic).code, Some(1));
    for (least, code) in [("{κ: 0.6}", 0), ("κ=0.9", 1)] {
        sandbox.write("gate.yaml", format!("require_calibrated_judge: {least}\n"));
        let ruled = gate(&sandbox, "first --rules gate.yaml");
        assert_eq!(ruled.code, Some(code), "{}{}", ruled.stdout, ruled.stderr);
    }

    run(
        &sandbox,
        &server,
        "panel",
        &[("panel", json!({"repeats": 3}))],
    );
    let other = gate(&sandbox, "panel --require-calibrated-judge κ=0.6");
    assert_eq!(other.code, Some(1), "{}", other.stdout);
    assert!(
        unwrapped(&other.stdout).contains("is of another judge (repeats: 1 -> 3"),
        "{}",
        other.stdout
    );
    sandbox.succeed("sample --skip-qa --limit 3 --name ranked");
    let unjudged = gate(&sandbox, "ranked --require-calibrated-judge κ=0.6");
    assert_eq!(unjudged.code, Some(2));
    assert!(
        unjudged.stderr.contains("no run has one"),
        "{}",
        unjudged.stderr
    );
}

#[test]
fn another_panel_rubric_prompt_or_context_is_another_judge() {
    let server = server();
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, COUNT, &server);
    let rubric = |criterion: &str| {
        let brevity =
            json!({"criterion": criterion, "levels": {"1": "long", "2": "brief"}, "pass": 2});
        ("rubrics", json!({"brevity": brevity}))
    };
    run(&sandbox, &server, "first", &[rubric("How brief is it?")]);
    label(&sandbox, "first");
    sandbox.succeed("calibrate first --labels labels.csv --labeller ada");
    let gated = |name: &str| {
        let line = format!("{name} --baseline first --min accuracy=0.1");
        let ended = gate(&sandbox, &line);
        (ended.code, unwrapped(&ended.stdout))
    };
    run(&sandbox, &server, "again", &[rubric("How brief is it?")]);
    let (code, printed) = gated("again");
    assert_eq!(code, Some(0), "{printed}");
    assert!(
        sandbox
            .succeed("runs show again")
            .contains("corrected (Rogan-Gladen)")
    );

    run(&sandbox, &server, "short", &[rubric("How short is it?")]);
    let (code, printed) = gated("short");
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("criteria.rubric.criterion: "), "{printed}");
    assert!(!printed.contains("How short"), "{printed}");
    let corrected = sandbox.succeed("runs show short");
    assert!(
        corrected.contains("corrected"),
        "another judge's rubric changes nothing: {corrected}"
    );

    let panel = json!({"repeats": 3, "rule": "unanimous"});
    run(
        &sandbox,
        &server,
        "panel",
        &[("panel", panel), rubric("How brief is it?")],
    );
    let (code, printed) = gated("panel");
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("repeats: 1 -> 3 (brevity, brevity pass, equivalent)")
            && printed.contains("rule: not set -> \"unanimous\""),
        "{printed}"
    );
    let refused = sandbox.refuse("calibrate panel --with equivalent");
    assert!(refused.contains("repeats: 1 -> 3"), "{refused}");

    fs::create_dir(sandbox.work().join("prompts")).unwrap();
    let prompt = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prompts/judge.md.jinja");
    let prompt = fs::read_to_string(prompt).unwrap();
    sandbox.write("prompts/judge.md.jinja", format!("{prompt}\nBe strict.\n"));
    run(&sandbox, &server, "strict", &[rubric("How brief is it?")]);
    let (code, printed) = gated("strict");
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("prompts.judge.md.jinja: \""), "{printed}");
    let refused = sandbox.refuse("calibrate strict --with equivalent");
    assert!(refused.contains("prompts.judge.md.jinja"), "{refused}");
}

#[test]
fn the_judge_of_a_run_without_the_record_is_unknown() {
    let server = server();
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, COUNT, &server);
    run(&sandbox, &server, "first", &[]);
    run(&sandbox, &server, "second", &[]);
    // As an earlier version wrote it.
    let path = sandbox.runs()[1].join("report.json");
    let mut report = read_json(&path);
    let metadata = report["metadata"].as_object_mut().unwrap();
    assert!(metadata.remove("judges").is_some());
    fs::write(&path, report.to_string()).unwrap();
    let gated = gate(&sandbox, "second --baseline first --min accuracy=0.1");
    assert_eq!(gated.code, Some(0), "{}", gated.stdout);
    assert!(
        gated
            .stdout
            .contains("cannot tell: same judge: the run does not record it; `--allow changed-judge` accepts that"),
        "{}",
        gated.stdout
    );
    label(&sandbox, "first");
    sandbox.succeed("calibrate first --labels labels.csv --labeller ada");
    let refused = sandbox.refuse("calibrate second --with equivalent");
    assert!(
        refused.contains("this run does not record its panel, prompts and criteria"),
        "{refused}"
    );
    let required = gate(&sandbox, "second --require-calibrated-judge κ=0.6");
    assert_eq!(required.code, Some(1), "{}", required.stdout);
}
