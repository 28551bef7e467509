//! How many documents a target returned, and with which scores.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::{newest, report};
use crate::sandbox::{Sandbox, ended, unwrapped};

const QUESTIONS: usize = 5;

/// Twelve documents, and five questions with two relevant documents each.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let (mut documents, mut questions) = (String::new(), String::new());
    for number in 0..12 {
        let document = json!({"id": format!("d{number:02}"), "text": format!("Text {number}")});
        writeln!(documents, "{document}").unwrap();
    }
    for number in 0..QUESTIONS {
        let relevant = ["d01", "d07"];
        let question = json!({"id": format!("q{number}"), "question": format!("What is {number}?"), "relevant": relevant});
        writeln!(questions, "{question}").unwrap();
    }
    sandbox.write("documents.jsonl", documents);
    sandbox.write("questions.jsonl", questions);
    sandbox.write(
        "twelve.yaml",
        "name: twelve\n\
         documents: {source: {path: documents.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: questions.jsonl}, id: id, text: question, relevant: [relevant]}\n\
         retrieval: {limit: 10, headline: R@10, measures: [R@10, R@1]}\n",
    );
    sandbox
}

/// A file in which every question has the same reply.
fn replies(sandbox: &Sandbox, name: &str, documents: &[(&str, f64)]) {
    let documents = documents.iter();
    let documents = documents.map(|(id, score)| json!({"id": id, "score": score}));
    let documents: Vec<Value> = documents.collect();
    let mut rows = String::new();
    for number in 0..QUESTIONS {
        let row = json!({"id": format!("q{number}"), "documents": documents});
        writeln!(rows, "{row}").unwrap();
    }
    sandbox.write(name, rows);
}

const SHALLOW: [(&str, f64); 4] = [("d01", 6.17), ("d01", 5.5), ("d00", 3.25), ("d02", 3.25)];

#[test]
fn a_target_with_fewer_documents_than_the_measures_count_is_pointed_out() {
    let sandbox = sandbox();
    replies(&sandbox, "shallow.jsonl", &SHALLOW);
    let deep: Vec<(String, f64)> = (0..12)
        .map(|it| (format!("d{it:02}"), 9.0 - f64::from(it)))
        .collect();
    let deep: Vec<(&str, f64)> = deep
        .iter()
        .map(|(id, score)| (id.as_str(), *score))
        .collect();
    replies(&sandbox, "deep.jsonl", &deep);
    let run = |file: &str| {
        let line = format!("twelve.yaml --skip-qa --no-progress --target outputs:{file}");
        ended(&mut sandbox.command(&line))
    };
    let shallow = run("shallow.jsonl");
    assert_eq!(shallow.code, Some(0), "{}", shallow.stderr);
    let says = "documents per question: 3 (passages 4); R@10 counts up to 10";
    assert!(shallow.stdout.contains(says), "{}", shallow.stdout);
    let warns =
        "the median number of distinct documents per question is 3, and R@10 counts up to 10";
    assert!(
        unwrapped(&shallow.stdout).contains(warns),
        "{}",
        shallow.stdout
    );
    let folder = newest(&sandbox, "retrieval");
    let markdown = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(markdown.contains(warns), "{markdown}");
    let three = json!({"median": 3.0, "least": 3, "most": 3});
    let four = json!({"median": 4.0, "least": 4, "most": 4});
    let returned = &report(&sandbox, "retrieval")["metadata"]["documents_returned"];
    let expected = json!({"questions": QUESTIONS, "documents": three, "passages": four, "deepest": ["R@10", 10]});
    assert_eq!(*returned, expected);

    let deep = run("deep.jsonl");
    let says = "documents per question: 12; R@10 counts up to 10";
    assert!(deep.stdout.contains(says), "{}", deep.stdout);
    assert!(
        !deep.stdout.contains("the median number"),
        "{}",
        deep.stdout
    );
    let compared = sandbox.run("compare");
    let printed = unwrapped(&compared.stdout);
    for part in [
        "the median number of documents per question is 3 in `",
        "and 10 in `",
    ] {
        assert_eq!(printed.matches(part).count(), 1, "{printed}");
    }
}

#[test]
fn a_target_that_returns_nothing_is_pointed_out() {
    let sandbox = sandbox();
    replies(&sandbox, "empty.jsonl", &[]);
    let empty = sandbox.run("twelve.yaml --skip-qa --no-progress --target outputs:empty.jsonl");
    assert_eq!(empty.code, Some(0), "{}", empty.stderr);
    let warns =
        "the target returned no document at all (5 questions): its table or index may be empty";
    for said in [&unwrapped(&empty.stdout), &empty.stderr] {
        assert!(said.contains(warns), "{said}");
        assert!(!said.contains("the median number"), "{said}");
    }
    // A single document for a single question prevents the warning.
    let rows = fs::read_to_string(sandbox.work().join("empty.jsonl")).unwrap();
    sandbox.write("one.jsonl", rows.replacen("[]", "[\"d03\"]", 1));
    let one = sandbox.run("twelve.yaml --skip-qa --no-progress --target outputs:one.jsonl");
    assert!(!one.stderr.contains("no document at all"), "{}", one.stderr);
    let printed = unwrapped(&one.stdout);
    assert!(printed.contains("the median number"), "{printed}");
}

#[test]
fn scores_of_a_target_are_in_the_files_and_in_the_figures() {
    let sandbox = sandbox();
    replies(&sandbox, "shallow.jsonl", &SHALLOW);
    let line = "twelve.yaml --skip-qa --no-progress --target outputs:shallow.jsonl";
    let printed = sandbox.succeed(line);
    let says = "scores: relevant documents median 6.170, 6.170 to 6.170 (n 5); others median 3.250, 3.250 to 3.250 (n 10)";
    assert!(unwrapped(&printed).contains(says), "{printed}");
    let folder = newest(&sandbox, "retrieval");
    let trec = fs::read_to_string(folder.join("run.trec")).unwrap();
    let lines: Vec<&str> = trec.lines().take(3).collect();
    let starts = [
        "q0 Q0 d01 1 6.17 ",
        "q0 Q0 d00 2 3.25 ",
        "q0 Q0 d02 3 3.2499998 ",
    ];
    assert!(
        lines
            .iter()
            .zip(starts)
            .all(|(line, start)| line.starts_with(start)),
        "{trec}"
    );
    let [qrels, run] = ["qrels.trec", "run.trec"].map(|name| folder.join(name));
    let scored = sandbox.succeed(&format!(
        "score --qrels {} --run {} --measure R@10",
        qrels.display(),
        run.display()
    ));
    assert!(scored.contains("0.5000"), "{scored}");
    sandbox.succeed("report latest --figures figures");
    let figure = fs::read_to_string(sandbox.work().join("figures/document-scores.svg")).unwrap();
    assert!(figure.contains("relevant documents (n = 5)"), "{figure}");

    replies(
        &sandbox,
        "contradicting.jsonl",
        &[("d00", 1.0), ("d01", 2.0)],
    );
    let contradicting = sandbox.run(&line.replace("shallow", "contradicting"));
    let warns =
        "the target gave higher scores to later documents in 5 questions: their order counts";
    assert!(
        contradicting.stderr.contains(warns),
        "{}",
        contradicting.stderr
    );
    let trec = fs::read_to_string(newest(&sandbox, "retrieval").join("run.trec")).unwrap();
    assert!(trec.starts_with("q0 Q0 d00 1 2.0 "), "{trec}");
}

#[test]
fn the_report_of_a_dataset_file_says_how_many_documents_came() {
    let sandbox = Sandbox::new();
    let mut dataset =
        "name: ranked\nevaluators: [{RankMeasures: {measures: [R@10, RR@3]}}]\ncases:\n".to_owned();
    for number in 0..QUESTIONS {
        writeln!(
            dataset,
            "- {{name: q{number}, inputs: {{question: 'What is {number}?'}}, expected_output: {{relevant: [d01, d07]}}}}"
        )
        .unwrap();
    }
    sandbox.write("ranked.yaml", dataset);
    replies(&sandbox, "shallow.jsonl", &SHALLOW);
    let deep: Vec<String> = (0..10).map(|it| format!("d{it:02}")).collect();
    let deep: Vec<(&str, f64)> = deep.iter().map(|id| (id.as_str(), 1.0)).collect();
    replies(&sandbox, "deep.jsonl", &deep);
    let eval = |file: &str| {
        sandbox.succeed(&format!(
            "eval ranked.yaml --no-progress --target outputs:{file}"
        ))
    };
    let shallow = eval("shallow.jsonl");
    let says = "documents per question: 3 (passages 4); R@10 counts up to 10";
    assert!(shallow.contains(says), "{shallow}");
    let warns = "warning: the median number of distinct documents per question is 3";
    assert!(unwrapped(&shallow).contains(warns), "{shallow}");
    let deep = eval("deep.jsonl");
    assert!(
        deep.contains("documents per question: 10; R@10 counts up to 10"),
        "{deep}"
    );
    assert!(!deep.contains("warning"), "{deep}");
    let compared = unwrapped(&sandbox.succeed("compare"));
    let parts = [
        "the median number of documents per question is 3 in `",
        "and 10 in `",
    ];
    for part in parts {
        assert_eq!(compared.matches(part).count(), 1, "{compared}");
    }
    // Cases that only one run has say nothing about the others.
    let read = |file: &str| fs::read_to_string(sandbox.work().join(file)).unwrap();
    let (mut dataset, mut rows) = (read("ranked.yaml"), read("deep.jsonl"));
    for number in QUESTIONS..3 * QUESTIONS {
        writeln!(dataset, "- {{name: q{number}, inputs: {{question: New?}}, expected_output: {{relevant: [d01]}}}}").unwrap();
        writeln!(
            rows,
            "{}",
            json!({"id": format!("q{number}"), "documents": []})
        )
        .unwrap();
    }
    sandbox.write("ranked.yaml", dataset);
    sandbox.write("deep.jsonl", rows);
    eval("deep.jsonl");
    let compared = sandbox.succeed("compare");
    assert!(
        !compared.contains("median number of documents"),
        "{compared}"
    );
}
