//! `evaluations cache`: shows and prunes the caches of replies, vectors and scores.

use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use evals_messages::quantity;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_stores::replies::ReplyStore;
use evals_stores::scores::ScoreStore;
use evals_stores::store::{Prune, Pruned, StoreStatistics};
use evals_stores::vectors::EmbeddingStore;
use evals_terminal::Printer;
use evals_terminal::listing::Layout;

use crate::cli::{CacheArgs, CacheCommand};

/// The stores that exist on disk.
struct Stores {
    replies: Option<ReplyStore>,
    vectors: Option<EmbeddingStore>,
    scores: Option<ScoreStore>,
}

pub(super) fn execute(session: &Session<'_>, arguments: &CacheArgs) -> Result<Exit> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    runtime.block_on(async {
        let stores = Stores::open(session).await?;
        match &arguments.command {
            CacheCommand::Stats => stores.show(session.printer).await?,
            CacheCommand::Prune {
                older_than, model, ..
            } => {
                let which = match (older_than, model) {
                    (Some(age), _) => Prune::OlderThan(*age),
                    (None, Some(model)) => Prune::Model(model.clone()),
                    (None, None) => Prune::All,
                };
                stores.prune(session.printer, &which).await?;
            }
        }
        Ok(Exit::Done)
    })
}

impl Stores {
    async fn open(session: &Session<'_>) -> Result<Self> {
        let exists = |what, path: &Path| {
            if !path.exists() {
                session.printer.note(&format!(
                    "no cached {what} yet; runs will store them in {}",
                    path.display()
                ));
            }
            path.exists()
        };
        let directories = &session.directories;
        let watch = || session.printer.watch();
        let mut stores = Self {
            replies: None,
            vectors: None,
            scores: None,
        };
        let path = directories.replies();
        if exists("replies", &path) {
            stores.replies = Some(ReplyStore::open_watched(path, watch()).await?);
        }
        let path = directories.vectors();
        if exists("vectors", &path) {
            stores.vectors = Some(EmbeddingStore::open_watched(path, watch()).await?);
        }
        let path = directories.scores();
        if exists("scores", &path) {
            stores.scores = Some(ScoreStore::open_watched(path, watch()).await?);
        }
        Ok(stores)
    }

    async fn show(&self, printer: &Printer) -> Result<()> {
        let mut parts = Vec::new();
        if let Some(store) = &self.replies {
            let statistics = store.statistics().await?;
            parts.push(text(printer, "reply", store.path(), &statistics)?);
        }
        if let Some(store) = &self.vectors {
            let statistics = store.statistics().await?;
            parts.push(text(printer, "vector", store.path(), &statistics)?);
        }
        if let Some(store) = &self.scores {
            let statistics = store.statistics().await?;
            parts.push(text(printer, "score", store.path(), &statistics)?);
        }
        printer.result(&parts.join("\n"))?;
        Ok(())
    }

    async fn prune(&self, printer: &Printer, which: &Prune) -> Result<()> {
        let mut pruned = Vec::new();
        if let Some(store) = &self.replies {
            pruned.push(("reply", store.prune(which.clone()).await?));
        }
        if let Some(store) = &self.vectors {
            pruned.push(("vector", store.prune(which.clone()).await?));
        }
        if let Some(store) = &self.scores {
            pruned.push(("score", store.prune(which.clone()).await?));
        }
        if let Prune::Model(model) = which
            && pruned.iter().all(|(_, pruned)| pruned.entries == 0)
        {
            printer.note(&format!(
                "no cache has entries of `{model}`; `evaluations cache stats` lists the cached models"
            ));
            return Ok(());
        }
        for (what, Pruned { entries, bytes }) in pruned {
            printer.note(&format!(
                "removed {}, which shrank the file by {}",
                quantity::of(entries, what),
                kilobytes(bytes)
            ));
        }
        Ok(())
    }
}

/// Describes the contents of one store, by model.
fn text(
    printer: &Printer,
    what: &str,
    path: &Path,
    statistics: &StoreStatistics,
) -> Result<String> {
    let mut text = format!(
        "{}, {} in {}\n",
        quantity::of(statistics.entries, what),
        kilobytes(statistics.bytes),
        path.display()
    );
    if let (Some(oldest), Some(newest)) = (statistics.oldest, statistics.newest) {
        writeln!(text, "from {} to {}", day(oldest), day(newest))?;
    }
    let rows: Vec<Vec<String>> = statistics
        .models
        .iter()
        .map(|(model, kept)| {
            vec![
                model.clone(),
                kept.entries.to_string(),
                kilobytes(kept.bytes),
            ]
        })
        .collect();
    if !rows.is_empty() {
        text.push('\n');
        let header = ["model", &quantity::plural(what), "size"];
        text.push_str(
            &Layout::of(printer)
                .shortening_names()
                .render(&header, &rows),
        );
    }
    Ok(text)
}

fn day(time: SystemTime) -> String {
    DateTime::<Utc>::from(time)
        .format("%Y-%m-%d %H:%M UTC")
        .to_string()
}

fn kilobytes(bytes: u64) -> String {
    format!("{} kB", bytes.div_ceil(1000))
}
