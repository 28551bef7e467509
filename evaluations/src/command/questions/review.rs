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
use evals_runs::review_table::{self, Import};
use evals_settings::redaction::printable;
use evals_terminal::Printer;

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
            format!("{} ({}): {question}\n", printable(&item.id), item.kind)
        });
        printer.result(&lines.collect::<String>())?;
        printer.note("to review them in a spreadsheet, add `--export FILE.csv`; in the browser, use `evaluations view`");
    } else {
        printer.result(&rates(&folder, set.len())?)?;
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
        file: path.display().to_string(),
        set: &set,
        known: &known,
        author: given.or_else(user_name).unwrap_or_default(),
        time: timestamp(now()),
    };
    let mut reviews = import.read(&bytes)?;
    if reviews.is_empty() {
        bail!(
            "no row of `{}` has a verdict; fill in the column `verdict`",
            path.display()
        );
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
    Ok(())
}

/// The rates of defects as text.
fn rates(folder: &SetFolder, questions: usize) -> Result<String> {
    let Some(rates) = folder.defects()? else {
        return Ok(format!(
            "{}, no sample of which is reviewed; draw one with `--sample 50 --export FILE.csv`\n",
            quantity::of(questions, "question")
        ));
    };
    let lines = rates.kinds.iter().chain([&rates.all]).map(|rate| {
        format!(
            "{:<12} {rate} defective: {} of {} reviewed, of {}\n",
            rate.name(),
            rate.defective,
            rate.reviewed,
            quantity::of(rate.questions, "question")
        )
    });
    let missing = rates.missing.iter();
    let missing = missing.map(|kind| format!("{:<12} not reviewed\n", kind.to_string()));
    Ok(lines.chain(missing).collect())
}
