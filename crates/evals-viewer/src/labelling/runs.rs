//! The runs whose answers are being labelled. The last one stays in memory, because a labeller asks for its answers one by one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use anyhow::Result;
use evals_runs::annotations::{LabelFile, RunAnswers, WantedMeasure};
use evals_runs::run_folder::{REPORT, RunFolder};
use evals_runs::stored_runs::StoredRun;
use serde::Deserialize;

use super::super::failure::PageFailure;
use super::super::viewer::Viewer;

/// What the requests of labelling share. Clones share it, too.
#[derive(Debug, Clone)]
pub(super) struct LabelledRuns {
    viewer: Viewer,
    last: Arc<Mutex<Last>>,
}

/// The parameter that every address of labelling has.
#[derive(Debug, Default, Deserialize)]
pub(super) struct JudgedMeasureName {
    /// The measure of the judge; the first one if it is missing.
    pub(super) measure: Option<String>,
}

/// A run with its answers and the file of its labels.
#[derive(Debug)]
pub(super) struct LabelledRun {
    pub(super) answers: Arc<RunAnswers>,
    pub(super) file: LabelFile,
}

/// The answers that were read last.
type Last = Option<(Key, Arc<RunAnswers>)>;

/// Identifies the answers of one report.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    folder: PathBuf,
    report: Option<(SystemTime, u64)>,
    measure: Option<String>,
}

impl LabelledRuns {
    pub(super) fn new(viewer: Viewer) -> Self {
        Self {
            viewer,
            last: Arc::default(),
        }
    }

    /// Does work on the listed run with this name, on a blocking thread.
    pub(super) async fn with<T: Send + 'static>(
        self,
        name: String,
        judged: JudgedMeasureName,
        work: impl FnOnce(&LabelledRun) -> Result<T, PageFailure> + Send + 'static,
    ) -> Result<T, PageFailure> {
        let viewer = self.viewer.clone();
        let done = viewer.read(move |catalogue| {
            let folder = catalogue.find(&name)?;
            let file = LabelFile::of(&folder);
            let answers = self.answers(folder, judged.measure)?;
            work(&LabelledRun { answers, file })
        });
        done.await
    }

    fn answers(&self, folder: RunFolder, measure: Option<String>) -> Result<Arc<RunAnswers>> {
        let key = Key {
            report: version(&folder.path().join(REPORT)),
            folder: folder.path().to_owned(),
            measure,
        };
        if let Some((known, answers)) = &*self.last()
            && *known == key
        {
            return Ok(Arc::clone(answers));
        }
        // Not under the lock: a large report takes seconds, and requests for other runs need not wait.
        let measure = key.measure.as_deref();
        let measure = measure.map_or(WantedMeasure::First, WantedMeasure::Named);
        let answers = Arc::new(RunAnswers::read(&StoredRun::of_folder(folder)?, measure)?);
        *self.last() = Some((key, Arc::clone(&answers)));
        Ok(answers)
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn version(report: &Path) -> Option<(SystemTime, u64)> {
    let metadata = report.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
