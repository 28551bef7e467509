//! The listing of stored runs.

use anyhow::Result;
use evals::Summary;
use evals_messages::quantity;
use evals_rag::qa::Equivalence;
use evals_rag::retrieval;

use crate::cli::ListRunsArgs;
use crate::exit::Exit;
use crate::run_folder::RunFolder;
use crate::run_folder::RunHeader;
use crate::session::Session;
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
    let score = summary.and_then(|summary| score(header, &summary));
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

/// The headline measure with its value: the first measure of a retrieval run, the accuracy of a question answering run, the pass
/// rate of a dataset file or else its first score.
fn score(header: &RunHeader, summary: &Summary) -> Option<String> {
    let (title, value) = if header.benchmark == "qa" {
        let mut accuracies = summary.accuracy.iter();
        let (_, accuracy) = accuracies.find(|(name, _)| name == Equivalence::OUTCOME)?;
        ("accuracy".to_owned(), accuracy.scored.value?)
    } else if let Some(passed) = summary.pass_rate.as_ref().and_then(|rate| rate.value) {
        ("passed".to_owned(), passed)
    } else {
        let headline = header.measures.first();
        let mut scores = summary.scores.iter();
        let (name, mean) = match headline {
            Some(headline) => scores.find(|(name, _)| name == headline)?,
            None => scores.next()?,
        };
        let title = retrieval::mean_title(name).unwrap_or_else(|| name.clone());
        (title, mean.value?)
    };
    Some(format!("{title} {value:.4}"))
}
