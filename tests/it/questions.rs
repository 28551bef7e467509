//! `evaluations questions SOURCE`: a test set from documents, written and filtered by scripted models.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::{Ended, Sandbox, ended, unwrapped, wait_for};
use crate::scripted_server::{Reaction, Received, Saying, ScriptedServer};

/// The prompt of a request.
fn prompt(request: &Received) -> &str {
    request.body["messages"][0]["content"].as_str().unwrap()
}

/// The text of a block of a prompt, such as `question`.
fn block<'p>(prompt: &'p str, name: &str) -> &'p str {
    let (_, rest) = prompt.split_once(&format!("<{name}-")).unwrap();
    let (_, rest) = rest.split_once(">\n").unwrap();
    rest.split_once("\n</").unwrap().0
}

/// A reply, with the id that a prompt asks for in place of `ID`.
fn say(prompt: &str, reply: &Value) -> Saying {
    let (_, id) = prompt.rsplit_once(r#""id": ""#).unwrap();
    Saying::of(
        &reply
            .to_string()
            .replace(r#""ID""#, &format!("{:?}", &id[..16])),
    )
}

/// A server that replies to prompts, after a while.
fn replying(
    after: Duration,
    reply: impl Fn(&str) -> Value + Send + Sync + 'static,
) -> ScriptedServer {
    ScriptedServer::start(move |request, _| {
        if !request.path.ends_with("/chat/completions") {
            return Reaction::Sound;
        }
        let prompt = prompt(request);
        Reaction::Say(Saying {
            after,
            ..say(prompt, &reply(prompt))
        })
    })
}

/// The number of the ferry that a text is about.
fn ferry(text: &str) -> usize {
    let (_, rest) = text.split_once("ferry N").unwrap();
    let digits = rest.split(|it: char| !it.is_ascii_digit()).next().unwrap();
    digits.parse().unwrap()
}

/// Writes a question about the ferry of the passage.
fn written(prompt: &str) -> Value {
    let passage = block(prompt, "passage-1");
    let number = ferry(passage);
    let quote = |passage| format!("carries {} passengers", ferry(passage) + 100);
    if prompt.contains("comes near to but does not say") {
        return json!({"near_miss": "its size", "question": format!("Which colour does ferry N{number} have?"), "id": "ID", "answer": null});
    }
    let mut quotes = vec![quote(passage)];
    let mut question = format!("How many people fit aboard ferry N{number}?");
    if prompt.contains("<passage-2-") {
        let other = block(prompt, "passage-2");
        quotes.push(quote(other));
        question = format!("Is ferry N{number} or ferry N{} larger?", ferry(other));
    }
    json!({"question": question, "id": "ID", "answer": (number + 100).to_string(), "quotes": quotes})
}

/// Finds no fault.
fn judged(prompt: &str) -> Value {
    if prompt.starts_with("You are shown a question without") {
        json!({"reason": "", "id": "ID", "clear": true, "answer": null})
    } else if prompt.starts_with("You check whether quotes") {
        json!({"reason": "it says so", "id": "ID", "pass": true})
    } else if prompt.starts_with("You look for the passages that") {
        json!({"id": "ID", "answering": []})
    } else {
        // An answer to a question of a log.
        let passage = block(prompt, "passage-1");
        let answer = (ferry(passage) + 100).to_string();
        json!({"id": "ID", "answer": answer, "quotes": [format!("carries {answer} passengers")]})
    }
}

fn reply(prompt: &str) -> Value {
    if prompt.starts_with("You write one question") {
        written(prompt)
    } else {
        judged(prompt)
    }
}

fn models(after: Duration) -> ScriptedServer {
    replying(after, reply)
}

/// Documents about one ferry each, in three folders, and settings for the server.
fn ferries(server: &ScriptedServer) -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..40 {
        let text = format!(
            "# Ferry N{number}\n\nThe ferry N{number} carries {} passengers across the bay on every day of the week.\n",
            number + 100
        );
        sandbox.write(&format!("docs/{}/{number}.md", number % 3), text);
    }
    settings(&sandbox, server);
    sandbox
}

fn settings(sandbox: &Sandbox, server: &ScriptedServer) {
    let settings = json!({
        "search": {"profile": "bm25"},
        "qa": {"model": {"provider": "openai", "name": "writer"}},
        "evaluations": {"judge": {"provider": "openai", "name": "judge"}, "concurrency": 4},
        "providers": {"openai": {"base_url": server.openai_url(), "max_concurrency": 4}},
        "prices": {"writer": {"input": 1000.0, "output": 1000.0}, "judge": {"input": 1000.0, "output": 1000.0}},
    });
    sandbox.write("settings.yaml", settings.to_string());
}

const LINE: &str = "questions docs --to set --count 20 --seed 3 --config settings.yaml";

fn write_set(sandbox: &Sandbox, line: &str) -> Ended {
    let ended = sandbox.run(line);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended
}

/// The names and bytes of the files of a set, its lock apart.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap());
    let entries = entries.filter(|it| it.file_name() != ".lock");
    let mut files: Vec<_> = entries
        .map(|it| (PathBuf::from(it.file_name()), fs::read(it.path()).unwrap()))
        .collect();
    files.sort();
    files
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// How many requests came more than once.
fn repeated(server: &ScriptedServer) -> usize {
    let asked = server.received_at("/chat/completions");
    let distinct: BTreeSet<u64> = asked.iter().map(Received::hash).collect();
    asked.len() - distinct.len()
}

#[test]
fn a_set_is_written_and_runs_as_it_is() {
    let server = models(Duration::ZERO);
    let sandbox = ferries(&server);
    let ended = write_set(&sandbox, LINE);
    assert!(
        ended.stderr.contains("next: `evaluations view set`"),
        "{}",
        ended.stderr
    );
    for shown in [
        "20 questions about the documents of docs",
        "single_fact",
        "and 3 of 3 parts",
        "RepliQA, people",
    ] {
        assert!(ended.stdout.contains(shown), "{shown}: {}", ended.stdout);
    }
    let calls = server.received_at("/chat/completions").len();
    let asked = format!("asked the models with {calls} calls for $");
    assert!(ended.stderr.contains(&asked), "{}", ended.stderr);
    let set = sandbox.work().join("set");
    let questions = lines(&set.join("questions.jsonl"));
    assert_eq!(questions.len(), 20);
    let kinds: BTreeSet<&str> = questions
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds.len(), 8);
    for question in &questions {
        let answerable = question["kind"] != "unanswerable";
        let sentence = "The documents do not answer this question.";
        assert_eq!(question["answer"] != sentence, answerable, "{question}");
        for span in question["evidence"].as_array().unwrap() {
            let path = sandbox
                .work()
                .join("docs")
                .join(span["document"].as_str().unwrap());
            let text: Vec<char> = fs::read_to_string(path).unwrap().chars().collect();
            let [start, end] = ["start", "end"].map(|it| {
                let place = span[it].as_u64().unwrap();
                usize::try_from(place).unwrap()
            });
            let found: String = text[start..end].iter().collect();
            assert_eq!(span["quote"], found);
        }
    }
    let mut narrow = sandbox.command(&LINE.replace("--to set", "--to narrow"));
    let narrow = crate::sandbox::ended(narrow.env("COLUMNS", "40")).stdout;
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 40),
        "{narrow}"
    );
    assert!(narrow.contains("WixQA, people"), "{narrow}");
    let record = crate::sandbox::json(&set.join("record.json"));
    assert_eq!(record["models"]["writer"]["name"], "writer");
    assert_eq!(record["kinds"]["unanswerable"], 2);
    assert_eq!(record["prompts"].as_object().unwrap().len(), 7);
    assert!(record["diversity"]["spread"].as_f64().unwrap() > 0.0);

    let run = sandbox.run("run set --config settings.yaml --skip-qa --out scores.json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        !run.stderr.contains("indexed"),
        "the index of the set is used again: {}",
        run.stderr
    );
    let report = crate::sandbox::json(&sandbox.work().join("scores.json"));
    assert!(report["cases"].as_array().unwrap().len() >= 18);
    assert!(
        report["summary"]["scores"]["nDCG@10"]["value"]
            .as_f64()
            .unwrap()
            > 0.9
    );
    assert_eq!(report["summary"]["scores"]["nDCG@10"]["n"], 18);
    // A comparison links the questions about its two documents.
    let cases = report["cases"].as_array().unwrap();
    let cluster = |id: &Value| &cases.iter().find(|it| it["id"] == *id).unwrap()["cluster"];
    for comparison in questions.iter().filter(|it| it["kind"] == "comparison") {
        let documents = comparison["relevant"].as_array().unwrap();
        let linked = questions.iter().filter(|it| {
            let relevant = it["relevant"].as_array().unwrap();
            relevant.iter().any(|it| documents.contains(it))
        });
        for question in linked {
            assert_eq!(cluster(&question["id"]), cluster(&comparison["id"]));
        }
    }
    assert_eq!(
        report["summary"]["clusters"]["key"], "document",
        "{}",
        report["summary"]
    );
    assert_eq!(repeated(&server), 0);
}

#[test]
fn the_seed_decides_every_byte_and_a_finished_set_is_not_overwritten() {
    let server = models(Duration::ZERO);
    let sandbox = ferries(&server);
    write_set(&sandbox, LINE);
    let asked = server.received_at("/chat/completions").len();
    let first = files(&sandbox.work().join("set"));
    let refused = sandbox.refuse(LINE);
    assert!(
        unwrapped(&refused).contains("`set` holds a set of questions already"),
        "{refused}"
    );
    // What a killed command leaves is replaced. A folder with reviews of other questions is not.
    fs::rename(sandbox.work().join("set"), sandbox.work().join("old")).unwrap();
    sandbox.write("set/.lock", "");
    sandbox.write("set/review.jsonl", "");
    let refused = sandbox.refuse(LINE);
    assert!(
        unwrapped(&refused).contains("`set` is not empty"),
        "{refused}"
    );
    fs::remove_file(sandbox.work().join("set/review.jsonl")).unwrap();
    sandbox.write("set/record.json", "{}");
    let again = write_set(&sandbox, LINE);
    assert!(
        !again.stderr.contains("asked the models"),
        "{}",
        again.stderr
    );
    assert_eq!(files(&sandbox.work().join("set")), first);
    assert_eq!(server.received_at("/chat/completions").len(), asked);
    fs::remove_dir_all(sandbox.work().join("set")).unwrap();
    write_set(&sandbox, &LINE.replace("--seed 3", "--seed 4"));
    assert_ne!(files(&sandbox.work().join("set")), first);
}

#[test]
fn a_killed_command_goes_on_and_pays_nothing_twice() {
    let server = models(Duration::from_millis(40));
    let sandbox = ferries(&server);
    for asked in [9, 40] {
        let mut command = sandbox.command(LINE);
        let mut child = command
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("requests", || server.received().len() >= asked);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!sandbox.work().join("set/questions.jsonl").exists());
    }
    write_set(&sandbox, LINE);
    let killed = files(&sandbox.work().join("set"));
    // Nobody read the replies to the requests that were under way when the command was killed.
    assert!(repeated(&server) <= 2 * 4, "{}", repeated(&server));
    let fresh = ferries(&server);
    write_set(&fresh, LINE);
    assert_eq!(files(&fresh.work().join("set")), killed);
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_keeps_its_replies_and_goes_on() {
    use crate::signals::{end_of, signal, start};

    let server = models(Duration::from_millis(200));
    let sandbox = ferries(&server);
    let asked = || server.received_at("/chat/completions").len();
    for least in [9, 40] {
        let child = start(&mut sandbox.command(LINE));
        wait_for("requests", || asked() >= least);
        signal(&child, "INT");
        let stopped = end_of(child);
        let stderr = unwrapped(&stopped.stderr);
        assert_eq!(stopped.code, Some(130), "{stderr}");
        assert!(
            stderr.contains("replies are stored; run the same command again to go on"),
            "{stderr}"
        );
        assert!(!stderr.contains("without a reply"), "{stderr}");
        let work = sandbox.work();
        assert!(!work.join("set").exists(), "nothing is half-written");
    }
    write_set(&sandbox, LINE);
    assert_eq!(repeated(&server), 0, "a reply was paid twice");
    let (fresh, paid) = (ferries(&server), asked());
    write_set(&fresh, LINE);
    assert_eq!(asked(), 2 * paid, "a different machine pays as much");
    let [one, other] = [&sandbox, &fresh].map(|it| files(&it.work().join("set")));
    assert_eq!(one, other);
}

/// Lists the facts of an answer, of which the judge then finds all in every answer.
fn facts(prompt: &str) -> Value {
    if prompt.starts_with("You list the facts") {
        let number = block(prompt, "text").trim();
        json!({"id": "ID", "nuggets": [{"text": format!("it is {number}"), "vital": true}, {"text": "by sea", "vital": false}]})
    } else if prompt.contains("numbered facts") {
        let count = prompt.split_whitespace().find_map(|it| it.parse().ok());
        let verdicts = (1..=count.unwrap_or(0))
            .map(|number: usize| json!({"number": number, "verdict": "support"}));
        json!({"reasons": [], "id": "ID", "verdicts": verdicts.collect::<Vec<_>>()})
    } else if prompt.starts_with("You grade one answer") || prompt.contains("declines to answer") {
        // It is right, and does not decline.
        json!({"reason": "so", "id": "ID", "pass": prompt.starts_with("You grade")})
    } else {
        reply(prompt)
    }
}

#[test]
fn facts_are_written_once_edited_by_people_and_used_by_every_run() {
    let server = ScriptedServer::start(|request, _| {
        if !request.path.ends_with("/chat/completions") {
            return Reaction::Sound;
        }
        let prompt = prompt(request);
        if request.body["model"] != "judge" && !prompt.starts_with("You write one question") {
            return Reaction::Say(Saying::of("It carries some. [1]"));
        }
        Reaction::Say(say(prompt, &facts(prompt)))
    });
    let sandbox = ferries(&server);
    write_set(&sandbox, LINE);
    let path = sandbox.work().join("set/questions.jsonl");
    let answerable = 18;
    let listed = || {
        let asked = server.received_at("/chat/completions");
        let lists = asked
            .iter()
            .filter(|it| prompt(it).starts_with("You list the facts"));
        lists.count()
    };
    let estimate = sandbox.succeed("questions nuggets set --config settings.yaml --estimate");
    assert!(
        estimate.starts_with("listing facts with openai:judge: 18 calls"),
        "{estimate}"
    );
    assert_eq!(listed(), 0);
    let reviewed = lines(&path)
        .into_iter()
        .find(|it| it["kind"] == "single_fact");
    let id = reviewed.unwrap()["id"].clone();
    let edit = json!({"id": id, "verdict": "edit", "answer": "fourteen", "author": "ada", "time": "2026-05-01T12:00:00Z"});
    sandbox.write("set/review.jsonl", format!("{edit}\n"));

    // A budget for about five of the lists.
    let line = "questions nuggets set --config settings.yaml";
    let stopped = sandbox.run(&format!("{line} --budget 0.15"));
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let some = lines(&path);
    let with_facts = |set: &[Value]| {
        let facts = set.iter().map(|it| it["nuggets"].as_array().unwrap().len());
        facts.filter(|count| *count == 2).count()
    };
    assert_eq!(with_facts(&some), listed());
    assert!((1..answerable).contains(&listed()), "{}", listed());
    let ended = write_set(&sandbox, line);
    assert_eq!(listed(), answerable, "nothing is asked twice");
    let set = lines(&path);
    assert_eq!(with_facts(&set), answerable);
    let edited = set.iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(
        edited["nuggets"][0]["text"], "it is fourteen",
        "{}",
        ended.stderr
    );
    let history = lines(&sandbox.work().join("set/history.jsonl"));
    assert_eq!(history.len(), 2);
    assert_eq!(history[0]["to"], history[1]["from"]);
    let again = write_set(&sandbox, line);
    assert!(again.stderr.contains("has its facts"), "{}", again.stderr);

    // What people write into the file counts, and no judge lists facts any more.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("by sea", "across the bay")).unwrap();
    let run = "run set --config settings.yaml --skip-retrieval --judges nuggets --out scores.json";
    for answerer in ["one", "two"] {
        let run = sandbox.run(&format!("{run} --model openai:{answerer}"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let report = crate::sandbox::json(&sandbox.work().join("scores.json"));
        assert_eq!(
            report["summary"]["scores"]["weighted nuggets"]["value"],
            1.0
        );
        assert_eq!(
            report["summary"]["scores"]["weighted nuggets"]["n"],
            answerable
        );
    }
    assert_eq!(
        listed(),
        answerable,
        "a judge listed facts that the set has"
    );
    let asked = server.received_at("/chat/completions");
    let seen = asked.iter().filter(|it| {
        prompt(it).contains("across the bay") && prompt(it).contains("numbered facts")
    });
    assert!(seen.count() >= answerable);

    let manifest = sandbox.work().join("set/dataset.yaml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"nuggets\":\"nuggets\",", "")).unwrap();
    let refused = unwrapped(&sandbox.refuse(line));
    assert!(
        refused.contains("add `nuggets: nuggets` to its `questions`"),
        "{refused}"
    );
}

#[test]
fn an_estimate_sends_nothing_and_writes_nothing() {
    let server = models(Duration::ZERO);
    let sandbox = ferries(&server);
    let estimate = sandbox.succeed(&format!("{LINE} --estimate"));
    for shown in [
        "20 questions",
        "20 to 120 calls",
        "40 to 240 calls",
        "at most $",
    ] {
        assert!(estimate.contains(shown), "{shown}: {estimate}");
    }
    assert!(server.received_at("/chat/completions").is_empty());
    assert!(!sandbox.work().join("set").exists());
}

#[test]
fn a_spent_budget_stops_and_a_larger_one_goes_on() {
    let server = models(Duration::ZERO);
    let sandbox = ferries(&server);
    // A call costs 3.2 cents.
    let ended = sandbox.run(&format!("{LINE} --budget 0.5"));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        unwrapped(&ended.stderr)
            .contains("the budget of $0.5 is spent before everything is asked; replies are stored"),
        "{}",
        ended.stderr
    );
    assert!(
        !sandbox.work().join("set").exists(),
        "nothing is half-written"
    );
    let asked = server.received_at("/chat/completions").len();
    assert!((16..20).contains(&asked), "{asked}");
    write_set(&sandbox, &format!("{LINE} --budget 10"));
    assert_eq!(repeated(&server), 0);
}

#[test]
fn questions_of_a_log_get_answers_and_evidence() {
    let server = models(Duration::ZERO);
    let sandbox = ferries(&server);
    sandbox.write("log.csv", "time,question\n1,how many fit on ferry N7\n2,How many fit on ferry N7?\n3,size of ferry N12\n");
    write_set(
        &sandbox,
        "questions docs --to set --from log.csv --config settings.yaml",
    );
    let mut questions = lines(&sandbox.work().join("set/questions.jsonl"));
    questions.sort_by_key(|it| it["question"].to_string());
    assert_eq!(questions.len(), 2);
    assert_eq!(questions[0]["relevant"], json!(["1/7.md"]));
    assert_eq!(
        questions[1]["evidence"][0]["quote"],
        "carries 112 passengers"
    );
    let run = sandbox.run("run set --config settings.yaml --skip-qa");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

/// Models that ask about the longest word of any passage.
fn asking_about_words() -> ScriptedServer {
    replying(Duration::ZERO, |prompt| {
        if prompt.starts_with("You write one question") {
            let passage = block(prompt, "passage-1");
            let words = passage.split_whitespace();
            let word = words.max_by_key(|word| word.len()).unwrap();
            let quote = passage.lines().last().unwrap();
            json!({"question": format!("Why {word}?"), "id": "ID", "answer": "So it is.", "quotes": [quote]})
        } else {
            judged(prompt)
        }
    })
}

const SAMPLE: &str = "questions sample --to sets/of-sample --count 5 --config settings.yaml --set questions.mix.single_fact=1";

#[test]
fn a_built_in_dataset_is_copied_beside_the_questions() {
    let server = asking_about_words();
    let sandbox = Sandbox::new();
    settings(&sandbox, &server);
    write_set(&sandbox, SAMPLE);
    assert!(
        sandbox
            .work()
            .join("sets/of-sample/documents.jsonl")
            .is_file()
    );
    let run = sandbox.run("run sets/of-sample --config settings.yaml --skip-qa");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn bad_input_is_refused_before_anything_is_asked_or_written() {
    let server = models(Duration::ZERO);
    let sandbox = ferries(&server);
    fs::create_dir(sandbox.work().join("empty")).unwrap();
    sandbox.write("binary/a.bin", [0, 159, 146, 150]);
    sandbox.write("binary2/a.md", [0, 159, 146, 150]);
    sandbox.write("headings/a.md", "# Title\n");
    sandbox.write("table.csv", "id,text\n1,One\n");
    sandbox.write("full/notes.txt", "mine");
    sandbox.write("file", "mine");
    sandbox.write(
        "twice.jsonl",
        "{\"id\": \"1\", \"text\": \"a\"}\n{\"id\": \"1\", \"text\": \"b\"}\n",
    );
    sandbox.write(
        "twice.yaml",
        "name: twice\ndocuments: {source: {path: twice.jsonl}, uri: id, text: text}\n",
    );
    sandbox.write("empty.log", "\n");
    sandbox.write(
        "broken.jsonl",
        "{\"question\": \"a\"}\n{\"frage\": \"b\"}\n",
    );
    let tail = "--to set --config settings.yaml";
    for (line, message) in [
        (format!("nowhere {tail}"), "unknown dataset `nowhere`"),
        (
            format!("empty {tail}"),
            "`empty` holds no text, such as .md, .txt or .html; it is empty",
        ),
        (
            format!("binary {tail}"),
            "`a.bin` is in a format that is not read",
        ),
        (format!("binary2 {tail}"), "UTF-8"),
        (
            format!("headings {tail}"),
            "no document has a passage of at least 32 letters",
        ),
        (
            format!("./table.csv {tail}"),
            "is a table, so the manifest has to name its columns",
        ),
        (
            format!("./twice.yaml {tail}"),
            "document id `1` occurs twice",
        ),
        (
            "docs --to full --config settings.yaml".to_owned(),
            "`full` is not empty",
        ),
        (
            "docs --to file --config settings.yaml".to_owned(),
            "`file` is not a folder",
        ),
        (
            "docs --to set --judge openai:judge --config /dev/null".to_owned(),
            "no model writes the questions",
        ),
        (
            "docs --to set --model openai:writer --config /dev/null".to_owned(),
            "no model filters the questions",
        ),
        (
            format!("docs {tail} --count 1000000000"),
            "is more than the 10000 questions",
        ),
        (
            format!("docs {tail} --from nowhere.log"),
            "cannot read `nowhere.log`",
        ),
        (
            format!("docs {tail} --from empty.log"),
            "the log has no question",
        ),
        (
            format!("docs {tail} --from broken.jsonl"),
            "line 2 is not a JSON object with a text `question`, `query` or `text`",
        ),
        (
            format!("docs {tail} --set questions.mix.number=-1"),
            "`questions.mix.number` is -1",
        ),
        (
            format!("docs {tail} --set questions.mix.hard=1"),
            "`questions.mix`: unknown value `hard`",
        ),
        (
            format!("docs {tail} --budget 1 --model openai:other"),
            "`--budget` needs the price of `other`",
        ),
    ] {
        let refused = sandbox.refuse(&format!("questions {line}"));
        assert!(unwrapped(&refused).contains(message), "{line}: {refused}");
        assert!(!sandbox.work().join("set").exists(), "{line} left a folder");
    }
    assert!(server.received_at("/chat/completions").is_empty());
}

#[test]
fn documents_that_are_hard_to_ask_about_make_a_set() {
    let server = models(Duration::ZERO);
    let sandbox = Sandbox::new();
    settings(&sandbox, &server);
    let sentence = "The ferry N1 carries 101 passengers across the bay.";
    sandbox.write("one/a.md", sentence);
    let sentences = |count| {
        (0..count).map(|number| {
            format!(
                "The ferry N{number} carries {} passengers on its way. ",
                number + 100
            )
        })
    };
    sandbox.write("large/a.txt", sentences(100_000).collect::<String>());
    for number in 0..3 {
        sandbox.write(&format!("same/{number}.md"), sentence);
    }
    sandbox.write(
        "scripts/a.md",
        "ferry N5 carries 105 passengers。渡し船は毎朝九時に島へ向けて出航します。冬は運休です。",
    );
    for (folder, count, kept) in [
        ("one", 5, 1),
        ("large", 6, 6),
        ("same", 5, 1),
        ("scripts", 2, 1),
    ] {
        let line = format!(
            "questions {folder} --to set-{folder} --count {count} --config settings.yaml --set questions.mix.single_fact=1"
        );
        let ended = write_set(&sandbox, &line);
        let set = sandbox.work().join(format!("set-{folder}"));
        assert_eq!(
            lines(&set.join("questions.jsonl")).len(),
            kept,
            "{folder}: {}",
            ended.stdout
        );
        let is_short = unwrapped(&ended.stderr).contains("questions passed all filters after");
        assert_eq!(is_short, kept < count, "{folder}: {}", ended.stderr);
    }
}

#[test]
fn a_model_without_questions_writes_no_set() {
    for (text, message) in [
        (
            "Here is a question for you: why?",
            r#"10 replies in a row could not be read, so nothing further was asked; the last one begins: `"Here is a question for you: why?"`"#,
        ),
        (
            r#"{"frage": "Warum?"}"#,
            r#"the last one begins: `{"frage":"Warum?"}`"#,
        ),
        (
            r#"{"question": "Why is that so in the year?", "id": "ID", "answer": "So.", "quotes": ["no such words"]}"#,
            "most were dropped as `no_evidence` (12), the last because: no passage has these words, letter by letter: `no such words`. The same \
             command with `--verbose` lists all of them",
        ),
    ] {
        let said: Value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
        let server = replying(Duration::ZERO, move |_| said.clone());
        let sandbox = ferries(&server);
        let line = "questions docs --to set --count 4 --config settings.yaml --set questions.mix.single_fact=1";
        let refused = sandbox.refuse(line);
        assert!(unwrapped(&refused).contains(message), "{refused}");
        assert!(!sandbox.work().join("set").exists());
        // With those that were under way, each sent back once.
        let asked = server.received_at("/chat/completions").len();
        assert!(asked <= 2 * 14, "{asked}");
        let listed = unwrapped(&sandbox.refuse(&format!("{line} --verbose")));
        let is_listed = listed.contains("q0012 (no_evidence): Why is that so in the year?: ");
        assert_eq!(is_listed, message.contains("no_evidence"), "{listed}");
        assert_eq!(server.received_at("/chat/completions").len(), asked);
    }
    // The same question a hundred times.
    let server = replying(Duration::ZERO, |prompt| {
        let mut reply = reply(prompt);
        if reply["question"].is_string() {
            reply["question"] = "How many people fit aboard a ferry of the bay?".into();
        }
        reply
    });
    let sandbox = ferries(&server);
    let ended = write_set(
        &sandbox,
        "questions docs --to set --config settings.yaml --set questions.mix.single_fact=1",
    );
    assert!(unwrapped(&ended.stderr).contains("only 1 of 100 questions passed all filters after 300 attempts; most were dropped as `duplicate`"), "{}", ended.stderr);
    assert_eq!(lines(&sandbox.work().join("set/dropped.jsonl")).len(), 299);
}

#[test]
fn a_folder_has_one_writer() {
    let server = models(Duration::from_millis(300));
    let sandbox = ferries(&server);
    let mut command = sandbox.command(LINE);
    let mut child = command
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("requests", || {
        !server.received_at("/chat/completions").is_empty()
    });
    let refused = sandbox.refuse(LINE);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        unwrapped(&refused).contains("another process is writing to `set`"),
        "{refused}"
    );
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_half_of_a_set() {
    let server = asking_about_words();
    let sandbox = Sandbox::new();
    settings(&sandbox, &server);
    // Everything is stored and indexed, so that only the set is left to write.
    write_set(&sandbox, SAMPLE);
    fs::remove_dir_all(sandbox.work().join("sets/of-sample")).unwrap();
    let command = sandbox.command(SAMPLE);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(sandbox.work())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(Stdio::null());
    let refused = ended(&mut shell);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("cannot write `sets/of-sample/documents.jsonl"),
        "{}",
        refused.stderr
    );
    assert!(!sandbox.work().join("sets/of-sample").exists());
    write_set(&sandbox, SAMPLE);
}

/// What is wrong with a planted question, by who asks it, and the reason for which it has to go.
const PLANTED: [(&str, &str); 5] = [
    ("no evidence", "no_evidence"),
    ("copied", "copied"),
    ("two answers", "not_unique"),
    ("known", "needs_no_document"),
    ("unclear", "not_alone"),
];

/// The text from one word to another, or to its end if it has fewer words.
fn from_word(text: &str, from: usize, to: usize) -> &str {
    let starts = |word| text.match_indices(' ').nth(word).map(|(at, _)| at);
    let end = starts(to).unwrap_or(text.len());
    text[starts(from).unwrap_or_default()..end].trim()
}

/// The question of a person about the document of a passage, or one with a defect, as the prompt's asker says.
fn planted(prompt: &str, people: &[(String, String)]) -> Value {
    let passage = block(prompt, "passage-1");
    let passage = passage.split_once("\n\n").map_or(passage, |(_, text)| text);
    let opening: String = passage.chars().take(60).collect();
    let (text, question) = people
        .iter()
        .find(|(text, _)| text.contains(&opening))
        .unwrap();
    let (_, asker) = prompt.split_once("has not read it and is ").unwrap();
    let asker = asker.split('.').next().unwrap();
    let mut rare: Vec<&str> = text.split(|it: char| !it.is_alphabetic()).collect();
    rare.sort_by_key(|word| std::cmp::Reverse(word.len()));
    rare.dedup();
    // Of so many words that questions about two documents are no duplicates.
    let about = rare[..4].join(" and ");
    let (mut answer, mut quote) = ("an answer", from_word(passage, 20, 30));
    let question = match asker {
        "people" => question.clone(),
        "people again" => question.to_lowercase(),
        "no evidence" => {
            quote = "words that nobody wrote";
            format!("Where does {about} stand?")
        }
        "copied" => from_word(passage, 5, 17).to_owned(),
        "two answers" => format!("Who spoke of {about}?"),
        "known" => {
            answer = "7";
            format!("How many days has the week of {about}?")
        }
        "unclear" => format!("Why did she refuse them {about} later?"),
        other => panic!("{other}"),
    };
    json!({"question": question, "id": "ID", "answer": answer, "quotes": [quote]})
}

/// On the sample of `RepliQA` in the Hugging Face home that `EVALUATIONS_REAL_HF_HOME` names.
#[test]
fn defects_that_are_planted_among_questions_of_people_are_found() {
    let Some(home) = std::env::var_os("EVALUATIONS_REAL_HF_HOME") else {
        eprintln!("skipped: EVALUATIONS_REAL_HF_HOME names no Hugging Face home with RepliQA");
        return;
    };
    let sandbox = Sandbox::new();
    let with_home = |line: &str| {
        let ended = ended(sandbox.command(line).env("HF_HOME", &home));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended
    };
    with_home("datasets export repliqa --to exported --with-answers");
    let [documents, questions] = ["documents", "questions"]
        .map(|name| lines(&sandbox.work().join(format!("exported/{name}.jsonl"))));
    let people = questions.iter().map(|question| {
        let relevant = question["relevant"].as_object().unwrap();
        let id = relevant.keys().next().unwrap();
        let document = documents.iter().find(|it| it["id"] == id.as_str()).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&document["text"]), text(&question["question"]))
    });
    let people: Vec<(String, String)> = people.collect();
    let asked = people.clone();
    let server = replying(Duration::ZERO, move |prompt| {
        if prompt.starts_with("You write one question") {
            return planted(prompt, &asked);
        }
        let question = block(prompt, "question");
        if prompt.starts_with("You are shown a question without") {
            let known = question
                .starts_with("How many days has the week")
                .then_some("seven");
            let clear = !question.starts_with("Why did she");
            json!({"reason": "it names nobody", "id": "ID", "clear": clear, "answer": known})
        } else if prompt.starts_with("You look for the passages that") {
            let different = json!({"passage": 1, "same": false, "quote": "somebody else"});
            let answers = question.starts_with("Who spoke of");
            json!({"id": "ID", "answering": if answers { vec![different] } else { Vec::new() }})
        } else {
            json!({"reason": "", "id": "ID", "pass": true})
        }
    });
    settings(&sandbox, &server);
    let mut all = crate::sandbox::json(&sandbox.work().join("settings.yaml"));
    let askers = ["people", "people again"]
        .into_iter()
        .chain(PLANTED.map(|(asker, _)| asker));
    all["questions"] = json!({"mix": {"single_fact": 1}, "askers": askers.collect::<Vec<_>>()});
    all["search"] = json!({"profile": "hybrid"});
    sandbox.write("settings.yaml", all.to_string());
    with_home("questions repliqa --to set --count 40 --config settings.yaml");

    let kept = lines(&sandbox.work().join("set/questions.jsonl"));
    let dropped = lines(&sandbox.work().join("set/dropped.jsonl"));
    assert_eq!(kept.len() + dropped.len(), 120);
    for (asker, reason) in PLANTED {
        let of_asker = |it: &&Value| it["asker"] == asker;
        let found = dropped
            .iter()
            .filter(of_asker)
            .filter(|it| it["reason"] == reason);
        let found: BTreeSet<&str> = found.map(|it| it["question"].as_str().unwrap()).collect();
        let planted = kept.iter().chain(&dropped).filter(of_asker);
        // The same one again is a duplicate.
        let missed = planted
            .clone()
            .filter(|it| !found.contains(it["question"].as_str().unwrap()));
        let (planted, missed) = (planted.count(), missed.count());
        assert!(
            planted >= 9 && missed * 100 <= planted * 5,
            "{asker}: {missed} of {planted} missed"
        );
    }
    // Of a question and its repetition the first stays, and the other goes as a duplicate.
    let is_of_people = |it: &&Value| it["asker"].as_str().unwrap().starts_with("people");
    let folded = |it: &Value| it["question"].as_str().unwrap().to_lowercase();
    let all: BTreeSet<String> = kept
        .iter()
        .chain(&dropped)
        .filter(is_of_people)
        .map(folded)
        .collect();
    let stayed: Vec<String> = kept.iter().filter(is_of_people).map(folded).collect();
    assert!(
        all.len() >= 9 && stayed.len() * 100 >= all.len() * 95,
        "{} of {}",
        stayed.len(),
        all.len()
    );
    let distinct: BTreeSet<&String> = stayed.iter().collect();
    assert_eq!(distinct.len(), stayed.len());
    for repeated in dropped.iter().filter(is_of_people) {
        assert_eq!(repeated["reason"], "duplicate", "{repeated}");
    }
}
