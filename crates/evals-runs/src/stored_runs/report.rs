//! The report of a stored run, for any benchmark.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals::{CaseId, ClusterKey, Domain, Report, Snapshot, Summary};
use evals_evaluators::Untyped;
use evals_metrics::Bootstrap;
use evals_rag::Retrieval;
use evals_rag::qa::Qa;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::run_folder::{RunFolder, check_report, unreadable};
use crate::run_record::Benchmark;
use crate::shards::ShardHeader;

/// A stored report.
#[derive(Debug, Clone)]
pub enum StoredReport {
    /// Rankings.
    Retrieval(Arc<Report<Retrieval>>),
    /// Answers.
    Qa(Arc<Report<Qa>>),
    /// Of a dataset file.
    Eval(Arc<Report<Untyped>>),
}

/// Facts about a run from its report.
#[derive(Debug)]
pub struct Facts<'r> {
    /// The name of the run.
    pub name: &'r str,
    pub(super) dataset: &'r str,
    pub(super) profile: Option<&'r str>,
    pub(super) seed: Option<u64>,
    pub(super) shard: Option<ShardHeader>,
    pub(super) cases: Vec<&'r CaseId>,
}

/// The operations on a report of any domain. A `seed` is that of the intervals.
pub trait AnyReport {
    /// What the report says about its run.
    fn facts(&self) -> Facts<'_>;

    /// The numbers, computed from the cases.
    fn summary(&self, seed: u64) -> Summary;

    /// The numbers of the report, without its texts.
    fn snapshot(&self, title: &str, seed: u64) -> Snapshot;

    /// The numbers of each repetition of the cases.
    fn repetitions(&self, title: &str, seed: u64) -> Vec<Snapshot>;

    /// The facts that the report holds beside its cases.
    fn metadata(&self) -> &Map<String, Value>;

    /// The ids of the cases that failed.
    fn failed(&self) -> BTreeSet<&CaseId>;
}

/// The report of any benchmark.
impl Deref for StoredReport {
    type Target = dyn AnyReport;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Retrieval(report) => &**report,
            Self::Qa(report) => &**report,
            Self::Eval(report) => &**report,
        }
    }
}

impl StoredReport {
    pub(super) fn read(folder: &RunFolder, benchmark: Benchmark) -> Result<Self> {
        Ok(match benchmark {
            Benchmark::Retrieval => Self::Retrieval(Arc::new(folder.read_report()?)),
            Benchmark::Qa => Self::Qa(Arc::new(folder.read_report()?)),
            Benchmark::Eval => Self::Eval(Arc::new(folder.read_report()?)),
        })
    }

    /// Parses a report without a manifest to name its benchmark.
    ///
    /// Question answering comes before retrieval because its cases hold rankings too, and dataset files come last because their
    /// cases hold any values.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        check_report(Cursor::new(bytes), "restore it from a copy")
            .with_context(|| format!("`{}` is damaged", path.display()))?;
        let answers = match parsed(bytes) {
            Ok(report) => return Ok(Self::Qa(report)),
            Err(error) => error,
        };
        let rankings = match parsed(bytes) {
            Ok(report) => return Ok(Self::Retrieval(report)),
            Err(error) => error,
        };
        // Any JSON fits a case of a dataset file, so a damaged report of a benchmark would, too.
        let is_of_file = |report: &Report<Untyped>| {
            let benchmark = report.metadata.get("benchmark");
            benchmark.is_some_and(|benchmark| benchmark == "eval")
        };
        if let Ok(report) = parsed::<Report<Untyped>>(bytes)
            && is_of_file(&report)
        {
            return Ok(Self::Eval(report));
        }
        // The parser of the right benchmark gets further into a damaged report.
        let place = |error: &serde_json::Error| (error.line(), error.column());
        let error = if place(&answers) > place(&rankings) {
            answers
        } else {
            rankings
        };
        Err(error).with_context(|| unreadable(path))
    }

    /// The report with its cases in clusters of this key.
    pub(super) fn clustered(mut self, key: &ClusterKey) -> Result<Self> {
        match &mut self {
            Self::Retrieval(report) => Arc::make_mut(report).cluster_by(key),
            Self::Qa(report) => Arc::make_mut(report).cluster_by(key),
            Self::Eval(report) => Arc::make_mut(report).cluster_by(key),
        }?;
        Ok(self)
    }

    pub(super) fn benchmark(&self) -> Benchmark {
        match self {
            Self::Retrieval(_) => Benchmark::Retrieval,
            Self::Qa(_) => Benchmark::Qa,
            Self::Eval(_) => Benchmark::Eval,
        }
    }

    /// The ids of all cases.
    pub fn ids(&self) -> Vec<&CaseId> {
        self.facts().cases
    }
}

impl<D: Domain> AnyReport for Report<D> {
    fn facts(&self) -> Facts<'_> {
        Facts {
            name: &self.name,
            dataset: &self.dataset,
            profile: self.metadata.get("profile").and_then(Value::as_str),
            seed: self.metadata.get("seed").and_then(Value::as_u64),
            shard: self
                .metadata
                .get(ShardHeader::KEY)
                .and_then(|shard| ShardHeader::deserialize(shard).ok()),
            cases: self.cases.iter().map(|case| &case.id).collect(),
        }
    }

    fn summary(&self, seed: u64) -> Summary {
        self.summary(&bootstrap(seed))
    }

    fn snapshot(&self, title: &str, seed: u64) -> Snapshot {
        Snapshot::of(title, self, &self.summary(&bootstrap(seed)))
    }

    fn repetitions(&self, title: &str, seed: u64) -> Vec<Snapshot> {
        Snapshot::of_repetitions(title, self, &bootstrap(seed))
    }

    fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    fn failed(&self) -> BTreeSet<&CaseId> {
        self.failed_cases()
    }
}

fn bootstrap(seed: u64) -> Bootstrap {
    Bootstrap {
        seed,
        ..Bootstrap::default()
    }
}

fn parsed<R: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<Arc<R>> {
    serde_json::from_slice(bytes).map(Arc::new)
}
