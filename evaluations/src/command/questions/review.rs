//! `evaluations questions review FOLDER`: draws questions, exchanges reviews as CSV, and shows how many questions are defective.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals::render::Narrow;
use evals::render::tables::Table;
use evals_guard::regular_file;
use evals_messages::quantity;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_questions::review::{self, DefectRate, DefectRates, DrawnSample};
use evals_questions::{Item, Kind, SetFolder};
use evals_runs::annotations::user_name;
use evals_runs::atomic_file::write_atomically;
use evals_runs::clock::{now, timestamp};
use evals_settings::redaction::printable;
use evals_terminal::{Printer, table_text};

use crate::cli::ReviewQuestionsArgs;

/// The size limit of a file to import.
const LARGEST_IMPORT: u64 = 512_000_000;

pub(super) fn execute(session: &Session<'_>, arguments: &ReviewQuestionsArgs) -> Result<Exit> {
    let printer = session.printer;
    let folder = SetFolder::new(&arguments.folder);
    if let Some(path) = &arguments.import {
        import(printer, arguments, &folder, path)?;
    }
    let set = folder.questions()?;
    let count = arguments.sample.map_or(set.len(), Into::into);
    let seed = arguments.seed;
    let sample = review::sample(&set, count, seed);
    if let Some(path) = &arguments.export {
        export(printer, arguments, &folder, &set, &sample, path)?;
    } else if arguments.sample.is_some() {
        let lines = sample.iter().map(|item| {
            let question = printable(&item.question);
            format!("{} ({}): {question}\n", printable(&item.id), item.kind)
        });
        printer.result(&lines.collect::<String>())?;
        printer.note("to review them in the browser, use `evaluations view`; in a spreadsheet, add `--export FILE.csv`");
    } else {
        printer.result(&rates(printer, &folder, set.len())?)?;
    }
    if arguments.sample.is_some() {
        folder.lock()?.record_sample(DrawnSample { count, seed })?;
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
    let shown = path.display();
    if path.symlink_metadata().is_ok() {
        bail!(
            "`{shown}` exists; choose a different name, because somebody may have reviewed in it"
        );
    }
    let seed = arguments.sample.map(|_| arguments.seed);
    let text = review::export(sample, set, &folder.reviews()?, seed);
    write_atomically(path, |out| out.write_all(text.as_bytes()))?;
    printer.note(&format!(
        "wrote {} to `{shown}`; fill in the column `verdict` with `keep`, `edit` or `drop`, and import the file",
        quantity::of(sample.len(), "question")
    ));
    Ok(())
}

fn import(
    printer: &Printer,
    arguments: &ReviewQuestionsArgs,
    folder: &SetFolder,
    path: &Path,
) -> Result<()> {
    let bytes = regular_file::read(path, LARGEST_IMPORT)?;
    let given = arguments.labeller.as_deref().map(str::trim);
    if given == Some("") {
        bail!("`--labeller` is empty; give a name");
    }
    // Before the lock, which would make the folder.
    folder.questions()?;
    let lock = folder.lock()?;
    let set = folder.questions()?;
    let import = review::Import {
        file: path.display().to_string(),
        set: &set,
        author: given.map(str::to_owned).or_else(user_name),
        time: timestamp(now()),
    };
    let reviews = import.read(&bytes)?;
    if reviews.is_empty() {
        bail!(
            "no row of `{}` has a verdict; fill in the column `verdict`",
            path.display()
        );
    }
    let added = lock.append_reviews(&reviews)?;
    printer.note(&format!(
        "added {}; {} already known",
        quantity::of(added, "review"),
        reviews.len() - added
    ));
    Ok(())
}

/// The rates of defects as text.
fn rates(printer: &Printer, folder: &SetFolder, questions: usize) -> Result<String> {
    let path = folder.path().display();
    let rates = folder.defects();
    let rates = rates.with_context(|| format!("cannot read the reviews of `{path}`"))?;
    let Some(rates) = rates else {
        return Ok(format!(
            "{}, no sample of which is reviewed; draw one with `--sample 50 --export FILE.csv`\n",
            quantity::of(questions, "question")
        ));
    };
    let heads = [
        "kind",
        "questions",
        "reviewed",
        "defective",
        "rate, % [95 %]",
    ];
    let rows = rates.kinds.iter().chain([&rates.all]).map(row);
    let table = Table {
        heads: heads.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        notes: notes(&rates),
    };
    Ok(table_text(printer, &table, Narrow::Fold))
}

fn row(rate: &DefectRate) -> Vec<String> {
    let counts = [rate.questions, rate.reviewed, rate.defective];
    let counts = counts.map(|count| count.to_string());
    let kind = rate.kind.map_or("all", Kind::name).to_owned();
    let cells = std::iter::once(kind).chain(counts);
    cells.chain([rate.to_string()]).collect()
}

fn notes(rates: &DefectRates) -> Vec<String> {
    let missing: Vec<&str> = rates.missing.iter().map(|kind| kind.name()).collect();
    let missing = (!missing.is_empty()).then(|| {
        format!(
            "no question of the kind {} is reviewed, and the rates say nothing about them",
            missing.join(", ")
        )
    });
    missing.into_iter().collect()
}
