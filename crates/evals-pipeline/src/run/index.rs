//! Finds the index of a run, or builds it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use evals_data::{Collection, DocumentCounts};
use evals_index::{
    BuildOptions, BuildReport, Chunker, CutChunks, Index, IndexError, IndexStatistics, Recipe,
    Store,
};
use evals_messages::quantity;
use evals_models::Embedder;
use evals_settings::Resolved;
use evals_terminal::Printer;

use crate::index_bar::IndexBar;
use crate::models::{ConfiguredEmbedder, embedder};
use crate::peak_memory;
use crate::run_models::embedder::VectorCache;
use crate::run_models::{self, Opener};
use crate::store_options;

/// What decides which index a command searches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexPlan<'p> {
    pub(crate) resolved: &'p Resolved,
    pub(crate) chunker: &'p Chunker,
    pub(crate) embedder: &'p ConfiguredEmbedder,
    /// Whether a search compares vectors.
    pub(crate) needs_embeddings: bool,
}

/// An index that can be searched, and what building it took.
#[derive(Debug)]
pub(crate) struct ReadyIndex {
    pub(crate) store: Store,
    pub(crate) index: Index,
    pub(crate) statistics: IndexStatistics,
    /// `None` if the index existed already.
    pub(crate) build: Option<BuildReport>,
    /// How long indexing the vectors for approximate search took; `None` if that index existed, or the search is exact.
    vectors: Option<Duration>,
}

/// The index of a run before it is built: a finished one, or what to build it from.
#[derive(Debug)]
pub(crate) struct Found {
    store: Store,
    recipe: Recipe,
    pub(crate) index: Option<Index>,
}

/// Opens the index at `uri` if it is finished.
///
/// Profiles that need no vectors do not wait until vectors are computed, but they use an index with vectors if one exists.
pub(crate) async fn find(
    printer: &Printer,
    plan: IndexPlan<'_>,
    embedder: Option<Arc<dyn Embedder>>,
    collection: &Collection,
    uri: &str,
) -> Result<Found> {
    let store = store_options::open(printer, plan.resolved, uri).await?;
    let fingerprint = collection.provenance().documents_fingerprint();
    let lexical = Recipe::new(fingerprint, plan.chunker.clone());
    let with_vectors = |embedder| lexical.clone().with_embedder(embedder);
    let recipe = if let Some(embedder) = embedder {
        with_vectors(embedder)
    } else {
        if let Some(recipe) = embedder::at_hand(plan.resolved, plan.embedder).map(with_vectors)
            && let Some(index) = Index::find(&store, &recipe).await?
        {
            return Ok(Found {
                store,
                recipe,
                index: Some(index),
            });
        }
        lexical
    };
    let index = Index::find(&store, &recipe).await?;
    Ok(Found {
        store,
        recipe,
        index,
    })
}

/// The index with the vector search of the settings, if a profile compares vectors. Builds the index of the vectors if it does not exist.
async fn with_vector_search(
    printer: &Printer,
    store: &Store,
    index: Index,
    plan: IndexPlan<'_>,
    may_build: MayBuild,
) -> Result<(Index, Option<Duration>)> {
    let search = &plan.resolved.settings.search.index;
    if search.is_exact() || !plan.needs_embeddings {
        return Ok((index, None));
    }
    let opened = if may_build.vectors {
        let bar = IndexBar::new(printer);
        index.with_vector_search(store, search, &bar).await
    } else {
        let opened = index.with_built_vector_search(store, search).await;
        opened.map(|index| (index, None))
    };
    opened.map_err(|error| match error {
        IndexError::VectorSearch(fault) => {
            let setting = format!("search.index.{}", fault.parameter);
            anyhow::Error::new(plan.resolved.bad_value(&setting, &fault))
        }
        error => error.into(),
    })
}

/// What a run may build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MayBuild {
    pub(crate) index: bool,
    /// The index of the vectors for approximate search.
    pub(crate) vectors: bool,
}

/// Takes the index that was found, or builds it.
pub(crate) async fn prepare(
    printer: &Printer,
    plan: IndexPlan<'_>,
    found: Found,
    collection: &Collection,
    may_build: MayBuild,
) -> Result<ReadyIndex> {
    let Found {
        store,
        recipe,
        index,
    } = found;
    let (index, build) = match index {
        Some(index) => (index, None),
        None if !may_build.index => {
            let index = Index::open(&store, &recipe).await;
            let index = index.context("`--skip-db` needs an index that matches the settings")?;
            (index, None)
        }
        None => build(printer, &store, &recipe, collection).await?,
    };
    for note in index.notes() {
        printer.note(note);
    }
    let statistics = index.statistics().await?;
    let (index, vectors) = with_vector_search(printer, &store, index, plan, may_build).await?;
    Ok(ReadyIndex {
        store,
        index,
        statistics,
        build,
        vectors,
    })
}

/// Opens the index of the settings, or builds it as a run does, and notes its size.
pub(crate) async fn of_settings(
    opener: &mut Opener<'_, '_>,
    chunker: &Chunker,
    needs_embeddings: bool,
    collection: &Collection,
    uri: &str,
) -> Result<ReadyIndex> {
    let printer = opener.session.printer;
    let plan = IndexPlan {
        resolved: opener.resolved,
        chunker,
        embedder: &opener.models.embedder,
        needs_embeddings,
    };
    let embedder = if needs_embeddings {
        Some(run_models::embedder::open(opener, VectorCache::Reuse).await?)
    } else {
        None
    };
    let found = find(printer, plan, embedder, collection, uri).await?;
    let may_build = MayBuild {
        index: true,
        vectors: true,
    };
    let ready = prepare(printer, plan, found, collection, may_build).await?;
    describe_index(printer, &ready);
    Ok(ready)
}

async fn build(
    printer: &Printer,
    store: &Store,
    recipe: &Recipe,
    collection: &Collection,
) -> Result<(Index, Option<BuildReport>)> {
    let bar = IndexBar::new(printer);
    let documents = collection.documents()?;
    let tally = documents.tally();
    let built = Index::build(store, recipe, documents, &BuildOptions::default(), &bar).await;
    drop(bar);
    let built = built?;
    if let Some(skipped) =
        skipped_rows(&tally.counts(), &tally.empty()).filter(|_| built.report.is_some())
    {
        printer.note(&skipped);
    }
    Ok((built.index, built.report))
}

/// Summarises the skipped rows of the corpus in one line. Rows that the manifest excludes and exact duplicates do not count as
/// skipped.
fn skipped_rows(counts: &DocumentCounts, empty: &[String]) -> Option<String> {
    let parts = [
        (counts.conflicting, "repeated an id with different content"),
        (counts.empty, "had neither text nor title"),
    ];
    let reasons = parts.into_iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!reasons.is_empty()).then(|| {
        let skipped = counts.conflicting + counts.empty;
        let rows = quantity::of(counts.rows, "document row");
        let mut named: Vec<String> = empty.iter().map(|id| format!("`{id}`")).collect();
        if counts.empty > named.len() as u64 {
            named.push("…".to_owned());
        }
        let named = match named.as_slice() {
            [] => String::new(),
            named => format!(" ({})", named.join(", ")),
        };
        format!("skipped {skipped} of {rows}: {}{named}", reasons.join(", "))
    })
}

/// Notes how much of the corpus a filter keeps. A filter that matches nothing is an error, because every measure would be 0.
pub(crate) async fn describe_filter(
    printer: &Printer,
    filter: &str,
    ready: &ReadyIndex,
) -> Result<()> {
    let kept = ready.index.count(filter).await?;
    if kept == 0 {
        bail!("no document matches `--filter {filter}`");
    }
    let all = quantity::of(ready.statistics.documents, "document");
    let hidden = if kept < ready.statistics.documents {
        "; relevant documents outside it count as not retrieved"
    } else {
        ""
    };
    printer.note(&format!("the filter keeps {kept} of {all}{hidden}"));
    Ok(())
}

/// Notes how many chunks of an index were embedded only in part. `None` if no chunk is known to be cut.
pub(crate) fn cut_note(statistics: &IndexStatistics) -> Option<String> {
    let CutChunks { cut, unknown } = statistics.cut_chunks.filter(|chunks| chunks.cut > 0)?;
    let at_least = if unknown > 0 { "at least " } else { "" };
    let verb = if cut == 1 { "is" } else { "are" };
    Some(format!(
        "{at_least}{cut} of {} in the index {verb} longer than the embedding model reads; only the beginning was embedded",
        quantity::of(statistics.chunks, "chunk")
    ))
}

/// Notes that most documents are as short as a chunk and the others are split, so that those compete with parts. `None` where it makes no
/// difference.
fn short_documents_note(documents: usize, split: usize) -> Option<String> {
    let matters = split > 0 && split * 2 < documents;
    matters.then(|| {
        let whole = documents - split;
        format!(
            "{whole} of {documents} documents are shorter than a chunk, and the others are split; `--set processing.chunk_size=null` searches whole documents"
        )
    })
}

/// Notes the size of the index, and what building it took.
pub(crate) fn describe_index(printer: &Printer, ready: &ReadyIndex) {
    describe_documents(printer, ready);
    if let Some((took, search)) = ready.vectors.zip(ready.index.approximation()) {
        printer.note(&format!(
            "indexed the vectors for approximate search in {:.2} s: {search}",
            took.as_secs_f64()
        ));
    }
}

fn describe_documents(printer: &Printer, ready: &ReadyIndex) {
    let statistics = &ready.statistics;
    let size = format!(
        "{} in {}",
        quantity::of(statistics.documents, "document"),
        quantity::of(statistics.chunks, "chunk")
    );
    let Some(build) = &ready.build else {
        printer.detail(&format!("index found: {size}, {}", ready.store.uri()));
        return;
    };
    let rate = build
        .documents_per_second()
        .map_or_else(String::new, |rate| format!(", {rate:.0} documents/s"));
    let stored = match build.stored_vectors {
        0 => String::new(),
        stored => format!(", {} from the cache", quantity::of(stored, "vector")),
    };
    // Time and rate are those of the documents that this command indexed.
    let resumed = match build.resumed_documents {
        0 => String::new(),
        resumed => format!("; {resumed} documents were indexed before an interruption"),
    };
    printer.note(&format!(
        "indexed {size} in {:.2} s{rate}{stored}{resumed}",
        build.wall.as_secs_f64()
    ));
    let split = ready.index.split_documents();
    if let Some(note) = short_documents_note(statistics.documents, split) {
        printer.note(&note);
    }
    printer.detail(&format!(
        "  read {:.2} s, chunk {:.2} s, embed {:.2} s, write {:.2} s, full-text index {:.2} s; {}",
        build.read.as_secs_f64(),
        build.chunk.as_secs_f64(),
        build.embed.as_secs_f64(),
        build.write.as_secs_f64(),
        build.full_text.as_secs_f64(),
        ready.store.uri()
    ));
    if let Some(peak) = peak_memory::bytes() {
        printer.detail(&format!("  peak memory {} MB", peak / 1_000_000));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_cuts_are_noted() {
        let note = |cut_chunks| {
            cut_note(&IndexStatistics {
                documents: 3,
                chunks: 7,
                bytes: 1,
                cut_chunks,
            })
        };
        let chunks = |cut, unknown| Some(CutChunks { cut, unknown });
        for silent in [None, chunks(0, 0), chunks(0, 7)] {
            assert_eq!(note(silent), None);
        }
        assert_eq!(
            note(chunks(1, 0)).unwrap(),
            "1 of 7 chunks in the index is longer than the embedding model reads; only the beginning was embedded"
        );
        let several = note(chunks(2, 5)).unwrap();
        assert!(
            several.starts_with("at least 2 of 7 chunks in the index are longer"),
            "{several}"
        );
    }

    #[test]
    fn short_documents_are_noted_where_others_are_split() {
        for silent in [(10, 0), (10, 5), (10, 10), (1, 1)] {
            assert_eq!(short_documents_note(silent.0, silent.1), None);
        }
        assert!(
            short_documents_note(10, 4)
                .unwrap()
                .starts_with("6 of 10 documents are shorter than a chunk")
        );
    }

    #[test]
    fn skipped_rows_are_summarised_in_one_line() {
        let counts = DocumentCounts {
            rows: 32,
            documents: 27,
            duplicates: 3,
            conflicting: 1,
            empty: 2,
            ..DocumentCounts::default()
        };
        assert_eq!(
            skipped_rows(&counts, &["a.md".to_owned()]).unwrap(),
            "skipped 3 of 32 document rows: 1 repeated an id with different content, 2 had neither text nor title (`a.md`, …)"
        );
        assert_eq!(skipped_rows(&DocumentCounts::default(), &[]), None);
    }
}
