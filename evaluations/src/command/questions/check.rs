//! `evaluations questions check FOLDER`: compares the evidence of a test set with the documents as they are now.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use evals_data::{Collection, DataError, Manifest};
use evals_messages::quantity;
use evals_pipeline::downloads;
use evals_pipeline::exit::Exit;
use evals_pipeline::interruption::interruptible;
use evals_pipeline::session::Session;
use evals_questions::review::{ReviewVerdict, current};
use evals_questions::{Check, Dropped, Item, SetFolder};
use evals_runs::clock::{now, timestamp};
use evals_settings::redaction::printable;
use evals_terminal::Printer;

use crate::cli::CheckQuestionsArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &CheckQuestionsArgs) -> Result<Exit> {
    let printer = session.printer;
    let folder = SetFolder::new(&arguments.folder);
    let items = folder.questions()?;
    let manifest = Manifest::read(&arguments.folder.join(Manifest::FILE))?;
    interruptible(printer, async |interruption| {
        let comparing = async {
            let collection = downloads::fetch(printer, &manifest).await?;
            compare(collection, items.clone()).await
        };
        let check = interruption.guard(comparing).await?;
        let stale = asked(&folder, &check)?;
        printer.result(&text(items.len(), &check, &stale))?;
        if arguments.update {
            update(printer, &folder, &items, &check)?;
        }
        Ok(if arguments.update || stale.is_empty() {
            Exit::Done
        } else {
            Exit::CheckFailed
        })
    })
}

/// On another thread, because it reads the whole corpus, and this thread has to notice an interruption.
async fn compare(collection: Collection, items: Vec<Item>) -> Result<Check> {
    let compared = tokio::task::spawn_blocking(move || {
        let documents = collection.documents()?;
        let documents = documents.map(|it| it.map(|document| (document.uri, document.text)));
        Check::of(&items, documents)
    });
    let compared: Result<Check, DataError> = compared
        .await
        .context("the task that reads the documents was cancelled")?;
    Ok(compared?)
}

/// The stale questions that a run asks: nobody has to mend one that people dropped.
fn asked<'c>(folder: &SetFolder, check: &'c Check) -> Result<Vec<&'c Dropped>> {
    let reviews = folder.reviews()?;
    let current = current(&reviews);
    let is_dropped = |stale: &&Dropped| {
        let review = current.get(stale.item.id.as_str());
        review.is_some_and(|review| review.verdict == ReviewVerdict::Drop)
    };
    let stale = check.stale.iter();
    Ok(stale.filter(|it| !is_dropped(it)).collect())
}

fn text(questions: usize, check: &Check, stale: &[&Dropped]) -> String {
    let mut text = format!(
        "{}: {} stale, {} with evidence that moved, {} unchanged\n",
        quantity::of(questions, "question"),
        stale.len(),
        check.moved.len(),
        questions - check.stale.len() - check.moved.len()
    );
    for stale in stale {
        let (id, detail) = (printable(&stale.item.id), printable(&stale.detail));
        let _ = writeln!(text, "{id} ({}): {detail}", stale.reason);
    }
    text
}

fn update(printer: &Printer, folder: &SetFolder, items: &[Item], check: &Check) -> Result<()> {
    let lock = folder.lock()?;
    if folder.questions()? != items {
        bail!("the questions changed while they were checked; run the command again");
    }
    if check.updated == items {
        return Ok(());
    }
    lock.update(check, &timestamp(now()))?;
    printer.note(&format!(
        "rewrote questions.jsonl with {}; history.jsonl keeps what was left out",
        quantity::of(check.updated.len(), "question")
    ));
    if check.updated.is_empty() {
        printer.warn("every question is stale, so the set has none left");
    }
    Ok(())
}
