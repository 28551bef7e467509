//! The index of a run: found, or built with progress on screen.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use evals_data::Collection;
use evals_index::{
    BuildObserver, BuildOptions, BuildProgress, BuildReport, BuildStage, Chunker, Index,
    IndexStatistics, Recipe, Store,
};
use evals_models::{Embedder, StaticEmbedder, WordPiece};
use indicatif::ProgressBar;

use super::plan::Plan;
use crate::printer::Printer;
use crate::progress;
use crate::settings::{Model, Settings};

/// What settings call the embedded model.
const STATIC_MINILM: &str = "static-minilm";

/// An index that can be searched, and how it came to be.
#[derive(Debug)]
pub(super) struct ReadyIndex {
    pub(super) store: Store,
    pub(super) index: Index,
    pub(super) statistics: IndexStatistics,
    /// What building it took, unless it was there.
    pub(super) build: Option<BuildReport>,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
}

/// Opens the index at `uri`, or builds it unless `skip_db` forbids that.
pub(super) async fn prepare(
    printer: &Printer,
    plan: &Plan,
    collection: &Collection,
    uri: &str,
    skip_db: bool,
) -> Result<ReadyIndex> {
    let store = Store::open(uri).await?;
    let settings = &plan.resolved.settings;
    let embedder = embedder(&settings.embeddings.model)?;
    let lexical = Recipe::new(
        collection.provenance().documents_fingerprint(),
        chunker(settings, embedder.tokenizer())?,
    );
    let embedder: Arc<dyn Embedder> = Arc::new(embedder);
    let whole = lexical.clone().with_embedder(Arc::clone(&embedder));
    // An index with vectors serves lexical profiles too, so it is used where it is there; where it is not, profiles
    // that compare no vectors do not wait for any to be computed.
    let recipe = if plan.needs_embeddings() || Index::open(&store, &whole).await.is_ok() {
        whole
    } else {
        lexical
    };
    let (index, build) = if skip_db {
        let index = Index::open(&store, &recipe)
            .await
            .context("`--skip-db` needs an index that matches the settings")?;
        (index, None)
    } else {
        build(printer, &store, &recipe, collection).await?
    };
    let statistics = index.statistics().await?;
    let embedder = index.identity().embedder().is_some().then_some(embedder);
    Ok(ReadyIndex {
        store,
        index,
        statistics,
        build,
        embedder,
    })
}

async fn build(
    printer: &Printer,
    store: &Store,
    recipe: &Recipe,
    collection: &Collection,
) -> Result<(Index, Option<BuildReport>)> {
    let bar = Bar {
        bar: progress::open_ended(printer, "indexing"),
        started: Instant::now(),
    };
    let documents = collection.documents()?;
    let built = Index::build(store, recipe, documents, &BuildOptions::default(), &bar).await;
    bar.bar.finish_and_clear();
    let built = built?;
    Ok((built.index, built.report))
}

fn chunker(settings: &Settings, tokenizer: Arc<WordPiece>) -> Result<Chunker> {
    let processing = &settings.processing;
    match processing.chunk_size {
        None => Ok(Chunker::whole_documents()),
        Some(size) => Chunker::tokens(size, processing.chunk_overlap, tokenizer)
            .context("bad value for `processing.chunk_overlap`"),
    }
}

fn embedder(model: &Model) -> Result<StaticEmbedder> {
    match (model.provider.as_str(), model.name.as_str()) {
        ("embedded", STATIC_MINILM) => {
            let embedder = StaticEmbedder::static_minilm();
            match model.vector_dim {
                None => Ok(embedder),
                Some(dimension) => embedder
                    .with_dimension(dimension.get())
                    .context("bad value for `embeddings.model.vector_dim`"),
            }
        }
        ("embedded", name) => {
            bail!(
                "`embeddings.model.name` is `{name}`, but the only embedded model is `{STATIC_MINILM}`"
            )
        }
        (provider, _) => bail!(
            "`embeddings.model.provider` is `{provider}`, which this version cannot use yet; use `embedded`"
        ),
    }
}

#[derive(Debug)]
struct Bar {
    bar: ProgressBar,
    started: Instant,
}

impl BuildObserver for Bar {
    fn on_progress(&self, progress: BuildProgress) {
        let seconds = self.started.elapsed().as_secs_f64().max(f64::EPSILON);
        #[expect(clippy::cast_precision_loss, reason = "shown with no decimals")]
        let rate = progress.documents as f64 / seconds;
        self.bar.set_message(match progress.stage {
            BuildStage::Loading => {
                format!(
                    "{} documents, {} chunks, {rate:.0} documents/s",
                    progress.documents, progress.chunks
                )
            }
            BuildStage::Compacting => "joining small files".to_owned(),
            BuildStage::FullText => format!("full-text index of {} chunks", progress.chunks),
        });
    }
}
