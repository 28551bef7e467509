//! Test sets: run as they are, reviewed as CSV, and checked against changed documents.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, json as read_json, unwrapped};

const MANIFEST: &str = "\
name: harbours
documents: {source: {path: docs, files: ['*.md']}}
questions: {source: {path: questions.jsonl}, id: id, text: question, answer: answer, relevant: relevant, evidence: evidence, metadata: [kind]}
retrieval: {limit: 3, headline: nDCG@3, measures: [nDCG@3]}
";

const QUESTIONS: usize = 40;

fn text(number: usize) -> String {
    format!(
        "Harbour {number} was opened in {} by the crew of boat {number}. It is large.\n",
        1800 + number
    )
}

/// Three of four questions ask for a fact, and the others for a number.
fn question(number: usize) -> Value {
    let quote = format!("Harbour {number} was opened in {}", 1800 + number);
    let document = format!("d{number}.md");
    json!({
        "id": format!("q{number}"),
        "question": format!("When was harbour {number} opened?"),
        "answer": format!("In {}.", 1800 + number),
        "kind": if number.is_multiple_of(4) { "number" } else { "single_fact" },
        "relevant": [document],
        "evidence": [{"document": document, "quote": quote, "start": 0, "end": quote.len()}],
    })
}

/// A set of 40 questions in `folder`, with its documents.
fn write_set(sandbox: &Sandbox, folder: &str) {
    let lines: Vec<String> = (0..QUESTIONS)
        .map(|number| {
            sandbox.write(&format!("{folder}/docs/d{number}.md"), text(number));
            question(number).to_string()
        })
        .collect();
    sandbox.write(
        &format!("{folder}/questions.jsonl"),
        lines.join("\n") + "\n",
    );
    sandbox.write(&format!("{folder}/dataset.yaml"), MANIFEST);
}

fn set() -> Sandbox {
    let sandbox = Sandbox::new();
    write_set(&sandbox, "set");
    sandbox
}

/// Fills in an exported file: what `say` returns for the number of a question is the verdict, and the new question.
fn fill(sandbox: &Sandbox, file: &str, say: impl Fn(usize) -> (&'static str, &'static str)) {
    let path = sandbox.work().join(file);
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let header = reader.headers().unwrap().clone();
    let place = |column: &str| header.iter().position(|it| it == column).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(&path).unwrap();
    writer.write_record(&header).unwrap();
    for row in rows {
        let mut row: Vec<String> = row.iter().map(str::to_owned).collect();
        let (verdict, question) = say(row[place("id")][1..].parse().unwrap());
        verdict.clone_into(&mut row[place("verdict")]);
        question.clone_into(&mut row[place("new_question")]);
        writer.write_record(&row).unwrap();
    }
    writer.flush().unwrap();
}

/// The planted defects: 6 of the 30 facts, and 5 of the 10 numbers.
fn planted(number: usize) -> (&'static str, &'static str) {
    match number {
        1 => ("edit", "In which year did harbour 1 open?"),
        2 | 3 | 5 | 6 | 7 | 0 | 4 | 8 | 12 | 16 => ("drop", ""),
        _ => ("keep", ""),
    }
}

const RUN: &str = "set --skip-qa --profile bm25 --no-progress";

#[test]
fn a_review_changes_what_is_asked_and_every_report_has_its_rates() {
    let sandbox = set();
    let asked = sandbox.succeed(RUN);
    assert!(!asked.contains("defective"), "{asked}");
    let printed = sandbox.succeed("questions review set");
    assert!(
        printed.starts_with("40 questions, no sample of which is reviewed"),
        "{printed}"
    );

    sandbox.succeed("questions review set --export all.csv");
    fill(&sandbox, "all.csv", planted);
    let ended = sandbox.run("questions review set --import all.csv --labeller ada");
    assert!(
        ended.stderr.contains("added 40 reviews; 0 already known"),
        "{ended:?}"
    );
    let printed = unwrapped(&ended.stdout);
    let line = "defective questions: 27.5 % [27.5, 27.5] of the set before review (11 of 40 reviewed, of 40 questions); \
                single_fact 20.0 % [20.0, 20.0] (6 of 30); number 50.0 % [50.0, 50.0] (5 of 10)";
    assert!(printed.contains(line), "{printed}");
    let again = sandbox.run("questions review set --import all.csv --labeller ada");
    assert!(
        again.stderr.contains("added 0 reviews; 40 already known"),
        "{again:?}"
    );
    let record = read_json(&sandbox.work().join("set/record.json"));
    assert_eq!(record["defects"]["all"]["defective"], 11, "{record}");

    let ended = sandbox.run(&format!(
        "{RUN} --out report.json --out report.md --out report.html"
    ));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("using 30 of 40 questions: 10 dropped in review"),
        "{ended:?}"
    );
    let file = |name: &str| fs::read_to_string(sandbox.work().join(name)).unwrap();
    assert!(unwrapped(&ended.stdout).contains(line), "{}", ended.stdout);
    assert!(file("report.md").replace('\\', "").contains(line));
    assert!(file("report.html").contains("27.5 % [27.5, 27.5] of the set before review"));
    let report = read_json(&sandbox.work().join("report.json"));
    assert_eq!(report["metadata"]["defects"], record["defects"]);
    let runs = sandbox.runs();
    let [before, after] = [0, 1].map(|run| runs[run].display().to_string());
    let compared = unwrapped(&sandbox.succeed(&format!("compare {before} {after}")));
    assert!(compared.contains(line), "{compared}");
    let cases = report["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 30);
    assert_eq!(cases[0]["id"], "q1");
    assert!(
        cases[0]
            .to_string()
            .contains("In which year did harbour 1 open?"),
        "{}",
        cases[0]
    );
}

#[test]
fn a_sample_has_an_interval_around_the_planted_rate() {
    let sandbox = set();
    let listed = sandbox.succeed("questions review set --sample 20");
    assert_eq!(listed.lines().count(), 20, "{listed}");
    sandbox.succeed("questions review set --sample 20 --export sample.csv");
    fill(&sandbox, "sample.csv", planted);
    sandbox.succeed("questions review set --import sample.csv --labeller ada");
    let all = &read_json(&sandbox.work().join("set/record.json"))["defects"]["all"];
    let of = |key: &str| all[key].as_f64().unwrap();
    assert_eq!((of("questions"), of("reviewed")), (40.0, 20.0));
    assert!(of("low") < 0.275 && 0.275 < of("high"), "{all}");
    assert!(of("low") < of("rate") && of("rate") < of("high"), "{all}");
}

#[test]
fn what_is_not_of_the_set_is_refused_and_nothing_is_written() {
    let sandbox = set();
    write_set(&sandbox, "other");
    let changed = fs::read_to_string(sandbox.work().join("other/questions.jsonl")).unwrap();
    sandbox.write(
        "other/questions.jsonl",
        changed.replace("When was harbour 7", "When did harbour 7"),
    );
    sandbox.succeed("questions review other --export other.csv");
    fill(&sandbox, "other.csv", planted);
    let message = sandbox.refuse("questions review set --import other.csv");
    assert!(
        message.contains("line 2, column 13 (`set`): the row is not of this set"),
        "{message}"
    );
    assert!(!sandbox.work().join("set/review.jsonl").exists());
    let message = sandbox.refuse("questions review set --export other.csv");
    assert!(message.contains("`other.csv` exists"), "{message}");

    let mut lines: Vec<String> = changed.lines().map(str::to_owned).collect();
    lines[2] = lines[2].replace("\"kind\":", "\"sort\":");
    sandbox.write("set/questions.jsonl", lines.join("\n"));
    for line in [
        "questions review set",
        "questions review set --import other.csv",
        "questions check set",
    ] {
        let message = sandbox.refuse(line);
        assert!(
            message.contains("questions.jsonl`, line 3: missing key `kind`"),
            "{message}"
        );
    }
    lines[2] = "not a question".to_owned();
    sandbox.write("set/questions.jsonl", lines.join("\n"));
    let message = sandbox.refuse(RUN);
    assert!(
        message.contains("questions.jsonl:3: not valid JSON"),
        "{message}"
    );

    sandbox.write("texts/a.md", "A text.");
    let message = sandbox.refuse("texts");
    assert!(
        message.contains("the folder `texts` is not a dataset, because it has no `dataset.yaml`"),
        "{message}"
    );
    let message = sandbox.refuse("questions review nowhere --import other.csv");
    assert!(message.contains("nowhere"), "{message}");
    assert!(!sandbox.work().join("nowhere").exists());
}

#[test]
fn a_check_lists_the_stale_questions_and_an_update_leaves_them_out() {
    let sandbox = set();
    assert_eq!(
        sandbox.succeed("questions check set"),
        "40 questions: 0 stale, 0 with evidence that moved, 40 unchanged\n"
    );
    sandbox.succeed(RUN);
    let document = |number: usize, text: &str| {
        sandbox.write(&format!("set/docs/d{number}.md"), text);
    };
    document(10, &format!("Welcome, everybody. {}", text(10)));
    document(11, &text(11).replace("was opened", "was shut"));
    document(13, "This page was moved to the archive.\n");
    sandbox.write("set/docs/copy.md", format!("As we said: {}", text(14)));
    fs::remove_file(sandbox.work().join("set/docs/d15.md")).unwrap();

    let ended = sandbox.run("questions check set");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "40 questions: 4 stale, 1 with evidence that moved, 35 unchanged"
    );
    for (line, beginning) in lines[1..].iter().zip([
        "q11 (changed): document `d11.md` does not hold the quote `Harbour 11 was opened in 1811`; 83 % of its words stand in",
        "q13 (vanished): document `d13.md` does not hold the quote",
        "q14 (twin): its quote also stands in `copy.md`",
        "q15 (document_gone): there is no document `d15.md`",
    ]) {
        assert!(line.starts_with(beginning), "{line}");
    }
    assert_eq!(lines.len(), 5);
    let before = fs::read_to_string(sandbox.work().join("set/questions.jsonl")).unwrap();

    let ended = sandbox.run("questions check set --update");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("rewrote questions.jsonl with 36 questions"),
        "{ended:?}"
    );
    assert_eq!(
        sandbox.succeed("questions check set"),
        "36 questions: 0 stale, 0 with evidence that moved, 36 unchanged\n"
    );
    let after = fs::read_to_string(sandbox.work().join("set/questions.jsonl")).unwrap();
    let moved: Value = after
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|item: &Value| item["id"] == "q10")
        .unwrap();
    assert_eq!(moved["evidence"][0]["start"], 20);
    let history = fs::read_to_string(sandbox.work().join("set/history.jsonl")).unwrap();
    let update: Value = serde_json::from_str(&history).unwrap();
    assert_eq!(update["stale"].as_array().unwrap().len(), 4);
    assert_ne!(update["from"], update["to"]);
    assert!(before.contains("\"q11\"") && !after.contains("\"q11\""));

    sandbox.succeed(RUN);
    let runs = sandbox.runs();
    let compared = sandbox.succeed(&format!(
        "compare {} {}",
        runs[0].display(),
        runs[1].display()
    ));
    let compared = unwrapped(&compared);
    assert!(compared.contains("36 pairs"), "{compared}");
    assert!(compared.contains("cases only before"), "{compared}");
}

#[test]
fn a_review_outlives_an_update_of_the_set() {
    let sandbox = set();
    sandbox.succeed("questions review set --export early.csv");
    sandbox.succeed("questions review set --export late.csv");
    // Question 2 is dropped, and stays among the defective ones although its document goes.
    fill(&sandbox, "early.csv", |number| match number {
        2 => ("drop", ""),
        1 | 4 => ("keep", ""),
        _ => ("", ""),
    });
    fill(&sandbox, "late.csv", planted);
    sandbox.succeed("questions review set --import early.csv --labeller ada");
    for number in [2, 3] {
        fs::remove_file(sandbox.work().join(format!("set/docs/d{number}.md"))).unwrap();
    }
    let ended = sandbox.run("questions check set --update");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stdout.starts_with("40 questions: 1 stale"),
        "{ended:?}"
    );

    let ended = sandbox.run("questions review set --import late.csv --labeller ada");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let stderr = unwrapped(&ended.stderr);
    assert!(
        stderr.contains("added 38 reviews; 1 already known"),
        "{stderr}"
    );
    assert!(
        stderr.contains("left out 1 review of questions that changed after the export, or are not in the set any more: q3"),
        "{stderr}"
    );
    let all = &read_json(&sandbox.work().join("set/record.json"))["defects"]["all"];
    assert_eq!(
        (&all["questions"], &all["reviewed"], &all["defective"]),
        (&json!(39), &json!(39), &json!(10))
    );
}

#[test]
fn commands_come_before_folders_of_their_names() {
    let sandbox = Sandbox::new();
    for folder in ["check", "review"] {
        write_set(&sandbox, folder);
    }
    let message = sandbox.refuse("questions check");
    assert!(message.contains("questions check <FOLDER>"), "{message}");
    sandbox.succeed("questions check check");
    sandbox.succeed("questions review review");
    let message = sandbox.refuse("questions ./check --to new");
    assert!(
        message.contains("no model writes the questions"),
        "{message}"
    );
}
