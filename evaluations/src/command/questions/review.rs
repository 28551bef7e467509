//! `evaluations questions review FOLDER`: draws questions, exchanges reviews as CSV, and shows how many questions are defective.

use std::path::Path;

use anyhow::{Result, bail};
use evals_messages::quantity;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_questions::review::sample;
use evals_questions::{Item, SetFolder};
use evals_runs::annotations::user_name;
use evals_runs::atomic_file::write_atomically;
use evals_runs::clock::{now, timestamp};
use evals_runs::filled_table;
use evals_runs::review_table::{self, Import, Imported};
use evals_settings::redaction::printable;
use evals_terminal::{Printer, wrapped};

use crate::cli::ReviewQuestionsArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &ReviewQuestionsArgs) -> Result<Exit> {
    let printer = session.printer;
    let folder = SetFolder::new(&arguments.folder);
    if let Some(path) = &arguments.import {
        import(printer, arguments, &folder, path)?;
    }
    let set = folder.questions()?;
    let count = arguments.sample.map_or(set.len(), Into::into);
    let seed = arguments.seed;
    let sample = sample(&set, count, seed);
    if let Some(path) = &arguments.export {
        export(printer, arguments, &folder, &set, &sample, path)?;
    } else if arguments.sample.is_some() {
        let lines = sample.iter().map(|item| {
            let question = printable(&item.question);
            let line = format!("{} ({}): {question}", printable(&item.id), item.kind);
            wrapped(printer, &line)
        });
        printer.result(&lines.collect::<String>())?;
        printer.note("to review them in a spreadsheet, add `--export FILE.csv`; in the browser, use `evaluations view`");
    } else {
        let rates = folder.defects()?;
        let unknown = || {
            let all = quantity::of(set.len(), "question");
            format!(
                "{all}, no sample of which is reviewed; draw one with `--sample 50 --export FILE.csv`"
            )
        };
        let text = rates.map_or_else(unknown, |rates| format!("defective questions: {rates}"));
        printer.result(&wrapped(printer, &text))?;
    }
    Ok(Exit::Done)
}

fn export(
    printer: &Printer,
    arguments: &ReviewQuestionsArgs,
    folder: &SetFolder,
    set: &[Item],
    sample: &[&Item],
    path: &Path,
) -> Result<()> {
    filled_table::check_new(path, "reviewed")?;
    let seed = arguments.sample.map(|_| arguments.seed);
    let table = review_table::export(sample, set, &folder.reviews()?, seed)?;
    write_atomically(path, |out| out.write_all(&table))?;
    printer.note(&format!(
        "wrote {} to `{}`; fill in the column `verdict` with `keep`, `edit` or `drop`, and import the file",
        quantity::of(sample.len(), "question"),
        path.display()
    ));
    Ok(())
}

fn import(
    printer: &Printer,
    arguments: &ReviewQuestionsArgs,
    folder: &SetFolder,
    path: &Path,
) -> Result<()> {
    let bytes = filled_table::read(path)?;
    let given = arguments.labeller.clone();
    // Before the lock, which would make the folder.
    folder.questions()?;
    let lock = folder.lock()?;
    let (set, known) = (folder.questions()?, folder.reviews()?);
    let import = Import {
        set: &set,
        history: &folder.history()?,
        known: &known,
        author: given.or_else(user_name).unwrap_or_default(),
        time: timestamp(now()),
    };
    let file = path.display().to_string();
    let Imported {
        mut reviews,
        left_out,
    } = import.read((&file, &bytes))?;
    if reviews.is_empty() && left_out.is_empty() {
        bail!("no row of `{file}` has a verdict; fill in the column `verdict`");
    }
    let given = reviews.len();
    reviews.retain(|review| review.is_new(&known));
    let added = reviews.len();
    lock.add_reviews(reviews)?;
    printer.note(&format!(
        "added {}; {} already known",
        quantity::of(added, "review"),
        given - added
    ));
    if !left_out.is_empty() {
        printer.warn(&format!(
            "left out {} of questions that changed after the export, or are not in the set any more: {}",
            quantity::of(left_out.len(), "review"),
            printable(&left_out.join(", "))
        ));
    }
    Ok(())
}
