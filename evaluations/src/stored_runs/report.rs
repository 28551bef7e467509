//! The report of a stored run, for any benchmark.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::render::Cases;
use evals::{CaseId, ClusterKey, Report, Snapshot, Summary};
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
use crate::run_folder::{RunFolder, RunHeader, check_report, unreadable};
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
pub(super) struct Facts<'r> {
    pub(super) name: &'r str,
    pub(super) dataset: &'r str,
    pub(super) profile: Option<&'r str>,
    pub(super) seed: Option<u64>,
    pub(super) shard: Option<ShardHeader>,
    pub(super) cases: Vec<&'r CaseId>,
}

/// The operations on a report of any domain.
trait AnyReport {
    fn facts(&self) -> Facts<'_>;

    fn summary(&self, seed: u64) -> Summary;

    fn snapshot(&self, title: &str, seed: u64) -> Snapshot;

    fn repetitions(&self, title: &str, seed: u64) -> Vec<Snapshot>;

    fn metadata(&self) -> &Map<String, Value>;

    fn grouped(&self, seed: u64, keys: &[String]) -> Result<Summary>;

    fn failed(&self) -> BTreeSet<&CaseId>;

    fn cases(&self, printer: &Printer, shown: &Cases) -> Result<String>;

    fn details(&self, printer: &Printer, ids: &BTreeSet<&CaseId>) -> Result<String>;

    fn text(&self, printer: &Printer, summary: &Summary) -> Result<String>;

    fn figures(&self, seed: u64) -> Vec<PageFigure>;

    fn compared(&self, label: String, series: usize, bootstrap: &Bootstrap) -> ComparedRun;

    fn write(
        &self,
        printer: &Printer,
        file: &OutFile,
        summary: &Summary,
        source: &PageSource,
    ) -> Result<()>;

    fn write_page(&self, summary: &Summary, source: &PageSource, out: &mut dyn Write)
    -> Result<()>;
}

impl StoredReport {
    pub(super) fn read(folder: &RunFolder, header: &RunHeader) -> Result<Self> {
        Ok(match header.benchmark.as_str() {
            "retrieval" => Self::Retrieval(Arc::new(folder.read_report()?)),
            "qa" => Self::Qa(Arc::new(folder.read_report()?)),
            "eval" => Self::Eval(Arc::new(folder.read_report()?)),
            other => bail!(
                "run `{}` has the benchmark `{other}`, which this version does not support",
                folder.name()
            ),
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

    pub(super) fn benchmark(&self) -> &'static str {
        match self {
            Self::Retrieval(_) => "retrieval",
            Self::Qa(_) => "qa",
            Self::Eval(_) => "eval",
        }
    }

    pub(super) fn facts(&self) -> Facts<'_> {
        self.any().facts()
    }

    /// The numbers, computed from the cases.
    pub(crate) fn summary(&self, seed: u64) -> Summary {
        self.any().summary(seed)
    }

    /// The numbers of the report, without its texts.
    pub(crate) fn snapshot(&self, title: &str, seed: u64) -> Snapshot {
        self.any().snapshot(title, seed)
    }

    /// The numbers of each repetition of the cases.
    pub(crate) fn repetitions(&self, title: &str, seed: u64) -> Vec<Snapshot> {
        self.any().repetitions(title, seed)
    }

    /// The facts that the report holds beside its cases.
    pub(crate) fn metadata(&self) -> &Map<String, Value> {
        self.any().metadata()
    }

    /// The report as the command printed it, broken down by keys of the cases' metadata.
    pub(crate) fn text(&self, printer: &Printer, seed: u64, keys: &[String]) -> Result<String> {
        self.any().text(printer, &self.any().grouped(seed, keys)?)
    }

    /// Writes the report in the format of the file, broken down by keys of the cases' metadata.
    pub(crate) fn write(
        &self,
        printer: &Printer,
        file: &OutFile,
        keys: &[String],
        source: &PageSource,
    ) -> Result<()> {
        let summary = self.any().grouped(source.bootstrap.seed, keys)?;
        match self {
            Self::Eval(report) => file.eval_report(printer, report, &summary, source),
            Self::Retrieval(_) | Self::Qa(_) => self.any().write(printer, file, &summary, source),
        }
    }

    /// Writes the page of the report.
    pub(crate) fn write_page(&self, source: &PageSource, mut out: impl Write) -> Result<()> {
        let summary = self.any().summary(source.bootstrap.seed);
        self.any().write_page(&summary, source, &mut out)
    }

    /// The texts that a page shows and the report does not hold, from the index of the run.
    pub(crate) async fn documents(&self, manifest: Option<&Value>) -> Documents {
        match self {
            Self::Retrieval(report) => Documents::of_stored(report, manifest).await,
            Self::Qa(_) | Self::Eval(_) => Documents::none(),
        }
    }

    /// The figures of the report.
    pub(crate) fn figures(&self, seed: u64) -> Vec<PageFigure> {
        self.any().figures(seed)
    }

    /// The report as the figures of several runs show it.
    pub(crate) fn compared(
        &self,
        label: String,
        series: usize,
        bootstrap: &Bootstrap,
    ) -> ComparedRun {
        self.any().compared(label, series, bootstrap)
    }

    /// The ids of all cases.
    pub(crate) fn ids(&self) -> Vec<&CaseId> {
        self.facts().cases
    }

    /// The cases that failed.
    pub(crate) fn failed(&self) -> BTreeSet<&CaseId> {
        self.any().failed()
    }

    /// The table of cases, the worst first.
    pub(crate) fn cases(&self, printer: &Printer, shown: &Cases) -> Result<String> {
        self.any().cases(printer, shown)
    }

    /// Some cases in detail.
    pub(crate) fn details(&self, printer: &Printer, ids: &BTreeSet<&CaseId>) -> Result<String> {
        self.any().details(printer, ids)
    }

    fn any(&self) -> &dyn AnyReport {
        match self {
            Self::Retrieval(report) => &**report,
            Self::Qa(report) => &**report,
            Self::Eval(report) => &**report,
        }
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

    fn grouped(&self, seed: u64, keys: &[String]) -> Result<Summary> {
        let bootstrap = bootstrap(seed);
        let summary = self.summary(&bootstrap);
        Ok(summary.grouped(self, keys, &bootstrap)?)
    }

    fn failed(&self) -> BTreeSet<&CaseId> {
        self.failed_cases()
    }

    fn cases(&self, printer: &Printer, shown: &Cases) -> Result<String> {
        let console = console(printer);
        Ok(terminal::text(|out| console.cases(out, self, shown))?)
    }

    fn details(&self, printer: &Printer, ids: &BTreeSet<&CaseId>) -> Result<String> {
        let console = console(printer);
        let wanted = |id: &CaseId| ids.contains(id);
        Ok(terminal::text(|out| {
            console.case_details(out, self, wanted)
        })?)
    }

    fn text(&self, printer: &Printer, summary: &Summary) -> Result<String> {
        Ok(report_text(printer, self, summary)?)
    }

    fn figures(&self, seed: u64) -> Vec<PageFigure> {
        let bootstrap = bootstrap(seed);
        figures::of_report(self, &self.summary(&bootstrap), &bootstrap, Place::File)
    }

    fn compared(&self, label: String, series: usize, bootstrap: &Bootstrap) -> ComparedRun {
        ComparedRun::of(label, series, self, self.summary(bootstrap), bootstrap)
    }

    fn write(
        &self,
        printer: &Printer,
        file: &OutFile,
        summary: &Summary,
        source: &PageSource,
    ) -> Result<()> {
        file.report(printer, self, summary, source)
    }

    fn write_page(
        &self,
        summary: &Summary,
        source: &PageSource,
        out: &mut dyn Write,
    ) -> Result<()> {
        let page = RunPage {
            report: self,
            summary,
            source,
        };
        page.write(out)?;
        Ok(())
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
