//! `evaluations questions check FOLDER`: compares the evidence of a test set with the documents as they are now.

use anyhow::{Context as _, Result};
use evals_data::{DataError, Manifest};
use evals_messages::quantity;
use evals_pipeline::downloads;
use evals_pipeline::exit::Exit;
use evals_pipeline::interruption::interruptible;
use evals_pipeline::session::Session;
use evals_questions::{Check, Item, SetFolder};
use evals_runs::clock::{now, timestamp};
use evals_settings::redaction::printable;
use evals_terminal::{Printer, wrapped};

use crate::cli::CheckQuestionsArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &CheckQuestionsArgs) -> Result<Exit> {
    let printer = session.printer;
    let folder = SetFolder::new(&arguments.folder);
    let (items, reviews) = (folder.questions()?, folder.reviews()?);
    let manifest = Manifest::read(&arguments.folder.join(Manifest::FILE))?;
    interruptible(printer, async |interruption| {
        let set = items.clone();
        let comparing = async {
            let collection = downloads::fetch(printer, &manifest).await?;
            // On another thread, because it reads the whole corpus, and this thread has to notice an interruption.
            let compared = tokio::task::spawn_blocking(move || {
                let documents = collection.documents()?;
                let documents =
                    documents.map(|it| it.map(|document| (document.uri, document.text)));
                Check::of(&set, &reviews, documents)
            });
            let compared: Result<Check, DataError> = compared
                .await
                .context("the task that reads the documents was cancelled")?;
            anyhow::Ok(compared?)
        };
        let check = interruption.guard(comparing).await?;
        printer.result(&text(printer, items.len(), &check))?;
        if arguments.update {
            update(printer, &folder, &items, &check)?;
        }
        Ok(if arguments.update || check.stale.is_empty() {
            Exit::Done
        } else {
            Exit::CheckFailed
        })
    })
}

fn text(printer: &Printer, questions: usize, check: &Check) -> String {
    let counts = format!(
        "{}: {} stale, {} with evidence that moved, {} unchanged",
        quantity::of(questions, "question"),
        check.stale.len(),
        check.moved.len(),
        questions - check.stale.len() - check.moved.len()
    );
    let stale = check.stale.iter().map(|stale| {
        let (id, detail) = (printable(&stale.item.id), printable(&stale.detail));
        format!("{id} ({}): {detail}", stale.reason)
    });
    let lines = std::iter::once(counts).chain(stale);
    lines.map(|line| wrapped(printer, &line)).collect()
}

fn update(printer: &Printer, folder: &SetFolder, items: &[Item], check: &Check) -> Result<()> {
    if check.updated == items {
        return Ok(());
    }
    folder.lock()?.update(items, check, &timestamp(now()))?;
    printer.note(&format!(
        "rewrote questions.jsonl with {}; history.jsonl keeps what was left out",
        quantity::of(check.updated.len(), "question")
    ));
    if check.updated.is_empty() {
        printer.warn("every question is stale, so the set has none left");
    }
    Ok(())
}
