//! Conversations in which a model plays the user, with a service that knows the user by what was said.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::conversations::{is_killed, report};
use crate::judges::{nonce, prompt};
use crate::sandbox::{Ended, Sandbox, json as read_json, unwrapped};
use crate::scripted_server::{Reaction, Received, Saying, ScriptedServer};

/// Users who want to learn their words, and know their numbers.
fn dataset(sandbox: &Sandbox, users: usize, models: &ScriptedServer) {
    let rows = (0..users).map(|user| {
        let row = json!({
            "user": format!("u{user}"), "goal": format!("learn the word of customer {user}"),
            "facts": [format!("the number is n{user}x")], "answer": format!("Your word is w{user}x."),
        });
        format!("{row}\n")
    });
    sandbox.write("goals.jsonl", rows.collect::<String>());
    sandbox.write(
        "goals.yaml",
        "name: goals\n\
         questions: {source: {path: goals.jsonl}, id: user, goal: goal, facts: facts, answer: answer}\n",
    );
    let price = json!({"input": 1.0, "output": 2.0});
    let settings = json!({
        "conversations": {"history": "simulated", "user": "openai:user", "turns": 4},
        "evaluations": {"judge": "openai:judge"},
        "providers": {"openai": {"base_url": models.openai_url(), "max_attempts": 1}},
        "prices": {"user": price, "judge": price},
    });
    sandbox.write("settings.yaml", settings.to_string());
}

/// A user who gives the number when asked for it and is done with the word, apart from the `mute` one, and from `n99x`, who is done at once; and
/// a judge that passes everything.
fn models(mute: &'static str, pause: Duration) -> ScriptedServer {
    ScriptedServer::start(move |request: &Received, _| {
        let prompt = prompt(request);
        let text = if request.body["model"] == "judge" {
            judged(prompt)
        } else {
            let Some((_, number)) = prompt.split_once("the number is ") else {
                // A list of the models.
                return Reaction::Sound;
            };
            let number = number.lines().next().unwrap();
            if number == mute {
                String::new()
            } else if number == "n99x" {
                "Done.".to_owned()
            } else if prompt.contains("Your word is") {
                prompt[prompt.rfind("done-").unwrap()..].to_owned()
            } else if prompt.contains("What is your number?") {
                format!("It is {number}.")
            } else {
                "What is my word?".to_owned()
            }
        };
        Reaction::Say(Saying {
            after: pause,
            ..Saying::of(&text)
        })
    })
}

fn judged(prompt: &str) -> String {
    if !prompt.starts_with("You read a conversation of a user") {
        return r#"{"reason": "the same word", "pass": true}"#.to_owned();
    }
    let each = |key: &str, value: &str| -> Vec<Value> {
        (1..=3)
            .map(|number| json!({"number": number, key: value}))
            .collect()
    };
    json!({"reasons": each("reason", "so"), "id": nonce(prompt), "verdicts": each("verdict", "holds")})
        .to_string()
}

/// A service that asks for the number and then says the word. It answers user `n1x` with a failure if it is `broken`.
fn service(is_broken: bool) -> ScriptedServer {
    ScriptedServer::start(move |request: &Received, _| {
        let said = request.body["messages"].as_array().cloned();
        let said = said.unwrap_or_default();
        let last = said.last().and_then(|it| it["content"].as_str());
        let number = last.and_then(|it| it.strip_prefix("It is n"));
        match number.and_then(|it| it.strip_suffix("x.")) {
            Some("1") if is_broken => Reaction::json(200, &json!({"error": "out of order"})),
            Some(number) if said.len() == 3 => {
                Reaction::json(200, &json!({"answer": format!("Your word is w{number}x.")}))
            }
            _ => Reaction::json(200, &json!({"answer": "What is your number?"})),
        }
    })
}

fn run(sandbox: &Sandbox, service: &ScriptedServer, rest: &str) -> Ended {
    sandbox.run(&line(service, rest))
}

fn line(service: &ScriptedServer, rest: &str) -> String {
    let address = format!("{}/ask", service.ollama_url());
    format!(
        "goals.yaml --target {address} --config settings.yaml --no-progress --set target.max_attempts=1 {rest}"
    )
}

fn case<'r>(report: &'r Value, id: &str) -> &'r Value {
    let mut cases = report["cases"].as_array().unwrap().iter();
    cases.find(|case| case["id"] == id).unwrap()
}

fn asked_of(models: &ScriptedServer, model: &str) -> usize {
    let received = models.received_at("/chat/completions");
    let asked = received.iter().filter(|it| it.body["model"] == model);
    asked.count()
}

#[test]
fn a_conversation_is_one_case_with_its_turns_its_cost_and_its_verdict() {
    let sandbox = Sandbox::new();
    let models = models("n2x", Duration::ZERO);
    let service = service(true);
    dataset(&sandbox, 4, &models);
    let estimate = run(
        &sandbox,
        &service,
        "--judges conversation --estimate --set conversations.user.max_tokens=50",
    );
    assert_eq!(estimate.code, Some(0), "{}", estimate.stderr);
    for expected in [
        ": at most 16 requests, cost unknown",
        "user       openai:user: 16 calls, ",
        "at most 800 output tokens, at most $",
        "judges     openai:judge: 4 calls, ",
        "Requests, calls and tokens of the user are the most",
    ] {
        assert!(
            estimate.stdout.contains(expected),
            "{expected}: {}",
            estimate.stdout
        );
    }
    assert!(models.received_at("/chat/completions").is_empty());
    let read = |turns: u64| -> u64 {
        let limits = "--set conversations.user.max_tokens=50 --estimate";
        let options = format!("{limits} --set conversations.turns={turns}");
        let estimate = run(&sandbox, &service, &options).stdout;
        let (_, user) = estimate.split_once("openai:user: ").unwrap();
        let (_, user) = user.split_once(" calls, ").unwrap();
        user.split_once(' ').unwrap().0.parse().unwrap()
    };
    // Four users read six earlier turns each, of a message and an answer.
    assert_eq!(read(4), 4 * read(1) + 4 * 6 * (50 + 50));

    let ended = run(&sandbox, &service, "--judges conversation");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let said = unwrapped(&ended.stdout);
    assert!(
        said.contains("the user was done in 2 of 2 conversations, and 0 ended at the limit"),
        "{said}"
    );
    // Three calls for each user that is done, two for the one whose service fails, and one for the mute one.
    assert!(
        said.contains("openai:user, 225 tokens read, 63 written, $0.0004"),
        "{said}"
    );
    let judged = models.received_at("/chat/completions");
    let mut judged = judged.iter().map(prompt);
    let goal = "The goal of the user, who did not say it:\n\nlearn the word of customer 0\n";
    assert!(judged.any(|it| it.starts_with("You read a conversation") && it.contains(goal)));
    let report_of_run = report(&sandbox, "qa");
    let first = case(&report_of_run, "u0");
    assert_eq!(first["input"], "learn the word of customer 0");
    assert_eq!(first["result"]["output"]["text"], "Your word is w0x.");
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    assert_eq!(
        first["attributes"]["history"],
        json!([
            message("user", "What is my word?"),
            message("assistant", "What is your number?"),
            message("user", "It is n0x."),
        ])
    );
    assert_eq!(first["attributes"]["turns"], 2);
    assert_eq!(first["attributes"]["conversation ended"], "done");
    assert_eq!(first["metrics"]["user input tokens"], 75.0);
    assert_eq!(
        first["metadata"]["user knows"],
        json!(["the number is n0x"])
    );
    let failed = |id: &str| case(&report_of_run, id)["result"]["failure"].to_string();
    assert!(
        failed("u1").contains("turn 2 of the conversation failed: "),
        "{}",
        failed("u1")
    );
    assert!(
        failed("u2")
            .contains("turn 1 of the conversation failed: the simulated user wrote no message"),
        "{}",
        failed("u2")
    );
    let verdicts = &report_of_run["summary"]["assertions"];
    assert_eq!(verdicts["conversation complete"]["n"], 2, "{verdicts}");
    let judged = models.received_at("/chat/completions");
    let judged = judged.iter().map(prompt);
    let judged: Vec<&str> = judged
        .filter(|it| it.starts_with("You read a conversation"))
        .collect();
    assert_eq!(judged.len(), 2);
    let said = [
        "\nWhat is my word?\n</user-",
        "\nWhat is your number?\n</assistant-",
        "\nIt is n0x.\n</question-",
    ];
    let is_whole = |it: &&str| said.iter().all(|said| it.contains(said));
    assert_eq!(
        judged.iter().copied().filter(is_whole).count(),
        1,
        "{judged:?}"
    );

    let run_folder = sandbox.runs().pop().unwrap();
    let record = read_json(&run_folder.join("manifest.json"));
    assert_eq!(record["models"]["user"]["name"], "user");
    assert_eq!(
        record["prompts"]["user.md.jinja"].as_str().unwrap().len(),
        64
    );
    assert_eq!(record["settings"]["conversations"]["turns"], 4);
    let sent = service.received_at("/ask");
    let of_first = sent.iter().filter(|it| it.body["conversation"] == "u0");
    let ids: Vec<&Value> = of_first.map(|it| &it.body["id"]).collect();
    assert_eq!(ids, ["u0", "u0#2"]);

    let before = asked_of(&models, "user");
    let again = run(&sandbox, &service, "--fresh");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    // Replies are stored, except for one without text.
    assert_eq!(asked_of(&models, "user"), before + 1);
    let short = run(&sandbox, &service, "--set conversations.turns=1");
    let short = unwrapped(&short.stdout);
    assert!(
        short.contains("the user was done in 0 of 3 conversations, and 3 ended at the limit"),
        "{short}"
    );
    assert_eq!(
        asked_of(&models, "user"),
        before + 2,
        "no call after the last turn"
    );
}

#[test]
fn kills_at_any_moment_lose_no_turn() {
    const AT_ONCE: usize = 3;
    const USERS: usize = 15;
    let sandbox = Sandbox::new();
    let models = models("", Duration::from_millis(20));
    let service = service(false);
    dataset(&sandbox, USERS, &models);
    let line = line(&service, &format!("--concurrency {AT_ONCE}"));
    let moments = [250, 330, 410, 290, 370].map(Duration::from_millis);
    let moments = moments.into_iter().cycle().take(12);
    let kills = moments
        .take_while(|moment| is_killed(&sandbox, &line, *moment))
        .count();
    if kills == 12 {
        sandbox.succeed(&line);
    }
    assert!(kills > 1, "it was too quick");
    let report = report(&sandbox, "qa");
    for user in 0..USERS {
        let case = case(&report, &format!("u{user}"));
        let text = case["result"]["output"]["text"].as_str();
        assert_eq!(
            text,
            Some(format!("Your word is w{user}x.").as_str()),
            "{case}"
        );
        assert_eq!(case["attributes"]["turns"], 2);
    }
    for (server, endpoint, each) in [(&service, "/ask", 2), (&models, "/chat/completions", 4)] {
        let mut times: BTreeMap<u64, usize> = BTreeMap::new();
        for request in server.received_at(endpoint) {
            *times.entry(request.hash()).or_default() += 1;
        }
        assert_eq!(times.len(), USERS * each, "{endpoint}");
        let again: usize = times.values().map(|count| count - 1).sum();
        assert!(
            again <= kills * AT_ONCE,
            "{again} again after {kills} kills: {endpoint}"
        );
    }
}

#[test]
fn what_cannot_be_simulated_is_refused_before_anything_is_asked() {
    let sandbox = Sandbox::new();
    let models = models("", Duration::ZERO);
    let service = service(false);
    dataset(&sandbox, 3, &models);
    sandbox.write(
        "plain.yaml",
        "name: plain\nquestions: {source: {path: goals.jsonl}, text: goal, answer: answer}\n",
    );
    sandbox.write("answers.jsonl", "{\"id\": \"u0\", \"answer\": \"Hm.\"}\n");
    let named = ["u0", "u0#20"]
        .map(|user| format!("{{\"user\": \"{user}\", \"goal\": \"learn a word\"}}\n"));
    sandbox.write("named.jsonl", named.concat());
    sandbox.write(
        "named.yaml",
        "name: named\nquestions: {source: {path: named.jsonl}, id: user, goal: goal}\n",
    );
    let target = format!("--target {}/ask", service.ollama_url());
    let own = "run ./goals.yaml";
    for (line, expected) in [
        (
            format!("goals.yaml {target} --set conversations.history=live"),
            "are goals of users whom a model plays: add `--set conversations.history=simulated`",
        ),
        (
            format!("plain.yaml {target}"),
            "`simulated` needs a goal for each conversation: name the column that holds it in the manifest of `plain`",
        ),
        (
            format!("named.yaml {target}"),
            "`named` has `u0` and `u0#20`, and repetitions and turns of `u0` are asked under such names: rename `u0#20`",
        ),
        (own.to_owned(), "`live` and `simulated` ask a `--target`"),
        (
            format!("{own} --set conversations.history=gold"),
            "are goals of users, who talk to a `--target`",
        ),
        (
            "goals.yaml --target outputs:answers.jsonl".to_owned(),
            "`simulated` needs a target that replies to messages",
        ),
        (
            format!("goals.yaml {target} --set conversations.user=null"),
            "`simulated` asks a language model, and `embedded:extractive` is none: set `conversations.user`",
        ),
        (
            format!("goals.yaml {target} --set conversations.history=often"),
            "conversations.history",
        ),
        (
            format!("goals.yaml {target} --budget 1 --set conversations.user.name=dear"),
            "the price of `dear`",
        ),
    ] {
        let refused = sandbox.refuse(&format!("{line} --config settings.yaml --no-progress"));
        assert!(unwrapped(&refused).contains(expected), "{line}: {refused}");
    }
    assert!(models.received_at("/chat/completions").is_empty());
    assert!(service.received_at("/ask").is_empty());
}

#[test]
fn a_user_who_is_done_before_the_first_message_had_no_conversation() {
    let sandbox = Sandbox::new();
    let models = models("", Duration::ZERO);
    let service = service(false);
    dataset(&sandbox, 1, &models);
    let rows = std::fs::read_to_string(sandbox.work().join("goals.jsonl")).unwrap();
    let silent = rows.replace("\"u0\"", "\"u99\"").replace("n0x", "n99x");
    sandbox.write("goals.jsonl", rows + &silent);
    let said = unwrapped(&run(&sandbox, &service, "").stdout);
    let expected = "the user was done in 1 of 1 conversation, and 0 ended at the limit";
    assert!(said.contains(expected), "{said}");
    let report = report(&sandbox, "qa");
    let failed = case(&report, "u99")["result"]["failure"].to_string();
    assert!(
        failed.contains("is done before its first message"),
        "{failed}"
    );
}

#[test]
fn a_spent_budget_ends_conversations_between_two_turns_and_a_larger_one_resumes_them() {
    let sandbox = Sandbox::new();
    let models = models("", Duration::ZERO);
    let service = service(false);
    dataset(&sandbox, 3, &models);
    // The first message of the first user costs more.
    let budget = run(&sandbox, &service, "--concurrency 1 --budget 0.00003");
    assert_eq!(budget.code, Some(1), "{}", budget.stderr);
    assert!(budget.stderr.contains("is spent"), "{}", budget.stderr);
    let said = unwrapped(&budget.stdout);
    let paid = "2 calls for $0.0000, with those of conversations that are not finished";
    assert!(said.contains(paid), "{said}");
    assert_eq!(asked_of(&models, "user"), 1);
    assert_eq!(service.received_at("/ask").len(), 1);
    let resumed = run(&sandbox, &service, "--concurrency 1 --budget 1");
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let cases = report(&sandbox, "qa");
    for user in ["u0", "u1", "u2"] {
        assert_eq!(case(&cases, user)["attributes"]["turns"], 2);
    }
    assert_eq!(service.received_at("/ask").len(), 6, "no turn again");
    assert_eq!(asked_of(&models, "user"), 9);
}
