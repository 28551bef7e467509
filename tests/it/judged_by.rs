//! The record of who judged: gates and calibrations tell judges apart by it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::labels::fill;
use crate::qa_server;
use crate::sandbox::{Ended, Sandbox, ended, json as read_json, unwrapped};
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
            let level = if fails && prompt.contains("How brief") {
                1
            } else {
                2
            };
            json!({"reason": "brief", "id": &after[..16], "level": level})
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

/// Labels every answer as its judge does, but for the first two.
fn label(sandbox: &Sandbox, name: &str) {
    sandbox.succeed(&format!(
        "labels {name} --export labels.csv --sample {COUNT}"
    ));
    fill_labels(sandbox);
}

fn fill_labels(sandbox: &Sandbox) {
    fill(sandbox, "labels.csv", |id| {
        let number: usize = id[1..].parse().unwrap();
        if number.is_multiple_of(3) == (number >= 2) {
            "fail"
        } else {
            "pass"
        }
    });
}

/// Leaves the report of a run as an earlier version wrote it, without the record of who judged.
fn forget_judges(run: &Path) {
    let path = run.join("report.json");
    let mut report = read_json(&path);
    let metadata = report["metadata"].as_object_mut().unwrap();
    assert!(metadata.remove("judges").is_some());
    fs::write(&path, report.to_string()).unwrap();
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
        "evaluations labels calibrate ",
    ] {
        let printed = unwrapped(&missing.stdout);
        assert!(printed.contains(part), "{part}: {printed}");
    }

    label(&sandbox, "first");
    sandbox.succeed("calibrate first --labels labels.csv --labeller ada");
    let damaged = sandbox.data().join("calibrations/damaged.json");
    fs::write(damaged, "{}").unwrap();
    let met = gate(
        &sandbox,
        "first --require-calibrated-judge kappa=0.6 --min accuracy=0.1 --out gate.json",
    );
    assert_eq!(met.code, Some(0), "{}{}", met.stdout, met.stderr);
    assert!(met.stderr.contains("damaged.json`"), "{}", met.stderr);
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
        unwrapped(&other.stdout).contains("is of a different judge (repeats: 1 -> 3"),
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
    forget_judges(&sandbox.runs()[1]);
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

#[test]
fn judges_stay_unknown_when_rejudge_keeps_verdicts_of_runs_without_the_record() {
    let server = server();
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, COUNT, &server);
    for (name, criterion) in [
        ("first", "How brief is it?"),
        ("second", "How short is it?"),
    ] {
        let levels = json!({"1": "long", "2": "brief"});
        let brevity = json!({"criterion": criterion, "levels": levels, "pass": 2});
        let rubrics = ("rubrics", json!({"brevity": brevity}));
        run(&sandbox, &server, name, &[rubrics]);
    }
    sandbox.write("settings.yaml", qa_server::settings(&server).to_string());
    let old = sandbox.runs();
    for folder in &old {
        forget_judges(folder);
        let name = folder.file_name().unwrap().to_str().unwrap();
        let line = format!("rejudge {name}");
        let rejudged = ended(&mut qa_server::with_settings(&sandbox, &line));
        assert_eq!(rejudged.code, Some(0), "{}", rejudged.stderr);
    }
    let new = sandbox.runs();
    let new: Vec<&str> = new
        .iter()
        .filter(|folder| !old.contains(folder))
        .map(|folder| folder.file_name().unwrap().to_str().unwrap())
        .collect();
    let [first, second] = new[..] else {
        panic!("{new:?}")
    };

    let gated = gate(
        &sandbox,
        &format!("{second} --baseline {first} --min accuracy=0.1"),
    );
    assert_eq!(gated.code, Some(0), "{}{}", gated.stdout, gated.stderr);
    let printed = unwrapped(&gated.stdout);
    let cannot_tell = "cannot tell: same judge: the baseline and the run do not record it (brevity, brevity pass, equivalent (openai:judge));";
    assert!(printed.contains(cannot_tell), "{printed}");
    let allowed = gate(
        &sandbox,
        &format!("{second} --baseline {first} --min accuracy=0.1 --allow changed-judge"),
    );
    let printed = unwrapped(&allowed.stdout);
    assert_eq!(allowed.code, Some(0), "{printed}");
    assert!(!printed.contains("cannot tell"), "{printed}");

    for line in [
        format!("labels {first} --export labels.csv --sample {COUNT}"),
        format!("calibrate {first} --labels labels.csv --labeller ada"),
    ] {
        let mut command = sandbox.command(&line);
        let ended = ended(command.args(["--measure", "brevity pass"]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        fill_labels(&sandbox);
    }
    let refused = sandbox.refuse(&format!("calibrate {second} --with brevity"));
    assert!(
        refused.contains("the calibrated run does not record its panel, prompts and criteria"),
        "{refused}"
    );
}

/// Copies a table to `labels.csv` without one column, and fills it in.
fn without_column(sandbox: &Sandbox, file: &str, title: &str) {
    let mut reader = csv::Reader::from_path(sandbox.work().join(file)).unwrap();
    let titles = reader.headers().unwrap().clone();
    let gone = titles.iter().position(|it| it == title).unwrap();
    let mut writer = csv::Writer::from_path(sandbox.work().join("labels.csv")).unwrap();
    for record in std::iter::once(titles).chain(reader.records().map(Result::unwrap)) {
        let cells = record.iter().enumerate();
        let kept = cells.filter(|(column, _)| *column != gone);
        let kept: Vec<&str> = kept.map(|(_, cell)| cell).collect();
        writer.write_record(kept).unwrap();
    }
    writer.flush().unwrap();
    fill_labels(sandbox);
}

#[test]
fn a_gate_passes_over_labels_of_answers_that_somebody_picked() {
    let server = server();
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, COUNT, &server);
    run(&sandbox, &server, "first", &[]);
    sandbox.succeed("labels first --export labels.csv --sample 24");
    fill_labels(&sandbox);
    sandbox.succeed("calibrate first --labels labels.csv --labeller ada");
    // More labels of Ben, in a table that does not say how its rows were drawn.
    sandbox.succeed("labels first --export all.csv --sample 30");
    without_column(&sandbox, "all.csv", "sample");
    sandbox.succeed("calibrate first --labels labels.csv --labeller ben");

    let gated = gate(
        &sandbox,
        "first --require-calibrated-judge κ=0.5 --out gate.json",
    );
    assert_eq!(gated.code, Some(0), "{}{}", gated.stdout, gated.stderr);
    let check = &read_json(&sandbox.work().join("gate.json"))["runs"][0]["checks"][0];
    assert_eq!(check["n"], 24, "{check}");
}
