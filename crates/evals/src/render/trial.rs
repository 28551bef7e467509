//! The texts of a gate's self-test.

use evals_messages::quantity;
use evals_messages::visible::single_line;

use super::glyphs::Glyphs;
use super::probability::percent;
use super::side_by_side::Intervals;
use crate::{Share, TrialReport};

/// Heads of the columns.
pub(super) const TITLES: [&str; 5] = [
    "True drop",
    "Rule",
    "Fails",
    "Fails with --strict",
    "Cannot tell",
];

/// A row for each size of drop and rule.
pub(super) fn rows(
    report: &TrialReport,
    intervals: Intervals,
    glyphs: &Glyphs,
) -> Vec<[String; 5]> {
    let row = |row: &crate::TrialRow| {
        let none = || glyphs.undefined.to_owned();
        let shares = row.shares.map(|it| [it.failed, it.strict, it.cannot_tell]);
        let [failed, strict, cannot_tell] = match shares {
            Some(shares) => shares.map(|it| share(it, intervals)),
            None => [none(), none(), none()],
        };
        let rule = row
            .rule
            .as_deref()
            .map_or_else(|| of_drops(report).to_owned(), single_line);
        [row.drop.clone(), rule, failed, strict, cannot_tell]
    };
    report.rows.iter().map(row).collect()
}

/// The name of the row of all rules about drops.
fn of_drops(report: &TrialReport) -> &'static str {
    if report.rows.iter().any(|row| row.is_limit) {
        "all drops"
    } else {
        "the gate"
    }
}

/// A share in percent with its interval: `4.9 % [3.7, 6.4]`.
fn share(share: Share, intervals: Intervals) -> String {
    let in_percent = |value: f64| format!("{:.1}", 100.0 * value);
    let between = match intervals {
        Intervals::Beside => " ",
        Intervals::Below => "\n",
        Intervals::Hidden => return format!("{} %", in_percent(share.value)),
    };
    let interval = share.interval.map_or_else(String::new, |interval| {
        format!(
            "{between}[{}, {}]",
            in_percent(interval.low),
            in_percent(interval.high)
        )
    });
    format!("{} %{interval}", in_percent(share.value))
}

/// What was resampled.
pub(super) fn about(report: &TrialReport) -> Vec<String> {
    report
        .runs
        .iter()
        .map(|run| format!("run: {}", single_line(run)))
        .collect()
}

/// What the numbers mean, and what they assume.
pub(super) fn notes(report: &TrialReport, glyphs: &Glyphs) -> Vec<String> {
    let mut notes = vec![format!(
        "shares of {} for each true drop, seed {}, with Wilson's intervals at {}; without a true drop, every failure of a drop is a false alarm",
        quantity::of(report.simulations.get(), "simulated gate"),
        report.seed,
        percent(0.95)
    )];
    if report.rows.iter().any(|row| row.is_limit) {
        notes.push(
            "a floor or ceiling that fails without a true drop is not a false alarm: runs with this many cases break it that often by chance, or the \
             run breaks it"
                .to_owned(),
        );
    }
    if report.rows.iter().any(|row| row.shares.is_none()) {
        notes.push(format!(
            "{} the measure cannot drop that far",
            glyphs.undefined
        ));
    }
    notes.extend(report.assumptions.iter().map(|line| single_line(line)));
    if !report.left_out.is_empty() {
        notes.push(format!(
            "not simulated: {}",
            single_line(&report.left_out.join(", "))
        ));
    }
    notes
}
