//! The report of a stored run, for any benchmark.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals::render::Cases;
use evals::{CaseId, ClusterKey, Domain, Report, Snapshot, Summary};
use evals_evaluators::Untyped;
use evals_html::page::PageFigure;
use evals_metrics::Bootstrap;
use evals_rag::Retrieval;
use evals_rag::qa::Qa;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::figures::{self, ComparedRun, Place};
use crate::out_file::OutFile;
use crate::page::{Documents, HasPage, PageSource, RunPage};
use crate::run_folder::{RunFolder, check_report, unreadable};
use crate::run_record::{Benchmark, RunRecord};
use crate::shards::ShardHeader;
use crate::terminal::{self, Printer, console, report_text};

/// A stored report.
#[derive(Debug, Clone)]
pub(crate) enum StoredReport {
    Retrieval(Arc<Report<Retrieval>>),
    Qa(Arc<Report<Qa>>),
    /// Of a dataset file.
    Eval(Arc<Report<Untyped>>),
}

/// Facts about a run from its report.
pub(crate) struct Facts<'r> {
    pub(super) name: &'r str,
    pub(super) dataset: &'r str,
    pub(super) profile: Option<&'r str>,
    pub(super) seed: Option<u64>,
    pub(super) shard: Option<ShardHeader>,
    pub(super) cases: Vec<&'r CaseId>,
}

/// The operations on a report of any domain. A `seed` is that of the intervals.
pub(crate) trait AnyReport {
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

    /// The table of cases, the worst first.
    fn cases(&self, printer: &Printer, shown: &Cases) -> Result<String>;

    /// The worst of the cases that failed, or else of those that are below the best one, in a few lines each. `None` if there are none.
    fn worst(&self, printer: &Printer, most: usize) -> Result<Option<String>>;

    /// Some cases in detail.
    fn details(&self, printer: &Printer, ids: &BTreeSet<&CaseId>) -> Result<String>;

    /// The report as the command printed it, broken down by keys of the cases' metadata.
    fn text(&self, printer: &Printer, seed: u64, keys: &[String]) -> Result<String>;

    /// The figures of the report.
    fn figures(&self, seed: u64) -> Vec<PageFigure>;

    /// The report as the figures of several runs show it.
    fn compared(&self, label: String, series: usize, bootstrap: &Bootstrap) -> ComparedRun;

    /// Writes the page of the report.
    fn write_page(&self, source: &PageSource, out: &mut dyn Write) -> Result<()>;
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

    /// Writes the report in the format of the file, broken down by keys of the cases' metadata.
    pub(crate) fn write(
        &self,
        printer: &Printer,
        file: &OutFile,
        keys: &[String],
        source: &PageSource,
    ) -> Result<()> {
        let seed = source.bootstrap.seed;
        match self {
            Self::Retrieval(report) => {
                file.report(printer, report, &grouped(&**report, seed, keys)?, source)
            }
            Self::Qa(report) => {
                file.report(printer, report, &grouped(&**report, seed, keys)?, source)
            }
            Self::Eval(report) => {
                file.report(printer, report, &grouped(&**report, seed, keys)?, source)
            }
        }
    }

    /// The texts that a page shows and the report does not hold, from the index of the run.
    pub(crate) async fn documents(&self, record: Option<&RunRecord>) -> Documents {
        match self {
            Self::Retrieval(report) => Documents::of_stored(report, record).await,
            Self::Qa(_) | Self::Eval(_) => Documents::none(),
        }
    }

    /// The ids of all cases.
    pub(crate) fn ids(&self) -> Vec<&CaseId> {
        self.facts().cases
    }
}

impl<D: HasPage> AnyReport for Report<D> {
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

    fn cases(&self, printer: &Printer, shown: &Cases) -> Result<String> {
        let console = console(printer);
        Ok(terminal::text(|out| console.cases(out, self, shown))?)
    }

    fn worst(&self, printer: &Printer, most: usize) -> Result<Option<String>> {
        let failed = self.failed_cases();
        let (ids, heading) = match self.lower_cases().filter(|_| failed.is_empty()) {
            None if failed.is_empty() => return Ok(None),
            None => (failed, String::new()),
            Some((measure, lower)) => {
                let heading = format!("no case failed; the lowest by {measure}:\n\n");
                (lower, heading)
            }
        };
        let wanted = |id: &CaseId| ids.contains(id);
        let console = console(printer);
        let cases = terminal::text(|out| console.worst_cases(out, self, most, wanted))?;
        Ok(Some(heading + &cases))
    }

    fn details(&self, printer: &Printer, ids: &BTreeSet<&CaseId>) -> Result<String> {
        let console = console(printer);
        let wanted = |id: &CaseId| ids.contains(id);
        Ok(terminal::text(|out| {
            console.case_details(out, self, wanted)
        })?)
    }

    fn text(&self, printer: &Printer, seed: u64, keys: &[String]) -> Result<String> {
        Ok(report_text(printer, self, &grouped(self, seed, keys)?)?)
    }

    fn figures(&self, seed: u64) -> Vec<PageFigure> {
        let bootstrap = bootstrap(seed);
        figures::of_report(self, &self.summary(&bootstrap), &bootstrap, Place::File)
    }

    fn compared(&self, label: String, series: usize, bootstrap: &Bootstrap) -> ComparedRun {
        ComparedRun::of(label, series, self, self.summary(bootstrap), bootstrap)
    }

    fn write_page(&self, source: &PageSource, out: &mut dyn Write) -> Result<()> {
        let page = RunPage {
            report: self,
            summary: &self.summary(&bootstrap(source.bootstrap.seed)),
            source,
        };
        page.write(out)?;
        Ok(())
    }
}

/// The numbers of a report, broken down by keys of the cases' metadata.
fn grouped<D: Domain>(report: &Report<D>, seed: u64, keys: &[String]) -> Result<Summary> {
    let bootstrap = bootstrap(seed);
    let summary = report.summary(&bootstrap);
    Ok(summary.grouped(report, keys, &bootstrap)?)
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
