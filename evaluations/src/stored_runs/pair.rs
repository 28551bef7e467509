//! Two stored runs of the same cases, to compare.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, bail};
use evals::{Change, Domain, PairTesting, Report, Titled};
use evals_evaluators::{Untyped, documents_listed};
use evals_messages::quantity;
use evals_metrics::{Bootstrap, Measure, PairedTest};
use evals_rag::Retrieval;
use evals_rag::qa::Qa;

use super::made_by::made_by;
use super::predecessor::kind;
use super::report::StoredReport;
use super::run::StoredRun;
use crate::out_file::OutFile;
use crate::page::{ChangePage, Documents, HasPage, PageSource};
use crate::targets::{difference_in_depth, documents_ranked};
use crate::terminal::Printer;

/// Two stored runs with their reports.
pub(crate) struct StoredPair<'r> {
    before: &'r StoredRun,
    after: &'r StoredRun,
    /// Their names.
    titles: [String; 2],
    reports: Reports,
}

/// Two reports of one benchmark.
enum Reports {
    Retrieval(Box<[Report<Retrieval>; 2]>),
    Qa(Box<[Report<Qa>; 2]>),
    Eval(Box<[Report<Untyped>; 2]>),
}

/// Calls a generic function with the two reports, whatever their domain.
macro_rules! with_reports {
    ($pair:expr, $reports:ident => $call:expr) => {
        match &$pair.reports {
            Reports::Retrieval($reports) => $call,
            Reports::Qa($reports) => $call,
            Reports::Eval($reports) => $call,
        }
    };
}

impl<'r> StoredPair<'r> {
    /// Refuses runs that cannot have cases or measures in common.
    pub(crate) fn check(before: &StoredRun, after: &StoredRun) -> Result<()> {
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

    /// Reads both reports.
    pub(crate) fn read(before: &'r StoredRun, after: &'r StoredRun) -> Result<Self> {
        let reports = match (before.report()?, after.report()?) {
            (StoredReport::Retrieval(before), StoredReport::Retrieval(after)) => {
                Reports::Retrieval(Box::new([before, after].map(Arc::unwrap_or_clone)))
            }
            (StoredReport::Qa(before), StoredReport::Qa(after)) => {
                Reports::Qa(Box::new([before, after].map(Arc::unwrap_or_clone)))
            }
            (StoredReport::Eval(before), StoredReport::Eval(after)) => {
                Reports::Eval(Box::new([before, after].map(Arc::unwrap_or_clone)))
            }
            _ => bail!("cannot compare reports of different benchmarks"),
        };
        Ok(Self {
            titles: [before, after].map(StoredRun::name),
            before,
            after,
            reports,
        })
    }

    /// The change in the wanted measures, or in all measures if `wanted` is empty, broken down by `keys` of the cases' metadata.
    pub(crate) fn change(&self, wanted: &[String], keys: &[String]) -> Result<Change> {
        let test = PairedTest {
            seed: self.after.record.seed,
            ..PairedTest::default()
        };
        self.change_by(PairTesting::by(test), wanted, keys)
    }

    /// The same with another test, or another correction.
    pub(crate) fn change_by(
        &self,
        test: PairTesting,
        wanted: &[String],
        keys: &[String],
    ) -> Result<Change> {
        with_reports!(self, reports => change(self.titles(), reports, test, wanted, keys))
    }

    /// Adds what differs between the runs beside their results. Fails if nothing was compared.
    pub(crate) fn explained(&self, change: Change) -> Result<Change> {
        let mut made_by = made_by(self.before, self.after);
        made_by.extend(self.difference_in_depth());
        let change = change.made_by(made_by);
        check_compared(&change)?;
        Ok(change)
    }

    /// The warning about rankings of different numbers of documents.
    fn difference_in_depth(&self) -> Option<String> {
        let [before, after] = self.titles();
        match &self.reports {
            Reports::Retrieval(reports) => difference_in_depth(
                [(before, &reports[0]), (after, &reports[1])],
                documents_ranked,
            ),
            Reports::Eval(reports) => {
                difference_in_depth([(before, &reports[0]), (after, &reports[1])], |case| {
                    Some(documents_listed(case)?.0)
                })
            }
            Reports::Qa(_) => None,
        }
    }

    /// The texts that the page of the change shows and the reports do not hold.
    pub(crate) async fn documents(&self) -> Result<Documents> {
        let Reports::Retrieval(reports) = &self.reports else {
            return Ok(Documents::none());
        };
        let mut all = Vec::new();
        for (run, report) in [self.before, self.after].into_iter().zip(reports.iter()) {
            let record = run.manifest().map(|record| &**record);
            all.push(Documents::of_stored(report, record).await);
        }
        Ok(Documents::merged(&all))
    }

    /// Writes a change of these runs in the format of the file.
    pub(crate) fn write(
        &self,
        printer: &Printer,
        file: &OutFile,
        change: &Change,
        source: &PageSource,
    ) -> Result<()> {
        with_reports!(self, reports => file.change(printer, &self.page(reports, change, source)))
    }

    /// Writes the page of a change of these runs.
    pub(crate) fn write_page(
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
        reports: &'p [Report<D>; 2],
        change: &'p Change,
        source: &'p PageSource,
    ) -> ChangePage<'p, D> {
        ChangePage {
            titles: self.titles(),
            reports,
            change,
            source,
        }
    }

    fn titles(&self) -> [&str; 2] {
        self.titles.each_ref().map(String::as_str)
    }
}

/// Fails if no measure has a value in both runs: an empty comparison must not pass as unchanged.
fn check_compared(change: &Change) -> Result<()> {
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
    let (first, second) = (&change.before.title, &change.after.title);
    if change.pairs == 0 {
        bail!(
            "cannot compare `{first}` with `{second}`: no case in common ({} only in the first, {} only in the second, {} \
             changed between them)",
            change.only_before,
            change.only_after,
            change.changed.len()
        );
    }
    bail!(
        "cannot compare `{first}` with `{second}`: {} in common, but no measure has a value in both (measures only in the \
         first: {before}; only in the second: {after})",
        quantity::of(change.pairs, "case")
    );
}

/// The change in the wanted measures, or in all measures if `wanted` is empty, broken down by `keys` of the cases' metadata.
fn change<D: Domain>(
    titles: [&str; 2],
    reports: &[Report<D>; 2],
    test: PairTesting,
    wanted: &[String],
    keys: &[String],
) -> Result<Change> {
    let bootstrap = Bootstrap {
        seed: test.paired.seed,
        ..Bootstrap::default()
    };
    let summaries = reports.each_ref().map(|report| report.summary(&bootstrap));
    let side = |number: usize| Titled {
        title: titles[number],
        report: &reports[number],
        summary: &summaries[number],
    };
    let is_wanted =
        |title: &str| wanted.is_empty() || wanted.iter().any(|name| names_measure(name, title));
    let change = Change::by(&side(0), &side(1), test, is_wanted);
    Ok(change.grouped(&side(0), &side(1), keys, is_wanted)?)
}

/// Whether `name` means the measure with that title. It may be the title as tables print it, or any notation of a rank measure.
pub(crate) fn names_measure(name: &str, title: &str) -> bool {
    // Tables append this suffix. A measure's own name may end in it too, so the full name is also tried.
    let shown = name.strip_suffix(" (pass rate)").unwrap_or(name);
    let notation = name.parse::<Measure>().map(|measure| measure.to_string());
    name == title || shown == title || notation.is_ok_and(|name| name == title)
}
