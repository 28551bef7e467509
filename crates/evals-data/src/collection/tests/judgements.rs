//! Judgements, and judged documents that are missing from the corpus.

use super::*;

#[test]
fn a_judgements_table_drops_unjudged_questions_and_keeps_grades() {
    let questions = beir("q3,d1,0\nq1,d1,2\nq1,d2,1.0\nq9,d1,1\n")
        .collection(BEIR)
        .questions()
        .unwrap();
    let ids: Vec<&str> = questions
        .questions
        .iter()
        .map(|question| question.id.as_str())
        .collect();
    assert_eq!(ids, ["q1", "q3"], "in the order of the questions' file");
    assert_eq!(
        questions.questions[0].relevant.iter().collect::<Vec<_>>(),
        [("d1", 2), ("d2", 1)]
    );
    let expected = QuestionCounts {
        rows: 3,
        questions: 2,
        unjudged: 1,
        without_relevant: 1,
        judged_elsewhere: 1,
        ..QuestionCounts::default()
    };
    assert_eq!(questions.counts, expected);
}

#[test]
fn an_unanswerable_question_needs_no_judgement() {
    let tables = tables(&[
        ("corpus.csv", "_id,text\nd1,one\n"),
        (
            "queries.csv",
            "_id,text,answer\nq1,first,one\nq2,second,NONE\nq3,third,three\n",
        ),
        ("qrels.csv", "query-id,corpus-id,score\nq1,d1,1\n"),
    ]);
    let manifest = "documents: {source: {path: corpus.csv}, uri: _id, text: text}\n\
                    questions: {source: {path: queries.csv}, id: _id, text: text, answer: answer}\n\
                    judgements: {source: {path: qrels.csv}, query: query-id, document: corpus-id, grade: score}\n\
                    unanswerable: {answer: NONE}\n";
    let read = tables.collection(manifest).questions().unwrap();
    let kept: Vec<_> = read
        .questions
        .iter()
        .map(|question| (question.id.as_str(), question.answerable))
        .collect();
    assert_eq!(kept, [("q1", true), ("q2", false)]);
    assert_eq!(read.counts.unjudged, 1);
}

#[test]
fn a_column_says_which_turns_are_unanswerable() {
    let turn = |number: u64, kinds: serde_json::Value, answer: &str| {
        let message =
            |speaker: &str, text: String| serde_json::json!({"speaker": speaker, "text": text});
        let said = (1..number).flat_map(|it| {
            let question = message("user", format!("Question {it}?"));
            [question, message("agent", "An answer.".to_owned())]
        });
        let last = message("user", format!("Question {number}?"));
        let said: Vec<_> = said.chain([last]).collect();
        serde_json::json!({
            "task": format!("c<::>{number}"), "conversation": "c", "said": said, "kinds": kinds,
            "targets": [{"speaker": "agent", "text": answer}],
        })
    };
    let turns = [
        turn(1, serde_json::json!(["ANSWERABLE"]), "one"),
        turn(2, serde_json::json!(["UNANSWERABLE"]), "I cannot tell."),
        turn(3, serde_json::json!("UNANSWERABLE"), "Nor this."),
        turn(4, serde_json::Value::Null, "one"),
    ];
    let tables = tables(&[
        ("corpus.csv", "_id,text\nd1,one\n"),
        ("turns.jsonl", &turns.map(|it| format!("{it}\n")).concat()),
        (
            "qrels.csv",
            "query-id,corpus-id,score\nc<::>1,d1,1\nc<::>2,d1,1\n",
        ),
    ]);
    let manifest = "documents: {source: {path: corpus.csv}, uri: _id, text: text}\n\
        questions: {source: {path: turns.jsonl}, id: task, conversation: conversation, messages: said, answer: targets.text}\n\
        judgements: {source: {path: qrels.csv}, query: query-id, document: corpus-id, grade: score}\n\
        unanswerable: {where: {kinds: UNANSWERABLE}}\n";
    let read = tables.collection(manifest).questions();
    let questions = read.unwrap().questions;
    let found = questions.iter().map(|it| {
        let answer = it.answer.as_deref();
        (it.id.as_str(), it.answerable, it.relevant.len(), answer)
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            ("c<::>1", true, 1, Some("one")),
            ("c<::>2", false, 0, Some("I cannot tell.")),
            ("c<::>3", false, 0, Some("Nor this.")),
        ]
    );
}

#[test]
fn an_unanswerable_question_never_has_judgements() {
    let tables = tables(&[
        ("corpus.csv", "_id,text\nd1,one\n"),
        (
            "queries.csv",
            "_id,text,answer,doc\nq1,first,one,d1\nq2,second, NONE ,gone\nq3,third,NEVER,d1\n",
        ),
        (
            "qrels.csv",
            "query-id,corpus-id,score\nq1,d1,1\nq2,gone,1\nq3,d1,2\n",
        ),
    ]);
    let head = "documents: {source: {path: corpus.csv}, uri: _id, text: text}\n\
                unanswerable: {answer: [NONE, NEVER]}\n";
    let columns = "source: {path: queries.csv}, id: _id, text: text, answer: answer";
    let by_row = format!("{head}questions: {{{columns}, relevant: doc}}\n");
    let by_table = format!(
        "{head}questions: {{{columns}}}\n\
         judgements: {{source: {{path: qrels.csv}}, query: query-id, document: corpus-id, grade: score}}\n"
    );
    for manifest in [by_row, by_table] {
        let Questions { questions, counts } = tables.collection(&manifest).questions().unwrap();
        let judged: Vec<usize> = questions.iter().map(|it| it.relevant.len()).collect();
        assert_eq!(judged, [1, 0, 0], "{manifest}");
        let expected = QuestionCounts {
            rows: 3,
            questions: 3,
            unanswerable: 2,
            ..QuestionCounts::default()
        };
        assert_eq!(counts, expected, "{manifest}");
    }
}

#[test]
fn a_corpus_without_any_relevant_document_is_always_refused() {
    let refused = |qrels: &str| {
        let tables = beir(qrels);
        let collection = tables.collection(BEIR).allow_missing_judged(true);
        collection.questions().map_err(|error| error.to_string())
    };
    assert_eq!(
        refused("q1,x1,1\nq1,x2,1\nq1,d1,0\n").unwrap_err(),
        "none of the documents judged relevant is in the corpus with a text, so every score would be 0; missing are \
         2 documents: `x1`, `x2`; judgements must name documents by the ids in `documents.uri`"
    );
    assert!(refused("q1,x1,0\n").unwrap_err().contains("missing: `x1`;"));
    assert_eq!(
        refused("q1,x1,1\nq2,d1,1\n")
            .unwrap()
            .counts
            .unknown_documents,
        1
    );
    assert_eq!(
        refused("q1,d1,0\nq2,x1,0\n")
            .unwrap()
            .counts
            .unknown_documents,
        1
    );
}

#[test]
fn judged_documents_have_to_exist_unless_allowed() {
    let tables = beir("q1,d1,1\nq1,x1,1\nq1,x2,1\nq2,x3,1\nq2,x4,1\nq2,x5,1\nq2,x6,0\n");
    assert_eq!(
        tables.questions_error(BEIR),
        "judgements name 6 documents missing from the corpus or without text there: `x1`, `x2`, `x3`, `x4`, `x5`, …; \
         qrels.csv:3: question `q1` names `x1`\n  \
         qrels.csv:4: question `q1` names `x2`\n  \
         qrels.csv:5: question `q2` names `x3`\n  \
         qrels.csv:6: question `q2` names `x4`\n  \
         qrels.csv:7: question `q2` names `x5`"
    );
    let allowed = tables
        .collection(BEIR)
        .allow_missing_judged(true)
        .questions()
        .unwrap();
    assert_eq!(allowed.counts.unknown_documents, 6);
    assert_eq!(
        allowed.questions[0].relevant.grade("x1"),
        Some(1),
        "still counted against recall"
    );
}

#[test]
fn an_empty_corpus_is_reported_before_missing_judged_documents() {
    let tables = tables(&[
        ("corpus.csv", "_id,text\n"),
        ("queries.csv", "_id,text\nq1,first\n"),
        ("qrels.csv", "query-id,corpus-id,score\nq1,d1,1\n"),
    ]);
    let message = tables.questions_error(BEIR);
    assert!(message.contains("has no documents"), "{message}");
}

#[test]
fn judged_documents_without_text_are_missing_too() {
    let tables = tables(&[
        (
            "docs.jsonl",
            "{\"id\": \"d1\", \"title\": \"\", \"text\": \" \"}\n\
             {\"id\": \"d2\", \"title\": \"Title\", \"text\": null}\n\
             {\"id\": \"d3\", \"title\": null, \"text\": \"Body\"}\n",
        ),
        (
            "questions.jsonl",
            "{\"text\": \"?\", \"relevant\": [\"d1\", \"d2\", \"d3\"]}\n",
        ),
    ]);
    let manifest = "documents: {source: {path: docs.jsonl}, uri: id, title: title, text: text}\n\
                    questions: {source: {path: questions.jsonl}, text: text, relevant: relevant}\n";
    assert_eq!(
        tables.questions_error(manifest),
        "judgements name a document missing from the corpus or without text there: `d1`; \
         questions.jsonl:1: question `q-15c5e748338b` names `d1`"
    );
    let allowed = tables.collection(manifest).allow_missing_judged(true);
    assert_eq!(allowed.questions().unwrap().counts.unknown_documents, 1);
}

#[test]
fn contradicting_judgements_and_repeated_questions_are_errors() {
    assert_eq!(
        beir("q1,d1,1\nq1,d1,1\nq1,d1,2\n").questions_error(BEIR),
        "qrels.csv:4: document `d1` has two grades for question `q1`: 1 and 2"
    );
    assert_eq!(
        beir("q1,d1,good\n").questions_error(BEIR),
        "qrels.csv:2: column `score` is not a grade (a whole number): \"good\""
    );
    assert_eq!(
        beir("q8,d1,1\n").questions_error(BEIR),
        "dataset `my` has no questions: `where` or empty texts drop all of its 3 rows"
    );
    let twice = tables(&[("rows.csv", &ROWS.replace("d1-q2", "d1-q1"))]);
    assert_eq!(
        twice.questions_error(REPLIQA),
        "rows.csv:3: question id `d1-q1` occurs twice"
    );
}

#[test]
fn judged_documents_are_looked_up_among_known_ids() {
    let tables = beir("q1,d1,1\nq1,x1,1\nq2,d2,1\n");
    let collection = tables.collection(BEIR);
    let documents: Vec<_> = collection
        .documents()
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let ids = documents.iter().map(|document| document.uri.as_str());
    let from_files = tables.message(&collection.questions().unwrap_err());
    let from_ids = tables.message(&collection.questions_for(ids.clone()).unwrap_err());
    assert_eq!(from_ids, from_files);
    let allowed = collection.allow_missing_judged(true);
    assert_eq!(
        allowed.questions_for(ids).unwrap(),
        allowed.questions().unwrap()
    );
}

#[test]
fn a_cell_may_hold_judgements_with_their_grades() {
    let tables = tables(&[
        ("corpus.csv", "id,text\nd1,one\nd2,two\nd3,three\n"),
        (
            "asked.jsonl",
            "{\"q\": \"One?\", \"relevant\": {\"d1\": 2, \"d2\": 0}}\n\
             {\"q\": \"Two?\", \"relevant\": [{\"id\": \"d3\", \"grade\": 3}, {\"id\": \"d1\"}]}\n",
        ),
    ]);
    let manifest = "documents: {source: {path: corpus.csv}, uri: id, text: text}\n\
                    questions: {source: {path: asked.jsonl}, text: q, relevant: relevant}\n";
    let questions = tables.collection(manifest).questions().unwrap().questions;
    let judged = |index: usize| -> Vec<(&str, i32)> { questions[index].relevant.iter().collect() };
    assert_eq!(judged(0), [("d1", 2), ("d2", 0)]);
    assert_eq!(judged(1), [("d1", 1), ("d3", 3)]);

    let conflict = manifest.replace("relevant: relevant", "relevant: [relevant, also]");
    std::fs::write(
        tables.0.path().join("asked.jsonl"),
        "{\"q\": \"One?\", \"relevant\": {\"d1\": 2}, \"also\": \"d1\"}\n",
    )
    .unwrap();
    assert_eq!(
        tables.questions_error(&conflict),
        "asked.jsonl:1: document `d1` has two grades for question `q-9a6f5d96a8c3`: 2 and 1"
    );
}

#[test]
fn a_mistyped_document_is_named_with_its_question_and_the_nearest_documents() {
    let tables = tables(&[
        (
            "corpus.csv",
            "id,text\nsecurity/password.md,one\nsecurity/passport.md,two\nbilling/invoices.md,three\n",
        ),
        (
            "asked.jsonl",
            "{\"id\": \"a\", \"q\": \"One?\", \"relevant\": [\"billing/invoices.md\"]}\n\
             {\"id\": \"b\", \"q\": \"Two?\", \"relevant\": [\"billing/invoices.md\", \"securty/password.md\"]}\n",
        ),
    ]);
    let manifest = "documents: {source: {path: corpus.csv}, uri: id, text: text}\n\
                    questions: {source: {path: asked.jsonl}, id: id, text: q, relevant: relevant}\n";
    let message = |written: &str, meant: &str| {
        format!(
            "judgements name a document missing from the corpus or without text there: `{written}`; \
             asked.jsonl:2: question `b` names `{written}`; did you mean `{meant}`?"
        )
    };
    assert_eq!(
        tables.questions_error(manifest),
        message("securty/password.md", "security/password.md")
    );
    let asked = tables.0.path().join("asked.jsonl");
    for written in ["invoices.md", "docs/billing/invoices.md"] {
        let text = format!(
            "{{\"id\": \"a\", \"q\": \"One?\"}}\n{{\"id\": \"b\", \"q\": \"Two?\", \"relevant\": {{\"{written}\": 2}}}}\n"
        );
        std::fs::write(&asked, text).unwrap();
        assert_eq!(
            tables.questions_error(manifest),
            message(written, "billing/invoices.md"),
            "the same file in another folder"
        );
    }
}
