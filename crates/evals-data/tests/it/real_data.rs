//! Published collections, in the Hugging Face home that `EVALUATIONS_REAL_HF_HOME` names.

use std::io::Write as _;
use std::path::PathBuf;

use evals_data::{Catalog, Collection, Hub, HubSettings};

/// Documents, their characters without white space at the ends, questions, judgements.
type Counts = (usize, usize, usize, usize);

/// A dataset; `None`, with a message, if the variable is not set.
pub(crate) async fn collection(name: &str) -> Option<Collection> {
    let Some(home) = std::env::var_os("EVALUATIONS_REAL_HF_HOME") else {
        // The test harness hides the output of `eprintln!` if a test passes.
        let text =
            format!("skipped: EVALUATIONS_REAL_HF_HOME names no Hugging Face home with {name}\n");
        std::io::stderr().write_all(text.as_bytes()).unwrap();
        return None;
    };
    let mut settings = HubSettings::from_variables(|_| None);
    settings.cache_dir = Some(PathBuf::from(home).join("hub"));
    settings.offline = true;
    let manifest = Catalog::new::<&str>([]).find(name).unwrap();
    let collection = Collection::resolve(&manifest, &Hub::new(settings), &()).await;
    Some(collection.unwrap())
}

/// The counts of a dataset.
async fn counts(name: &str) -> Option<Counts> {
    let collection = collection(name).await?;
    let documents = collection
        .documents()
        .unwrap()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    let characters = documents
        .iter()
        .map(|document| document.text.trim().chars().count())
        .sum();
    let questions = collection.questions().unwrap().questions;
    let judgements = questions
        .iter()
        .map(|question| question.relevant.len())
        .sum();
    Some((documents.len(), characters, questions.len(), judgements))
}

/// The figures that MTEB publishes for its test split.
#[tokio::test]
async fn scifact() {
    let Some(counts) = counts("beir:scifact").await else {
        return;
    };
    assert_eq!(counts, (5_183, 7_771_451, 300, 339));
}

/// A sample of the collection: 173 articles, 160 questions.
#[tokio::test]
async fn wix() {
    let Some((documents, _, questions, judgements)) = counts("wix").await else {
        return;
    };
    assert_eq!((documents, questions, judgements), (173, 160, 209));
}

/// A sample of the collection: ten stories with a question each.
#[tokio::test]
async fn repliqa() {
    let Some((documents, _, questions, judgements)) = counts("repliqa").await else {
        return;
    };
    assert_eq!((documents, questions, judgements), (10, 10, 10));
}
