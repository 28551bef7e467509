//! The bundled samples, which must match their sources.

#[path = "../../examples/build_samples/columns.rs"]
mod columns;
#[path = "../../examples/build_samples/error.rs"]
mod error;
#[path = "../../examples/build_samples/sources.rs"]
mod sources;
#[path = "../../examples/build_samples/stories.rs"]
mod stories;
#[path = "../../examples/build_samples/support.rs"]
mod support;

use std::path::{Path, PathBuf};

use evals_data::{Catalog, Collection, Hub, HubSettings};
use stories::Stories;
use support::Support;

fn datasets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets")
}

fn assert_committed(name: &str, built: &[u8]) {
    let committed = std::fs::read(datasets().join(name)).unwrap();
    assert!(
        committed == built,
        "datasets/{name} is not what its sources give: run `cargo run -p evals-data --example build_samples`"
    );
}

#[test]
fn the_committed_files_match_their_sources() {
    let stories = Stories::read(&datasets().join("sample")).unwrap();
    assert_committed("sample.parquet", &stories.parquet().unwrap());
    let support = Support::read(&datasets().join("sample-support")).unwrap();
    assert_committed(
        "sample-support-articles.parquet",
        &support.articles_parquet().unwrap(),
    );
    assert_committed(
        "sample-support-questions.parquet",
        &support.questions_parquet().unwrap(),
    );
}

async fn bundled(name: &str) -> Collection {
    let manifest = Catalog::new::<&str>([]).find(name).unwrap();
    let settings = HubSettings {
        offline: true,
        ..HubSettings::from_variables(|_| None)
    };
    Collection::resolve(&manifest, &Hub::new(settings), &())
        .await
        .unwrap()
}

#[tokio::test]
async fn the_bundled_samples_match_their_manifests() {
    for (name, unanswerable) in [("sample", 64), ("sample-support", 0)] {
        let collection = bundled(name).await;
        let size = collection.manifest().size.unwrap();
        let documents = collection
            .documents()
            .unwrap()
            .collect::<Result<Vec<_>, _>>()
            .unwrap();
        let questions = collection.questions().unwrap().questions;
        assert_eq!(documents.len() as u64, size.documents.unwrap(), "{name}");
        assert_eq!(questions.len() as u64, size.questions.unwrap(), "{name}");
        assert_eq!(
            questions
                .iter()
                .filter(|question| !question.answerable)
                .count(),
            unanswerable,
            "{name}"
        );
        let (answerable, others): (Vec<_>, Vec<_>) =
            questions.iter().partition(|question| question.answerable);
        assert!(others.iter().all(|question| question.relevant.is_empty()));
        let relevant = answerable.iter().map(|question| question.relevant.len());
        assert!(
            relevant.clone().min() >= Some(1) && relevant.max() <= Some(3),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_help_article_begins_with_its_title() {
    for document in bundled("sample-support").await.documents().unwrap() {
        let document = document.unwrap();
        assert!(
            document
                .text
                .starts_with(&format!("{}\n\n", document.title.unwrap())),
            "{}",
            document.uri
        );
    }
}

/// A folder with `count` valid stories, one of which is changed.
fn stories_with(count: usize, change: impl Fn(&str) -> String) -> String {
    let folder = tempfile::tempdir().unwrap();
    let question = |answer: &str| {
        format!("    - {{question: What?, answer: {answer:?}, long_answer: {answer:?}}}\n")
    };
    let missing = question("The answer is not found in the document.");
    let questions = question("That.").repeat(4) + &missing;
    let story = |number: usize| {
        let text = "word ".repeat(300);
        format!(
            "- id: s{number}\n  topic: News\n  title: Title\n  text: {text}\n  questions:\n{questions}"
        )
    };
    let mut stories: Vec<String> = (0..count).map(story).collect();
    let last = stories.pop().unwrap();
    stories.push(change(&last));
    std::fs::write(folder.path().join("a.yaml"), stories.concat()).unwrap();
    match Stories::read(folder.path()) {
        Ok(_) => "valid".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn stories_have_to_keep_the_rules() {
    let unchanged = str::to_owned;
    assert_eq!(stories_with(60, unchanged), "valid");
    assert_eq!(
        stories_with(59, unchanged),
        "59 stories; at least 60 are needed"
    );
    assert_eq!(
        stories_with(60, |story| story.replace("s59", "s0")),
        "story id `s0` occurs twice"
    );
    assert_eq!(
        stories_with(60, |story| story.replacen("word ", "", 1)),
        "story `s59` has 299 words, not 300 to 900"
    );
    assert_eq!(
        stories_with(60, |story| story
            .replace("The answer is not found in the document.", "Here.")),
        "59 of 300 questions are unanswerable; it has to be one in 5"
    );
    assert_eq!(
        stories_with(60, |story| story.replacen(
            "The answer is not found in the document.",
            "Here.",
            1
        )),
        "story `s59`: answer and long answer of `What?` disagree about being unanswerable"
    );
    assert!(stories_with(60, |story| story.replace("topic", "theme")).contains("theme"));
}

#[test]
fn support_questions_name_known_articles() {
    let folder = tempfile::tempdir().unwrap();
    let article = |number: usize| {
        format!("- {{id: a{number}, title: T, article_type: article, contents: C}}\n")
    };
    let question =
        |ids: &str| format!("- {{question: What?, answer: That., article_ids: [{ids}]}}\n");
    std::fs::write(
        folder.path().join("articles-1.yaml"),
        (0..80).map(article).collect::<Vec<_>>().concat(),
    )
    .unwrap();
    let read = |last: &str| {
        let questions = question("a1").repeat(59) + &question(last);
        std::fs::write(folder.path().join("questions.yaml"), questions).unwrap();
        Support::read(folder.path()).map_or_else(|error| error.to_string(), |_| "valid".to_owned())
    };
    assert_eq!(read("a1, a2, a3"), "valid");
    assert_eq!(read("a1, b2"), "`What?` names the unknown article `b2`");
    assert_eq!(read(""), "`What?` names 0 articles, not 1 to 3");
    assert_eq!(read("a1, a1"), "`What?` names an article twice");
}
