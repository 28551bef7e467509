//! The vectors and questions of the benchmark.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals_data::Collection;
use evals_index::{
    BuildOptions, Index, Recipe, Store, VectorCollection, VectorNeighbour, VectorWriter,
};
use evals_messages::quantity;
use evals_metrics::{Judgements, Measure, Ranking, ScoredDocument};
use evals_models::{Embedder, TextKind};
use evals_pipeline::choices::Choices;
use evals_pipeline::downloads;
use evals_pipeline::index_bar::IndexBar;
use evals_pipeline::models::{Servers, embedder};
use evals_pipeline::run_models;
use evals_pipeline::session::Session;
use evals_pipeline::store_options;
use evals_rag::Question;
use evals_terminal::progress;

use super::generated::GeneratedModel;
use crate::options::{BenchIndexArgs, GeneratedVectors};
use evals_settings::{Layer, Resolved};

/// Questions about generated vectors, unless the command line has another number.
const USUAL_QUESTIONS: usize = 1000;

/// The vectors in a table without texts, and the questions.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) source: String,
    pub(super) vectors: VectorCollection,
    /// The questions' vectors, one after the other.
    pub(super) questions: Arc<[f32]>,
    /// `None` for generated vectors.
    pub(super) judged: Option<JudgedQuestions>,
}

/// Which documents are relevant to which question.
#[derive(Debug)]
pub(super) struct JudgedQuestions {
    /// The uris of the documents.
    documents: Vec<String>,
    /// The document of each vector.
    document_of: Vec<usize>,
    /// In the order of the questions' vectors: id and judgements. `None` if rank measures are undefined.
    questions: Vec<(String, Option<Judgements>)>,
    ignores_identical_ids: bool,
    measure: Measure,
}

impl Asked {
    pub(super) fn questions(&self) -> usize {
        self.questions.len() / self.vectors.dimension()
    }

    pub(super) async fn generated(
        session: &Session<'_>,
        arguments: &BenchIndexArgs,
        GeneratedVectors { count, dimension }: GeneratedVectors,
        store: &Store,
    ) -> Result<Self> {
        let bar = progress::open_ended(session.printer, "generating");
        let model = GeneratedModel::new(count, dimension, arguments.seed);
        let mut writer = VectorWriter::create(store, dimension).await?;
        let mut written = 0;
        for block in model.vectors(count) {
            writer.add(&block).await?;
            written += block.len() / dimension;
            bar.set_message(quantity::of(written, "vector"));
        }
        let questions = arguments.queries.map_or(USUAL_QUESTIONS, usize::from);
        let vectors = writer.finish().await?;
        bar.finish_and_clear();
        Ok(Self {
            source: format!("generated vectors, seed {}", arguments.seed),
            vectors,
            questions: model.questions(questions).into(),
            judged: None,
        })
    }

    pub(super) async fn of_dataset(
        session: &Session<'_>,
        arguments: &BenchIndexArgs,
        dataset: &str,
        store: &Store,
    ) -> Result<Self> {
        let manifest = session.manifest(dataset)?;
        let mut layers = vec![Layer::dataset(&manifest.origin, &manifest.settings)?];
        layers.extend(session.user_layers(&arguments.settings, [])?);
        let resolved = evals_settings::resolve(layers)?;
        session.warn_of_matrix(&resolved);
        let choices = Choices::of(&resolved)?;
        embedder::check(&resolved, &choices.models.embedder)?;
        let mut servers = Servers::new(&resolved, &choices.models, session.printer, arguments.seed);
        let model = &choices.models.embedder;
        let embedder = embedder::open(session.printer, &resolved, model, &mut servers).await?;
        let embedder =
            match run_models::embedder::cached(session, &servers, model, &embedder).await? {
                Some((cached, _)) => Arc::new(cached),
                None => embedder,
            };
        let collection = downloads::fetch(session.printer, &manifest).await?;
        let uri = database(session, arguments, &manifest.name);
        let fingerprint = collection.provenance().documents_fingerprint();
        let recipe = Recipe::new(fingerprint, choices.chunker.clone());
        let recipe = recipe.with_embedder(Arc::clone(&embedder));
        let index = index(session, &resolved, &uri, &recipe, &collection).await?;
        let most = arguments.queries.map_or(usize::MAX, usize::from);
        let questions = questions(collection, &index, most).await?;
        if questions.is_empty() {
            bail!("dataset `{}` has no questions", manifest.name);
        }
        let mut writer = VectorWriter::create(store, embedder.dimension()).await?;
        let bar = progress::open_ended(session.printer, "copying");
        let document_of = index
            .copy_vectors(&mut writer, |read| {
                bar.set_message(quantity::of(read, "vector"));
            })
            .await?;
        let vectors = writer.finish().await?;
        bar.finish_and_clear();
        let asked = embed(session, &*embedder, &questions).await?;
        Ok(Self {
            source: format!("{}, {}", manifest.name, described(&resolved)),
            vectors,
            questions: asked.into(),
            judged: Some(JudgedQuestions {
                documents: index.documents().map(str::to_owned).collect(),
                document_of,
                questions: questions.into_iter().map(judged).collect(),
                ignores_identical_ids: manifest.retrieval.ignore_identical_ids,
                measure: "nDCG@10".parse().context("nDCG@10 is a measure")?,
            }),
        })
    }
}

fn database(session: &Session<'_>, arguments: &BenchIndexArgs, dataset: &str) -> String {
    let usual = || session.directories.database(dataset).display().to_string();
    arguments.db.clone().unwrap_or_else(usual)
}

/// The dataset's index, which is built if it does not exist.
async fn index(
    session: &Session<'_>,
    resolved: &Resolved,
    uri: &str,
    recipe: &Recipe,
    collection: &Collection,
) -> Result<Index> {
    let bar = IndexBar::new(session.printer);
    let indexes = store_options::open(session.printer, resolved, uri).await?;
    let options = BuildOptions::default();
    let built = Index::build(&indexes, recipe, collection.documents()?, &options, &bar).await?;
    drop(bar);
    for note in built.index.notes() {
        session.printer.note(note);
    }
    Ok(built.index)
}

/// The first questions with a text.
async fn questions(collection: Collection, index: &Index, most: usize) -> Result<Vec<Question>> {
    let index = index.clone();
    let read = tokio::task::spawn_blocking(move || collection.questions_for(index.documents()));
    let read = read
        .await
        .context("the task that reads the questions was cancelled")??;
    let mut questions = read.questions;
    questions.retain(|question| !question.text.trim().is_empty());
    questions.truncate(most);
    Ok(questions)
}

fn described(resolved: &Resolved) -> String {
    let model = &resolved.settings.embeddings.model;
    format!("{}:{}", model.provider, model.name)
}

fn judged(question: Question) -> (String, Option<Judgements>) {
    let judgements = question.answerable.then_some(question.relevant);
    (question.id, judgements)
}

/// Embeds the questions one by one, as the search does.
async fn embed(
    session: &Session<'_>,
    embedder: &dyn Embedder,
    questions: &[Question],
) -> Result<Vec<f32>> {
    let bar = progress::open_ended(session.printer, "embedding");
    let mut vectors = Vec::with_capacity(questions.len() * embedder.dimension());
    for (number, question) in questions.iter().enumerate() {
        let embedded = embedder
            .embed(&[question.text.as_str()], TextKind::Query)
            .await;
        let embedded =
            embedded.with_context(|| format!("cannot embed question `{}`", question.id))?;
        let vector = embedded.row(0).unwrap_or_default();
        evals_models::check_direction(vector)
            .with_context(|| format!("cannot search for question `{}`", question.id))?;
        vectors.extend_from_slice(vector);
        bar.set_message(quantity::of(number + 1, "question"));
    }
    bar.finish_and_clear();
    Ok(vectors)
}

impl JudgedQuestions {
    /// nDCG@10 of the results of each question; `None` if it is undefined.
    pub(super) fn scores(&self, found: &[Vec<VectorNeighbour>]) -> Result<Vec<Option<f64>>> {
        let scored = self.questions.iter().zip(found).map(|(question, found)| {
            let (id, Some(judgements)) = question else {
                return Ok(None);
            };
            let ranking = self.ranking(id, found)?;
            Ok(self.measure.score(judgements, &ranking).ok())
        });
        scored.collect()
    }

    /// The documents of the chunks, each with the score of its best chunk.
    fn ranking(&self, question: &str, found: &[VectorNeighbour]) -> Result<Ranking> {
        let mut documents: Vec<ScoredDocument> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for neighbour in found {
            let document = self.document_of[neighbour.number as usize];
            let id = &self.documents[document];
            let is_same = self.ignores_identical_ids && id == question;
            if !is_same && seen.insert(document) {
                documents.push(ScoredDocument {
                    id: id.clone(),
                    score: neighbour.score,
                });
            }
        }
        Ok(Ranking::new(documents)?)
    }
}
