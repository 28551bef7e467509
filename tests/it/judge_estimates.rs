//! Estimates of judges against the calls that a server counts afterwards.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::judges::{self, nonce, prompt};
use crate::qa_server;
use crate::sandbox::{Sandbox, ended};
use crate::scripted_server::{Reaction, Received, Saying, ScriptedServer};

/// As many facts as a judge may list.
const MOST_FACTS: usize = 20;

const PANEL: [&str; 3] = ["judge", "second", "third"];

/// A server whose judges find `claims` claims in every text and pass everything.
fn verbose(claims: usize) -> ScriptedServer {
    ScriptedServer::start(move |request, _| {
        let mut request = request.clone();
        if request.body["model"]
            .as_str()
            .is_some_and(|model| PANEL.contains(&model))
        {
            request.body["model"] = "judge".into();
        }
        let prompt = prompt(&request);
        if !prompt.starts_with("You list the") {
            return judges::reply(&request);
        }
        // Claims of different texts differ, so that no reply serves two requests.
        let text = prompt.split_once("<text-");
        let text = text.map_or("the question", |(_, text)| text.lines().nth(1).unwrap());
        let claims = (0..claims).map(|number| format!("Part {number} of: {text}"));
        let list = if prompt.starts_with("You list the facts") {
            let facts = claims.take(MOST_FACTS);
            let facts = facts.map(|text| json!({"text": text, "vital": true}));
            json!({"id": nonce(prompt), "nuggets": facts.collect::<Vec<_>>()})
        } else {
            json!({"id": nonce(prompt), "claims": claims.collect::<Vec<_>>()})
        };
        Reaction::Say(Saying::of(&list.to_string()))
    })
}

/// The fewest and the most calls of each model by an estimate; all lines of a model together.
fn estimated(text: &str) -> BTreeMap<String, (u64, u64)> {
    let mut sums = BTreeMap::new();
    let lines = text.lines().filter_map(|line| line.split_once(" openai:"));
    for (_, rest) in lines {
        let (model, calls) = rest.split_once(": ").unwrap();
        let (calls, _) = calls.split_once(" call").unwrap();
        let (fewest, most) = calls.split_once(" to ").unwrap_or((calls, calls));
        let sum: &mut (u64, u64) = sums.entry(model.to_owned()).or_default();
        sum.0 += fewest.parse::<u64>().unwrap();
        sum.1 += most.parse::<u64>().unwrap();
    }
    sums
}

fn made(received: &[Received]) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for request in received {
        let model = request.body["model"].as_str().unwrap().to_owned();
        *sums.entry(model).or_default() += 1;
    }
    sums
}

/// Runs `line` with `--estimate` and without, and compares the calls of every model. Returns those of the first judge between the fewest
/// and the most.
fn checked(sandbox: &Sandbox, server: &ScriptedServer, line: &str) -> [u64; 3] {
    let before = server.received_at("/chat/completions").len();
    let line_of_estimate = format!("{line} --estimate");
    let estimate = ended(&mut qa_server::with_settings(sandbox, &line_of_estimate));
    assert_eq!(estimate.code, Some(0), "{}", estimate.stderr);
    let received = server.received_at("/chat/completions");
    assert_eq!(received.len(), before, "an estimate asks nobody");
    let run = ended(&mut qa_server::with_settings(sandbox, line));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let made = made(&server.received_at("/chat/completions")[before..]);
    let estimated = estimated(&estimate.stdout);
    let names = |of: Vec<&String>| of.into_iter().cloned().collect::<Vec<_>>();
    assert_eq!(
        names(made.keys().collect()),
        names(estimated.keys().collect()),
        "{}",
        estimate.stdout
    );
    for (model, calls) in &made {
        let (fewest, most) = estimated[model];
        assert!(
            (fewest..=most).contains(calls),
            "{model} was asked {calls} times\n{}",
            estimate.stdout
        );
    }
    let (fewest, most) = estimated["judge"];
    [fewest, made["judge"], most]
}

/// Settings with every judge, a rubric that sees the reference and one that does not, and the verdict on refusals.
fn settings(server: &ScriptedServer, panel: &Value, context_tokens: u64) -> String {
    let mut settings = qa_server::settings(server);
    let evaluations = &mut settings["evaluations"];
    let levels = json!({"1": "long", "2": "brief"});
    evaluations["judge"]["max_tokens"] = 600.into();
    evaluations["judges"] = judges::ALL.split(',').collect();
    evaluations["rubrics"] = json!({
        "brevity": {"criterion": "How brief is it?", "levels": levels},
        "brevity_beside": {"criterion": "How brief beside it?", "levels": levels, "include_reference": true},
    });
    evaluations["judge_refusals"] = true.into();
    evaluations["judge_context_tokens"] = context_tokens.into();
    evaluations["panel"] = panel.clone();
    settings.to_string()
}

#[test]
fn judges_are_asked_as_often_as_estimated() {
    let panel = json!({"models": ["openai:second", "openai:third"]});
    let repeats = json!({"repeats": 3});
    // Texts that fit into one request, claims that take two, and texts and claims that take many.
    for (claims, context_tokens, panel) in [
        (2, 16_384, &repeats),
        (60, 16_384, &panel),
        (30, 60, &panel),
    ] {
        let server = verbose(claims);
        let sandbox = Sandbox::new();
        qa_server::write(&sandbox, 2, &server);
        sandbox.write("settings.yaml", settings(&server, panel, context_tokens));
        let line = "run towers.yaml --skip-retrieval";
        let [fewest, made, most] = checked(&sandbox, &server, line);
        assert_eq!(made == fewest, claims == 2, "{fewest}, {made}, {most}");
        assert!(fewest < most);
    }
}

#[test]
fn judges_of_stored_answers_and_pairs_are_asked_as_often_as_estimated() {
    let server = verbose(50);
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --limit 6 --name short --set search.limit=1");
    sandbox.succeed("sample --skip-retrieval --limit 6 --name long --set search.limit=5");
    let [short, long] = sandbox.runs().try_into().unwrap();
    let name = |run: &std::path::Path| run.file_name().unwrap().to_string_lossy().into_owned();
    let repeats = json!({"repeats": 3});
    for context_tokens in [16_384, 100] {
        sandbox.write("settings.yaml", settings(&server, &repeats, context_tokens));
        let line = format!(
            "rejudge {} --against {} --no-cache",
            name(&long),
            name(&short)
        );
        let [fewest, made, most] = checked(&sandbox, &server, &line);
        assert!(fewest < made && made < most, "{fewest}, {made}, {most}");
    }
}
