//! `evaluations tune`: better settings from a space, with what luck contributes.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::qa_server;
use crate::sandbox::{Sandbox, json, wait_for};
use crate::scripted_server::{Reaction, Saying, ScriptedServer};

/// A space over searches alone, which needs one index.
const SEARCHES: &str = "\
space:
  search.profile: [unranked, bm25, hybrid]
  search.fusion.k: [10, 60]
";

/// A command that answers with the document of its question or with another one, in shares that depend on the parameter `care`.
const CAREFUL: &str = r#"
import json, sys, zlib
for line in sys.stdin:
    request = json.loads(line)
    care = request["parameters"]["care"]
    right = zlib.crc32(request["question"].encode()) % 100 < 10 * care
    documents = [request["id"].split("-")[0]] if right else ["nothing"]
    print(json.dumps({"id": request["id"], "documents": documents}), flush=True)
"#;

/// Questions about documents of their own, and a target that finds them by its parameter `care`.
fn careful(sandbox: &Sandbox) {
    let documents = (0..120).map(|number| {
        format!("{{\"id\": \"d{number}\", \"text\": \"Tower {number} stands alone.\"}}\n")
    });
    sandbox.write("documents.jsonl", documents.collect::<String>());
    let questions = (0..120).map(|number| {
        format!("{{\"id\": \"d{number}-q\", \"question\": \"Where is tower {number}?\", \"documents\": \"d{number}\"}}\n")
    });
    sandbox.write("questions.jsonl", questions.collect::<String>());
    sandbox.write(
        "towers.yaml",
        "name: towers\n\
         documents: {source: {path: documents.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: questions.jsonl}, id: id, text: question, relevant: [documents]}\n",
    );
    sandbox.write("careful.py", CAREFUL);
    sandbox.write(
        "evaluations.yaml",
        "target: {address: 'exec:python3 careful.py', parameters: {care: 5}, processes: 1}\n\
         tune: {objective: R@5, space: {target.parameters.care: [1, 5, 9]}}\n",
    );
}

fn result(sandbox: &Sandbox) -> Value {
    json(&sandbox.work().join("tuned.json"))
}

#[test]
fn settings_that_search_better_are_found_and_written() {
    let sandbox = Sandbox::new();
    sandbox.write("space.yaml", SEARCHES);
    let line = "tune sample --space space.yaml --set search.profile=unranked --out tuned.json --out tuned.html";
    let refused = sandbox.refuse(line);
    assert!(refused.contains("set the same key"), "{refused}");
    sandbox.write("evaluations.yaml", "search: {profile: unranked}\n");
    let line = line.replace(" --set search.profile=unranked", "");
    let ended = sandbox.run(&line);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let tuned = result(&sandbox);
    let outcome = &tuned["outcome"];
    assert!(
        outcome["verdict"]["better"]["at_least"].as_f64().unwrap() > 0.05,
        "{outcome}"
    );
    assert!(
        ended
            .stdout
            .contains("is better than your settings: nDCG@10 is higher by at least"),
        "{}",
        ended.stdout
    );
    let best = fs::read_to_string(sandbox.work().join("best.yaml")).unwrap();
    assert!(best.contains("\n  profile: "), "{best}");
    let page = fs::read_to_string(sandbox.work().join("tuned.html")).unwrap();
    assert!(page.contains("Tuning of sample") && page.contains("<svg"));
    // A tuning is one line of the list.
    let trials = sandbox.runs().len();
    let listed = sandbox.run("runs");
    assert_eq!(listed.stdout.lines().count(), 2, "{}", listed.stdout);
    let line = listed.stdout.lines().next_back().unwrap();
    assert!(
        line.contains(&format!("tuning   {trials} trials")),
        "{line}"
    );
    assert!(
        listed
            .stderr
            .contains(&format!("1 line of {trials} runs, each tuning in one line")),
        "{}",
        listed.stderr
    );
    let all = sandbox.succeed("runs --all");
    assert_eq!(all.lines().count(), trials + 1, "{all}");
    // The held-out part is what `compare` says of the two runs on it.
    let held_out = &outcome["check"]["held-out"];
    let chosen = usize::try_from(outcome["chosen"].as_u64().unwrap()).unwrap();
    let last = |trial: usize| {
        let runs = tuned["trials"][trial]["runs"].as_array().unwrap();
        runs.last().unwrap().as_str().unwrap().to_owned()
    };
    let (own, best) = (last(0), last(chosen));
    sandbox.succeed(&format!("compare {own} {best} --out compared.json"));
    let compared = json(&sandbox.work().join("compared.json"));
    let measures = compared["measures"].as_array().unwrap();
    let measure = measures
        .iter()
        .find(|it| it["measure"] == "nDCG@10")
        .unwrap();
    let [compared, tuned] = [&measure["difference"], held_out].map(|it| it["difference"].as_f64());
    let difference = compared.unwrap() - tuned.unwrap();
    assert!(difference.abs() < 1e-12, "{measure}");
}

#[test]
fn a_parameter_of_ones_own_system_is_tuned_and_nothing_is_asked_twice() {
    let sandbox = Sandbox::new();
    careful(&sandbox);
    let ended = sandbox.run("tune towers.yaml --out tuned.json");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let tuned = result(&sandbox);
    assert!(tuned["outcome"]["verdict"]["better"].is_object(), "{tuned}");
    let best = fs::read_to_string(sandbox.work().join("best.yaml")).unwrap();
    assert!(
        best.ends_with("target:\n  parameters:\n    care: 9\n"),
        "{best}"
    );
    // They are merged into the file with the target.
    let used =
        sandbox.run("run towers.yaml --config evaluations.yaml --config best.yaml --out used.json");
    assert_eq!(used.code, Some(0), "{}", used.stderr);
    let used = json(&sandbox.work().join("used.json")).to_string();
    assert!(used.contains("\"care\":9"), "{used}");
    let runs = sandbox.runs().len();
    let again = sandbox.run("tune towers.yaml --out tuned.json");
    assert_eq!((again.code, &again.stdout), (Some(0), &ended.stdout));
    assert_eq!(
        sandbox.runs().len(),
        runs,
        "the same command has all its trials"
    );
    // A different search on the same held-out questions knows that they were used.
    let third = sandbox.run("tune towers.yaml --trials 2");
    assert!(
        third
            .stdout
            .contains("1 earlier tuning used the same held-out questions"),
        "{}",
        third.stdout
    );
}

/// A server whose answers are good if the prompt asks for few words, and for a third of the questions else.
fn wordy() -> ScriptedServer {
    ScriptedServer::start(|request, _| {
        let prompt = request.body["messages"].to_string();
        let text = if qa_server::is_judging(request) {
            let pass = prompt.contains("A good answer");
            format!("{{\"reason\": \"so\", \"pass\": {pass}}}")
        } else if prompt.contains("Few words!") || prompt.len() % 3 == 0 {
            "A good answer. [1]".to_owned()
        } else {
            "An answer. [1]".to_owned()
        };
        Reaction::Say(Saying::of(&text))
    })
}

#[test]
fn prompts_are_tuned_within_a_budget() {
    let (sandbox, server) = (Sandbox::new(), wordy());
    qa_server::write(&sandbox, 120, &server);
    sandbox.write(
        "space.yaml",
        "objective: equivalent\nspace: {prompts.answer: [answer.md.jinja, terse.md.jinja]}\n",
    );
    let tune = |rest: &str| -> Output {
        let line = format!("tune towers.yaml --space space.yaml {rest}");
        qa_server::with_settings(&sandbox, &line).output().unwrap()
    };
    let missing = tune("");
    let message = String::from_utf8_lossy(&missing.stderr);
    assert_eq!(missing.status.code(), Some(2), "{message}");
    assert!(
        message.contains("`prompts.answer`: there is no `terse.md.jinja` in"),
        "{message}"
    );
    assert_eq!(qa_server::asked(&server), (0, 0));

    // What a shell leaves that opens the file for the text of the prompt.
    sandbox.write("prompts/answer.md.jinja", "");
    let bundled = sandbox.succeed("config prompts answer");
    assert!(bundled.contains("numbered passages"), "{bundled}");
    let empty = String::from_utf8(tune("").stderr).unwrap();
    assert!(empty.contains("answer.md.jinja` is empty"), "{empty}");
    fs::remove_file(sandbox.work().join("prompts/answer.md.jinja")).unwrap();
    sandbox.write("prompts/terse.md.jinja", format!("Few words!\n{bundled}"));
    // Each answer costs more than $0.0001, which is too little for all trials.
    let stopped = tune("--budget 0.005");
    let (said, asked) = (
        String::from_utf8_lossy(&stopped.stdout),
        qa_server::asked(&server).0,
    );
    assert_eq!(stopped.status.code(), Some(1), "{stopped:?}");
    assert!(
        said.starts_with("The budget ended the search before"),
        "{said}"
    );
    assert!(!sandbox.work().join("best.yaml").exists(), "{said}");

    let ended = tune("");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let best = fs::read_to_string(sandbox.work().join("best.yaml")).unwrap();
    assert!(
        best.ends_with("prompts:\n  answer: terse.md.jinja\n"),
        "{best}"
    );
    // Both prompts, and each of the 120 questions at most once with each of them.
    let (all, _) = qa_server::asked(&server);
    assert!(asked < all && all <= 240, "{asked} and {all}");
}

#[test]
fn a_knob_without_an_effect_is_named_and_nothing_wins() {
    let sandbox = Sandbox::new();
    careful(&sandbox);
    sandbox.write(
        "evaluations.yaml",
        "target: {address: 'exec:python3 careful.py', parameters: {care: 5, speed: 1}, processes: 1}\n\
         tune: {objective: R@5, space: {target.parameters.speed: [1, 2, 3]}}\n",
    );
    let ended = sandbox.run("tune towers.yaml --out tuned.json");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(result(&sandbox)["outcome"]["verdict"], "every-trial-equal");
    assert!(!sandbox.work().join("best.yaml").exists());
}

#[test]
fn a_setting_that_fails_leaves_with_its_error() {
    let sandbox = Sandbox::new();
    careful(&sandbox);
    sandbox.write(
        "evaluations.yaml",
        "target: {address: 'exec:python3 careful.py', parameters: {care: 5}, processes: 1}\n\
         tune: {objective: R@5, space: {target.parameters.care: [5, much, 9]}}\n",
    );
    let ended = sandbox.run("tune towers.yaml --out tuned.json");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let tuned = result(&sandbox);
    let trials = tuned["trials"].as_array().unwrap();
    let failed = trials.iter().find(|it| it["label"] == "care=much").unwrap();
    let became = failed["became"].as_str().unwrap();
    assert!(
        became.starts_with("failed: ") && became.contains("TypeError"),
        "{failed}"
    );
    assert_eq!(failed["gain"], Value::Null);
    assert!(tuned["outcome"]["verdict"]["better"].is_object(), "{tuned}");
}

#[test]
fn a_killed_tuning_goes_on_where_it_was() {
    let sandbox = Sandbox::new();
    sandbox.write("space.yaml", SEARCHES);
    let line = "tune sample --space space.yaml --out tuned.json";
    let mut command = sandbox.command(line);
    let mut running = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("three trials", || {
        let file = sandbox.data().join("tunes/sample.jsonl");
        fs::read_to_string(file).is_ok_and(|text| text.lines().count() > 3)
    });
    running.kill().unwrap();
    running.wait().unwrap();
    let before: BTreeSet<_> = sandbox.runs().into_iter().collect();
    let ended = sandbox.run(line);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("resuming"), "{}", ended.stderr);
    let resumed = result(&sandbox);
    // At most the trial that was running is there a second time.
    let undisturbed = Sandbox::new();
    undisturbed.write("space.yaml", SEARCHES);
    undisturbed.succeed(line);
    assert!(sandbox.runs().len() <= undisturbed.runs().len() + 1);
    assert!(before.iter().all(|run| run.exists()));
    let whole = result(&undisturbed);
    assert_eq!(resumed["outcome"], whole["outcome"]);
}

#[test]
fn bad_spaces_are_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let refused = |space: &str| {
        sandbox.write("space.yaml", space);
        sandbox.refuse("tune sample --space space.yaml")
    };
    for (space, message) in [
        (
            "space: {search.profle: [bm25]}",
            "did you mean `search.profile`?",
        ),
        ("space: {search.profile: [bm25, bm52]}", "bm52"),
        (
            "space: {search.profile: []}",
            "`search.profile` has no values",
        ),
        ("space: {search.limit: [3, 3]}", "has the value `3` twice"),
        (
            "space: {search.fusion.method: [linear], search.fusion.weight: {from: 0.9, to: 0.1}}",
            "has to go up",
        ),
        (
            "space: {search.fusion.method: [rrf, linear], search.fusion.weight: {from: 0.1, to: 3}}",
            "bad value for `search.fusion.weight`",
        ),
        (
            "space: {search.fusion.weight: [0.1, 0.2]}",
            "`search.fusion.weight` has no effect with `search.fusion.method: rrf`",
        ),
        (
            "space: {search.profile: [bm25, semantic], search.fusion.k: [1, 2]}",
            "`search.fusion.k` has no effect with any of the values of `search.profile`",
        ),
        (
            "space: {qa.context_tokens: [500, 1000]}",
            "`nDCG@10` does not depend on `qa.context_tokens`",
        ),
        (
            "space: {search.fusion.weight: {from: 0.1}}",
            "a range needs `from` and `to`",
        ),
        (
            "space: {search.limit: [0, 3]}",
            "bad value for `search.limit`",
        ),
        ("space: {search.limit: 3}", "`3` is one value"),
        ("spaces: {}", "did you mean `tune.space`?"),
        (
            "limits: {latency.p59: 1s}\nspace: {search.limit: [3, 5]}",
            "`tune.limits` has no `latency.p59`",
        ),
        (
            "budget: {time: soon}\nspace: {search.limit: [3, 5]}",
            "is no amount above 0",
        ),
        (
            "objective: nDGC@10\nspace: {search.profile: [bm25, hybrid]}",
            "nDGC@10",
        ),
    ] {
        let refused = refused(space);
        assert!(refused.contains(message), "{space}: {refused}");
    }
    assert!(
        sandbox
            .refuse("tune sample --set-each search.limit=3,5")
            .contains("list the values under `tune.space`")
    );
    assert!(
        sandbox
            .refuse("tune sample --holdout 1")
            .contains("has to be from 0.1 to 0.9")
    );
    let refused = sandbox.refuse("tune sample --out tuned.csv");
    assert!(refused.contains(".html, .md or .json"), "{refused}");
    sandbox.write("best.yaml", "mine: 1\n");
    assert!(sandbox.refuse("tune sample").contains("move it away"));
}

#[test]
fn settings_with_the_same_effect_are_tried_once() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "space.yaml",
        "space: {search.profile: [bm25, hybrid], search.fusion.method: [rrf, linear], search.fusion.weight: {from: 0.1, to: 0.9}}\n",
    );
    let line = "tune sample --space space.yaml --trials 8 --out tuned.json";
    let estimate = sandbox.succeed(&format!("{line} --estimate"));
    assert!(estimate.contains("576 answers here"), "{estimate}");
    sandbox.succeed(line);
    let tuned = result(&sandbox);
    let labels = tuned["trials"].as_array().unwrap().iter();
    let labels: Vec<&str> = labels.map(|it| it["label"].as_str().unwrap()).collect();
    let with = |part: &str| labels.iter().filter(|it| it.contains(part)).count();
    assert_eq!(
        labels[..2],
        ["yours: method=rrf,profile=hybrid", "profile=bm25"]
    );
    assert_eq!((with("bm25"), with("rrf")), (1, 1), "{labels:?}");
    assert!(with("method=linear") > 2, "{labels:?}");
}

#[test]
fn a_server_that_is_down_is_the_reason_and_no_verdict() {
    let (sandbox, server) = (Sandbox::new(), wordy());
    qa_server::write(&sandbox, 60, &server);
    drop(server);
    sandbox.write(
        "space.yaml",
        "objective: equivalent\nspace: {qa.context_tokens: [500, 1000]}\n",
    );
    let line = "tune towers.yaml --space space.yaml";
    let ended = qa_server::with_settings(&sandbox, line).output().unwrap();
    assert_ne!(ended.status.code(), Some(0), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("127.0.0.1"), "{said}");
}

#[test]
fn what_can_be_found_is_said_beforehand() {
    let sandbox = Sandbox::new();
    sandbox.write("space.yaml", SEARCHES);
    let said = sandbox.succeed("tune sample --space space.yaml --simulate");
    assert!(said.contains("3 settings beside yours"), "{said}");
    assert!(said.contains("0.05") && said.contains("quarter"), "{said}");
    assert!(sandbox.runs().is_empty());
}
