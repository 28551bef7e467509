//! The progress of building an index, and of searching it for many questions at once.

use std::time::Instant;

use chrono::{DateTime, Utc};
use evals_index::{
    BatchObserver, BatchProgress, BatchStage, BuildObserver, BuildProgress, BuildStage, LockHolder,
};
use evals_messages::quantity;
use evals_terminal::{Printer, progress};
use indicatif::ProgressBar;

/// Shows the progress of a build.
#[derive(Debug)]
pub struct IndexBar {
    line: ProgressBar,
    started: Instant,
    printer: Printer,
}

impl IndexBar {
    /// A bar of the build that is about to start.
    pub fn new(printer: &Printer) -> Self {
        Self {
            line: progress::open_ended(printer, "indexing"),
            started: Instant::now(),
            printer: printer.clone(),
        }
    }
}

impl Drop for IndexBar {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

impl BuildObserver for IndexBar {
    fn on_progress(&self, progress: BuildProgress) {
        let seconds = self.started.elapsed().as_secs_f64().max(f64::EPSILON);
        #[expect(clippy::cast_precision_loss, reason = "shown with no decimals")]
        let rate = progress.documents as f64 / seconds;
        self.line.set_message(match progress.stage {
            BuildStage::Loading => {
                format!(
                    "{}, {}, {rate:.0} documents/s",
                    quantity::of(progress.documents, "document"),
                    quantity::of(progress.chunks, "chunk")
                )
            }
            BuildStage::Compacting => "joining small files".to_owned(),
            BuildStage::Vectors => {
                format!(
                    "index of {} for approximate search",
                    quantity::of(progress.chunks, "vector")
                )
            }
            BuildStage::FullText => {
                format!(
                    "full-text index of {}",
                    quantity::of(progress.chunks, "chunk")
                )
            }
        });
    }

    fn on_wait(&self, holder: &LockHolder) {
        self.printer.note(&waiting_for(holder));
    }
}

/// The progress bar of a group of questions that are searched at once. It is there while a group is searched.
#[derive(Debug)]
pub(crate) struct BatchBar(ProgressBar);

impl BatchBar {
    pub(crate) fn new(printer: &Printer) -> Self {
        Self(progress::of_items(printer, "all at once"))
    }
}

impl BatchObserver for BatchBar {
    fn on_progress(&self, progress: BatchProgress) {
        let stage = match progress.stage {
            BatchStage::Embedding => "questions embedded",
            BatchStage::Vectors => "chunks compared",
            BatchStage::Ranking => "questions ranked",
        };
        if self.0.is_finished() {
            self.0.reset();
        }
        self.0.set_message(stage);
        self.0.set_length(progress.total as u64);
        self.0.set_position(progress.done as u64);
    }

    fn on_end(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for BatchBar {
    /// Clears the bar of an interrupted group.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Names the process that a build waits for, and since when it has locked the database.
fn waiting_for(holder: &LockHolder) -> String {
    let since = holder.since.map_or_else(String::new, |since| {
        format!(
            " since {} UTC",
            DateTime::<Utc>::from(since).format("%H:%M:%S")
        )
    });
    format!("waiting for {holder}, which has been building an index in this database{since}")
}
