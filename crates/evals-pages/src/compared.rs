//! Stored runs of the same cases, to compare: two as a change, more each with each.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::{
    CaseReport, CaseTable, Change, Comparison, Domain, Expenses, PairTesting, Report, Standings,
    Summary, Titled,
};
use evals_evaluators::{Untyped, documents_listed};
use evals_html::page::PageFigure;
use evals_messages::quantity;
use evals_metrics::{Bootstrap, Measure, PairedTest};
use evals_models::ModelIdentity;
use evals_rag::prices::Price;
use evals_rag::qa::Qa;
use evals_rag::{Purpose, Retrieval};
use evals_runs::run_record::{DEFECTS, RunRecord};
use evals_runs::stored_runs::{StoredReport, StoredRun, kind, labels, made_by, page_names};
use evals_terminal::Printer;

use crate::figures;
use crate::out_file::OutFile;
use crate::page::{ChangePage, HasPage, PageSource, SeveralPage};
use evals_runs::depth::{difference as difference_in_depth, documents_ranked};

/// Runs that no measure compares. An empty comparison must not pass as one without differences.
#[derive(Debug, thiserror::Error)]
#[error("cannot compare `{runs}`: {why}")]
pub struct Incomparable {
    runs: String,
    why: String,
}

/// Most differences in settings that are listed for a run.
const LISTED: usize = 4;

/// Stored runs with their reports.
#[derive(Debug)]
pub struct ComparedRuns<'r> {
    runs: &'r [StoredRun],
    /// The names of two runs, and what tells more apart in tables.
    labels: Vec<String>,
    reports: Reports,
}

/// Reports of one benchmark.
#[derive(Debug)]
enum Reports {
    Retrieval(Vec<Report<Retrieval>>),
    Qa(Vec<Report<Qa>>),
    Eval(Vec<Report<Untyped>>),
}

/// Calls a generic function with the reports, whatever their domain.
macro_rules! with_reports {
    ($compared:expr, $reports:ident => $call:expr) => {
        match &$compared.reports {
            Reports::Retrieval($reports) => $call,
            Reports::Qa($reports) => $call,
            Reports::Eval($reports) => $call,
        }
    };
}

impl Reports {
    fn read(runs: &[StoredRun]) -> Result<Self> {
        let mut reports = runs.iter().map(StoredRun::report);
        let mut all = match reports.next().transpose()? {
            Some(StoredReport::Retrieval(first)) => {
                Self::Retrieval(vec![Arc::unwrap_or_clone(first)])
            }
            Some(StoredReport::Qa(first)) => Self::Qa(vec![Arc::unwrap_or_clone(first)]),
            Some(StoredReport::Eval(first)) => Self::Eval(vec![Arc::unwrap_or_clone(first)]),
            None => bail!("there are no runs to compare"),
        };
        for report in reports {
            match (&mut all, report?) {
                (Self::Retrieval(all), StoredReport::Retrieval(it)) => {
                    all.push(Arc::unwrap_or_clone(it));
                }
                (Self::Qa(all), StoredReport::Qa(it)) => all.push(Arc::unwrap_or_clone(it)),
                (Self::Eval(all), StoredReport::Eval(it)) => all.push(Arc::unwrap_or_clone(it)),
                _ => bail!("cannot compare reports of different benchmarks"),
            }
        }
        Ok(all)
    }
}

impl<'r> ComparedRuns<'r> {
    /// Reads the reports. Refuses runs that cannot have cases or measures in common, and a run that is named twice.
    pub fn read(runs: &'r [StoredRun]) -> Result<Self> {
        for (place, run) in runs.iter().enumerate() {
            for earlier in &runs[..place] {
                check(earlier, run)?;
            }
        }
        let labels = match runs {
            [before, after] => vec![before.name(), after.name()],
            _ => labels(runs),
        };
        Ok(Self {
            reports: Reports::read(runs)?,
            labels,
            runs,
        })
    }

    /// The seed of intervals and random tests: that of the last run.
    pub fn seed(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.record.seed)
    }

    /// The change in all measures from the first to the last run, by the default test.
    pub fn change(&self) -> Result<Change> {
        let test = PairedTest {
            seed: self.seed(),
            ..PairedTest::default()
        };
        self.change_by(PairTesting::by(test), &[], &[])
    }

    /// The change in the wanted measures, or in all if `wanted` is empty, broken down by `keys` of the cases' metadata.
    pub fn change_by(
        &self,
        test: PairTesting,
        wanted: &[String],
        keys: &[String],
    ) -> Result<Change> {
        with_reports!(self, reports => {
            let summaries = summaries(reports, test.paired.seed);
            let sides = self.titled(reports, &summaries);
            let sides = sides.first_chunk().context("a change is between two runs")?;
            let is_wanted = |title: &str| is_wanted(wanted, title);
            Ok(Change::by(sides, test, is_wanted).grouped(sides, keys, is_wanted)?)
        })
    }

    /// Adds what differs between the two runs beside their results. Fails if nothing was compared.
    pub fn explained(&self, change: Change) -> Result<Change, Incomparable> {
        let mut made_by = made_by(&self.runs[0], &self.runs[1]);
        made_by.extend(self.differences_in_depth());
        made_by.extend(self.defects());
        let change = change.made_by(made_by);
        check_compared(&change)?;
        Ok(change)
    }

    /// The standings by the wanted measures, or by all if `wanted` is empty, in groups by `keys` of the cases' metadata.
    pub fn standings(
        &self,
        test: PairTesting,
        wanted: &[String],
        keys: &[String],
    ) -> Result<Standings> {
        let made_by = self.made_by().into_iter().chain(self.defects()).collect();
        let standings = with_reports!(self, reports => self.of(reports, test, wanted, keys))?;
        Ok(standings.made_by(made_by))
    }

    fn of<D: HasPage>(
        &self,
        reports: &[Report<D>],
        test: PairTesting,
        wanted: &[String],
        keys: &[String],
    ) -> Result<Standings> {
        let summaries = summaries(reports, test.paired.seed);
        let titled = self.titled(reports, &summaries);
        let prices = self.prices(reports)?;
        let is_wanted = |title: &str| is_wanted(wanted, title);
        let expenses = Expenses {
            seconds: &|_, case| figures::search_time(case),
            dollars: &|place, case| cost(prices[place]?, case),
        };
        Ok(Standings::of(&titled, test, is_wanted, keys, &expenses)?)
    }

    /// The price of each run's answering model, where the run's settings name one.
    fn prices<D: Domain>(&self, reports: &[Report<D>]) -> Result<Vec<Option<Price>>> {
        let of_run = |(run, report): (&StoredRun, &Report<D>)| -> Result<Option<Price>> {
            let prices = run.record.settings.prices().unwrap_or_default();
            let model = report
                .metadata
                .get("models")
                .map(|it| it["answerer"].clone());
            let model = model.and_then(|it| serde_json::from_value::<ModelIdentity>(it).ok());
            Ok(model.map(|model| prices.of(&model)))
        };
        self.runs.iter().zip(reports).map(of_run).collect()
    }

    fn titled<'t, D: Domain>(
        &'t self,
        reports: &'t [Report<D>],
        summaries: &'t [Summary],
    ) -> Vec<Titled<'t, D>> {
        titled(&self.labels, reports, summaries)
    }

    /// A line for each run: its label, its name, and how it differs from the first one.
    fn made_by(&self) -> Vec<String> {
        let lines = self.runs.iter().zip(&self.labels).enumerate();
        let line = |(place, (run, label)): (usize, (&StoredRun, &String))| {
            let named = if *label == run.name() {
                label.clone()
            } else {
                format!("{label}: {}", run.name())
            };
            if place == 0 {
                return named;
            }
            let mut differences = made_by(&self.runs[0], run);
            if label.contains(&run.record.profile) {
                differences.retain(|it| !it.starts_with("profile: "));
            }
            if differences.is_empty() {
                return named;
            }
            if differences.len() > LISTED {
                let more = differences.len() - LISTED;
                differences.truncate(LISTED);
                differences.push(format!("and {more} more"));
            }
            format!("{named} ({})", differences.join("; "))
        };
        lines.map(line).collect()
    }

    /// What makes the data of the runs unequal: files of the dataset, numbers of questions, and judges.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let first = &self.runs[0];
        let label = &self.labels[0];
        for (run, own) in self.runs.iter().zip(&self.labels).skip(1) {
            let [asked_first, asked] = [first, run].map(|it| it.record.dataset.questions);
            if asked_first != asked {
                warnings.push(format!(
                    "`{own}` asked {} and `{label}` asked {asked_first}; only cases of all runs are compared",
                    quantity::of(asked, "question")
                ));
            }
            let (Some(one), Some(other)) = (first.manifest(), run.manifest()) else {
                continue;
            };
            if !first.configuration().has_data_of(run.configuration()) {
                warnings.push(format!(
                    "`{own}` and `{label}` read different files of the dataset; only cases with the same content are compared"
                ));
            }
            if one.models.get("judge") != other.models.get("judge") {
                warnings.push(format!(
                    "`{own}` and `{label}` have different judges, so that a difference in verdicts may be theirs"
                ));
            }
        }
        warnings.extend(self.differences_in_depth());
        warnings
    }

    /// How many questions are defective, as people found in the test sets of the reports; each finding once.
    fn defects(&self) -> Vec<String> {
        let lines: BTreeSet<String> = with_reports!(self, reports => {
            let facts = reports.iter().flat_map(Report::facts);
            let found = facts.filter(|(label, _)| *label == DEFECTS);
            found.map(|(label, text)| format!("{label}: {text}")).collect()
        });
        lines.into_iter().collect()
    }

    /// The warnings about reports whose cases have another number of documents than those of the first.
    fn differences_in_depth(&self) -> Vec<String> {
        match &self.reports {
            Reports::Retrieval(reports) => self.depths(reports, documents_ranked),
            Reports::Eval(reports) => self.depths(reports, |case| Some(documents_listed(case)?.0)),
            Reports::Qa(_) => Vec::new(),
        }
    }

    fn depths<D: Domain>(
        &self,
        reports: &[Report<D>],
        documents: impl Fn(&CaseReport<D>) -> Option<usize>,
    ) -> Vec<String> {
        let mut named = self.labels.iter().map(String::as_str).zip(reports);
        let Some(first) = named.next() else {
            return Vec::new();
        };
        named
            .filter_map(|other| difference_in_depth([first, other], &documents))
            .collect()
    }

    /// Every case with the wanted measures of each run, or with the first one if `wanted` is empty.
    pub fn case_table(&self, wanted: &[String]) -> CaseTable {
        let sides = ["before", "after"].map(str::to_owned);
        let labels = match self.runs.len() {
            2 => &sides[..],
            _ => &self.labels,
        };
        let is_wanted = |title: &str| is_wanted(wanted, title);
        let wanted: Option<&dyn Fn(&str) -> bool> = (!wanted.is_empty()).then_some(&is_wanted);
        with_reports!(self, reports => {
            let summaries = summaries(reports, self.seed());
            let titled = titled(labels, reports, &summaries);
            CaseTable::of(&titled, wanted)
        })
    }

    /// The titles of all measures.
    pub fn measures(&self) -> Vec<String> {
        let of = |names: BTreeSet<String>| names.into_iter().collect();
        with_reports!(self, reports => {
            let measures = reports.iter().flat_map(|report| report.measure_values().into_iter());
            of(measures.map(|it| it.title).collect())
        })
    }

    /// Fails if no measure has a value in the same case of every run.
    pub fn check_compared(&self, standings: &Standings) -> Result<(), Incomparable> {
        if standings.measures.iter().any(|it| it.n > 0) {
            return Ok(());
        }
        let runs = self.labels.join("`, `");
        let why = if standings.shared == 0 {
            let missing = standings.unshared.iter().zip(&self.labels);
            let missing: Vec<String> = missing
                .map(|(it, label)| {
                    format!(
                        "{label}: {} missing, {} changed",
                        it.missing.len(),
                        it.changed.len()
                    )
                })
                .collect();
            format!("no case in common ({})", missing.join("; "))
        } else {
            let shared = quantity::of(standings.shared, "case");
            format!("{shared} in common, but no measure has a value in the same case of two runs")
        };
        Err(Incomparable { runs, why })
    }

    /// The reports of rankings with the records of their runs: their pages show texts of documents that reports do not hold. Empty for
    /// other benchmarks.
    pub fn rankings(&self) -> Vec<(&Report<Retrieval>, Option<&RunRecord>)> {
        let Reports::Retrieval(reports) = &self.reports else {
            return Vec::new();
        };
        let records = self.runs.iter().map(|run| run.manifest().map(|it| &**it));
        reports.iter().zip(records).collect()
    }

    /// The figures of the runs.
    pub fn figures(&self, standings: &Standings) -> Vec<PageFigure> {
        let seed = standings.test.paired.seed;
        let dataset = &self.runs[0].record.dataset.name;
        with_reports!(self, reports => {
            let summaries = summaries(reports, seed);
            let titled = self.titled(reports, &summaries);
            figures::of_standings(dataset, standings, &titled)
        })
    }

    /// Writes the change from the first to the last run in the format of the file.
    pub fn write_change(
        &self,
        printer: &Printer,
        file: &OutFile,
        change: &Change,
        source: &PageSource,
    ) -> Result<()> {
        with_reports!(self, reports => file.change(printer, &self.page(reports, change, source)))
    }

    /// Writes the page of the change.
    pub fn write_change_page(
        &self,
        change: &Change,
        source: &PageSource,
        out: impl Write,
    ) -> Result<()> {
        with_reports!(self, reports => self.page(reports, change, source).write(out))?;
        Ok(())
    }

    fn page<'p, D: HasPage>(
        &'p self,
        reports: &'p [Report<D>],
        change: &'p Change,
        source: &'p PageSource,
    ) -> ChangePage<'p, D> {
        ChangePage {
            titles: [&self.labels[0], &self.labels[1]],
            names: page_names(self.runs, source.texts == evals_html::page::Texts::Omitted),
            reports: [&reports[0], &reports[1]],
            change,
            source,
        }
    }

    /// Writes the standings in the format of the file.
    pub fn write_standings(
        &self,
        printer: &Printer,
        file: &OutFile,
        standings: &Standings,
        source: &PageSource,
    ) -> Result<()> {
        with_reports!(self, reports => self.written(printer, file, reports, standings, source))
    }

    fn written<D: HasPage>(
        &self,
        printer: &Printer,
        file: &OutFile,
        reports: &[Report<D>],
        standings: &Standings,
        source: &PageSource,
    ) -> Result<()> {
        let summaries = summaries(reports, standings.test.paired.seed);
        let titled = self.titled(reports, &summaries);
        let sides: Vec<(&str, &Summary)> = titled.iter().map(|it| (it.title, it.summary)).collect();
        let comparison = Comparison::new(&sides);
        let title = format!("Comparison of {}", quantity::of(reports.len(), "run"));
        let sources = self.runs.iter().map(|run| PageSource {
            record: run.manifest().cloned(),
            texts: source.texts,
            ..PageSource::default()
        });
        let sources: Vec<PageSource> = sources.collect();
        let page = SeveralPage {
            title: &title,
            runs: &titled,
            comparison: &comparison,
            standings: Some(standings),
            source,
            sources: &sources.iter().collect::<Vec<_>>(),
        };
        file.standings(printer, standings, &page)
    }
}

fn titled<'t, D: Domain>(
    titles: &'t [String],
    reports: &'t [Report<D>],
    summaries: &'t [Summary],
) -> Vec<Titled<'t, D>> {
    let reports = reports.iter().zip(summaries).zip(titles);
    let titled = reports.map(|((report, summary), title)| Titled {
        title,
        report,
        summary,
    });
    titled.collect()
}

/// Refuses two runs that cannot have cases or measures in common.
fn check(before: &StoredRun, after: &StoredRun) -> Result<()> {
    if kind(&before.record) != kind(&after.record) {
        let [first, second] = [before, after].map(|run| {
            let (dataset, benchmark) = kind(&run.record);
            format!("`{}` ({benchmark} on {dataset})", run.name())
        });
        bail!("cannot compare {first} with {second}: both need the same dataset and benchmark");
    }
    if before.is_same_as(after) {
        bail!("cannot compare run `{}` with itself", before.name());
    }
    Ok(())
}

/// Fails if no measure has a value in both runs.
fn check_compared(change: &Change) -> Result<(), Incomparable> {
    if change.measures.iter().any(|it| it.difference.is_some()) {
        return Ok(());
    }
    let lists = [&change.measures_only_before, &change.measures_only_after];
    let [before, after] = lists.map(|names| {
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    });
    let why = if change.pairs == 0 {
        let is_other_data =
            change.changed.is_empty() && change.only_before > 0 && change.only_after > 0;
        format!(
            "no case in common ({} only in the first, {} only in the second, {} changed between them){}",
            change.only_before,
            change.only_after,
            change.changed.len(),
            if is_other_data {
                ": the runs are of different data, or all questions have other ids"
            } else {
                ""
            }
        )
    } else {
        let shared = quantity::of(change.pairs, "case");
        format!(
            "{shared} in common, but no measure has a value in both (measures only in the first: {before}; only in the second: {after})"
        )
    };
    Err(Incomparable {
        runs: format!("{}` with `{}", change.before.title, change.after.title),
        why,
    })
}

fn summaries<D: Domain>(reports: &[Report<D>], seed: u64) -> Vec<Summary> {
    let bootstrap = Bootstrap {
        seed,
        ..Bootstrap::default()
    };
    let summaries = reports.iter().map(|report| report.summary(&bootstrap));
    summaries.collect()
}

/// What answering a case costs at full price, in dollars.
fn cost<D: Domain>(price: Price, case: &CaseReport<D>) -> Option<f64> {
    price.of_cases([case], Purpose::Answerer)
}

fn is_wanted(wanted: &[String], title: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|name| names_measure(name, title))
}

/// Whether `name` means the measure with that title. It may be the title as tables print it, or any notation of a rank measure.
pub fn names_measure(name: &str, title: &str) -> bool {
    // Tables append this suffix. A measure's own name may end in it too, so the full name is also tried.
    let shown = name.strip_suffix(" (pass rate)").unwrap_or(name);
    let notation = name.parse::<Measure>().map(|measure| measure.to_string());
    name == title || shown == title || notation.is_ok_and(|name| name == title)
}
