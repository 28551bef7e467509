use evals_rag::Document;
use serde_json::{Value, json};

use super::*;
use crate::hub::HubSettings;
use crate::manifest::Origin;

/// A folder with tables, read by the manifest given at each call.
struct Tables(tempfile::TempDir);

fn tables(files: &[(&str, &str)]) -> Tables {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Tables(folder)
}

impl Tables {
    fn try_collection(&self, manifest: &str) -> Result<Collection, DataError> {
        let origin = Origin::File(self.0.path().join("my.yaml"));
        let manifest = Manifest::parse(&format!("name: my\n{manifest}"), origin).unwrap();
        let hub = Hub::new(HubSettings::from_variables(|name| {
            (name == "HF_HUB_OFFLINE").then(|| "1".to_owned())
        }));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(Collection::resolve(&manifest, &hub, &()))
    }

    fn collection(&self, manifest: &str) -> Collection {
        self.try_collection(manifest).unwrap()
    }

    /// An error's message, with the folder's own name taken out.
    fn message(&self, error: &DataError) -> String {
        error
            .to_string()
            .replace(&format!("{}/", self.0.path().display()), "")
    }

    fn documents_error(&self, manifest: &str) -> String {
        let documents = self
            .collection(manifest)
            .documents()
            .and_then(Iterator::collect::<Result<Vec<_>, _>>);
        self.message(&documents.unwrap_err())
    }

    fn questions_error(&self, manifest: &str) -> String {
        self.message(&self.collection(manifest).questions().unwrap_err())
    }
}

fn documents(collection: &Collection) -> (Vec<Document>, DocumentCounts) {
    let mut documents = collection.documents().unwrap();
    let read = documents.by_ref().collect::<Result<_, _>>().unwrap();
    (read, documents.tally().counts())
}

/// `RepliQA`'s layout: one row for each question.
const ROWS: &str = "\
topic,doc,text,qid,question,answer
News,d1,First text.,d1-q1,One?,yes
News,d1,First text.,d1-q2,Two?,NOT FOUND
Sport,d2,Second text.,d2-q1,Three?,no
";
const REPLIQA: &str = "\
source: {path: rows.csv}
documents: {uri: doc, text: text, metadata: [topic], deduplicate: true}
questions: {id: qid, text: question, answer: answer, relevant: [doc]}
unanswerable: {answer: NOT FOUND}
";

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
        "dataset `my` has no documents: none of its 3 rows is kept (see `where`, and empty texts)"
    );
}

#[test]
fn a_repeated_document_is_what_deduplicate_says() {
    let tables = tables(&[(
        "rows.csv",
        &format!("{ROWS}News,d1,Other text.,d1-q3,Four?,yes\n"),
    )]);
    assert_eq!(
        tables.documents_error(&REPLIQA.replace(", deduplicate: true", "")),
        "rows.csv:3: document id `d1` is there twice; `deduplicate: true` drops repeated rows"
    );
    assert_eq!(
        tables.documents_error(REPLIQA),
        "rows.csv:5: document id `d1` is there twice, with different content; `deduplicate: first` keeps the first"
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
fn documents_without_text_are_their_title_or_dropped() {
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
    assert_eq!(texts, [("a", "Title"), ("c", "Body")]);
    assert_eq!((counts.title_only, counts.empty), (1, 1));
    let (joined, _) = documents(
        &tables.collection(&manifest.replace("text: text}\nq", "text: [title, text]}\nq")),
    );
    assert_eq!(joined.last().unwrap().text, "T Body", "joined by a blank");
    let questions = tables.collection(manifest).questions().unwrap();
    assert_eq!(
        (questions.counts.empty, questions.questions[0].id.as_str()),
        (2, "q3"),
        "numbered by row"
    );
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
    assert_eq!(texts, [("A", "One. Two."), ("B", "Three.")]);
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
        "rows.jsonl:2: the lists that are walked together differ in length ([1, 1, 0])"
    );
}

const BEIR: &str = "\
documents: {source: {path: corpus.csv}, uri: _id, text: text}
questions: {source: {path: queries.csv}, id: _id, text: text}
judgements: {source: {path: qrels.csv}, query: query-id, document: corpus-id, grade: score}
";

fn beir(qrels: &str) -> Tables {
    tables(&[
        ("corpus.csv", "_id,text\nd1,one\nd2,two\n"),
        ("queries.csv", "_id,text\nq1,first\nq2,second\nq3,third\n"),
        ("qrels.csv", &format!("query-id,corpus-id,score\n{qrels}")),
    ])
}

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
fn no_document_is_judged_for_an_unanswerable_question_however_it_is_marked() {
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
fn a_corpus_without_any_relevant_document_is_refused_whatever_is_allowed() {
    let refused = |qrels: &str| {
        let tables = beir(qrels);
        let collection = tables.collection(BEIR).allow_missing_judged(true);
        collection.questions().map_err(|error| error.to_string())
    };
    assert_eq!(
        refused("q1,x1,1\nq1,x2,1\nq1,d1,0\n").unwrap_err(),
        "no document that judgements call relevant is in the corpus with a text, so that every score would be 0; missing are \
         2 documents: `x1`, `x2`; judgements have to name documents as `documents.uri` does"
    );
    assert!(
        refused("q1,x1,0\n")
            .unwrap_err()
            .contains("missing is: `x1`;")
    );
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
        "judgements name 6 documents that are not in the corpus, or have no text there: `x1`, `x2`, `x3`, `x4`, `x5`, …; allow it to score them \
         as never found"
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
fn a_file_is_recorded_alike_however_the_way_to_it_is_written() {
    let tables = tables(&[("rows.csv", "id,text,relevant\nd1,one,d1\n")]);
    let recorded = |path: &str| {
        let manifest = format!(
            "source: {{path: {path}}}\ndocuments: {{uri: id, text: text}}\nquestions: {{text: text, relevant: relevant}}\n"
        );
        let provenance = tables.collection(&manifest).provenance().clone();
        provenance.documents.files[0].path.clone()
    };
    assert_eq!(recorded("rows.csv"), "rows.csv");
    assert_eq!(recorded("./rows.csv"), "rows.csv");
}

#[test]
fn a_corpus_without_documents_is_what_is_wrong_and_not_the_judgements_on_it() {
    let tables = tables(&[
        ("corpus.csv", "_id,text\n"),
        ("queries.csv", "_id,text\nq1,first\n"),
        ("qrels.csv", "query-id,corpus-id,score\nq1,d1,1\n"),
    ]);
    let message = tables.questions_error(BEIR);
    assert!(message.contains("has no documents"), "{message}");
}

#[test]
fn a_field_of_csv_may_hold_a_list_of_ids() {
    let tables = tables(&[
        ("docs.csv", "id,text\nd1,one\nd2,two\n[x],three\n"),
        (
            "questions.csv",
            "text,relevant\nfirst,\"[\"\"d1\"\", \"\"d2\"\"]\"\nsecond,d2\nthird,[x]\nfourth,[]\n",
        ),
    ]);
    let manifest = "documents: {source: {path: docs.csv}, uri: id, text: text}\n\
                    questions: {source: {path: questions.csv}, text: text, relevant: relevant}\n";
    let read = tables.collection(manifest).questions().unwrap();
    let relevant: Vec<Vec<&str>> = read
        .questions
        .iter()
        .map(|question| question.relevant.relevant().collect())
        .collect();
    let none: &[&str] = &[];
    assert_eq!(relevant, [&["d1", "d2"][..], &["d2"], &["[x]"], none]);
}

/// A corpus of `a`, `b`, `é` and `new york`, with one question whose relevant documents are the cell.
fn judging(cell: &str) -> (Tables, &'static str) {
    let field = cell.replace('"', "\"\"");
    let tables = tables(&[
        (
            "docs.csv",
            "id,text\na,one\nb,two\né,three\nnew york,four\n[rec],five\n",
        ),
        (
            "questions.csv",
            &format!("text,relevant\nfirst,a\nsecond,\"{field}\"\n"),
        ),
    ]);
    let manifest = "documents: {source: {path: docs.csv}, uri: id, text: text}\n\
                    questions: {source: {path: questions.csv}, text: text, relevant: relevant}\n";
    (tables, manifest)
}

#[test]
fn a_list_of_ids_in_another_notation_is_recognised_and_its_own_is_told() {
    for (cell, separator) in [
        ("a,b", "`,`"),
        ("a, b", "`,`"),
        ("a;b", "`;`"),
        ("a|b", "`|`"),
        ("a b", "blanks"),
        ("a\tb", "tabs"),
        ("{a,b}", "`,`"),
        ("('a', 'b')", "`,`"),
    ] {
        let (tables, manifest) = judging(cell);
        let shown = Value::from(cell);
        assert_eq!(
            tables.questions_error(manifest),
            format!(
                "judgements name a document that is not in the corpus, or has no text there: `{cell}`; questions.csv:3: \
                 column `relevant` holds {shown}, which split at {separator} names documents that are there; a list of ids \
                 is written as a JSON array, `[\"a\", \"b\"]`, and in a field of CSV `\"[\"\"a\"\", \"\"b\"\"]\"`"
            )
        );
        let allowed = tables.collection(manifest).allow_missing_judged(true);
        let counts = allowed.questions().unwrap().counts;
        assert_eq!((counts.unknown_documents, counts.misread_documents), (1, 1));
    }
    let (tables, manifest) = judging("a,c");
    assert!(
        tables
            .questions_error(manifest)
            .ends_with("`a,c`; allow it to score it as never found")
    );
    let (tables, manifest) = judging("new york");
    assert!(tables.collection(manifest).questions().is_ok());
}

#[test]
fn what_begins_like_a_list_has_to_be_one() {
    for (cell, list) in [
        ("['a', 'b']", "`[\"a\", \"b\"]`"),
        ("['a' 'b']", "`[\"a\", \"b\"]`"),
        ("[a]", "`[\"a\"]`"),
        ("[\"a\", \"b\"", "`[\"a\", \"b\"]`"),
        ("[x,y,z,w]", "`[\"x\", \"y\", \"z\", …]`"),
    ] {
        let (tables, manifest) = judging(cell);
        let refused = tables.questions_error(manifest);
        let begins =
            "questions.csv:3: column `relevant` begins like a list and is no JSON array: \"[";
        assert!(
            refused.starts_with(begins) && refused.contains(list),
            "{refused}"
        );
        let allowed = tables.collection(manifest).allow_missing_judged(true);
        assert_eq!(tables.message(&allowed.questions().unwrap_err()), refused);
    }
    let (tables, manifest) = judging("[rec]");
    assert!(
        tables.collection(manifest).questions().is_ok(),
        "an id may begin so"
    );
}

#[test]
fn an_id_that_differs_by_what_nobody_sees_is_told() {
    let (tables, manifest) = judging(" b ");
    assert!(tables.questions_error(manifest).ends_with(
        "questions.csv:3: column `relevant` holds \" b \", which without the white space around it is a document that is \
         there; remove the white space"
    ));
    let (tables, manifest) = judging("e\u{301}");
    assert!(tables.questions_error(manifest).ends_with(
        "which in another Unicode normalization is a document that is there; write both files in the same (NFC)"
    ));
    let judged = beir("q1,d1,1\nq1,d1 d2,1\n");
    assert!(judged.questions_error(BEIR).ends_with(
        "qrels.csv:3: column `corpus-id` holds \"d1 d2\", which split at blanks names documents that are there; write a row \
         for each document"
    ));
}

#[test]
fn judged_documents_dropped_for_want_of_a_text_are_unknown_too() {
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
        "judgements name a document that is not in the corpus, or has no text there: `d1`; allow it to score it as \
         never found"
    );
    let allowed = tables.collection(manifest).allow_missing_judged(true);
    assert_eq!(allowed.questions().unwrap().counts.unknown_documents, 1);
}

#[test]
fn ids_are_the_same_however_a_number_is_written_and_an_empty_one_is_none() {
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
        "dataset `my` has no questions: none of its 3 rows is kept (see `where`, and empty texts)"
    );
    let twice = tables(&[("rows.csv", &ROWS.replace("d1-q2", "d1-q1"))]);
    assert_eq!(
        twice.questions_error(REPLIQA),
        "rows.csv:3: question id `d1-q1` is there twice"
    );
}

#[test]
fn missing_files_columns_and_rows_are_named() {
    let tables = tables(&[
        ("rows.csv", "doc,text\n"),
        ("bad.parquet", "<html>rate limit</html>"),
    ]);
    let own = |path: &str| {
        format!(
            "source: {{path: {path}}}\ndocuments: {{uri: doc, text: text}}\nquestions: {{text: text, relevant: doc}}\n"
        )
    };
    assert_eq!(
        tables.documents_error(&own("rows.csv")),
        "dataset `my` has no documents"
    );
    assert_eq!(
        tables.documents_error(&own("rows.csv").replace("text: text}\nq", "text: body}\nq")),
        "`rows.csv` has no column `body`; there are `doc`, `text`"
    );
    let failed = |manifest: &str| tables.message(&tables.try_collection(manifest).unwrap_err());
    assert_eq!(failed(&own("absent.csv")), "no file matches `absent.csv`");
    assert_eq!(failed(&own("bad.parquet")), "`bad.parquet` is damaged");
    assert!(
        failed(&own(".")).contains("is a folder: name its files with `files: [\"*.parquet\"]`")
    );
    assert_eq!(
        failed(&own("., files: '*.jsonl'")).rsplit('/').next(),
        Some("*.jsonl`")
    );
    assert_eq!(
        failed(&own("rows.csv, files: '*.csv'")),
        "`rows.csv` is a file, and `files` names files in a folder: leave `files` out"
    );
    assert_eq!(documents_of_folder(&tables), 0);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_no_source() {
    let tables = tables(&[]);
    let pipe = tables.0.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (path, kind) in [("pipe.csv", "a named pipe"), ("/dev/zero", "a device")] {
        let manifest = format!(
            "source: {{path: {path}}}\ndocuments: {{uri: doc, text: text}}\nquestions: {{text: text, relevant: doc}}\n"
        );
        let refused = tables.try_collection(&manifest).unwrap_err();
        assert_eq!(
            tables.message(&refused),
            format!("`{path}` is {kind}, and a dataset is read from files, more than once")
        );
        // Nor is it one of a folder's files.
        let folder = manifest.replace(&format!("path: {path}"), "path: ., files: '*.csv'");
        let none = tables.try_collection(&folder).unwrap_err();
        assert!(matches!(none, DataError::NoFile { .. }), "{none}");
    }
    std::fs::rename(&pipe, tables.0.path().join("mine.yaml")).unwrap();
    let manifest = Manifest::read(&tables.0.path().join("mine.yaml")).unwrap_err();
    let cause = std::error::Error::source(&manifest).unwrap();
    assert_eq!(cause.to_string(), "it is a named pipe and not a file");
}

/// A folder with globs works like a file; here it has a header and no row.
fn documents_of_folder(tables: &Tables) -> u64 {
    let manifest = "source: {path: ., files: '*.csv'}\ndocuments: {uri: doc, text: text}\nquestions: {text: text, relevant: doc}\n";
    let mut documents = tables.collection(manifest).documents().unwrap();
    assert!(matches!(
        documents.next(),
        Some(Err(DataError::EmptyCorpus { rows: 0, .. }))
    ));
    assert!(documents.next().is_none(), "it ends after an error");
    documents.tally().counts().documents
}

#[test]
fn the_fingerprint_follows_content_and_mapping_but_not_the_place() {
    let fingerprint = |rows: &str, manifest: &str| {
        let provenance = tables(&[("rows.csv", rows)])
            .collection(manifest)
            .provenance()
            .clone();
        (provenance.fingerprint(), provenance.documents_fingerprint())
    };
    let first = fingerprint(ROWS, REPLIQA);
    assert_eq!(
        first,
        fingerprint(ROWS, REPLIQA),
        "another folder, the same data"
    );
    let other_rows = fingerprint(&ROWS.replace("yes", "no"), REPLIQA);
    assert!(first.0 != other_rows.0 && first.1 != other_rows.1);
    let other_questions = fingerprint(ROWS, &REPLIQA.replace("answer: answer", "answer: text"));
    assert!(
        first.0 != other_questions.0 && first.1 == other_questions.1,
        "the corpus is the same"
    );
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
fn resolving_can_move_between_threads() {
    fn assert_send<T: Send>(_: &T) {}
    fn assert_static<T: Send + 'static>() {}
    let manifest = crate::Catalog::new::<&str>([]).find("sample").unwrap();
    let hub = Hub::new(HubSettings::from_env());
    assert_send(&Collection::resolve(&manifest, &hub, &()));
    assert_static::<Documents>();
}
