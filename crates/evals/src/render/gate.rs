//! The texts of a gate's report: rows, reasons and the last line.

use evals_messages::quantity;
use evals_messages::visible::single_line;

use super::change::CORRECTED;
use super::clusters;
use super::glyphs::Glyphs;
use super::grid::{Align, Cell, Grid};
use crate::probability::{p_cell, percent};
use crate::{
    CheckNumbers, GateBound, GateCheck, GateReport, GateVerdict, GatedRun, LimitCheck, PairTest,
    Strictness, Unit, number,
};

/// A row for each check of a run.
pub(super) fn grid(report: &GateReport, run: &GatedRun, glyphs: &Glyphs) -> Grid {
    let interval = format!("{} interval", percent(report.level));
    let right = |title| (title, Align::Right);
    let columns = [("Check", Align::Left)].into_iter();
    let columns = columns.chain(["Baseline", "Run", "Change"].map(right));
    let columns = columns.chain([(&*interval, Align::Left), right("p")]);
    let columns = columns.chain((report.tests > 1).then_some(right(CORRECTED)));
    let columns = columns.chain([("Verdict", Align::Left)]);
    // The sentences below the table hold their numbers.
    let least = ["p", CORRECTED, "Baseline", "Change", "Run", &interval];
    let mut grid = Grid::new(columns).dropping(&least);
    for check in &run.checks {
        let [before, after, change, interval, p, corrected] = numbers(check, glyphs);
        let bold = |text: String| Cell::bold(text, check.verdict != GateVerdict::Passed);
        let cells = [single_line(&check.name), before, after, change].map(bold);
        let p_values = [p]
            .into_iter()
            .chain((report.tests > 1).then_some(corrected));
        let rest = p_values.chain([check.verdict.words().to_owned()]);
        let cells = cells.into_iter().chain([Cell::dim(interval)]);
        grid.push(cells.chain(rest.map(bold)));
    }
    grid
}

/// The values of baseline and run, the change, the interval, and both p values.
fn numbers(check: &GateCheck, glyphs: &Glyphs) -> [String; 6] {
    let none = || glyphs.undefined.to_owned();
    match &check.numbers {
        CheckNumbers::Drop(drop) => {
            let mean = |value| glyphs.shown(value, |value| drop.unit.print(value));
            let interval = drop.interval.as_ref().map(|it| drop.unit.signed_range(it));
            [
                mean(drop.before),
                mean(drop.after),
                glyphs.shown(drop.difference, |it| drop.unit.print_signed(it)),
                interval.unwrap_or_default(),
                glyphs.shown(drop.p_value, p_cell),
                glyphs.shown(drop.adjusted_p_value, p_cell),
            ]
        }
        CheckNumbers::Limit(LimitCheck {
            unit,
            value,
            interval,
            ..
        }) => {
            let print =
                |value: f64| unit.map_or_else(|| number::short(value), |it| it.print(value));
            let interval = interval.as_ref().map(|it| number::range(it, print));
            let value = glyphs.shown(*value, print);
            [
                none(),
                value,
                none(),
                interval.unwrap_or_default(),
                none(),
                none(),
            ]
        }
        CheckNumbers::Agreement(agreement) => {
            let value = glyphs.shown(agreement.kappa, |it| Unit::Score.print(it));
            let interval = agreement.interval.as_ref().map(|it| Unit::Score.range(it));
            [
                none(),
                value,
                none(),
                interval.unwrap_or_default(),
                none(),
                none(),
            ]
        }
        CheckNumbers::Sameness { .. } => [const { String::new() }; 6],
    }
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
