//! The manifests of published benchmarks, read from rows of the real schemas in our own words.

mod rows;

use std::fs;
use std::path::Path;

use evals_data::{Catalog, Collection, Hub, HubSettings, Questions};
use evals_rag::Document;
use serde_json::{Value, json};

/// A Hugging Face cache that holds files of one repository.
struct Cache(tempfile::TempDir);

/// A file of a repository: its path, and its rows; the path says the format.
type CachedFile<'f> = (&'f str, Value);

impl Cache {
    fn of(repo: &str, files: &[CachedFile<'_>]) -> Self {
        const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
        let cache = tempfile::tempdir().unwrap();
        let folder = format!("datasets--{}", repo.replace('/', "--"));
        let repository = cache.path().join("hub").join(folder);
        fs::create_dir_all(repository.join("refs")).unwrap();
        fs::write(repository.join("refs/main"), COMMIT).unwrap();
        for (path, rows) in files {
            let file = repository.join("snapshots").join(COMMIT).join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, rows::written(Path::new(path), rows)).unwrap();
        }
        Self(cache)
    }

    async fn read(&self, name: &str) -> (Vec<Document>, Questions) {
        let mut settings = HubSettings::from_variables(|_| None);
        settings.cache_dir = Some(self.0.path().join("hub"));
        settings.offline = true;
        let manifest = Catalog::new::<&str>([]).find(name).unwrap();
        let has_documents = manifest.has_documents();
        let collection = Collection::resolve(&manifest, &Hub::new(settings), &()).await;
        let collection = collection.unwrap();
        let documents = match collection.documents() {
            Ok(documents) => documents.collect::<Result<_, _>>().unwrap(),
            Err(error) => {
                assert!(!has_documents, "{error}");
                assert!(error.to_string().contains("with `--target`"), "{error}");
                Vec::new()
            }
        };
        (documents, collection.questions().unwrap())
    }
}

fn ids(documents: &[Document]) -> Vec<&str> {
    documents
        .iter()
        .map(|document| document.uri.as_str())
        .collect()
}

fn judged(questions: &Questions, place: usize) -> Vec<(&str, i32)> {
    questions.questions[place].relevant.iter().collect()
}

/// The reference and the other right answers of a question.
fn answers(questions: &Questions, place: usize) -> (Option<&str>, &[String]) {
    let question = &questions.questions[place];
    (question.answer.as_deref(), &question.accepted)
}

#[tokio::test]
async fn two_wiki() {
    let row = |id: &str, titles: [&str; 2], facts: Value| {
        json!({
            "_id": id, "type": "comparison", "question": format!("Question {id}?"), "answer": "the pier",
            "context": {"title": titles, "content": [["One. ", "Two."], ["Three."]]},
            "supporting_facts": {"title": facts, "sent_id": [0, 0]},
            "evidences": {"fact": ["a"], "relation": ["b"], "entity": ["c"]},
        })
    };
    let cache = Cache::of(
        "ohjoonhee/2WikiMultihopQA",
        &[(
            "data/validation-00000-of-00001.parquet",
            json!([
                row("w1", ["Pier", "Boat"], json!(["Pier", "Boat"])),
                row("w2", ["Boat", "Rope"], json!(["Rope", "Rope"])),
            ]),
        )],
    );
    let (documents, questions) = cache.read("2wikimultihopqa").await;
    assert_eq!(ids(&documents), ["Pier", "Boat", "Rope"]);
    assert_eq!(documents[0].text, "Pier One. Two.");
    assert_eq!(judged(&questions, 0), [("Boat", 1), ("Pier", 1)]);
    assert_eq!(judged(&questions, 1), [("Rope", 1)], "each title once");
    assert_eq!(questions.questions[1].metadata["type"], "comparison");
}

#[tokio::test]
async fn musique() {
    let paragraph = |idx: usize, title: &str, text: &str, is_supporting: bool| json!({"idx": idx, "title": title, "paragraph_text": text, "is_supporting": is_supporting});
    let row = |id: &str, aliases: Value, paragraphs: Value| {
        json!({
            "id": id, "question": format!("Question {id}?"), "answer": "Ada", "answer_aliases": aliases,
            "answerable": true, "paragraphs": paragraphs,
            "question_decomposition": [{"id": 1, "question": "Who?", "answer": "Ada", "paragraph_support_idx": 0}],
        })
    };
    let rows = json!([
        row(
            "2hop__1",
            json!(["Ada L.", "Ada", "A. L."]),
            json!([
                paragraph(0, "Pier", "It is old.", true),
                paragraph(1, "Pier", "It is long.", false)
            ]),
        ),
        row(
            "2hop__2",
            json!([]),
            json!([paragraph(0, "Pier", "It is long.", true)])
        ),
    ]);
    let cache = Cache::of(
        "dgslibisey/MuSiQue",
        &[("musique_ans_v1.0_dev.jsonl", rows)],
    );
    let (documents, questions) = cache.read("musique").await;
    assert_eq!(ids(&documents), ["It is old.", "It is long."]);
    let texts: Vec<&str> = documents
        .iter()
        .map(|document| document.text.as_str())
        .collect();
    assert_eq!(texts, ["Pier It is old.", "Pier It is long."]);
    assert_eq!(
        judged(&questions, 0),
        [("It is long.", 0), ("It is old.", 1)]
    );
    assert_eq!(judged(&questions, 1), [("It is long.", 1)]);
    let accepted = ["Ada L.".to_owned(), "A. L.".to_owned()];
    assert_eq!(answers(&questions, 0), (Some("Ada"), accepted.as_slice()));
    assert_eq!(answers(&questions, 1), (Some("Ada"), [].as_slice()));
}

#[tokio::test]
async fn trivia_qa() {
    let pages = |names: &[&str]| {
        let texts: Vec<String> = names
            .iter()
            .map(|name| format!("{name} is a page."))
            .collect();
        json!({"doc_source": names, "filename": names, "title": names, "wiki_context": texts})
    };
    let row = |id: &str, names: &[&str]| {
        json!({
            "question": format!("Question {id}?"), "question_id": id, "question_source": "http://quiz.example",
            "entity_pages": pages(names),
            "search_results": {"description": [], "filename": [], "rank": [], "title": [], "url": [], "search_context": []},
            "answer": {
                "aliases": ["The Pier", "Pier"], "normalized_aliases": ["pier"], "matched_wiki_entity_name": "",
                "normalized_matched_wiki_entity_name": "", "normalized_value": "pier", "type": "WikipediaEntity", "value": "Pier",
            },
        })
    };
    let cache = Cache::of(
        "mandarjoshi/trivia_qa",
        &[(
            "rc.wikipedia/validation-00000-of-00001.parquet",
            json!([
                row("qw_1", &["Pier.txt", "Boat.txt"]),
                row("qw_2", &["Boat.txt"])
            ]),
        )],
    );
    let (documents, questions) = cache.read("triviaqa").await;
    assert_eq!(ids(&documents), ["Pier.txt", "Boat.txt"]);
    assert_eq!(judged(&questions, 0), [("Boat.txt", 1), ("Pier.txt", 1)]);
    assert_eq!(
        answers(&questions, 0),
        (Some("Pier"), ["The Pier".to_owned()].as_slice())
    );
    assert_eq!(questions.counts.questions, 2);
}

#[tokio::test]
async fn natural_questions_open() {
    let rows = json!([
        {"question": "when was the pier built", "answer": ["1875", "in 1875"]},
        {"question": "who built it", "answer": ["Ada"]},
    ]);
    let file = ("nq_open/validation-00000-of-00001.parquet", rows);
    let cache = Cache::of("google-research-datasets/nq_open", &[file]);
    let (_, questions) = cache.read("nq-open").await;
    assert_eq!(
        answers(&questions, 0),
        (Some("1875"), ["in 1875".to_owned()].as_slice())
    );
    assert_eq!(answers(&questions, 1), (Some("Ada"), [].as_slice()));
    assert!(judged(&questions, 0).is_empty());
}

#[tokio::test]
async fn frames() {
    let text = "\tPrompt\tAnswer\twikipedia_link_1\twikipedia_link_11+\treasoning_types\twiki_links\n\
                0\tHow many, \"all\" told?\t37\thttps://en.wikipedia.org/wiki/Pier\t\tNumerical reasoning | Tabular reasoning\t['https://en.wikipedia.org/wiki/Pier']\n\
                1\t\"A \"\"quoted\"\"\nquestion?\"\tAda\t\t\tTemporal reasoning\t[]\n";
    let cache = Cache::of("google/frames-benchmark", &[("test.tsv", json!(text))]);
    let (_, questions) = cache.read("frames").await;
    let texts: Vec<&str> = questions
        .questions
        .iter()
        .map(|it| it.text.as_str())
        .collect();
    assert_eq!(
        texts,
        ["How many, \"all\" told?", "A \"quoted\"\nquestion?"]
    );
    assert_eq!(answers(&questions, 1), (Some("Ada"), [].as_slice()));
    assert_eq!(
        questions.questions[1].metadata["reasoning_types"],
        "Temporal reasoning"
    );
}

#[tokio::test]
async fn t2_rag_bench() {
    let row = |id: &str, context: &str, answer: &str| {
        json!({
            "id": id, "context_id": context, "split": "test", "question": format!("Question {id}?"), "program_answer": answer,
            "original_answer": answer, "context": format!("Page {context}."), "file_name": "ACME/2019/page_4.pdf", "table": "|a|",
            "pre_text": "", "post_text": "", "company_name": "Acme", "company_symbol": "ACM", "report_year": 2019, "page_number": 4,
        })
    };
    for (name, path) in [
        ("t2-finqa", "data/FinQA/test/metadata.jsonl"),
        ("t2-tatdqa", "data/TAT-DQA/test/metadata.jsonl"),
        ("t2-convfinqa", "data/ConvFinQA/metadata.jsonl"),
    ] {
        let rows = json!([
            row("a", "c1", "4.5"),
            row("b", "c1", "-3"),
            row("c", "c2", "7")
        ]);
        let cache = Cache::of("G4KMU/t2-ragbench", &[(path, rows)]);
        let (documents, questions) = cache.read(name).await;
        assert_eq!(ids(&documents), ["c1", "c2"], "{name}");
        assert_eq!(documents[0].metadata["report_year"], 2019);
        assert_eq!(judged(&questions, 1), [("c1", 1)]);
        assert_eq!(answers(&questions, 1).0, Some("-3"));
        let clusters = questions.questions.iter().map(|it| it.cluster.as_deref());
        let clusters: Vec<_> = clusters.collect();
        assert_eq!(clusters, [Some("c1"), Some("c1"), Some("c2")]);
    }
}

#[tokio::test]
async fn nano_beir() {
    let files = [
        (
            "corpus/train-00000-of-00001.parquet",
            json!([{"_id": "q1", "text": "A pier."}, {"_id": "d2", "text": "A boat."}]),
        ),
        (
            "queries/train-00000-of-00001.parquet",
            json!([{"_id": "q1", "text": "what is a pier"}, {"_id": "q2", "text": "what is a boat"}]),
        ),
        (
            "qrels/train-00000-of-00001.parquet",
            json!([{"query-id": "q1", "corpus-id": "q1"}, {"query-id": "q2", "corpus-id": "d2"}, {"query-id": "q2", "corpus-id": "q1"}]),
        ),
    ];
    let cache = Cache::of("zeta-alpha-ai/NanoFiQA2018", &files);
    let (documents, questions) = cache.read("nanobeir:fiqa2018").await;
    assert_eq!(ids(&documents), ["q1", "d2"]);
    assert_eq!(
        judged(&questions, 0),
        [("q1", 1)],
        "also with the question's own id"
    );
    assert_eq!(judged(&questions, 1), [("d2", 1), ("q1", 1)]);
}

#[tokio::test]
async fn bright() {
    let example = |id: &str, gold: Value| {
        json!({
            "query": format!("A long post {id}."), "reasoning": "because", "id": id, "excluded_ids": ["N/A"],
            "gold_ids_long": ["posts/1.txt"], "gold_ids": gold, "gold_answer": "The pier.",
        })
    };
    let cache = Cache::of(
        "xlangai/BRIGHT",
        &[
            (
                "documents/pony-00000-of-00001.parquet",
                json!([{"id": "posts/1_0.txt", "content": "A pier."}, {"id": "posts/1_1.txt", "content": "A boat."}]),
            ),
            (
                "examples/pony-00000-of-00001.parquet",
                json!([
                    example("0", json!(["posts/1_1.txt", "posts/1_0.txt"])),
                    example("1", json!(["posts/1_0.txt"]))
                ]),
            ),
        ],
    );
    let (documents, questions) = cache.read("bright:pony").await;
    assert_eq!(documents.len(), 2);
    assert_eq!(
        judged(&questions, 0),
        [("posts/1_0.txt", 1), ("posts/1_1.txt", 1)]
    );
    assert_eq!(judged(&questions, 1), [("posts/1_0.txt", 1)]);
}

#[tokio::test]
async fn rag_truth() {
    let row = |id: &str, conflicts: i64, baseless: i64| {
        json!({
            "id": id, "query": "What is a pier?", "context": "passage 1: A pier.", "output": "A pier is a pier.", "task_type": "QA",
            "quality": "good", "model": "m", "temperature": 0.7, "hallucination_labels": "[]",
            "hallucination_labels_processed": {"evident_conflict": conflicts, "baseless_info": baseless}, "input_str": "…",
        })
    };
    let rows = json!([row("10", 0, 0), row("11", 2, 0), row("12", 1, 3)]);
    let cache = Cache::of(
        "wandb/RAGTruth-processed",
        &[("data/test-00000-of-00001.parquet", rows)],
    );
    let (_, questions) = cache.read("ragtruth").await;
    let manifest = Catalog::new::<&str>([]).find("ragtruth").unwrap();
    let labels = manifest.labels.unwrap();
    let kinds: Vec<Vec<String>> = questions
        .questions
        .iter()
        .map(|it| labels.kinds(&it.metadata).unwrap().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            vec![],
            vec!["evident_conflict"],
            vec!["baseless_info", "evident_conflict"]
        ]
    );
    assert_eq!(questions.questions[0].metadata["model"], "m");
    let cluster = manifest.cluster.map(|key| key.to_string());
    assert_eq!(cluster.as_deref(), Some("metadata:context"));
}
