//! `evaluations cache`: what is stored of chat models' replies.

use std::time::SystemTime;

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use evals_models::replies::ReplyStore;
use evals_models::store::Prune;

use super::Session;
use crate::cli::{CacheArgs, CacheCommand};
use crate::exit::Exit;
use crate::table;

pub(super) fn execute(session: &Session<'_>, arguments: &CacheArgs) -> Result<Exit> {
    let path = session.directories.replies();
    if !path.exists() {
        session.printer.note(&format!(
            "no replies are stored; they would be in {}",
            path.display()
        ));
        return Ok(Exit::Done);
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    runtime.block_on(async {
        let store = ReplyStore::open(path).await?;
        match &arguments.command {
            CacheCommand::Stats => stats(session, &store).await,
            CacheCommand::Prune {
                older_than, model, ..
            } => {
                let which = match (older_than, model) {
                    (Some(age), _) => Prune::OlderThan(*age),
                    (None, Some(model)) => Prune::Model(model.clone()),
                    (None, None) => Prune::All,
                };
                prune(session, &store, which).await
            }
        }
    })
}

async fn stats(session: &Session<'_>, store: &ReplyStore) -> Result<Exit> {
    let statistics = store.statistics().await?;
    let rows: Vec<Vec<String>> = statistics
        .models
        .iter()
        .map(|(model, replies)| {
            vec![
                model.clone(),
                replies.entries.to_string(),
                kilobytes(replies.bytes),
            ]
        })
        .collect();
    let mut text = format!(
        "{} replies, {} in {}\n",
        statistics.entries,
        kilobytes(statistics.bytes),
        store.path().display()
    );
    if let (Some(oldest), Some(newest)) = (statistics.oldest, statistics.newest) {
        text = format!("{text}from {} to {}\n", day(oldest), day(newest));
    }
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&table::render(
            session.printer,
            &["model", "replies", "size"],
            &rows,
        ));
    }
    session.printer.result(&text)?;
    Ok(Exit::Done)
}

async fn prune(session: &Session<'_>, store: &ReplyStore, which: Prune) -> Result<Exit> {
    let pruned = store.prune(which).await?;
    session.printer.note(&format!(
        "removed {} replies; the file is {} smaller",
        pruned.entries,
        kilobytes(pruned.bytes)
    ));
    Ok(Exit::Done)
}

fn day(time: SystemTime) -> String {
    DateTime::<Utc>::from(time)
        .format("%Y-%m-%d %H:%M UTC")
        .to_string()
}

fn kilobytes(bytes: u64) -> String {
    format!("{} kB", bytes.div_ceil(1000))
}
