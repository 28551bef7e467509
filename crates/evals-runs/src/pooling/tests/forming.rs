//! Which pairs a pool has, and which text of them is judged.

use super::*;

#[test]
fn a_pool_is_the_union_of_the_top_of_all_runs() {
    let runs = [
        run(
            "one",
            vec![case("q1", &["a", "b", "x", "deep"]), case("q2", &[])],
        ),
        run("two", vec![case("q1", &["b", "y"])]),
    ];
    assert_eq!(
        Vec::from_iter(pooled_documents(&runs, depth(3))),
        ["a", "b", "x", "y"]
    );
    let pool = pool(&runs);
    let documents = |question: &PooledQuestion| {
        let pairs = question.pairs.iter().map(|pair| pair.document.clone());
        pairs.collect::<Vec<_>>().join(" ")
    };
    let found: Vec<_> = pool
        .questions
        .iter()
        .map(|it| (&*it.id, documents(it)))
        .collect();
    assert_eq!(found, [("q1", "a b x y".to_owned()), ("q2", String::new())]);
}

#[test]
fn unanswerable_questions_and_failures_are_not_pooled() {
    let mut unanswerable = case("q1", &["a"]);
    unanswerable["metadata"]["answerable"] = json!(false);
    let mut failed = case("q2", &["b"]);
    failed["result"] = json!({"failure": {"kind": "error", "message": "away"}});
    let mut silent = case("q3", &["c"]);
    silent["result"]["output"]["missing"] = json!(["documents"]);
    let runs = [run("one", vec![unanswerable.clone(), failed, silent])];
    let pool = pool(&runs);
    let ids: Vec<_> = pool
        .questions
        .iter()
        .map(|it| (&*it.id, it.pairs.len()))
        .collect();
    assert_eq!(ids, [("q2", 0), ("q3", 0)]);
    let runs = [run("one", vec![unanswerable])];
    let error = Pool::of(&runs, depth(3), &BTreeMap::new()).unwrap_err();
    assert!(error.to_string().contains("nothing to judge"), "{error}");
}

#[test]
fn a_long_document_is_judged_by_its_best_passage_or_its_beginning() {
    let mut found = case("q1", &["long", "longer", "lost", "short", "elsewhere"]);
    let passage = |document: &str, text: &str| json!({"document": document, "title": null, "ordinal": 0, "text": text, "score": 1.0});
    found["result"]["output"]["passages"] = json!([
        passage("long", "best"),
        passage("long", "next"),
        passage("short", "part of it"),
        passage("elsewhere", &"é".repeat(LONGEST_TEXT + 5)),
    ]);
    let mut later = case("q1", &["long"]);
    later["result"]["output"]["passages"] = json!([passage("long", "of another run")]);
    let runs = [run("one", vec![found]), run("two", vec![later])];
    let mut documents = corpus(["long", "longer", "short"]);
    for id in ["long", "longer"] {
        documents.get_mut(id).unwrap().text = "é".repeat(LONGEST_TEXT + 1);
    }
    documents.get_mut("short").unwrap().text = "é".repeat(LONGEST_TEXT);
    let pool = Pool::of(&runs, depth(5), &documents).unwrap();
    let question = &pool.questions[0];
    let texts: Vec<_> = question
        .pairs
        .iter()
        .map(|it| {
            let (_, text) = it.text.split_once("\n\n").unwrap_or(("", &it.text));
            (&*it.document, text.chars().count())
        })
        .collect();
    assert_eq!(
        texts,
        [
            ("elsewhere", LONGEST_TEXT),
            ("long", 4),
            ("longer", LONGEST_TEXT),
            ("short", LONGEST_TEXT)
        ]
    );
    let report = PoolReport::of(&pool, &runs, &[], None, 0, bootstrap());
    assert_eq!((pool.pairs().count(), pool.without_text), (4, 1));
    assert!(
        report.warnings[0].contains("1 pair without a text"),
        "{:?}",
        report.warnings
    );
}

#[test]
fn runs_of_different_data_are_not_pooled() {
    let mut other = case("q1", &["a"]);
    other["input"] = json!("another question");
    let runs = [
        run("one", vec![case("q1", &["a"])]),
        run("two", vec![other]),
    ];
    let error = Pool::of(&runs, depth(3), &BTreeMap::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "question `q1` has a different text in run `two` than in the runs before it; pool runs of one version of the dataset"
    );
    let mut runs = [run("one", vec![]), run("two", vec![])];
    Arc::get_mut(&mut runs[1].report).unwrap().dataset = "other".to_owned();
    let error = Pool::of(&runs, depth(3), &BTreeMap::new()).unwrap_err();
    assert!(
        error.to_string().contains("pool runs of one dataset"),
        "{error}"
    );
    assert!(Pool::of(&[], depth(3), &BTreeMap::new()).is_err());
}
