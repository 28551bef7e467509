//! A dataset's files and questions, with progress and warnings on screen.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use evals_data::{
    Collection, DownloadEvent, DownloadObserver, Hub, HubSettings, Manifest, QuestionCounts,
};
use evals_rag::Question;
use indicatif::ProgressBar;

use super::limited;
use crate::cli::RunArgs;
use crate::printer::Printer;
use crate::progress;

/// The pause before a further try that a user is told of, so as not to be left wondering. What fails for good is told at
/// the end.
const LONG_PAUSE: Duration = Duration::from_secs(5);

/// The hub as the environment describes it.
pub(crate) fn hub() -> Hub {
    Hub::new(HubSettings::from_env())
}

/// Brings a dataset's files here.
pub(crate) async fn fetch(printer: &Printer, manifest: &Manifest) -> Result<Collection> {
    let bars = DownloadBars {
        printer,
        bars: Mutex::default(),
    };
    let collection = Collection::resolve(manifest, &hub(), &bars).await?;
    for warning in collection.warnings() {
        if warning.is_note() {
            printer.detail(&warning.to_string());
        } else {
            printer.warn(&warning.to_string());
        }
    }
    Ok(collection)
}

/// The questions of a run, after `--limit`.
pub(super) fn questions(
    printer: &Printer,
    collection: &Collection,
    arguments: &RunArgs,
) -> Result<Vec<Question>> {
    let read = collection.questions()?;
    if let Some(summary) = left_out(&read.counts) {
        printer.detail(&summary);
    }
    if read.counts.unknown_documents > 0 {
        printer.warn(&format!(
            "{} judged documents are not in the corpus, or have no text there; they count as never found",
            read.counts.unknown_documents
        ));
    }
    if read.counts.without_relevant > 0 {
        printer.warn(&format!(
            "{} questions have no relevant document; rank measures leave them out",
            read.counts.without_relevant
        ));
    }
    Ok(limited(read.questions, arguments.control.limit))
}

/// What was not taken, in one line, or nothing where everything was.
fn left_out(counts: &QuestionCounts) -> Option<String> {
    let parts = [
        (counts.filtered, "left out by `where`"),
        (counts.unjudged, "without judgements"),
        (counts.empty, "without text"),
    ];
    let mut text = String::new();
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
        write!(text, ", {count} {what}").expect("a string takes any text");
    }
    (!text.is_empty()).then(|| format!("{} of {} questions{text}", counts.questions, counts.rows))
}

/// A bar for each file under way.
struct DownloadBars<'p> {
    printer: &'p Printer,
    bars: Mutex<BTreeMap<String, ProgressBar>>,
}

impl DownloadObserver for DownloadBars<'_> {
    fn on_event(&self, event: &DownloadEvent<'_>) {
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        match *event {
            DownloadEvent::Started { file, total } => {
                let bar = progress::bytes(self.printer, file, total);
                if let Some(previous) = bars.insert(file.to_owned(), bar) {
                    previous.finish_and_clear();
                }
            }
            DownloadEvent::Advanced { file, done, .. } => {
                if let Some(bar) = bars.get(file) {
                    bar.set_position(done);
                }
            }
            DownloadEvent::Finished { file } => {
                if let Some(bar) = bars.remove(file) {
                    bar.finish_and_clear();
                }
            }
            DownloadEvent::Waiting { file } => {
                self.printer.note(&format!(
                    "another process is fetching `{file}`; waiting for it"
                ));
            }
            DownloadEvent::Retrying { url, reason, delay } => {
                let seconds = delay.as_secs_f64();
                let message = format!("{reason}; trying {url} again in {seconds:.1} s");
                if delay < LONG_PAUSE {
                    self.printer.detail(&message);
                } else {
                    self.printer.note(&message);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_one_line() {
        let counts = QuestionCounts {
            rows: 1109,
            questions: 300,
            unjudged: 809,
            ..QuestionCounts::default()
        };
        assert_eq!(
            left_out(&counts).unwrap(),
            "300 of 1109 questions, 809 without judgements"
        );
        assert_eq!(left_out(&QuestionCounts::default()), None);
    }
}
