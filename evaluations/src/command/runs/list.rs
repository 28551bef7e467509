//! The listing of stored runs.

use anyhow::Result;
use evals_messages::quantity;

use crate::cli::ListRunsArgs;
use crate::exit::Exit;
use crate::run_folder::RunFolder;
use crate::run_folder::RunHeader;
use crate::session::Session;
use crate::stored_runs::Headline;
use crate::terminal::listing::Layout;

/// Number of runs that are listed without `--all`.
const NEWEST: usize = 20;

/// Length of the time at the start of a folder's name.
const TIME: usize = "20260501T120000.000Z".len();

const HEADER: [&str; 7] = [
    "run",
    "dataset",
    "benchmark",
    "profile",
    "questions",
    "score",
    "state",
];

/// Columns that a narrow terminal drops, the least important first.
const DROPPED_WHEN_NARROW: [&str; 4] = ["questions", "benchmark", "dataset", "profile"];

pub(super) fn execute(session: &Session<'_>, arguments: &ListRunsArgs) -> Result<Exit> {
    let runs = session.directories.runs();
    let folders = RunFolder::list(&runs)?;
    let mut listed = Vec::new();
    let mut all = 0;
    for folder in folders.iter().rev() {
        let header = match folder.read_manifest::<RunHeader>() {
            Ok(header) => header,
            Err(error) => {
                session.printer.warn(&format!("{error:#}"));
                continue;
            }
        };
        let wanted = arguments.dataset.as_ref();
        if wanted.is_some_and(|dataset| *dataset != header.dataset.name) {
            continue;
        }
        all += 1;
        if arguments.all || listed.len() < NEWEST {
            listed.push((folder, header));
        }
    }
    if listed.is_empty() {
        let of = arguments.dataset.as_ref();
        let of = of.map_or_else(String::new, |dataset| format!(" of `{dataset}`"));
        session
            .printer
            .note(&format!("no runs{of} in {}", runs.display()));
        return Ok(Exit::Done);
    }
    let layout = Layout::of(session.printer).dropping(&DROPPED_WHEN_NARROW);
    let rows: Vec<Vec<String>> = listed
        .iter()
        .rev()
        .map(|(folder, header)| {
            let name = if layout.is_narrow() {
                short_name(folder, &folders)
            } else {
                folder.name()
            };
            row(name, folder, header)
        })
        .collect();
    session.printer.result(&layout.render(&HEADER, &rows))?;
    if all > listed.len() {
        session.printer.note(&format!(
            "showing the newest {} of {}; `--all` lists all",
            listed.len(),
            quantity::of(all, "run")
        ));
    }
    Ok(Exit::Done)
}

/// The time at the start of a run's name if it identifies the run, else the whole name.
fn short_name(folder: &RunFolder, all: &[RunFolder]) -> String {
    let name = folder.name();
    let time = name.get(..TIME).unwrap_or(&name);
    let same = all.iter().filter(|other| other.name().starts_with(time));
    if same.count() == 1 {
        time.to_owned()
    } else {
        name
    }
}

fn row(name: String, folder: &RunFolder, header: &RunHeader) -> Vec<String> {
    let (state, summary) = folder.state_and_summary();
    let headline = summary.and_then(|summary| Headline::of(header, &summary));
    let score = headline.map(|headline| format!("{} {:.4}", headline.title, headline.value));
    vec![
        name,
        header.dataset.name.clone(),
        header.benchmark.clone(),
        header.profile.clone(),
        header.dataset.questions.to_string(),
        score.unwrap_or_else(|| "-".to_owned()),
        state.to_string(),
    ]
}
