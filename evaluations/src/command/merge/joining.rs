//! Joins the reports of shards, and writes the run that they make up.

use anyhow::{Context as _, Result, bail};
use evals::{Domain, Report, ReportPart, Summary};
use evals_messages::quantity;
use evals_pages::page::HasPage;
use evals_pipeline::case_selection::ChosenCases;
use evals_pipeline::exit::Exit;
use evals_pipeline::finished_run::FinishedRun;
use evals_pipeline::groups;
use evals_pipeline::resumption::is_transient;
use evals_pipeline::session::Session;
use evals_pipeline::targets::{self, TargetFacts};
use evals_rag::prices::Prices;
use evals_rag::targets::matching::IdCheck;
use evals_runs::run_folder::{RunFailure, RunFolder};
use evals_runs::run_record::{RunRecord, SelectionRecord};
use evals_runs::shards::{ShardHeader, ShardRecord};
use evals_terminal::Printer;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::shards_of_run::ShardsOfRun;

/// A run that was merged and written.
pub(super) struct Merged {
    pub(super) folder: RunFolder,
    /// The report for the terminal.
    pub(super) text: String,
    /// Cases that failed for a temporary reason.
    transient: usize,
    /// The message about cases or evaluators that failed in every case.
    failure: Option<String>,
}

impl Merged {
    pub(super) fn written<D: Domain + HasPage>(
        printer: &Printer,
        run: FinishedRun<D>,
    ) -> Result<Self> {
        let text = run.text(printer)?;
        printer.note_files(&run.folder, &run.report, &run.summary);
        let transient = run.report.cases.iter().filter(|case| is_transient(case));
        Ok(Self {
            transient: transient.count(),
            failure: RunFailure::message(&run.summary),
            folder: run.folder,
            text,
        })
    }

    /// Prints notes on failed cases, and returns the exit code.
    pub(super) fn note(&self, printer: &Printer) -> Exit {
        if self.transient > 0 {
            printer.warn(&format!(
                "{} failed for a temporary reason; run the commands of their shards again to retry, then merge again",
                quantity::of(self.transient, "case")
            ));
        }
        let Some(message) = &self.failure else {
            return Exit::Done;
        };
        printer.failure(message);
        Exit::CheckFailed
    }
}

/// The shards of a run and the record of the whole.
pub(super) struct Joining<'j> {
    pub(super) session: &'j Session<'j>,
    pub(super) run: &'j ShardsOfRun,
    pub(super) record: RunRecord,
}

/// The reports of all shards as one, and what they said about themselves.
pub(super) struct Joined<D: Domain> {
    /// Its metadata has no entry that depends on the cases.
    pub(super) report: Report<D>,
    /// The metadata of each shard's report.
    pub(super) parts: Vec<Map<String, Value>>,
    /// Whether evaluators of the whole report made anything for any shard.
    pub(super) is_analysed: bool,
    /// The keys of metadata that the reports are broken down by.
    pub(super) group_by: Vec<String>,
}

impl Joining<'_> {
    /// Reads the reports of the shards and joins them. Entries of the metadata from the first of `own` keys on are removed: the caller
    /// makes them again for all cases.
    pub(super) fn join<D: Domain>(&self, own: &[&str]) -> Result<Joined<D>> {
        let mut parts = Vec::new();
        let mut reports = Vec::new();
        let mut group_by: Vec<String> = Vec::new();
        let mut is_analysed = false;
        for shard in self.run.shards() {
            let report: Report<D> = shard.report()?;
            is_analysed |=
                !report.analyses.is_empty() || !report.report_evaluator_failures.is_empty();
            parts.push(report.metadata.clone());
            let summary = shard.run.results().summary.as_ref();
            for groups in summary.iter().flat_map(|summary| &summary.groups) {
                if !group_by.contains(&groups.key) {
                    group_by.push(groups.key.clone());
                }
            }
            reports.push(ReportPart {
                report,
                places: shard.shard.places.iter().collect(),
            });
        }
        let mut report = Report::joined(reports).context("there is no shard to merge")?;
        self.check_cases(&report)?;
        let removed = [SelectionRecord::KEY, ShardHeader::KEY, Report::<D>::FACTS];
        for key in removed.iter().chain(own) {
            report.metadata.shift_remove(*key);
        }
        Ok(Joined {
            report,
            parts,
            is_analysed,
            group_by,
        })
    }

    /// Fails unless the joined cases are those that were divided among the shards, each once for each repetition.
    fn check_cases<D: Domain>(&self, report: &Report<D>) -> Result<()> {
        let first = self.run.first();
        let repeat = report.repeat.max(1) as usize;
        let ids = report.cases.chunks(repeat).map(|cases| {
            let mut expected = cases.iter().zip(1..);
            let id = &cases[0].id;
            let is_whole = expected.all(|(case, number)| case.id == *id && case.repeat == number);
            (is_whole && cases.len() == repeat).then(|| id.as_str())
        });
        let ids: Option<Vec<&str>> = ids.collect();
        if ids.is_none_or(|ids| ShardRecord::digest(&ids) != first.shard.ids) {
            bail!(
                "the cases in the reports of the shards of `{}` are not those that were divided among them: a folder is damaged",
                first.record().name
            );
        }
        Ok(())
    }

    /// Which cases the whole run has.
    pub(super) fn chosen(&self, metadata: &Map<String, Value>) -> Result<ChosenCases> {
        let of_shard = ChosenCases::of_report(metadata, self.run.cases());
        Ok(ChosenCases {
            shard: None,
            ..of_shard.with_context(|| self.damaged())?
        })
    }

    /// The error for a shard whose report lacks what this program writes.
    pub(super) fn damaged(&self) -> String {
        let run = self.run.first().name();
        format!(
            "the report of run `{run}` is damaged or in a format that this version does not read"
        )
    }

    pub(super) fn prices(&self) -> Result<Prices> {
        let prices = self.record.settings.prices();
        prices.with_context(|| {
            let run = self.run.first().name();
            format!("`settings.prices` of run `{run}` is damaged")
        })
    }

    pub(super) fn seed(&self) -> u64 {
        self.record.seed
    }

    /// The summary with the groups that the shards have.
    pub(super) fn summary<D: Domain>(&self, report: &Report<D>, group_by: &[String]) -> Summary {
        groups::summary(self.session.printer, report, self.seed(), group_by)
    }
}

/// The entries of a report's metadata about a target.
pub(super) const TARGET_KEYS: &[&str] = &[
    "target",
    "documents_matched",
    "target_versions",
    targets::DEPTH,
    targets::SCORES,
    CHECKED,
];

/// The entry about documents that were matched by id and compared by text.
const CHECKED: &str = "documents_matched_by_id";

/// That entry.
#[derive(Deserialize)]
struct Checked {
    compared: usize,
    differ: usize,
}

/// The facts about the target of a joined report. Adds the comparisons of texts, because each shard compares another sample.
pub(super) fn target_facts<D: Domain>(
    report: &Report<D>,
    parts: &[Map<String, Value>],
) -> TargetFacts {
    let checks = parts.iter().filter_map(|part| part.get(CHECKED));
    let checks = checks.filter_map(|part| Checked::deserialize(part).ok());
    let checked = checks.fold(IdCheck::default(), |sum, part| IdCheck {
        compared: sum.compared.saturating_add(part.compared),
        differ: sum.differ.saturating_add(part.differ),
    });
    TargetFacts::of(report, Some(checked))
}
