//! The texts of a gate's report: rows, reasons and the last line.

use evals_messages::quantity;
use evals_messages::visible::single_line;

use super::change::CORRECTED;
use super::clusters;
use super::glyphs::Glyphs;
use super::probability::{p_cell, percent};
use crate::{
    CheckNumbers, DropCheck, GateBound, GateCheck, GateReport, GateVerdict, GatedRun, LimitCheck,
    PairTest, Strictness, Unit, number,
};

/// The position of the interval's column.
pub(super) const INTERVAL: usize = 4;

/// One printed row.
#[derive(Debug)]
pub(super) struct GateRow {
    /// In the order of [`titles`].
    pub(super) cells: Vec<String>,
    pub(super) interval: String,
    pub(super) verdict: GateVerdict,
}

/// Titles of the columns, without the interval.
pub(super) fn titles(report: &GateReport) -> Vec<&'static str> {
    let mut titles = vec!["Check", "Baseline", "Run", "Change", "p"];
    if report.tests > 1 {
        titles.push(CORRECTED);
    }
    titles.push("Verdict");
    titles
}

/// A row for each check of a run.
pub(super) fn rows(report: &GateReport, run: &GatedRun, glyphs: &Glyphs) -> Vec<GateRow> {
    let is_corrected = report.tests > 1;
    let checks = run.checks.iter();
    checks
        .map(|check| row(check, is_corrected, glyphs))
        .collect()
}

fn row(check: &GateCheck, is_corrected: bool, glyphs: &Glyphs) -> GateRow {
    let none = || glyphs.undefined.to_owned();
    let mut cells = vec![none(); 5 + usize::from(is_corrected)];
    cells[0] = single_line(&check.name);
    let mut interval = String::new();
    match &check.numbers {
        CheckNumbers::Drop(drop) => {
            let print = |value: Option<f64>| value.map(|value| drop.unit.print(value));
            cells[1] = print(drop.before).unwrap_or_else(none);
            cells[2] = print(drop.after).unwrap_or_else(none);
            let change = drop.difference.map(|it| drop.unit.print_signed(it));
            cells[3] = change.unwrap_or_else(none);
            cells[4] = drop.p_value.map_or_else(none, p_cell);
            if is_corrected {
                cells[5] = drop.adjusted_p_value.map_or_else(none, p_cell);
            }
            interval = change_interval(drop);
        }
        CheckNumbers::Limit(limit) => {
            cells[2] = limit_value(limit, limit.value).unwrap_or_else(none);
            if let Some(ends) = limit.interval {
                let ends = [ends.low, ends.high].map(|end| limit_value(limit, Some(end)));
                let [low, high] = ends.map(Option::unwrap_or_default);
                interval = format!("[{low}, {high}]");
            }
        }
        CheckNumbers::Agreement(agreement) => {
            let print = |value| Unit::Score.print(value);
            cells[2] = agreement.kappa.map_or_else(none, print);
            if let Some(ends) = agreement.interval {
                interval = format!("[{}, {}]", print(ends.low), print(ends.high));
            }
        }
        CheckNumbers::Sameness { .. } => {
            for cell in &mut cells[1..] {
                cell.clear();
            }
        }
    }
    cells.push(check.verdict.words().to_owned());
    GateRow {
        cells,
        interval,
        verdict: check.verdict,
    }
}

fn change_interval(drop: &DropCheck) -> String {
    drop.interval.map_or_else(String::new, |interval| {
        let ends = [interval.low, interval.high].map(|end| drop.unit.print_signed(end));
        format!("[{}, {}]", ends[0], ends[1])
    })
}

fn limit_value(limit: &LimitCheck, value: Option<f64>) -> Option<String> {
    let value = value?;
    Some(match limit.unit {
        Some(unit) => unit.print(value),
        None => number::short(value),
    })
}

/// The head of the interval's column.
pub(super) fn interval_title(report: &GateReport) -> String {
    format!("{} interval", percent(report.level))
}

/// The reason of each check, failed ones first, then the changes by people. A check that passed because two runs are the same is not worth a
/// line.
pub(super) fn reasons(run: &GatedRun) -> Vec<(GateVerdict, String)> {
    let mut checks: Vec<&GateCheck> = run.checks.iter().filter(|check| is_news(check)).collect();
    checks.sort_by_key(|check| std::cmp::Reverse(check.verdict));
    let line = |check: &&GateCheck| {
        let name = single_line(&check.name);
        let (verdict, reason) = (check.verdict.words(), single_line(&check.reason));
        (check.verdict, format!("{verdict}: {name}: {reason}"))
    };
    let by_people = run.by_people.iter().map(|it| match it.warning() {
        Some(warning) => (GateVerdict::CannotTell, warning),
        None => (GateVerdict::Passed, it.line()),
    });
    checks.iter().map(line).chain(by_people).collect()
}

fn is_news(check: &GateCheck) -> bool {
    match &check.numbers {
        CheckNumbers::Sameness { differences, .. } => {
            check.verdict != GateVerdict::Passed || !differences.is_empty()
        }
        CheckNumbers::Drop(_) | CheckNumbers::Limit(_) | CheckNumbers::Agreement(_) => true,
    }
}

/// Lines above a run's table: its name, its baseline, and the number of pairs.
pub(super) fn about(run: &GatedRun) -> Vec<String> {
    let mut lines = vec![format!(
        "run: {} ({})",
        single_line(&run.run),
        quantity::of(run.cases, "case")
    )];
    if let Some(baseline) = &run.baseline {
        let pairs = run.pairs.unwrap_or_default();
        lines.push(format!(
            "baseline: {} ({} in common)",
            single_line(baseline),
            quantity::of(pairs, "case")
        ));
    }
    lines
}

/// What the numbers mean.
pub(super) fn notes(report: &GateReport) -> Vec<String> {
    let mut notes = Vec::new();
    if report.tests > 0 {
        let corrected = match report.tests {
            1 => String::new(),
            several => {
                format!("; corrected p: by Holm's method, for the {several} drops of this gate")
            }
        };
        let rule = match report.strictness {
            Strictness::Default => format!(
                "a drop fails if {}p is at most {} and it is larger than its tolerance",
                if report.tests > 1 { "corrected " } else { "" },
                percent(1.0 - report.level)
            ),
            Strictness::Strict => format!(
                "strict: a drop fails unless the {} interval of the change excludes drops above its tolerance",
                percent(report.level)
            ),
        };
        let in_clusters = |run: &GatedRun| run.clusters.as_ref().is_some_and(|it| it.key.is_some());
        let test = if report.runs.iter().all(in_clusters) {
            "paired t test by clusters".to_owned()
        } else {
            let tests = PairTest::default().name();
            format!("{tests}, for equal changes an exact test")
        };
        notes.push(format!("p: {test}, two-sided{corrected}; {rule}"));
    }
    for run in &report.runs {
        for line in clusters::lines(run.clusters.as_ref()) {
            if !notes.contains(&line) {
                notes.push(line);
            }
        }
    }
    match report.bound {
        GateBound::Point => {}
        GateBound::Pessimistic => {
            notes.push(
                "the worse end of an interval has to keep its limit, and failed cases count as the worst value"
                    .to_owned(),
            );
        }
        GateBound::Optimistic => {
            notes.push("the better end of an interval has to keep its limit".to_owned());
        }
    }
    notes
}

/// The last line: the verdict on everything.
pub fn verdict_line(report: &GateReport) -> String {
    let all = report.checks().count();
    let checks = |count: usize| quantity::of(count, "check");
    let failed = report.count(GateVerdict::Failed);
    let unsure = report.count(GateVerdict::CannotTell);
    match (report.verdict, report.is_closed()) {
        (GateVerdict::Passed, _) => format!("gate passed: {} passed", checks(all)),
        (GateVerdict::Failed, _) => {
            let unsure = match unsure {
                0 => String::new(),
                unsure => format!(", and the gate cannot tell about {unsure}"),
            };
            format!("gate failed: {failed} of {} failed{unsure}", checks(all))
        }
        (GateVerdict::CannotTell, true) => format!(
            "gate failed: it cannot tell about {unsure} of {}, which `--strict` does not accept",
            checks(all)
        ),
        (GateVerdict::CannotTell, false) => format!(
            "gate passed, but it cannot tell about {unsure} of {}; `--strict` would fail",
            checks(all)
        ),
    }
}
