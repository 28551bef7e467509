//! Retrieval-augmented generation over a folder of markdown: reads it, indexes it, asks questions, measures rankings and answers.
//!
//! ```sh
//! cargo run --package evaluations --example rag_over_a_folder
//! ```
//!
//! The folder is this project's own guide. The answers are sentences of the passages, chosen by the embedded model, so nothing is downloaded.

#![recursion_limit = "256"]

use std::error::Error;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use evals::Experiment;
use evals::render::Console;
use evals_data::{Collection, Hub, HubSettings, Manifest, Origin};
use evals_index::{
    BuildOptions, Chunker, Index, Profile, Recipe, SearchOptions, Store, Unobserved,
};
use evals_local::StaticEmbedder;
use evals_metrics::Bootstrap;
use evals_rag::Searcher;
use evals_rag::answering::{ExtractiveAnswerer, Refusals};
use evals_rag::judging::OverlapJudge;
use evals_rag::qa::{self, CitationPrecision, Equivalence, Settings};
use evals_rag::retrieval::{self, IdenticalIds};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");

/// Questions, each with its answer and the page that has it.
const QUESTIONS: &str = r#"[
  {"query": "After how many seconds does a second signal come in GitHub Actions?", "answer": "7.5", "relevant": ["interruptions.md"]},
  {"query": "Which columns does the smallest manifest name?", "answer": "uri, text, relevant", "relevant": ["your-data.md"]},
  {"query": "What does a process write to stdout for each request?", "answer": "one JSON object on a line", "relevant": ["targets.md"]}
]"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("questions.json"), QUESTIONS)?;
    let manifest = format!(
        "name: guide
documents: {{source: {{path: '{FOLDER}', files: ['*.md']}}}}
questions: {{source: {{path: questions.json}}, text: query, answer: answer, relevant: relevant}}
"
    );
    let origin = Origin::File(folder.path().join("guide.yaml"));
    let manifest = Manifest::parse(&manifest, origin)?;
    let hub = Hub::new(HubSettings::from_env());
    let collection = Collection::resolve(&manifest, &hub, &()).await?;

    let store = Store::open(folder.path().to_str().ok_or("the path is not UTF-8")?).await?;
    let recipe = Recipe::new("guide", Chunker::whole_documents());
    let options = BuildOptions::default();
    let documents = collection.documents()?;
    let built = Index::build(&store, &recipe, documents, &options, &Unobserved).await?;
    let searching = SearchOptions {
        passages: 5,
        ..SearchOptions::default()
    };
    let searcher: Arc<dyn Searcher> = built.index.searcher(Profile::Bm25, &searching).await?;
    let questions = collection.questions()?.questions;
    let five = NonZeroUsize::new(5).ok_or("5 is not 0")?;

    let measures = vec!["RR@5".parse()?, "R@5".parse()?];
    let dataset = retrieval::dataset("rankings", questions.clone(), measures)?;
    let task = retrieval::task(Arc::clone(&searcher), five, IdenticalIds::Keep);
    let report = Experiment::new(dataset, task).run().await;
    let summary = report.summary(&Bootstrap::default());
    Console::default().report(io::stdout(), &report, &summary)?;

    let dataset = qa::dataset("answers", questions)?
        .evaluator(Equivalence::new(Arc::new(OverlapJudge::default())))
        .evaluator(CitationPrecision);
    let embedder = Arc::new(StaticEmbedder::static_minilm());
    let answerer = ExtractiveAnswerer::new(embedder, Refusals::default());
    let task = qa::task(searcher, Arc::new(answerer), Settings::new(five));
    let report = Experiment::new(dataset, task).run().await;
    let summary = report.summary(&Bootstrap::default());
    Ok(Console::default().report(io::stdout(), &report, &summary)?)
}
