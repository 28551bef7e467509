//! Downloads files from the hub, with progress bars and warnings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use evals_data::{
    Collection, DownloadEvent, DownloadObserver, Hub, HubSettings, HubWarning, Manifest,
};
use evals_rag::Document;
use evals_terminal::{Printer, progress};
use indicatif::ProgressBar;

/// The shortest pause before a retry that gets a note; shorter ones are details.
const LONG_PAUSE: Duration = Duration::from_secs(5);

/// The hub as the environment describes it.
pub fn hub() -> Hub {
    Hub::new(HubSettings::from_env())
}

/// Downloads the missing files of a dataset.
pub async fn fetch(printer: &Printer, manifest: &Manifest) -> Result<Collection> {
    let bars = DownloadBars::new(printer);
    let collection = Collection::resolve(manifest, &hub(), &bars).await?;
    report_warnings(printer, collection.warnings());
    Ok(collection)
}

/// The documents of a collection with one of `ids`, by id.
///
/// # Errors
///
/// A document cannot be read.
pub async fn documents(
    collection: Collection,
    ids: BTreeSet<String>,
) -> Result<BTreeMap<String, Document>> {
    // On another thread, because this may read the whole corpus, and this thread has to notice an interruption.
    let reading = tokio::task::spawn_blocking(move || {
        let mut found = BTreeMap::new();
        for document in collection.documents()? {
            if found.len() == ids.len() {
                break;
            }
            let document = document?;
            if ids.contains(&document.uri) {
                found.insert(document.uri.clone(), document);
            }
        }
        Ok(found)
    });
    let read = reading.await;
    read.context("the task that reads the documents was cancelled")?
}

/// Prints the warnings of a download, each as a warning, note or detail.
pub fn report_warnings(printer: &Printer, warnings: &[HubWarning]) {
    for warning in warnings {
        if warning.is_note() {
            printer.detail(&warning.to_string());
        } else if matches!(warning, HubWarning::Unverified { .. }) {
            printer.note(&warning.to_string());
        } else {
            printer.warn(&warning.to_string());
        }
    }
}

/// A progress bar for each download.
#[derive(Debug)]
pub struct DownloadBars<'p> {
    printer: &'p Printer,
    bars: Mutex<BTreeMap<String, ProgressBar>>,
}

impl<'p> DownloadBars<'p> {
    /// Bars on the stderr of a printer; none is shown until something is downloaded.
    pub fn new(printer: &'p Printer) -> Self {
        Self {
            printer,
            bars: Mutex::default(),
        }
    }
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
                    "waiting for another process that is downloading `{file}`"
                ));
            }
            DownloadEvent::Retrying { url, reason, delay } => {
                let seconds = delay.as_secs_f64();
                let message = format!("{reason}; retrying {url} in {seconds:.1} s");
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
