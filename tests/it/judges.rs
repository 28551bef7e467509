//! Judges that decide claim by claim, rubrics and panels, over both protocols.

use std::time::Duration;

use serde_json::{Value, json};

use crate::pages::Page;
use crate::qa_server;
use crate::sandbox::{Sandbox, ended, json};
use crate::scripted_server::{Reaction, Received, Saying, ScriptedServer};

/// The prompt of a request, the same member in both protocols.
pub(crate) fn prompt(request: &Received) -> &str {
    request.body["messages"][0]["content"]
        .as_str()
        .unwrap_or_default()
}

/// The nonce that the prompt asks for.
pub(crate) fn nonce(prompt: &str) -> &str {
    let (_, after) = prompt.rsplit_once(r#""id": ""#).unwrap();
    &after[..16]
}

/// How many items the prompt numbers.
fn items(prompt: &str) -> usize {
    let mut words = prompt.split_whitespace();
    words.find_map(|word| word.parse().ok()).unwrap()
}

fn verdicts(prompt: &str, word: &str) -> String {
    let verdict = |number: usize| json!({"number": number, "verdict": word});
    let reason = |number: usize| json!({"number": number, "reason": format!("reason {number}")});
    let numbers = 1..=items(prompt);
    json!({
        "reasons": numbers.clone().map(reason).collect::<Vec<_>>(),
        "id": nonce(prompt),
        "verdicts": numbers.map(verdict).collect::<Vec<_>>(),
    })
    .to_string()
}

/// The reply of a judge that finds two claims in every text and passes everything.
pub(crate) fn reply(request: &Received) -> Reaction {
    let prompt = prompt(request);
    let text = if prompt.starts_with("You list the claims") {
        // Claims of different texts differ, so that no reply serves two requests.
        let (_, text) = prompt.split_once("<text-").unwrap();
        let text = text.lines().nth(1).unwrap();
        let claims = ["It is a tower.".to_owned(), format!("It says: {text}")];
        json!({"id": nonce(prompt), "claims": claims}).to_string()
    } else if prompt.starts_with("You list the points") {
        json!({"id": nonce(prompt), "claims": ["the tower"]}).to_string()
    } else if prompt.starts_with("You list the facts") {
        let nuggets = json!([{"text": "a tower", "vital": true}, {"text": "tall", "vital": false}]);
        json!({"id": nonce(prompt), "nuggets": nuggets}).to_string()
    } else if prompt.contains("numbered facts") {
        verdicts(prompt, "support")
    } else if prompt.starts_with("You check") {
        verdicts(prompt, "supported")
    } else if prompt.contains("numbered statements") {
        verdicts(prompt, "relevant")
    } else if prompt.contains("numbered passages whether") {
        verdicts(prompt, "useful")
    } else if prompt.contains("numbered points") {
        verdicts(prompt, "covered")
    } else if prompt.starts_with("You compare two answers") {
        // Prefers the answer with more letters, wherever it stands.
        let place = |tag: &str| prompt.find(tag).unwrap();
        let (first, second) = (place("<answer-1-"), place("<answer-2-"));
        let end = place("</answer-2-");
        let winner = if second - first > end - second {
            "1"
        } else {
            "2"
        };
        json!({"reason": "longer", "id": nonce(prompt), "winner": winner}).to_string()
    } else if prompt.contains("by one criterion") {
        json!({"reason": "brief", "id": nonce(prompt), "level": 2}).to_string()
    } else {
        return qa_server::reply(request, Duration::ZERO);
    };
    Reaction::Say(Saying::of(&text))
}

/// The reply of a judge that says this of every claim.
pub(crate) fn reply_with(request: &Received, verdict: &str) -> Reaction {
    Reaction::Say(Saying::of(&verdicts(prompt(request), verdict)))
}

pub(crate) const ALL: &str = "faithfulness,answer_relevance,context_precision,context_recall,factual_correctness,completeness,citation_support,nuggets";

fn score(report: &Value, name: &str) -> Value {
    report["summary"]["scores"][name]["value"].clone()
}

#[test]
fn every_judge_scores_and_keeps_its_evidence() {
    let server = ScriptedServer::start(|request, _| reply(request));
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, 2, &server);
    let estimate = ended(&mut qa_server::command(
        &sandbox,
        &format!("--judges {ALL} --estimate"),
    ));
    assert_eq!(estimate.code, Some(0), "{}", estimate.stderr);
    // For each of two questions: four lists and nine requests for verdicts. A list of claims may have a hundred, which take three requests;
    // seven of the nine are about such lists or about sentences with citations.
    assert!(
        estimate
            .stdout
            .contains("judges     openai:judge: 26 to 54 calls, "),
        "{}",
        estimate.stdout
    );
    let line = format!("--judges {ALL} --out report.json --out page.html");
    let run = ended(&mut qa_server::command(&sandbox, &line));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (answered, judged) = qa_server::asked(&server);
    assert_eq!((answered, judged), (2, 2 + 26), "as few as estimated");
    let report = json(&sandbox.work().join("report.json"));
    for name in [
        "faithfulness",
        "answer relevance",
        "context precision",
        "context recall",
        "factual precision",
        "factual recall",
        "factual F1",
        "completeness",
        "citation support",
        "weighted nuggets strict",
        "vital nuggets",
    ] {
        assert_eq!(score(&report, name), 1.0, "{name}");
    }
    let outcomes = report["cases"][0]["outcomes"].as_array().unwrap();
    let faithfulness = outcomes
        .iter()
        .find(|it| it["name"] == "faithfulness")
        .unwrap();
    assert_eq!(faithfulness["reason"], "2 of 2 claims supported");
    let evidence = json!({"text": "It is a tower.", "verdict": "supported", "holds": true, "reason": "reason 1"});
    assert_eq!(faithfulness["evidence"][0], evidence);
    let page = sandbox.succeed("runs show latest --case q0");
    assert!(
        page.contains("+ It is a tower.: supported; reason 1"),
        "{page}"
    );
    let cases = Page::of(&sandbox, "page.html").cases();
    let outcomes = cases[0]["runs"][0]["outcomes"].as_array().unwrap();
    let faithfulness = outcomes.iter().find(|it| it["name"] == "faithfulness");
    let reason = faithfulness.unwrap()["reason"].as_str().unwrap();
    let begin = "2 of 2 claims supported\nsupported: It is a tower.\n    reason 1\nsupported: ";
    assert!(reason.starts_with(begin), "{reason}");
    let manifest = json(&sandbox.runs()[0].join("manifest.json"));
    let prompts = manifest["prompts"].as_object().unwrap();
    assert!(
        prompts.contains_key("judge-citations.md.jinja"),
        "{prompts:?}"
    );
    assert!(
        !prompts.contains_key("judge-levels.md.jinja"),
        "{prompts:?}"
    );

    // The same command resumes nothing and asks nobody again; neither does a judgement of the stored answers.
    let again = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("rejudge latest --judges {ALL} --out again.json"),
    ));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(qa_server::asked(&server), (2, 28), "all replies are stored");
    assert_eq!(
        score(&json(&sandbox.work().join("again.json")), "factual F1"),
        1.0
    );
}

#[test]
fn rejudge_adds_judges_to_a_stored_run_over_ollama_and_says_the_cost_first() {
    let server = ScriptedServer::start(|request, _| reply(request));
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --limit 2");
    let mut settings = qa_server::settings(&server);
    settings["evaluations"]["judge"] =
        json!({"provider": "ollama", "name": "judge", "max_tokens": 100});
    settings["providers"]["ollama"] = json!({"base_url": server.ollama_url()});
    sandbox.write("settings.yaml", settings.to_string());
    let line = "rejudge latest --judges faithfulness,context_recall";
    let estimate = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("{line} --estimate"),
    ));
    assert_eq!(estimate.code, Some(0), "{}", estimate.stderr);
    assert!(
        estimate
            .stdout
            .contains("2 answers\njudging    ollama:judge: 2 calls"),
        "{}",
        estimate.stdout
    );
    assert!(
        estimate
            .stdout
            .contains("judges     ollama:judge: 8 to 16 calls, "),
        "{}",
        estimate.stdout
    );
    assert!(server.received_at("/chat").is_empty());
    let run = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("{line} --out report.json"),
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(server.received_at("/chat").len(), 10);
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(score(&report, "context recall"), 1.0);
    let support = server
        .received_at("/chat")
        .into_iter()
        .find(|it| prompt(it).starts_with("You check"));
    let format = &support.unwrap().body["format"];
    assert_eq!(format["required"], json!(["reasons", "id", "verdicts"]));
}

#[test]
fn rejudge_keeps_the_verdicts_of_judges_that_it_does_not_ask_again() {
    let server = ScriptedServer::start(|request, _| reply(request));
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, 2, &server);
    let mut settings = qa_server::settings(&server);
    settings["evaluations"]["panel"] = json!({"repeats": 3});
    sandbox.write("settings.yaml", settings.to_string());
    let first = ended(&mut qa_server::command(
        &sandbox,
        "--judges faithfulness,context_recall --out first.json",
    ));
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let first = json(&sandbox.work().join("first.json"));
    settings["evaluations"]["panel"] = json!({"repeats": 1});
    sandbox.write("settings.yaml", settings.to_string());
    let line = "rejudge latest --judges faithfulness --out again.json";
    let again = ended(&mut qa_server::with_settings(&sandbox, line));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let note = again
        .stderr
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        note.contains("by context_recall; `--judges` names judges to ask again"),
        "{note}"
    );
    let again = json(&sandbox.work().join("again.json"));
    assert_eq!(score(&again, "context recall"), 1.0);
    let outcome = |report: &Value, name: &str| {
        let outcomes = report["cases"][0]["outcomes"].as_array().unwrap().clone();
        outcomes.into_iter().find(|it| it["name"] == name).unwrap()
    };
    let of = |report: &Value, name: &str| {
        let outcome = outcome(report, name);
        let votes = outcome["evidence"][0]["votes"]
            .as_array()
            .map_or(1, Vec::len);
        (outcome["evaluator"].clone(), votes)
    };
    assert_eq!(of(&again, "context recall"), of(&first, "context recall"));
    assert_eq!(of(&again, "context recall").1, 3);
    assert_eq!(of(&again, "faithfulness").1, 1, "asked again");
    let repeats = |measure: &str| again["metadata"]["judges"][measure]["repeats"].clone();
    assert_eq!(
        (repeats("context recall"), repeats("faithfulness")),
        (3.into(), 1.into())
    );
    assert_eq!(repeats("equivalent (openai:judge)"), 3);
    assert_eq!(again["analyses"][0]["title"], "judges asked again");
}

#[test]
fn a_panel_of_a_dataset_file_has_the_table_of_agreement_too() {
    let server = ScriptedServer::start(|request, _| reply(request));
    let sandbox = Sandbox::new();
    sandbox.write("settings.yaml", qa_server::settings(&server).to_string());
    sandbox.write(
        "cases.yaml",
        "name: polite\ncases:\n  - {name: a, inputs: hello}\nevaluators:\n\
         - Rubric: {criterion: How brief?, levels: {1: long, 2: brief}, repeats: 3}\n",
    );
    sandbox.write("outputs.jsonl", "{\"id\": \"a\", \"answer\": \"hi\"}\n");
    let line = "eval cases.yaml --target outputs:outputs.jsonl --out report.json";
    let run = ended(&mut qa_server::with_settings(&sandbox, line));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["analyses"][0]["title"], "judges asked again");
    let row = json!(["rubric", "openai:judge", 1, 1.0, 0.0]);
    assert_eq!(report["analyses"][0]["rows"][0], row);
    let judge = &report["metadata"]["judges"]["rubric"];
    assert_eq!(judge["judges"]["judge"]["model"]["name"], "judge");
    assert_eq!(judge["criteria"]["Rubric"]["repeats"], 3);
}

#[test]
fn a_judge_that_miscounts_is_a_failure_and_not_a_score() {
    let server = ScriptedServer::start(|request, _| {
        let prompt = prompt(request);
        if prompt.starts_with("You check") {
            let few =
                json!({"id": nonce(prompt), "verdicts": [{"number": 1, "verdict": "supported"}]});
            return Reaction::Say(Saying::of(&few.to_string()));
        }
        reply(request)
    });
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, 2, &server);
    let run = ended(&mut qa_server::command(
        &sandbox,
        "--judges faithfulness,answer_relevance --out report.json",
    ));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(score(&report, "faithfulness"), Value::Null);
    assert_eq!(
        score(&report, "answer relevance"),
        1.0,
        "the others are not affected"
    );
    let failure = &report["cases"][0]["evaluator_failures"][0];
    let message = failure["message"].as_str().unwrap();
    assert!(
        message.ends_with("not even when asked again: `verdicts` lacks number 2"),
        "{message}"
    );
}

#[test]
fn a_panel_votes_and_the_report_says_how_far_its_judges_agree() {
    let server = ScriptedServer::start(|request, _| {
        let prompt = prompt(request);
        if request.body["model"] == "strict" {
            let text = if prompt.starts_with("You check") {
                verdicts(prompt, "not_found")
            } else {
                json!({"reason": "no", "id": nonce(prompt), "pass": false}).to_string()
            };
            return Reaction::Say(Saying::of(&text));
        }
        let mut request = request.clone();
        if request.body["model"] == "third" {
            request.body["model"] = "judge".into();
        }
        reply(&request)
    });
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, 2, &server);
    let mut settings = qa_server::settings(&server);
    settings["evaluations"]["judges"] = json!(["faithfulness"]);
    settings["evaluations"]["panel"] = json!({"models": ["openai:strict", "openai:third"]});
    sandbox.write("settings.yaml", settings.to_string());
    let run = ended(&mut qa_server::command(&sandbox, "--out report.json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(score(&report, "faithfulness"), 1.0, "two of three");
    assert_eq!(report["summary"]["assertions"]["equivalent"]["value"], 1.0);
    let analyses = report["analyses"].as_array().unwrap();
    let titles: Vec<&str> = analyses
        .iter()
        .map(|it| it["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["agreement of judges", "pairs of judges"]);
    // Four claims with two of three equal verdicts: α = 1 - D_o / D_e = 1 - (4 · 4/2) / (2 · 8 · 4 / 11) = -0.375.
    let row = json!(["faithfulness", 4, 3, 0.0, -0.375]);
    assert_eq!(analyses[0]["rows"][1], row);
    let manifest = json(&sandbox.runs()[0].join("manifest.json"));
    assert_eq!(manifest["models"]["judge 2"]["name"], "strict");
    let page = sandbox.succeed("runs show latest --case q0");
    assert!(page.contains("by openai:strict: not found"), "{page}");

    settings["evaluations"]["panel"] = json!({"models": ["openai:strict"]});
    sandbox.write("settings.yaml", settings.to_string());
    let even = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(even.code, Some(2));
    assert!(
        even.stderr
            .contains("a majority needs an odd number of votes, and 2 × 1 are even"),
        "{}",
        even.stderr
    );

    settings["evaluations"]["panel"] = json!({"repeats": 27});
    sandbox.write("settings.yaml", settings.to_string());
    let many = ended(&mut qa_server::command(&sandbox, ""));
    assert_eq!(many.code, Some(2));
    assert!(
        many.stderr.contains("evaluations.panel.repeats")
            && many
                .stderr
                .contains("each judge is asked 25 times at most, and not 27 times"),
        "{}",
        many.stderr
    );
}

#[test]
fn rubrics_grade_and_repeats_show_how_far_a_judge_agrees_with_itself() {
    let server = ScriptedServer::start(|request, _| reply(request));
    let sandbox = Sandbox::new();
    qa_server::write(&sandbox, 2, &server);
    let mut settings = qa_server::settings(&server);
    settings["evaluations"]["rubrics"] = json!({"brevity": {
        "criterion": "How brief is it?", "levels": {"1": "long", "2": "brief"}, "pass": 2,
    }});
    settings["evaluations"]["panel"] = json!({"repeats": 3});
    sandbox.write("settings.yaml", settings.to_string());
    let run = ended(&mut qa_server::command(&sandbox, "--out report.json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("judges are asked again at temperature 0"),
        "{}",
        run.stderr
    );
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(score(&report, "brevity"), 2.0);
    assert_eq!(
        report["summary"]["assertions"]["brevity pass"]["value"],
        1.0
    );
    let consistency = &report["analyses"][0];
    assert_eq!(consistency["title"], "judges asked again");
    assert_eq!(
        consistency["rows"][0],
        json!(["brevity", "openai:judge", 2, 1.0, 0.0])
    );
    assert_eq!(
        qa_server::asked(&server),
        (2, 12),
        "three votes on each answer, and three levels"
    );
}

#[test]
fn settings_that_no_judge_can_follow_are_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let refused = sandbox.refuse("sample --skip-retrieval --judges faithfulness");
    assert!(
        refused.contains("`embedded:overlap` is not one"),
        "{refused}"
    );
    let unknown = sandbox.refuse("sample --judges faithfullness");
    assert!(unknown.contains("faithfulness"), "{unknown}");
    let settings =
        json!({"evaluations": {"rubrics": {"tone": {"criterion": "x", "levels": {"1": "a"}}}}});
    sandbox.write("settings.yaml", settings.to_string());
    let rubric = sandbox.refuse("sample --skip-retrieval --judge ollama:m --config settings.yaml");
    assert!(rubric.contains("evaluations.rubrics"), "{rubric}");
    assert!(sandbox.runs().is_empty());
}

#[test]
fn two_runs_are_compared_pair_by_pair_in_both_orders() {
    let server = ScriptedServer::start(|request, _| reply(request));
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --limit 4 --name short --set search.limit=1");
    sandbox.succeed("sample --skip-retrieval --limit 4 --name long --set search.limit=5");
    let [short, long] = sandbox.runs().try_into().unwrap();
    let answer = |run: &std::path::Path, number: usize| {
        json(&run.join("report.json"))["cases"][number]["result"]["output"]["text"].clone()
    };
    let differ = (0..4)
        .filter(|number| answer(&short, *number) != answer(&long, *number))
        .count();
    let name = |run: &std::path::Path| run.file_name().unwrap().to_string_lossy().into_owned();
    sandbox.write("settings.yaml", qa_server::settings(&server).to_string());
    let line = format!("rejudge {} --against {}", name(&long), name(&short));
    let estimate = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("{line} --estimate"),
    ));
    assert_eq!(estimate.code, Some(0), "{}", estimate.stderr);
    if differ > 0 {
        let pairs = format!("pairs      openai:judge: {} calls", 2 * differ);
        assert!(estimate.stdout.contains(&pairs), "{}", estimate.stdout);
    }
    let run = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("{line} --out report.json"),
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (_, judged) = qa_server::asked(&server);
    assert_eq!(judged, 4 + 2 * differ);
    let report = json(&sandbox.work().join("report.json"));
    let row = &report["analyses"][0]["rows"][0];
    assert_eq!(row[0], 4, "{row}");
    assert_eq!(row[1], 4 - differ, "pairs of the same answer: {row}");
    let counted: u64 = (2..5).map(|place| row[place].as_u64().unwrap()).sum();
    assert_eq!(counted, 4, "{row}");
    let again = ended(&mut qa_server::with_settings(&sandbox, &line));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(qa_server::asked(&server).1, judged, "nobody is asked again");

    let itself = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("rejudge {0} --against {0}", name(&long)),
    ));
    assert_eq!(itself.code, Some(2));
    assert!(
        itself.stderr.contains("names the run itself"),
        "{}",
        itself.stderr
    );
    let embedded = sandbox.refuse(&line);
    assert!(
        embedded.contains("`--against` needs a chat model"),
        "{embedded}"
    );
}

#[test]
fn dataset_files_name_the_judges_and_say_what_they_cost() {
    let server = ScriptedServer::start(|request, _| reply(request));
    let sandbox = Sandbox::new();
    sandbox.write("settings.yaml", qa_server::settings(&server).to_string());
    let outputs = json!({"id": "tower", "answer": "It is a tower. [1]", "documents": [{"id": "d", "text": "It is a tower."}]});
    sandbox.write("outputs.jsonl", format!("{outputs}\n"));
    sandbox.write(
        "towers.eval.yaml",
        "cases:\n- {name: tower, inputs: What is it?, expected_output: A tower.}\n\
         evaluators:\n- Faithfulness\n- FactualCorrectness\n- CitationSupport\n\
         - Rubric: {criterion: brief, levels: {1: long, 2: brief}, pass: 2}\n",
    );
    let line = "eval towers.eval.yaml --target outputs:outputs.jsonl";
    let estimate = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("{line} --estimate"),
    ));
    assert_eq!(estimate.code, Some(0), "{}", estimate.stderr);
    assert!(
        estimate.stdout.contains("8 calls of openai:judge"),
        "{}",
        estimate.stdout
    );
    let run = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("{line} --out report.json"),
    ));
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    for (name, value) in [
        ("faithfulness", 1.0),
        ("factual F1", 1.0),
        ("citation support", 1.0),
        ("rubric", 2.0),
    ] {
        assert_eq!(score(&report, name), value, "{name}");
    }
    // The claims of the answer are listed once for two evaluators.
    assert_eq!(server.received_at("/chat/completions").len(), 7);
    let refused = sandbox.refuse("eval towers.eval.yaml --target outputs:outputs.jsonl");
    assert!(refused.contains("needs a chat model"), "{refused}");
}
