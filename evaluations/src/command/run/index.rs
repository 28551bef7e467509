//! The index of a run: found, or built with progress on screen.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Utc};
use evals_data::{Collection, DocumentCounts};
use evals_index::{
    BuildObserver, BuildOptions, BuildProgress, BuildReport, BuildStage, CutChunks, Index,
    IndexStatistics, LockHolder, Recipe, Store,
};
use evals_messages::quantity;
use evals_models::Embedder;
use indicatif::ProgressBar;

use super::plan::Plan;
use crate::models::{ModelKind, embedded};
use crate::terminal::{Printer, progress};

/// An index that can be searched, and how it came to be.
#[derive(Debug)]
pub(super) struct ReadyIndex {
    pub(super) store: Store,
    pub(super) index: Index,
    pub(super) statistics: IndexStatistics,
    /// What building it took, unless it was there.
    pub(super) build: Option<BuildReport>,
}

/// The index of a run before it is built: a finished one, or what to build it from.
#[derive(Debug)]
pub(super) struct Found {
    store: Store,
    recipe: Recipe,
    pub(super) index: Option<Index>,
}

/// Opens the index at `uri` if it is finished.
///
/// Profiles that compare no vectors do not wait for any to be computed. They use an index with vectors if there is one.
pub(super) async fn find(
    plan: &Plan,
    embedder: Option<Arc<dyn Embedder>>,
    collection: &Collection,
    uri: &str,
) -> Result<Found> {
    let store = Store::open(uri).await?;
    let fingerprint = collection.provenance().documents_fingerprint();
    let lexical = Recipe::new(fingerprint, plan.chunker.clone());
    let with_vectors = |embedder| lexical.clone().with_embedder(embedder);
    let recipe = if let Some(embedder) = embedder {
        with_vectors(embedder)
    } else {
        if let Some(recipe) = embedded_embedder(plan).map(with_vectors)
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

/// The embedder of an index that may have vectors, if it is the embedded one. For another one, a server would have to be asked or a
/// model loaded, which nothing else in the run needs.
fn embedded_embedder(plan: &Plan) -> Option<Arc<dyn Embedder>> {
    match plan.models.embedder.kind {
        ModelKind::Embedded => {
            let embedder = embedded::embedder(&plan.resolved, &plan.models.embedder).ok()?;
            Some(embedder)
        }
        ModelKind::Local
        | ModelKind::Ollama
        | ModelKind::OpenAi
        | ModelKind::HttpReranker
        | ModelKind::LlmReranker(_) => None,
    }
}

/// The index that was found, else builds it unless `skip_db` forbids that.
pub(super) async fn prepare(
    printer: &Printer,
    found: Found,
    collection: &Collection,
    skip_db: bool,
) -> Result<ReadyIndex> {
    let Found {
        store,
        recipe,
        index,
    } = found;
    let (index, build) = match index {
        Some(index) => (index, None),
        None if skip_db => {
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
    Ok(ReadyIndex {
        store,
        index,
        statistics,
        build,
    })
}

async fn build(
    printer: &Printer,
    store: &Store,
    recipe: &Recipe,
    collection: &Collection,
) -> Result<(Index, Option<BuildReport>)> {
    let bar = Bar {
        line: progress::open_ended(printer, "indexing"),
        started: Instant::now(),
        printer: printer.clone(),
    };
    let documents = collection.documents()?;
    let tally = documents.tally();
    let built = Index::build(store, recipe, documents, &BuildOptions::default(), &bar).await;
    bar.line.finish_and_clear();
    let built = built?;
    if let Some(left_out) = left_out(&tally.counts()).filter(|_| built.report.is_some()) {
        printer.note(&left_out);
    }
    Ok((built.index, built.report))
}

/// What was lost of the corpus, in one line, or nothing where nothing was. Rows that the manifest leaves out, and plain repetitions,
/// are not lost.
fn left_out(counts: &DocumentCounts) -> Option<String> {
    let parts = [
        (counts.conflicting, "repeated an id with other content"),
        (counts.empty, "had neither text nor title"),
    ];
    let told = parts.into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!told.is_empty()).then(|| {
        let rows = quantity::of(counts.rows, "row");
        format!("of {rows} of documents, {}; left out", told.join(", "))
    })
}

#[derive(Debug)]
struct Bar {
    line: ProgressBar,
    started: Instant,
    printer: Printer,
}

impl BuildObserver for Bar {
    fn on_progress(&self, progress: BuildProgress) {
        let seconds = self.started.elapsed().as_secs_f64().max(f64::EPSILON);
        #[expect(clippy::cast_precision_loss, reason = "shown with no decimals")]
        let rate = progress.documents as f64 / seconds;
        self.line.set_message(match progress.stage {
            BuildStage::Loading => {
                format!(
                    "{}, {}, {rate:.0} documents/s",
                    quantity::of(progress.documents, "document"),
                    quantity::of(progress.chunks, "chunk")
                )
            }
            BuildStage::Compacting => "joining small files".to_owned(),
            BuildStage::FullText => {
                format!(
                    "full-text index of {}",
                    quantity::of(progress.chunks, "chunk")
                )
            }
        });
    }

    fn on_wait(&self, holder: &LockHolder) {
        self.printer.note(&waiting_for(holder));
    }
}

/// Says whom a build waits for, and since when that one has had the database to itself.
fn waiting_for(holder: &LockHolder) -> String {
    let since = holder.since.map_or_else(String::new, |since| {
        format!(
            " since {} UTC",
            DateTime::<Utc>::from(since).format("%H:%M:%S")
        )
    });
    format!("waiting for {holder}, which has been building an index in this database{since}")
}

/// Says how much of the corpus a filter keeps. One that keeps nothing is a mistake: every figure would be 0.
pub(super) async fn describe_filter(
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
        "; relevant ones among the others count as never found"
    } else {
        ""
    };
    printer.note(&format!("the filter keeps {kept} of {all}{hidden}"));
    Ok(())
}

/// Of how many chunks of an index only the beginning was embedded, unless none is known to be cut.
pub(super) fn cut_note(statistics: &IndexStatistics) -> Option<String> {
    let CutChunks { cut, unknown } = statistics.cut_chunks.filter(|chunks| chunks.cut > 0)?;
    let at_least = if unknown > 0 { "at least " } else { "" };
    let verb = if cut == 1 { "is" } else { "are" };
    Some(format!(
        "of {} in the index, {at_least}{cut} {verb} longer than the embedding model reads; it read only the beginning",
        quantity::of(statistics.chunks, "chunk")
    ))
}

/// Says what is searched, and what building it took.
pub(super) fn describe_index(printer: &Printer, ready: &ReadyIndex) {
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
    printer.note(&format!(
        "indexed {size} in {:.2} s{rate}{stored}",
        build.wall.as_secs_f64()
    ));
    printer.detail(&format!(
        "  read {:.2} s, chunk {:.2} s, embed {:.2} s, write {:.2} s, full-text index {:.2} s; {}",
        build.read.as_secs_f64(),
        build.chunk.as_secs_f64(),
        build.embed.as_secs_f64(),
        build.write.as_secs_f64(),
        build.full_text.as_secs_f64(),
        ready.store.uri()
    ));
    if let Some(peak) = peak_bytes() {
        printer.detail(&format!("  peak memory {} MB", peak / 1_000_000));
    }
}

/// The most memory that was resident at any time, in bytes; `None` where the system does not tell.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_cuts_are_told() {
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
            "of 7 chunks in the index, 1 is longer than the embedding model reads; it read only the beginning"
        );
        let several = note(chunks(2, 5)).unwrap();
        assert!(several.contains(", at least 2 are longer"), "{several}");
    }

    #[test]
    fn what_became_no_document_is_one_line() {
        let counts = DocumentCounts {
            rows: 32,
            documents: 27,
            duplicates: 3,
            conflicting: 1,
            empty: 2,
            ..DocumentCounts::default()
        };
        assert_eq!(
            left_out(&counts).unwrap(),
            "of 32 rows of documents, 1 repeated an id with other content, 2 had neither text nor title; left out"
        );
        assert_eq!(left_out(&DocumentCounts::default()), None);
    }
}
