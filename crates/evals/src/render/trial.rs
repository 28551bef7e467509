//! The texts of a gate's self-test.

use evals_messages::quantity;
use evals_messages::visible::single_line;

use super::glyphs::Glyphs;
use super::grid::{Align, Grid};
use super::side_by_side::Intervals;
use crate::probability::percent;
use crate::{Share, TrialReport, number};

/// A row for each size of drop and rule.
pub(super) fn grid(report: &TrialReport, intervals: Intervals, glyphs: &Glyphs) -> Grid {
    let shares = ["Fails", "Fails with --strict", "Cannot tell"].map(|it| (it, Align::Right));
    let texts = ["True drop", "Rule"].map(|it| (it, Align::Left));
    // How often the gate cannot tell says whether there are enough cases, so it stays.
    let least = ["Fails with --strict", "Rule", "Fails"];
    let mut grid = Grid::new(texts.into_iter().chain(shares)).dropping(&least);
    for row in &report.rows {
        let shares = row.shares.map(|it| [it.failed, it.strict, it.cannot_tell]);
        let shares = [0, 1, 2].map(|place| glyphs.shown(shares, |it| share(it[place], intervals)));
        let rule = row.rule.as_deref();
        let rule = rule.map_or_else(|| of_drops(report).to_owned(), single_line);
        grid.push([row.drop.clone(), rule].into_iter().chain(shares));
    }
    grid
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
    let interval = share.interval.as_ref().map_or_else(String::new, |it| {
        format!("{between}{}", number::range(it, in_percent))
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
