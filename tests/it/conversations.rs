//! Conversations with a service that has sessions of its own: they never meet, and a killed run goes on in the middle of them.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::docs::{blocks, page};
use crate::judges::{nonce, prompt};
use crate::pages::Page;
use crate::sandbox::{Ended, Sandbox, ended, json as read_json};
use crate::scripted_server::{Reaction, Received, ScriptedServer};
use crate::untimed_report;
use crate::viewer::{Answer, Viewer};

const TURNS: usize = 4;

/// Conversations about a word that only their first question names.
pub(crate) fn dataset(sandbox: &Sandbox, conversations: usize) {
    let row = |conversation: usize, turn: usize| {
        let text = match turn {
            1 => format!("My word is w{conversation}x. What is it?"),
            turn => format!("What is my word, once more ({turn})?"),
        };
        let answer = format!("Your word is w{conversation}x.");
        json!({"chat": format!("c{conversation}"), "turn": turn, "text": text, "answer": answer, "doc": "d1"})
    };
    let rows: Vec<String> = (0..conversations)
        .flat_map(|conversation| {
            (1..=TURNS).map(move |turn| row(conversation, turn).to_string() + "\n")
        })
        .collect();
    sandbox.write("talks.jsonl", rows.concat());
    sandbox.write(
        "corpus.jsonl",
        "{\"id\": \"d1\", \"text\": \"Words are remembered.\"}\n",
    );
    sandbox.write(
        "talks.yaml",
        "name: talks\n\
         documents: {source: {path: corpus.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: talks.jsonl}, text: text, answer: answer, relevant: doc, conversation: chat, turn: turn}\n\
         retrieval: {limit: 5, headline: RR@5, measures: [RR@5]}\n",
    );
}

/// What a service remembers, and what it was asked: `c1-2 in c1`.
#[derive(Default)]
struct Memory {
    words: BTreeMap<String, String>,
    asked: Vec<String>,
}

fn word(text: &str) -> Option<String> {
    let (_, word) = text.split_once("My word is ")?;
    Some(word.split('.').next().unwrap().to_owned())
}

/// A service that remembers the word of each session, and forgets those whose name ends in one of `expired` after their first turn.
fn service(pause: Duration, expired: &'static str) -> (ScriptedServer, Arc<Mutex<Memory>>) {
    let memory: Arc<Mutex<Memory>> = Arc::default();
    let shared = Arc::clone(&memory);
    let server = ScriptedServer::start(move |request: &Received, _| {
        std::thread::sleep(pause);
        let body = &request.body;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (id, session) = (text(&body["id"]), text(&body["conversation"]));
        let mut memory = shared.lock().unwrap();
        memory.asked.push(id);
        let messages = body["messages"].as_array();
        let told = messages.and_then(|all| all.iter().find_map(|it| word(it["content"].as_str()?)));
        let known = match word(&text(&body["question"])) {
            Some(word) => {
                memory.words.insert(session, word.clone());
                Some(word)
            }
            None => told.or_else(|| {
                let (name, _) = session.split_once('@').unwrap_or((&session, ""));
                let is_gone = !expired.is_empty() && name.ends_with(expired);
                memory.words.get(&session).filter(|_| !is_gone).cloned()
            }),
        };
        match known {
            Some(word) => {
                let answer = format!("Your word is {word}.");
                Reaction::json(200, &json!({"answer": answer, "documents": ["d1"]}))
            }
            None => Reaction::json(200, &json!({"error": "the session has expired"})),
        }
    });
    (server, memory)
}

fn line(server: &ScriptedServer, options: &str) -> String {
    let address = format!("{}/ask", server.ollama_url());
    format!(
        "talks.yaml --target {address} --judge embedded:overlap --no-progress --set target.max_attempts=1 {options}"
    )
}

/// The cases of the newest report of a benchmark.
pub(crate) fn report(sandbox: &Sandbox, benchmark: &str) -> Value {
    let runs = sandbox.runs();
    let is_of =
        |run: &&std::path::PathBuf| read_json(&run.join("manifest.json"))["benchmark"] == benchmark;
    read_json(&runs.iter().rev().find(is_of).unwrap().join("report.json"))
}

/// The answer of each case, or why it failed.
pub(crate) fn transcript(report: &Value) -> BTreeMap<String, String> {
    let cases = report["cases"].as_array().unwrap().iter();
    cases
        .map(|case| {
            let result = &case["result"];
            let said = result["output"]["text"].as_str();
            let said = said.map_or_else(|| result.to_string(), str::to_owned);
            (case["id"].as_str().unwrap().to_owned(), said)
        })
        .collect()
}

fn assert_own_words(transcript: &BTreeMap<String, String>, conversations: usize) {
    assert_eq!(transcript.len(), conversations * TURNS);
    for (id, said) in transcript {
        let (conversation, _) = id[1..].split_once('-').unwrap();
        assert_eq!(*said, format!("Your word is w{conversation}x."), "{id}");
    }
}

#[test]
fn two_hundred_sessions_at_32_at_once_never_meet_and_are_clusters() {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 200);
    let (server, memory) = service(Duration::ZERO, "");
    let ended = sandbox.run(&line(
        &server,
        "--concurrency 32 --set target.session=true --set target.max_concurrency=32",
    ));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = report(&sandbox, "qa");
    assert_own_words(&transcript(&report), 200);
    assert_eq!(
        memory.lock().unwrap().asked.len(),
        800,
        "each turn once, for both benchmarks"
    );
    assert_eq!(memory.lock().unwrap().words.len(), 200);
    let sent = server.received_at("/ask");
    assert!(sent.iter().all(|it| it.body.get("messages").is_none()));
    assert_eq!(
        report["summary"]["clusters"]["key"],
        "metadata:conversation"
    );
    assert_eq!(report["summary"]["clusters"]["clusters"], 200);
}

#[test]
fn shards_have_whole_conversations_and_merge_to_the_run_of_one_machine() {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 12);
    let (server, memory) = service(Duration::ZERO, "5");
    let live = line(&server, "--set target.session=true");
    sandbox.run(&live);
    let whole = sandbox.runs();
    for shard in ["1/2", "2/2"] {
        sandbox.run(&format!("{live} --shard {shard}"));
    }
    assert_eq!(memory.lock().unwrap().asked.len(), 2 * (11 * TURNS + 2));
    sandbox.succeed("merge");
    let merged = &sandbox.runs()[3 * whole.len()..];
    assert_eq!(merged.len(), whole.len());
    for (one, merged) in whole.iter().zip(merged) {
        assert_eq!(untimed_report::report(one), untimed_report::report(merged));
    }
    let report = report(&sandbox, "qa");
    assert_eq!(report["analyses"][0]["title"], "conversations", "{report}");
}

#[test]
fn gold_history_is_sent_with_each_question() {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 2);
    let (server, _) = service(Duration::ZERO, "");
    sandbox.succeed(&line(&server, "--case c1-3"));
    let sent = server.received_at("/ask");
    let expected = json!([
        {"role": "user", "content": "My word is w1x. What is it?"},
        {"role": "assistant", "content": "Your word is w1x."},
        {"role": "user", "content": "What is my word, once more (2)?"},
        {"role": "assistant", "content": "Your word is w1x."},
        {"role": "user", "content": "What is my word, once more (3)?"},
    ]);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].body["messages"], expected);
    assert_eq!(sent[0].body["conversation"], "c1");
    let live = "--case c1-3 --set conversations.history=live";
    let estimate = sandbox.succeed(&line(&server, &format!("{live} --estimate")));
    assert!(
        estimate.contains(": 3 requests, cost unknown"),
        "{estimate}"
    );
    sandbox.succeed(&line(&server, live));
    assert_eq!(server.received_at("/ask").len(), 1 + 3);
    let compared = sandbox.succeed("compare");
    assert!(
        compared.contains("conversations.history: gold -> live"),
        "{compared}"
    );
    assert!(!compared.contains("conversations.turns"), "{compared}");
}

#[test]
fn a_session_that_expires_ends_its_conversation_and_no_other_one() {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 12);
    let (server, memory) = service(Duration::ZERO, "7");
    sandbox.run(&line(&server, "--set target.session=true"));
    let transcript = transcript(&report(&sandbox, "qa"));
    let lost: Vec<(&str, &str)> = transcript
        .iter()
        .filter(|(_, said)| !said.starts_with("Your word"))
        .map(|(id, said)| (id.as_str(), said.as_str()))
        .collect();
    assert_eq!(
        lost.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        ["c7-2", "c7-3", "c7-4"]
    );
    assert!(lost[0].1.contains("the session has expired"), "{lost:?}");
    assert!(
        lost[1]
            .1
            .contains("not asked, because turn 2 of conversation `c7` failed"),
        "{lost:?}"
    );
    assert_eq!(memory.lock().unwrap().asked.len(), 12 * TURNS - 2);
}

/// Starts the command, and kills it after a while. False if it ended by itself.
pub(crate) fn is_killed(sandbox: &Sandbox, line: &str, moment: Duration) -> bool {
    let mut command = sandbox.command(line);
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    std::thread::sleep(moment);
    if running.try_wait().unwrap().is_some() {
        return false;
    }
    running.kill().unwrap();
    running.wait().unwrap();
    true
}

#[test]
fn kills_at_any_moment_ask_no_turn_again_but_those_in_flight() {
    const AT_ONCE: usize = 3;
    let options = format!("--concurrency {AT_ONCE} --set conversations.history=live");
    let whole = |pause| {
        let sandbox = Sandbox::new();
        dataset(&sandbox, 15);
        let (server, memory) = service(pause, "");
        (sandbox, server, memory)
    };
    let (sandbox, server, _) = whole(Duration::ZERO);
    sandbox.succeed(&line(&server, &options));
    let undisturbed = transcript(&report(&sandbox, "qa"));
    assert_own_words(&undisturbed, 15);

    // Long enough that no run ends before its second kill: each lives for 400 ms at most, and all turns take 800.
    let (sandbox, server, memory) = whole(Duration::from_millis(40));
    let line = line(&server, &options);
    let mut kills = 0;
    let mut random: u64 = 7;
    let mut next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Duration::from_millis(150 + (random >> 33) % 250)
    };
    while kills < 20 && is_killed(&sandbox, &line, next()) {
        kills += 1;
    }
    if kills == 20 {
        let Ended { code, stderr, .. } = sandbox.run(&line);
        assert_eq!(code, Some(0), "{stderr}");
    }
    assert_eq!(transcript(&report(&sandbox, "qa")), undisturbed);
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for id in &memory.lock().unwrap().asked {
        *times.entry(id.clone()).or_default() += 1;
    }
    assert_eq!(times.len(), 15 * TURNS);
    let again: usize = times.values().map(|count| count - 1).sum();
    assert!(kills > 1, "it was too quick");
    assert!(
        again <= kills * AT_ONCE,
        "{again} asked again after {kills} kills: {times:?}"
    );
}

/// A judge that passes every answer, and finds a contradiction in the conversation about `contradicted`.
fn judge(contradicted: &'static str) -> ScriptedServer {
    ScriptedServer::start(move |request: &Received, _| {
        let prompt = prompt(request);
        if !prompt.starts_with("You read a conversation of a user") {
            return Reaction::say(r#"{"reason": "the same word", "pass": true}"#);
        }
        let verdict = |number: usize| {
            let fails = number == 2 && prompt.contains(contradicted);
            json!({"number": number, "verdict": if fails { "fails" } else { "holds" }})
        };
        let reason =
            |number: usize| json!({"number": number, "reason": format!("reason {number}")});
        Reaction::say(
            &json!({
                "reasons": [reason(1), reason(2), reason(3)],
                "id": nonce(prompt),
                "verdicts": [verdict(1), verdict(2), verdict(3)],
            })
            .to_string(),
        )
    })
}

#[test]
fn a_conversation_is_judged_once_with_the_answers_that_its_user_saw() {
    for history in ["conversations.history=live", "target.session=true"] {
        let sandbox = Sandbox::new();
        dataset(&sandbox, 3);
        let (service, _) = service(Duration::ZERO, "2");
        let judge = judge("w1x");
        let settings = json!({
            "providers": {"openai": {"base_url": judge.openai_url()}},
            "prices": {"judge": {"input": 1.0, "output": 2.0}},
        });
        sandbox.write("settings.yaml", settings.to_string());
        let address = format!("{}/ask", service.ollama_url());
        let line = format!(
            "talks.yaml --target {address} --judge openai:judge --judges conversation --config settings.yaml --no-progress \
             --set target.max_attempts=1 --set {history}"
        );
        if history.ends_with("live") {
            let gold = line.replace(history, "conversations.history=gold --estimate");
            let warned = sandbox.run(&gold).stderr;
            assert!(
                warned.contains("reads reference answers before each last question"),
                "{warned}"
            );
        }
        let estimate = sandbox.succeed(&format!("{line} --estimate"));
        assert!(
            estimate.contains("judges     openai:judge: 3 calls, "),
            "{estimate}"
        );
        sandbox.run(&line);
        let report = report(&sandbox, "qa");
        let verdicts = &report["summary"]["assertions"];
        // The third conversation ends at its second turn if its session expires.
        let judged = if history == "target.session=true" {
            2
        } else {
            3
        };
        let names = [
            "conversation complete",
            "conversation consistent",
            "answered at once",
        ];
        for (name, right) in names.into_iter().zip([judged, judged - 1, judged]) {
            assert_eq!(verdicts[name]["n"], judged, "{name}");
            let mean = verdicts[name]["value"].as_f64().unwrap();
            assert!(
                (mean * f64::from(judged) - f64::from(right)).abs() < 1e-9,
                "{name} {mean}"
            );
        }
        let asked = judge.received_at("/chat/completions");
        let asked = asked.iter().map(prompt);
        let asked: Vec<&str> = asked
            .filter(|it| it.contains("You read a conversation of a user"))
            .collect();
        assert_eq!(asked.len(), usize::try_from(judged).unwrap(), "{history}");
        let first = asked
            .iter()
            .find(|it| it.contains("\nMy word is w0x. What is it?\n</user-"));
        let answer = "\nYour word is w0x.\n</assistant-";
        assert!(first.is_some_and(|it| it.contains(answer)), "{asked:?}");
        let cases = report["cases"].as_array().unwrap().iter();
        let outcomes = |id: &str| {
            let case = cases.clone().find(|case| case["id"] == id).unwrap();
            let outcomes = case["outcomes"].as_array().unwrap().iter();
            let own = outcomes.filter(|it| names.contains(&it["name"].as_str().unwrap()));
            own.cloned().collect::<Vec<_>>()
        };
        assert!(outcomes("c1-3").is_empty());
        let verdict = &outcomes("c1-4")[1];
        assert_eq!(verdict["value"], json!({"assertion": false}));
        assert_eq!(verdict["reason"], "reason 2");
        assert_eq!(verdict["evidence"][0]["verdict"], "fails");

        let again = sandbox.succeed(
            "rejudge latest --judge openai:judge --judges conversation --config settings.yaml --no-progress",
        );
        assert!(again.contains("conversation consistent"), "{again}");
        let after = judge.received_at("/chat/completions");
        let after = after
            .iter()
            .filter(|it| prompt(it).contains("You read a conversation of a user"));
        assert_eq!(after.count(), asked.len(), "replies are stored");
    }
}

/// A run of four live conversations whose judge fails the second one for a contradiction, and its page `page.html`.
fn judged() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 4);
    let (service, _) = service(Duration::ZERO, "");
    let judge = judge("w1x");
    let settings = json!({"providers": {"openai": {"base_url": judge.openai_url()}}});
    sandbox.write("settings.yaml", settings.to_string());
    let address = format!("{}/ask", service.ollama_url());
    sandbox.succeed(&format!(
        "talks.yaml --target {address} --judge openai:judge --judges conversation --config settings.yaml --no-progress \
         --skip-retrieval --set conversations.history=live --out page.html"
    ));
    let run = sandbox.runs()[0].clone();
    let name = run.file_name().unwrap().to_str().unwrap();
    (sandbox, name.to_owned())
}

#[test]
fn a_page_has_the_history_of_a_turn_and_leads_to_the_other_turns() {
    let (sandbox, _) = judged();
    let cases = Page::of(&sandbox, "page.html").cases();
    let second = cases.iter().find(|case| case["id"] == "c1-2").unwrap();
    let turns = json!([[1, "c1-1"], [2, "c1-2"], [3, "c1-3"], [4, "c1-4"]]);
    assert_eq!(second["turns"], turns);
    let said = json!([
        ["User", "My word is w1x. What is it?"],
        ["Assistant", "Your word is w1x."]
    ]);
    assert_eq!(second["runs"][0]["said"], said);
}

#[test]
fn conversations_of_which_turns_were_not_run_are_not_whole() {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 3);
    let (server, _) = service(Duration::ZERO, "");
    let table = |options: &str| {
        sandbox.succeed(&line(&server, &format!("--skip-retrieval {options}")));
        let analyses = report(&sandbox, "qa")["analyses"].clone();
        let mut tables = analyses.as_array().into_iter().flatten();
        let table = tables.find(|it| it.to_string().contains("all turns right"));
        table.map(ToString::to_string)
    };
    let whole = table("").unwrap();
    assert!(!whole.contains("left out"), "{whole}");
    assert_eq!(table("--filter-case turn=2"), None);
    assert_eq!(table("--limit 2"), None);
    // All turns of the first conversation, and two of the second.
    let limited = table("--limit 6").unwrap();
    let note = "1 conversation without all of its turns is left out.";
    assert!(limited.contains(note), "{limited}");
    sandbox.succeed("rejudge latest --judge embedded:overlap --no-progress");
    let again = report(&sandbox, "qa").to_string();
    assert!(again.contains(note), "{again}");
}

#[test]
fn people_label_whole_conversations_at_their_last_turns() {
    let (sandbox, run) = judged();
    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let of = |page: &str| format!("/run/{run}/{page}?measure=conversation%20consistent");
    let parsed = |answer: Answer| -> Value {
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    };
    let page = viewer.get(&format!("/run/{run}/label")).body;
    assert!(
        page.contains("label?measure=conversation%20consistent\""),
        "{page}"
    );
    let queue = of("label/queue") + "&labeller=ada&method=random&size=16&seed=0";
    let queue = parsed(viewer.get(&queue));
    let mut labelled = Vec::new();
    for entry in queue["answers"].as_array().unwrap() {
        let case = entry["case"].as_str().unwrap();
        let answer = of("label/answer") + &format!("&case={case}&repeat=1");
        let answer = parsed(viewer.get(&answer));
        let criterion = answer["criterion"].as_str().unwrap();
        let asked = "No answer contradicts an earlier one";
        assert!(criterion.starts_with(asked), "{criterion}");
        assert_eq!(answer["said"].as_array().unwrap().len(), 2 * (TURNS - 1));
        let fails = ["c1-4", "c2-4"].contains(&case);
        let label = json!({
            "labeller": "ada", "method": "random", "size": 16, "seed": 0, "case": case, "repeat": 1, "digest": answer["digest"],
            "verdict": if fails { "fail" } else { "pass" }, "note": "",
        });
        parsed(viewer.send_json(&of("labels"), &label.to_string()));
        labelled.push(case.to_owned());
    }
    labelled.sort();
    assert_eq!(labelled, ["c0-4", "c1-4", "c2-4", "c3-4"]);
    // The judge fails `c1-4` alone: 3 of 4 labels agree, and 2 of 4 would by chance.
    let shown = parsed(viewer.send_json(&of("label/agreement"), r#"{"labeller": "ada"}"#));
    let statistics = shown["statistics"].as_array().unwrap().iter();
    let values: Vec<&Value> = statistics.take(2).map(|it| &it["value"]).collect();
    assert_eq!(values, ["0.7500", "0.5000"]);
    let mut command = sandbox.command("labels latest");
    let printed = ended(command.args(["--measure", "conversation consistent"]));
    assert!(printed.stdout.contains("0.5000"), "{printed:?}");
}

#[test]
fn our_own_pipeline_is_judged_by_the_history_that_it_reads() {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 2);
    let judge = judge("w1x");
    let settings = json!({"providers": {"openai": {"base_url": judge.openai_url()}}});
    sandbox.write("settings.yaml", settings.to_string());
    let line = "run talks.yaml --skip-retrieval --judge openai:judge --judges conversation --config settings.yaml --no-progress";
    let verdicts = |kind: &str, rest: &str| {
        sandbox.succeed(&format!("{line} {rest}"));
        report(&sandbox, "qa")["summary"][kind]["conversation complete"].clone()
    };
    // Without a single verdict, a report cannot know that it is one.
    let untold = verdicts("scores", "");
    assert!(untold["value"].is_null(), "{untold}");
    let reasons = untold.to_string();
    assert!(
        reasons.contains("the system did not get the earlier turns"),
        "{reasons}"
    );
    assert_eq!(verdicts("assertions", "--set search.history=1")["n"], 2);
    let asked = judge.received_at("/chat/completions");
    let asked = asked
        .iter()
        .map(prompt)
        .find(|it| it.contains("You read a conversation of a user"));
    let asked = asked.unwrap();
    assert!(
        asked.contains("\nWhat is my word, once more (3)?\n</user-"),
        "{asked}"
    );
    assert!(asked.contains(">\nYour word is w"), "{asked}");
    assert!(!asked.contains("once more (2)"), "{asked}");
    // The third and the fourth turns have older ones than the last.
    sandbox.succeed(
        "run talks.yaml --skip-retrieval --judge openai:judge --config settings.yaml --no-progress \
         --set search.history=9 --set evaluations.judge_context_tokens=1",
    );
    let cut = report(&sandbox, "qa").to_string();
    assert!(
        cut.contains("4 read without the oldest turns before them"),
        "{cut}"
    );
    for (limit, has_none) in [(1, true), (2, false)] {
        let said = sandbox.run(&format!("{line} --limit {limit}")).stderr;
        let warning = "the judge `conversation` has nothing to judge: no question of this run is a later turn";
        assert_eq!(said.contains(warning), has_none, "{said}");
    }
}

#[test]
fn what_cannot_be_asked_is_said_before_the_first_question() {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 2);
    let (server, memory) = service(Duration::ZERO, "");
    let both = "--set target.session=true --set conversations.history=gold";
    let refused = sandbox.refuse(&line(&server, both));
    assert!(
        refused.contains("keeps its own answers in its history"),
        "{refused}"
    );
    let alone = "run ./talks.yaml --skip-qa --no-progress --set conversations.history=live";
    let alone = sandbox.refuse(alone);
    assert!(
        alone.contains("`live` and `simulated` ask a `--target`"),
        "{alone}"
    );
    let rows: String = std::fs::read_to_string(sandbox.work().join("talks.jsonl")).unwrap();
    let kept: Vec<&str> = rows
        .lines()
        .filter(|row| !row.contains("\"turn\":2"))
        .collect();
    sandbox.write("talks.jsonl", kept.join("\n") + "\n");
    let gap = sandbox.refuse(&line(&server, ""));
    assert!(
        gap.contains("talks.jsonl:2: conversation `c0` has a turn 3, and no turn 2"),
        "{gap}"
    );
    assert!(memory.lock().unwrap().asked.is_empty());
}

#[test]
fn histories_that_are_not_what_they_seem_are_warned_of() {
    let sandbox = Sandbox::new();
    dataset(&sandbox, 2);
    let (server, _) = service(Duration::ZERO, "");
    let body = r#"--set target.body={"question":"{{question}}","conversation":"{{conversation}}"}"#;
    let warned = |options: &str| {
        let ended = sandbox.run(&line(&server, options));
        ended
            .stderr
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let remembered = "the request to the target has `conversation` and no `messages`; if it remembers conversations, set `target.session: true`";
    assert!(warned(body).contains(remembered));
    assert!(!warned(&format!("{body} --set target.session=true")).contains(remembered));
    assert!(!warned("").contains("no reference answer"));
    let rows = std::fs::read_to_string(sandbox.work().join("talks.jsonl")).unwrap();
    let first = rows.find("answer").unwrap() + 1;
    let (kept, others) = rows.split_at(first);
    sandbox.write(
        "talks.jsonl",
        kept.to_owned() + &others.replace("answer", "note"),
    );
    // Turns 3 and 4 of the first conversation, and 2 to 4 of the second one.
    let unanswered = "5 questions with earlier turns that have no reference answer";
    assert!(warned("").contains(unanswered));
    let own = "run ./talks.yaml --skip-qa --no-progress";
    let ended = sandbox.run(&format!("{own} --set search.history=2"));
    assert!(ended.stderr.contains(unanswered), "{}", ended.stderr);
    let manifest = std::fs::read_to_string(sandbox.work().join("talks.yaml")).unwrap();
    sandbox.write(
        "talks.yaml",
        manifest.replace("turn: turn}", "turn: turn, where: {chat: nobody}}"),
    );
    let refused = sandbox.refuse(own);
    assert!(
        refused.contains("dataset `talks` has no questions"),
        "{refused}"
    );
}

#[test]
fn the_example_of_the_guide_is_read() {
    let guide = page("docs/conversations.md");
    let sandbox = Sandbox::new();
    sandbox.write("talks.yaml", &blocks(&guide, "yaml")[0]);
    sandbox.write("talks.jsonl", &blocks(&guide, "json")[0]);
    sandbox.write(
        "towers.jsonl",
        "{\"id\": \"north\", \"text\": \"The north tower of 1412 has two bells.\"}\n",
    );
    let (server, _) = service(Duration::ZERO, "");
    let command = blocks(&guide, "bash")[0].replace("http://localhost:8000", &server.ollama_url());
    let command = command
        .trim()
        .strip_prefix("evaluations ")
        .unwrap()
        .to_owned();
    // The service knows no word here, so every first turn fails, and ends its conversation.
    sandbox.run(&format!(
        "{command} --judge embedded:overlap --no-progress --set target.max_attempts=1"
    ));
    let transcript = transcript(&report(&sandbox, "qa"));
    assert_eq!(transcript.keys().collect::<Vec<_>>(), ["a-1", "a-2"]);
    assert!(
        transcript["a-2"].contains("turn 1 of conversation `a` failed"),
        "{transcript:?}"
    );
    let own = "run ./talks.yaml --skip-qa --no-progress --set search.history=1 --group-by turn";
    sandbox.succeed(own);
    let groups = &report(&sandbox, "retrieval")["summary"]["groups"][0];
    let names: Vec<&Value> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(
        (&groups["key"], names),
        (&json!("turn"), vec![&json!("1"), &json!("2")])
    );
}
