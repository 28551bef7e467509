//! A stored run: a folder in the data folder, a folder elsewhere, or a report without its folder.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use evals::ClusterKey;
use evals_guard::regular_file;
use serde_json::Value;

use super::report::StoredReport;
use crate::run_folder::{DatasetHeader, LARGEST_REPORT, REPORT, RunFolder, RunHeader, RunState};

/// A stored run.
#[derive(Debug, Clone)]
pub(crate) struct StoredRun {
    place: Place,
    pub(crate) header: RunHeader,
    /// What makes its cases a cluster, if the command line says it.
    cluster: Option<ClusterKey>,
}

/// Where a run is.
#[derive(Debug, Clone)]
enum Place {
    Folder(RunFolder),
    /// A report without the folder that it was written to. It has been read, because it alone tells what it is of.
    Report(PathBuf, StoredReport),
}

impl StoredRun {
    pub(crate) fn of_folder(folder: RunFolder) -> Result<Self> {
        let header = folder.read_manifest()?;
        Ok(Self {
            place: Place::Folder(folder),
            header,
            cluster: None,
        })
    }

    /// The run with its cases in other clusters than those that it declares, if there is a key.
    pub(crate) fn clustered(self, key: Option<&ClusterKey>) -> Self {
        Self {
            cluster: key.cloned(),
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
        Ok(Some(Self {
            header: header_of(&report),
            place: Place::Report(path.to_owned(), report),
            cluster: None,
        }))
    }

    /// The name of its folder, or the path of its report.
    pub(crate) fn name(&self) -> String {
        match &self.place {
            Place::Folder(folder) => folder.name(),
            Place::Report(path, _) => path.display().to_string(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match &self.place {
            Place::Folder(folder) => folder.path(),
            Place::Report(path, _) => path,
        }
    }

    /// The folder of the run. `wanted` completes the error for a lone report: "the manifest of its run, which …".
    pub(crate) fn folder(&self, wanted: &str) -> Result<&RunFolder> {
        match &self.place {
            Place::Folder(folder) => Ok(folder),
            Place::Report(path, _) => Err(anyhow!(
                "`{}` is a report without the manifest of its run, which {wanted}; pass the run's folder instead",
                path.display()
            )),
        }
    }

    /// The page of the run, if it has one.
    pub(crate) fn page(&self) -> Option<PathBuf> {
        match &self.place {
            Place::Folder(folder) => folder.page(),
            Place::Report(..) => None,
        }
    }

    /// Whether there is a report to read.
    pub(crate) fn has_report(&self) -> bool {
        match &self.place {
            Place::Folder(folder) => folder.path().join(REPORT).exists(),
            Place::Report(..) => true,
        }
    }

    /// The state of the run.
    pub(crate) fn state(&self) -> RunState {
        match &self.place {
            Place::Folder(folder) => folder.state(),
            Place::Report(_, report) => RunState::of(&report.summary(self.header.seed)),
        }
    }

    pub(crate) fn report(&self) -> Result<StoredReport> {
        let report = match &self.place {
            Place::Folder(folder) => StoredReport::read(folder, &self.header),
            Place::Report(_, report) => Ok(report.clone()),
        }?;
        match &self.cluster {
            None => Ok(report),
            Some(key) => report
                .clustered(key)
                .with_context(|| format!("run `{}` has no such clusters", self.name())),
        }
    }

    /// The manifest; `None` for a report without its folder.
    pub(crate) fn manifest(&self) -> Result<Option<Value>> {
        match &self.place {
            Place::Folder(folder) => Ok(Some(folder.read_manifest()?)),
            Place::Report(..) => Ok(None),
        }
    }

    /// Advice for a run that is not finished.
    pub(crate) fn remedy(&self) -> &'static str {
        match &self.place {
            Place::Folder(folder) => folder.remedy(),
            Place::Report(..) => "it holds the cases that were finished until then",
        }
    }

    /// Whether both are the same folder or the same file.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        let full = |run: &Self| run.path().canonicalize().ok();
        self.path() == other.path() || full(self).is_some_and(|path| Some(path) == full(other))
    }
}

/// The header of a run, from its report.
fn header_of(report: &StoredReport) -> RunHeader {
    let facts = report.facts();
    RunHeader {
        benchmark: report.benchmark().to_owned(),
        name: facts.name.to_owned(),
        profile: facts.profile.unwrap_or("unknown").to_owned(),
        started: None,
        dataset: DatasetHeader {
            name: facts.dataset.to_owned(),
            questions: facts.cases.into_iter().collect::<BTreeSet<_>>().len(),
            shard: facts.shard,
        },
        seed: facts.seed.unwrap_or_default(),
        measures: Vec::new(),
        command_line: Value::Null,
        target: None,
        rejudged: None,
    }
}
