//! A stored run: a folder in the data folder, a folder elsewhere, or a report without its folder.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result, anyhow};
use evals::{ClusterKey, Summary};
use evals_guard::regular_file;
use evals_metrics::Measure;

use super::headline::Headline;
use super::measuring;
use super::report::StoredReport;
use crate::run_folder::{LARGEST_REPORT, REPORT, RunFolder, RunState};
use crate::run_record::{Configuration, DatasetRecord, RunRecord};
use crate::shards::ShardRecord;

/// A stored run.
#[derive(Debug, Clone)]
pub struct StoredRun {
    place: Location,
    /// Its record. That of a report without its folder holds what the report says.
    pub record: Arc<RunRecord>,
    /// What makes its cases a cluster, if the command line says it.
    cluster: Option<ClusterKey>,
    /// Rank measures that its report gets if it lacks them.
    measures: Vec<Measure>,
    /// Read once, for its clones, too.
    configuration: Arc<OnceLock<Configuration>>,
    results: Arc<OnceLock<Results>>,
}

/// Where a run is.
#[derive(Debug, Clone)]
enum Location {
    Folder(RunFolder),
    /// A report without the folder that it was written to. It has been read, because it alone tells what it is of.
    Report(PathBuf, StoredReport),
}

/// How far a run is, and its measures.
#[derive(Debug, Clone)]
pub struct Results {
    /// How far the run is.
    pub state: RunState,
    /// `None` without a report, and while the run is running.
    pub summary: Option<Summary>,
    /// Why the report cannot be read, if it cannot.
    pub problem: Option<String>,
}

impl StoredRun {
    /// Reads the run of a folder.
    pub fn of_folder(folder: RunFolder) -> Result<Self> {
        let record = folder.read_record()?;
        Ok(Self::new(Location::Folder(folder), record))
    }

    fn new(place: Location, record: RunRecord) -> Self {
        Self {
            place,
            record: Arc::new(record),
            cluster: None,
            measures: Vec::new(),
            configuration: Arc::default(),
            results: Arc::default(),
        }
    }

    /// The run with its cases in other clusters than those that it declares, if there is a key.
    #[must_use]
    pub fn clustered(self, key: Option<&ClusterKey>) -> Self {
        Self {
            cluster: key.cloned(),
            ..self
        }
    }

    /// The run with these rank measures in its report, too.
    #[must_use]
    pub fn measuring(self, measures: &[Measure]) -> Self {
        Self {
            measures: measures.to_vec(),
            ..self
        }
    }

    /// The run at a path: a folder or a report. `None` if there is neither.
    pub(super) fn at(path: &Path) -> Result<Option<Self>> {
        if let Some(folder) = RunFolder::open(path) {
            return Ok(Some(Self::of_folder(folder)?));
        }
        let is_of_folder = path.file_name() == Some(OsStr::new(REPORT));
        let beside = path.parent().filter(|_| is_of_folder).map(|folder| {
            if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            }
        });
        if let Some(folder) = beside.and_then(RunFolder::open) {
            return Ok(Some(Self::of_folder(folder)?));
        }
        let is_report = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if !is_report || !path.exists() {
            return Ok(None);
        }
        let report = StoredReport::parse(path, &regular_file::read(path, LARGEST_REPORT)?)?;
        let record = record_of(&report);
        let place = Location::Report(path.to_owned(), report);
        Ok(Some(Self::new(place, record)))
    }

    /// The name of its folder, or the path of its report.
    pub fn name(&self) -> String {
        match &self.place {
            Location::Folder(folder) => folder.name(),
            Location::Report(path, _) => path.display().to_string(),
        }
    }

    /// The path of its folder, or of its report.
    pub fn path(&self) -> &Path {
        match &self.place {
            Location::Folder(folder) => folder.path(),
            Location::Report(path, _) => path,
        }
    }

    /// The folder of the run. `wanted` completes the error for a lone report: "the manifest of its run, which …".
    pub fn folder(&self, wanted: &str) -> Result<&RunFolder> {
        match &self.place {
            Location::Folder(folder) => Ok(folder),
            Location::Report(path, _) => Err(anyhow!(
                "`{}` is a report without the record of its run, which {wanted}; pass the run's folder instead",
                path.display()
            )),
        }
    }

    /// The page of the run, if it has one.
    pub fn page(&self) -> Option<PathBuf> {
        match &self.place {
            Location::Folder(folder) => folder.page(),
            Location::Report(..) => None,
        }
    }

    /// Whether there is a report to read.
    pub fn has_report(&self) -> bool {
        match &self.place {
            Location::Folder(folder) => folder.path().join(REPORT).exists(),
            Location::Report(..) => true,
        }
    }

    /// The state of the run now.
    pub fn state(&self) -> RunState {
        match &self.place {
            Location::Folder(folder) => folder.state(),
            Location::Report(_, report) => RunState::of(&report.summary(self.record.seed)),
        }
    }

    /// The state and the measures when they were first asked for.
    pub fn results(&self) -> &Results {
        self.results.get_or_init(|| match &self.place {
            Location::Folder(folder) => Results::read(folder, folder.is_locked()),
            Location::Report(_, report) => {
                let summary = report.summary(self.record.seed);
                Results {
                    state: RunState::of(&summary),
                    summary: Some(summary),
                    problem: None,
                }
            }
        })
    }

    /// The run with these results.
    #[must_use]
    pub fn with_results(self, results: Results) -> Self {
        Self {
            results: Arc::new(results.into()),
            ..self
        }
    }

    /// Whether commands may choose it by themselves.
    pub fn is_finished(&self) -> bool {
        is_finished(self.results().state)
    }

    /// The main measure, if it has a value.
    pub fn headline(&self) -> Option<Headline> {
        Headline::of(Some(&self.record), self.results().summary.as_ref()?)
    }

    /// The values that its figures depend on.
    pub fn configuration(&self) -> &Configuration {
        self.configuration
            .get_or_init(|| Configuration::of(&self.record))
    }

    /// The state as lists show it. A shard is named beside its state, the column that is always there, so that nobody takes its score for
    /// that of the whole.
    pub fn shown_state(&self) -> String {
        let state = self.results().state;
        match &self.record.dataset.shard {
            Some(record) => format!("{state}, {}", record.shard),
            None => state.to_string(),
        }
    }

    /// When it started, in UTC, as people read it: `2026-05-01 12:00:00`.
    pub fn started(&self) -> Option<String> {
        let time = self.record.started.as_deref()?;
        let seconds = time.split(['.', 'Z']).next().unwrap_or(time);
        Some(seconds.replace('T', " "))
    }

    /// Reads the report, with its cases in the clusters of [`clustered`](Self::clustered).
    pub fn report(&self) -> Result<StoredReport> {
        let report = match &self.place {
            Location::Folder(folder) => StoredReport::read(folder, self.record.benchmark),
            Location::Report(_, report) => Ok(report.clone()),
        }?;
        let report = match &*self.measures {
            [] => report,
            measures => measuring::add(report, &self.name(), &self.record, measures)?,
        };
        match &self.cluster {
            None => Ok(report),
            Some(key) => report
                .clustered(key)
                .with_context(|| format!("run `{}` has no such clusters", self.name())),
        }
    }

    /// The whole record; `None` for a report without its folder.
    pub fn manifest(&self) -> Option<&Arc<RunRecord>> {
        match &self.place {
            Location::Folder(_) => Some(&self.record),
            Location::Report(..) => None,
        }
    }

    /// Advice for a run that is not finished.
    pub fn remedy(&self) -> &'static str {
        match &self.place {
            Location::Folder(folder) => folder.remedy(),
            Location::Report(..) => "it holds the cases that were finished until then",
        }
    }

    /// Whether both are the same folder or the same file.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let full = |run: &Self| run.path().canonicalize().ok();
        self.path() == other.path() || full(self).is_some_and(|path| Some(path) == full(other))
    }
}

impl Results {
    /// What the files of a run say. The report of a running run is from an earlier session and out of date.
    pub fn read(folder: &RunFolder, is_running: bool) -> Self {
        if is_running {
            return Self {
                state: RunState::Running,
                summary: None,
                problem: None,
            };
        }
        let (state, summary) = folder.state_at_rest();
        let problem = match state {
            RunState::Unreadable => folder.report_problem(),
            _ => None,
        };
        Self {
            state,
            summary,
            problem: problem.map(|problem| format!("{problem:#}")),
        }
    }
}

/// What a report says about its run.
fn record_of(report: &StoredReport) -> RunRecord {
    let facts = report.facts();
    RunRecord {
        benchmark: report.benchmark(),
        name: facts.name.to_owned(),
        profile: facts.profile.unwrap_or("unknown").to_owned(),
        dataset: DatasetRecord {
            name: facts.dataset.to_owned(),
            questions: facts.cases.into_iter().collect::<BTreeSet<_>>().len(),
            shard: facts.shard.map(ShardRecord::of_header),
            ..DatasetRecord::default()
        },
        seed: facts.seed.unwrap_or_default(),
        ..RunRecord::default()
    }
}

/// Whether commands may choose a run in this state by themselves.
pub fn is_finished(state: RunState) -> bool {
    matches!(state, RunState::Finished(_))
}
