//! Question answering by a model that searches by itself.

use serde_json::{Value, json};

use crate::qa_server::{self, is_judging};
use crate::sandbox::{Sandbox, ended, json};
use crate::scripted_server::{Reaction, Received, ScriptedServer};

/// A model that searches for the district of the question, first in a way that fails, and then cites the first passage.
fn searching(request: &Received) -> Reaction {
    if is_judging(request) {
        return Reaction::say(r#"{"reason": "the same tower", "pass": true}"#);
    }
    let Some(messages) = request.body["messages"].as_array() else {
        return Reaction::Sound;
    };
    let results = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .count();
    let prompt = messages[0]["content"].as_str().expect("a prompt");
    let (_, question) = prompt.rsplit_once("in district ").expect("a question");
    let district: String = question.chars().take_while(char::is_ascii_digit).collect();
    let arguments = match results {
        0 => "{broken".to_owned(),
        1 => json!({"query": format!("district {district}")}).to_string(),
        _ => return Reaction::say("It is the tower of the first passage. [1]"),
    };
    let call = json!({"id": format!("call-{results}"), "type": "function", "function": {"name": "search", "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let usage = json!({"prompt_tokens": 25, "completion_tokens": 7});
    Reaction::json(
        200,
        &json!({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage}),
    )
}

fn as_agent(sandbox: &Sandbox, more: &str) -> std::process::Command {
    qa_server::command(sandbox, &format!("--set qa.mode=agent {more}"))
}

#[test]
fn an_agent_searches_answers_and_is_measured() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| searching(request));
    qa_server::write(&sandbox, 4, &server);
    let run = ended(&mut as_agent(&sandbox, "--out report.json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("breakdown"), "{}", run.stdout);
    let report = json(&sandbox.work().join("report.json"));
    for case in report["cases"].as_array().unwrap() {
        let answer = &case["result"]["output"];
        assert_eq!(answer["searches"].as_array().unwrap().len(), 1, "{answer}");
        assert_eq!(
            answer["citations"],
            json!([case["id"].as_str().unwrap().replace('q', "d")])
        );
        let outcomes = case["outcomes"].as_array().unwrap();
        let breakdown = outcomes
            .iter()
            .find(|outcome| outcome["name"] == "breakdown");
        assert_eq!(breakdown.unwrap()["value"]["label"], "used", "{outcomes:?}");
        let spans = case["spans"]["roots"].as_array().unwrap();
        let steps: Vec<&str> = spans
            .iter()
            .filter_map(|span| span["name"].as_str())
            .collect();
        let (model, search) = ("chat answerer", "execute_tool search");
        assert_eq!(steps, [model, search, model, search, model]);
        assert_eq!(
            (&spans[1]["status"], &spans[3]["status"]),
            (&json!("error"), &Value::Null)
        );
        assert_eq!(case["metrics"]["input tokens"], 75.0);
    }
    let [folder] = sandbox.runs().try_into().unwrap();
    let manifest = json(&folder.join("manifest.json"));
    assert_eq!(manifest["parameters"]["answerer"]["mode"], "agent");
    assert_eq!(manifest["parameters"]["answerer"]["max_steps"], 5);
    let prompts = manifest["prompts"].as_object().unwrap();
    assert!(prompts.contains_key("agent.md.jinja") && !prompts.contains_key("answer.md.jinja"));

    // Asking again is free, and judging again keeps the label.
    let asked = server.received().len();
    ended(&mut as_agent(&sandbox, "--fresh"));
    assert_eq!(
        server.received_at("/chat/completions").len(),
        asked_at(&server, asked)
    );
    let judged = ended(&mut qa_server::with_settings(&sandbox, "rejudge latest"));
    assert_eq!(judged.code, Some(0), "{}", judged.stderr);
    assert!(judged.stdout.contains("breakdown"), "{}", judged.stdout);
}

/// The requests for replies among the first requests.
fn asked_at(server: &ScriptedServer, first: usize) -> usize {
    let received = server.received();
    let first = received.iter().take(first);
    first
        .filter(|request| request.path.ends_with("/chat/completions"))
        .count()
}

#[test]
fn another_mode_is_another_run_and_costs_more() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| searching(request));
    qa_server::write(&sandbox, 2, &server);
    let estimate = |set: &str| {
        let line = format!("--estimate --set qa.model.max_tokens=100 {set}");
        let run = ended(&mut qa_server::command(&sandbox, &line));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout
    };
    let single = estimate("");
    assert!(
        single.contains("answering  openai:answerer: 2 calls"),
        "{single}"
    );
    let agent = estimate("--set qa.mode=agent --set qa.agent.max_steps=3");
    assert!(
        agent.contains("answering  openai:answerer: 6 calls"),
        "{agent}"
    );
    assert!(agent.contains("at most 600 output tokens"), "{agent}");
}

#[test]
fn an_agent_that_never_answers_costs_its_case() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        let mut endless = request.clone();
        if let Some(messages) = endless.body["messages"].as_array_mut()
            && !is_judging(request)
        {
            messages.retain(|message| message["role"] != "tool");
        }
        searching(&endless)
    });
    qa_server::write(&sandbox, 1, &server);
    let run = ended(&mut as_agent(
        &sandbox,
        "--set qa.agent.max_steps=2 --out report.json",
    ));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    let message = report["cases"][0]["result"].to_string();
    assert!(
        message.contains("called tools in each of its 2 steps and did not answer"),
        "{message}"
    );
    assert_eq!(
        report["cases"][0]["spans"]["roots"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn an_agent_needs_a_chat_model_and_two_steps() {
    let sandbox = Sandbox::new();
    let message = sandbox.refuse("sample --set qa.mode=agent");
    assert!(
        message.contains("bad value for `qa.mode`: `agent` needs a chat model that calls tools, and `qa.model` is `embedded:extractive`"),
        "{message}"
    );
    let message = sandbox.refuse("sample --model openai:x --judge embedded:overlap --set qa.mode=agent --set qa.agent.max_steps=1");
    assert!(
        message.contains("bad value for `qa.agent.max_steps`: must be at least 2"),
        "{message}"
    );
}
