//! Building an index: from a stream of documents to a finished table.

mod chunk;
mod embedding;
mod loader;
mod progress;
mod reader;
mod report;
mod rows;
mod writer;

pub use progress::{BuildObserver, BuildProgress, BuildStage, Unobserved};
pub(crate) use reader::Documents;
pub use report::BuildReport;

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use evals_rag::Document;
use lancedb::table::{CompactionOptions, OptimizeAction, Table};

use crate::address::Address;
use crate::error::IndexError;
use crate::header::Completion;
use crate::recipe::Recipe;
use crate::store::{Store, WriteLock};
use crate::table;
use crate::table::full_text::{self, Coverage};
use crate::table::positions::Positions;
use loader::Loader;

/// Fragments beyond which the table is rewritten in larger ones: every fragment slows searches down a little.
const MOST_FRAGMENTS: usize = 32;

/// How a build uses the machine. These options do not change the content of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildOptions {
    /// Portions of documents (at most 128 documents or 1 MiB of text) that are chunked and embedded at the same time. Default: the
    /// number of processors.
    pub concurrency: NonZeroUsize,
    /// Texts in one call of the embedder. Default 64.
    pub embed_batch: NonZeroUsize,
    /// Bytes of rows after which they are committed; memory use is about the same. Default 64 MiB.
    pub commit_bytes: usize,
    /// Time after which rows are committed, however few. An interruption loses at most this much work of a slow embedder. Default 30 s.
    pub commit_interval: Duration,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            concurrency: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            embed_batch: NonZeroUsize::new(64).expect("64 is not 0"),
            commit_bytes: 64 << 20,
            commit_interval: Duration::from_secs(30),
        }
    }
}

/// Boxes the caller's documents, whatever their types.
pub(crate) fn documents<I, E>(documents: I) -> Documents
where
    I: IntoIterator<Item = Result<Document, E>>,
    I::IntoIter: Send + 'static,
    E: Into<Box<dyn Error + Send + Sync>> + 'static,
{
    Box::new(
        documents
            .into_iter()
            .map(|document| document.map_err(Into::into)),
    )
}

/// Builds the table of `recipe`, or resumes its build. `lock` is the store's.
pub(crate) async fn build(
    store: &Store,
    lock: &WriteLock,
    recipe: &Recipe,
    documents: Documents,
    options: &BuildOptions,
    observer: &dyn BuildObserver,
) -> Result<BuildReport, IndexError> {
    let started = Instant::now();
    let identity = recipe.identity();
    let name = identity.table_name();
    let address = store.address(&name);
    let existing = store.table_for_writing(&name).await?;
    let interrupted = existing.is_some();
    let (table, committed) = match existing {
        Some(table) => {
            let committed = Positions::load(&table, &address).await?;
            (table, committed)
        }
        None => (store.create(&identity).await?, Positions::default()),
    };
    let loader = Loader::new(&table, recipe, options, observer, Arc::new(committed)).await?;
    let (mut report, progress) = loader.load(documents, address.clone()).await?;
    if progress.documents == 0 {
        return Err(IndexError::corpus("the corpus has no documents"));
    }
    let stage = |stage| observer.on_progress(BuildProgress { stage, ..progress });
    let indexing = Instant::now();
    let scattered = fragments(&table).await? > MOST_FRAGMENTS;
    if scattered {
        stage(BuildStage::Compacting);
        compact(&table).await?;
    }
    stage(BuildStage::FullText);
    full_text::build(&recipe.full_text, &table).await?;
    if interrupted || scattered {
        lock.check().await?;
        prune(&table).await?;
    }
    finish(&table, &progress, address, store.records_files()).await?;
    store.record_files(&name).await?;
    report.full_text = indexing.elapsed();
    report.wall = started.elapsed();
    Ok(report)
}

/// Records that the table is complete, after checking that it is.
async fn finish(
    table: &Table,
    progress: &BuildProgress,
    address: Address,
    files_recorded: bool,
) -> Result<(), IndexError> {
    let coverage = full_text::coverage(table).await?;
    let whole = Coverage {
        indexed: progress.chunks,
        left_out: 0,
    };
    if coverage != Some(whole) {
        return Err(IndexError::Damaged {
            table: address,
            defect: format!(
                "its full-text index covers {} of {} chunks",
                coverage.map_or(0, |coverage| coverage.indexed),
                progress.chunks
            ),
        });
    }
    let completion = Completion {
        documents: progress.documents,
        chunks: progress.chunks,
        files_recorded,
        cut: table::cut_chunks(table).await?,
    };
    table::complete(table, completion).await
}

async fn fragments(table: &Table) -> Result<usize, IndexError> {
    let statistics = table
        .stats()
        .await
        .map_err(IndexError::during("read the index's statistics"))?;
    Ok(statistics.fragment_stats.num_fragments)
}

/// Joins small fragments; their files stay until they are pruned.
async fn compact(table: &Table) -> Result<(), IndexError> {
    let join = OptimizeAction::Compact {
        options: CompactionOptions::default(),
        remap_options: None,
    };
    table
        .optimize(join)
        .await
        .map_err(IndexError::during("compact the index"))?;
    Ok(())
}

/// Deletes the files that the table's latest version does not need: fragments that were joined, and files that killed builds never
/// committed. No other process writes to the table, and none reads an unfinished one.
pub(crate) async fn prune(table: &Table) -> Result<(), IndexError> {
    let prune = OptimizeAction::Prune {
        older_than: Some(lancedb::table::Duration::zero()),
        delete_unverified: Some(true),
        error_if_tagged_old_versions: None,
    };
    table.optimize(prune).await.map_err(IndexError::during(
        "delete the files that the index does not need",
    ))?;
    Ok(())
}
