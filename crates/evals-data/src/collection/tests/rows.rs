//! Tests of turning rows into documents and questions.

use super::*;

#[test]
fn rows_become_documents_once_and_questions_each() {
    let tables = tables(&[("rows.csv", ROWS)]);
    let collection = tables.collection(REPLIQA);
    let (read, counts) = documents(&collection);
    assert_eq!(
        read.iter()
            .map(|document| document.uri.as_str())
            .collect::<Vec<_>>(),
        ["d1", "d2"]
    );
    assert_eq!(
        Value::from(read[0].metadata.clone()),
        json!({"topic": "News"})
    );
    assert_eq!(
        counts,
        DocumentCounts {
            rows: 3,
            documents: 2,
            duplicates: 1,
            ..DocumentCounts::default()
        }
    );
    let Questions { questions, counts } = collection.questions().unwrap();
    let answerable: Vec<(&str, bool)> = questions
        .iter()
        .map(|question| (question.id.as_str(), question.answerable))
        .collect();
    assert_eq!(
        answerable,
        [("d1-q1", true), ("d1-q2", false), ("d2-q1", true)]
    );
    assert_eq!(questions[2].relevant.grade("d2"), Some(1));
    assert!(
        questions[1].relevant.is_empty(),
        "the document that it was written about does not answer it"
    );
    assert_eq!(
        counts,
        QuestionCounts {
            rows: 3,
            questions: 3,
            unanswerable: 1,
            ..QuestionCounts::default()
        }
    );
}

#[test]
fn where_keeps_matching_rows_of_both_tables() {
    let tables = tables(&[("rows.csv", ROWS)]);
    let filtered = REPLIQA
        .replace(
            "deduplicate: true",
            "deduplicate: true, where: {topic: Sport}",
        )
        .replace(
            "relevant: [doc]",
            "relevant: [doc], where: {topic: [Sport, Culture]}",
        );
    let collection = tables.collection(&filtered);
    let (read, counts) = documents(&collection);
    assert_eq!((read.len(), counts.filtered), (1, 2));
    assert_eq!(collection.questions().unwrap().counts.filtered, 2);
    let none = REPLIQA.replace(
        "deduplicate: true",
        "deduplicate: true, where: {topic: Art}",
    );
    assert_eq!(
        tables.documents_error(&none),
        "dataset `my` has no documents: `where` or empty texts drop all of its 3 rows"
    );
}

#[test]
fn deduplicate_decides_about_repeated_documents() {
    let tables = tables(&[(
        "rows.csv",
        &format!("{ROWS}News,d1,Other text.,d1-q3,Four?,yes\n"),
    )]);
    assert_eq!(
        tables.documents_error(&REPLIQA.replace(", deduplicate: true", "")),
        "rows.csv:3: document id `d1` occurs twice; `deduplicate: true` drops repeated rows"
    );
    assert_eq!(
        tables.documents_error(REPLIQA),
        "rows.csv:5: document id `d1` occurs twice, with different content; `deduplicate: first` keeps the first"
    );
    let (read, counts) =
        documents(&tables.collection(&REPLIQA.replace("deduplicate: true", "deduplicate: first")));
    assert_eq!(read[0].text, "First text.");
    assert_eq!(
        (read.len(), counts.duplicates, counts.conflicting),
        (2, 2, 1)
    );
}

#[test]
fn documents_without_text_get_their_title_or_are_dropped() {
    let tables = tables(&[(
        "rows.jsonl",
        "{\"id\": \"a\", \"title\": \"Title\", \"text\": null}\n\
         {\"id\": \"b\", \"title\": \" \", \"text\": \"\\n\"}\n\
         {\"id\": \"c\", \"title\": \"T\", \"text\": \"Body\"}\n",
    )]);
    let manifest = "source: {path: rows.jsonl}\n\
                    documents: {uri: id, title: title, text: text}\n\
                    questions: {text: text, relevant: id}\n";
    let (read, counts) = documents(&tables.collection(manifest));
    let texts: Vec<(&str, &str)> = read
        .iter()
        .map(|document| (&*document.uri, &*document.text))
        .collect();
    assert_eq!(texts, [("a", "Title"), ("c", "T Body")]);
    assert_eq!((counts.title_only, counts.empty), (1, 1));
    let questions = tables.collection(manifest).questions().unwrap();
    assert_eq!(
        (questions.counts.empty, questions.questions[0].id.as_str()),
        (2, "q-faaa4f6b4000"),
        "called by its text"
    );
}

#[test]
fn a_title_is_searched_with_a_text_that_does_not_begin_with_it() {
    let texts = |title: &str, text: &str, columns: &str| {
        let row = json!({"id": "a", "title": title, "text": text});
        let tables = tables(&[("rows.jsonl", &row.to_string())]);
        let collection = tables.collection(&format!(
            "source: {{path: rows.jsonl}}\n\
             documents: {{uri: id, {columns}}}\n\
             questions: {{text: text, relevant: id}}\n"
        ));
        let columns = collection.provenance().documents.columns.clone();
        (documents(&collection).0.remove(0).text, columns)
    };
    let apart = "title: title, text: text";
    for (title, text, searched) in [
        (" Ferries ", "When they go.", "Ferries When they go."),
        ("Ferry", "Ferrymen wait.", "Ferry Ferrymen wait."),
        ("Ferries: times", "Ferries", "Ferries: times Ferries"),
        (
            "Ferry times",
            "# Ferry  Times\n\nAt nine.",
            "# Ferry  Times\n\nAt nine.",
        ),
        ("Ferry", "ferry\nAt nine.", "ferry\nAt nine."),
    ] {
        assert_eq!(texts(title, text, apart).0, searched);
    }
    let (text, joined) = texts("Ferry", "At nine.", "title: title, text: [title, text]");
    assert_eq!(text, "Ferry At nine.", "once");
    assert_eq!(joined.get("joins_title"), None, "as it was fingerprinted");
    assert_eq!(texts("Ferry", "At nine.", apart).1["joins_title"], true);
}

#[test]
fn a_question_without_an_id_keeps_its_own_when_others_come_before_it() {
    let of = |rows: &str| {
        let tables = tables(&[
            ("rows.csv", &format!("text,relevant\n{rows}")),
            ("corpus.csv", "id,text\nd1,one\nd2,two\n"),
        ]);
        let manifest = "documents: {source: {path: corpus.csv}, uri: id, text: text}\n\
                        questions: {source: {path: rows.csv}, text: text, relevant: relevant}\n";
        let questions = tables.collection(manifest).questions().unwrap().questions;
        let ids = questions.into_iter().map(|question| question.id);
        ids.collect::<Vec<_>>()
    };
    let ids = of("One,d1\nTwo,d1\n");
    let later = of("Zero,d1\n,d1\nOne,d1\nTwo,d1\n");
    assert_eq!(later[1..], ids);
    let repeated = of("One,d1\nTwo,d1\nOne,d2\n");
    assert_eq!(repeated[..2], ids);
    assert_eq!(repeated[2], format!("{}-2", ids[0]), "in order of the rows");
}

#[test]
fn a_row_can_hold_many_documents() {
    let tables = tables(&[(
        "rows.jsonl",
        "{\"id\": \"q\", \"text\": \"?\", \"context\": {\"title\": [\"A\", \"B\"], \"sentences\": [[\"One.\", \" Two.\"], [\"Three.\"]]}, \"supporting_facts\": {\"title\": [\"B\", \"B\"]}}\n\
         {\"id\": \"r\", \"text\": \"?\", \"context\": {\"title\": [\"A\"], \"sentences\": [[\"One.\", \" Two.\"]]}, \"supporting_facts\": {\"title\": []}}\n",
    )]);
    let manifest = "source: {path: rows.jsonl}\n\
         documents: {uri: 'context.title[]', title: 'context.title[]', text: 'context.sentences[]', metadata: [id], deduplicate: first}\n\
         questions: {id: id, text: text, relevant: 'supporting_facts.title[]'}\n";
    let collection = tables.collection(manifest);
    let (read, counts) = documents(&collection);
    let texts: Vec<(&str, &str)> = read
        .iter()
        .map(|document| (&*document.uri, &*document.text))
        .collect();
    assert_eq!(texts, [("A", "A One. Two."), ("B", "B Three.")]);
    assert_eq!(counts.duplicates, 1);
    let questions = collection.questions().unwrap();
    assert_eq!(
        questions.questions[0].relevant.iter().collect::<Vec<_>>(),
        [("B", 1)]
    );
    assert_eq!(questions.counts.without_relevant, 1, "kept, and counted");
    let uneven = manifest.replace(
        "text: 'context.sentences[]'",
        "text: 'supporting_facts.title[]'",
    );
    assert_eq!(
        tables.documents_error(&uneven),
        "rows.jsonl:2: the lists in the columns with `[]` differ in length ([1, 1, 0])"
    );
}

#[test]
fn numbers_are_the_same_id_in_any_notation_and_empty_ids_name_nothing() {
    let tables = tables(&[(
        "rows.jsonl",
        "{\"id\": 1.0, \"text\": \"One\", \"relevant\": \"1\"}\n\
         {\"id\": \"2\", \"text\": \"Two\", \"relevant\": 2}\n\
         {\"id\": 3, \"text\": \"Three\", \"relevant\": \"\"}\n",
    )]);
    let manifest = "source: {path: rows.jsonl}\n\
                    documents: {uri: id, text: text}\n\
                    questions: {text: text, relevant: relevant}\n";
    let collection = tables.collection(manifest);
    let (read, _) = documents(&collection);
    let ids: Vec<&str> = read.iter().map(|document| document.uri.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    let read = collection.questions().unwrap();
    let judged: Vec<usize> = read
        .questions
        .iter()
        .map(|one| one.relevant.len())
        .collect();
    assert_eq!((judged, read.counts.without_relevant), (vec![1, 1, 0], 1));
}

#[test]
fn a_document_may_be_very_large() {
    let large = "word ".repeat(2 << 20);
    let tables = tables(&[("rows.csv", &format!("doc,text\nd1,\"{large}\"\n"))]);
    let manifest = "source: {path: rows.csv}\ndocuments: {uri: doc, text: text}\nquestions: {text: doc, relevant: doc}\n";
    let (read, _) = documents(&tables.collection(manifest));
    assert_eq!(read[0].text.len(), large.len());
}

#[test]
fn questions_keep_the_columns_named_as_metadata() {
    let tables = tables(&[("rows.csv", ROWS)]);
    let manifest = REPLIQA.replace(
        "relevant: [doc]}",
        "relevant: [doc], metadata: [topic, doc]}",
    );
    let questions = tables.collection(&manifest).questions().unwrap().questions;
    assert_eq!(
        Value::Object(questions[2].metadata.clone()),
        json!({"topic": "Sport", "doc": "d2"})
    );
    let plain = tables.collection(REPLIQA);
    assert!(plain.questions().unwrap().questions[2].metadata.is_empty());
    assert_eq!(
        plain.provenance().questions.columns,
        json!({
            "id": "qid", "text": "question", "answer": "answer", "relevant": ["doc"],
            "where": {"conditions": []}
        }),
        "a manifest without metadata keeps the fingerprint that its runs have"
    );
}

/// The questions of a table of JSON Lines whose column `spans` has `cell`, and `doc` the relevant documents.
fn with_spans(cell: &str, doc: &str) -> (Tables, String) {
    let row = format!(
        r#"{{"id": "d", "text": "Some text.", "question": "Which?", "spans": {cell}, "doc": {doc}}}"#
    );
    let manifest = "source: {path: rows.jsonl}\ndocuments: {uri: id, text: text}\n\
        questions: {text: question, relevant: doc, evidence: spans, nuggets: spans}\n";
    (tables(&[("rows.jsonl", &row)]), manifest.to_owned())
}

#[test]
fn evidence_is_spans_or_quotes_of_the_single_document() {
    let evidence = |cell: &str| {
        let (tables, manifest) = with_spans(cell, r#""d""#);
        let manifest = manifest.replace(", nuggets: spans", "");
        let mut questions = tables.collection(&manifest).questions().unwrap().questions;
        json!(questions.remove(0).evidence)
    };
    let quote = json!([{"document": "d", "quote": "Some"}]);
    for cell in [
        r#""Some""#,
        r#"["Some", "Some", null]"#,
        r#"[{"quote": "Some", "start": null}]"#,
        r#""[\"Some\"]""#,
        r#""[{\"document\": \"d\", \"quote\": \"Some\"}]""#,
    ] {
        assert_eq!(evidence(cell), quote, "{cell}");
    }
    assert_eq!(
        evidence(r#"{"document": "e", "quote": "text", "start": 5, "end": 9}"#),
        json!([{"document": "e", "quote": "text", "start": 5, "end": 9}])
    );
    assert_eq!(evidence("5"), json!([{"document": "d", "quote": "5"}]));
    for none in ["null", r#""""#, "[]"] {
        assert_eq!(evidence(none), json!([]));
    }
}

#[test]
fn an_unfit_span_or_nugget_is_an_error_with_its_place() {
    let error = |cell: &str, doc: &str, unused: &str| {
        let (tables, manifest) = with_spans(cell, doc);
        tables.questions_error(&manifest.replace(unused, ""))
    };
    for (cell, doc, message) in [
        (
            r#""Some""#,
            r#"["d", "e"]"#,
            "column `spans` has a quote of 2 relevant documents and does not say which",
        ),
        (
            r#"[{"document": "d"}]"#,
            r#""d""#,
            "column `spans` is not a list of `{document, quote, start, end}`",
        ),
        (
            r#"[{"quote": "a", "start": -1}]"#,
            r#""d""#,
            "column `spans` is not a list of `{document, quote, start, end}`",
        ),
        (
            r#"[{"quote": "a", "start": 4, "end": 4}]"#,
            r#""d""#,
            "column `spans` is not a list of `{document, quote, start, end}`",
        ),
        (
            r#"[{"quote": "a", "text": "a", "vital": 1}]"#,
            r#""d""#,
            "column `spans` is not a list of `{text, vital}`",
        ),
    ] {
        let unused = if message.contains("vital") {
            ", evidence: spans"
        } else {
            ", nuggets: spans"
        };
        let found = error(cell, doc, unused);
        assert!(
            found.starts_with(&format!("rows.jsonl:1: {message}")),
            "{found}"
        );
    }
}

#[test]
fn nuggets_are_vital_unless_they_say_otherwise() {
    let (tables, manifest) = with_spans(r#"[{"text": "A fact.", "vital": false}, "b"]"#, r#""d""#);
    let manifest = manifest.replace(", evidence: spans", "");
    let questions = tables.collection(&manifest).questions().unwrap().questions;
    assert_eq!(
        json!(questions[0].nuggets),
        json!([{"text": "A fact.", "vital": false}, {"text": "b", "vital": true}])
    );
}

#[test]
fn the_answers_of_unanswerable_questions_are_no_evidence() {
    let tables = tables(&[("rows.csv", ROWS)]);
    let manifest = REPLIQA.replace("answer: answer,", "answer: answer, evidence: answer,");
    let questions = tables.collection(&manifest).questions().unwrap().questions;
    let quotes = questions.iter().map(|it| it.evidence.len());
    assert_eq!(quotes.collect::<Vec<_>>(), [1, 0, 1]);
    assert_eq!(questions[2].evidence[0].document, "d2");
}

#[test]
fn answers_of_several_columns_and_of_lists_are_right_as_well() {
    let tables = tables(&[(
        "rows.csv",
        "q,a,more\nOne?,x,\"[\"\"y\"\", \"\"x\"\", \"\" \"\", \"\"z\"\"]\"\nTwo?,,w\nThree?,,\n",
    )]);
    let manifest = "questions: {source: {path: rows.csv}, text: q, answer: [a, 'more[]']}\n";
    let collection = tables.collection(manifest);
    let read = collection.questions().unwrap().questions;
    let answers: Vec<(Option<&str>, Vec<&str>)> = read
        .iter()
        .map(|it| {
            (
                it.answer.as_deref(),
                it.accepted.iter().map(String::as_str).collect(),
            )
        })
        .collect();
    assert_eq!(
        answers,
        [
            (Some("x"), vec!["y", "z"]),
            (Some("w"), vec![]),
            (None, vec![])
        ]
    );
    assert_eq!(
        tables.documents_error(manifest),
        "dataset `my` has questions and answers, but no documents; with `--target` it tests a system that has its own"
    );
    let columns = &collection.provenance().questions.columns;
    assert_eq!(columns["answer"], json!(["a", "more[]"]));
}

#[test]
fn fields_of_objects_in_lists_are_lists() {
    let row = json!({
        "id": "q1", "q": "One?",
        "parts": [
            {"id": "a", "lines": [{"text": "First."}, {"text": "Second."}], "good": true},
            {"id": "b", "lines": [{"text": "Third."}], "good": 0},
            {"id": "c", "lines": []},
        ],
    });
    let tables = tables(&[("rows.jsonl", &row.to_string())]);
    let collection = tables.collection(
        "source: {path: rows.jsonl}\n\
         documents: {uri: 'parts.id[]', text: 'parts.lines.text[]', title: q}\n\
         questions: {id: id, text: q}\n\
         judgements: {query: id, document: 'parts.id[]', grade: 'parts.good[]'}\n",
    );
    let (read, _) = documents(&collection);
    let texts: Vec<&str> = read.iter().map(|document| document.text.as_str()).collect();
    assert_eq!(texts, ["One? First. Second.", "One? Third.", "One?"]);
    let refused = collection.questions().unwrap_err().to_string();
    assert!(
        refused.ends_with("column `parts.good[]` is not a grade (a whole number): null"),
        "{refused}"
    );
    let missing = tables.documents_error(
        "source: {path: rows.jsonl}\ndocuments: {uri: 'parts.id[]', text: 'parts.txt[]'}\nquestions: {text: q, relevant: parts.id}\n",
    );
    assert_eq!(
        missing,
        "`rows.jsonl` has no column `parts.txt`; its columns are `id`, `q`, `parts`"
    );
}
