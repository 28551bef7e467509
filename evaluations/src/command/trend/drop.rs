//! `runs trend --fail-on-drop`: whether the newest runs of a line are worse than the runs before them.

use std::fmt::{self, Display, Formatter};

use anyhow::{Result, bail};
use evals::render::p_value;
use evals::{Adjustment, Direction, Family, GateVerdict, Unit};
use evals_messages::quantity;
use evals_metrics::{SIGNIFICANCE, as_f64, difference, permutation_test};
use evals_runs::stored_runs::History;
use serde::Serialize;

use super::line::Line;
use crate::cli::Tolerance;

/// A quantity over the runs of a history.
#[derive(Debug)]
pub(super) struct Series {
    /// What the runs have in common.
    subject: String,
    quantity: String,
    unit: Unit,
    better: Direction,
    /// Oldest first.
    values: Vec<f64>,
}

/// The newest runs against those before them.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    subject: String,
    quantity: String,
    #[serde(skip)]
    unit: Unit,
    /// How many runs each window has.
    window: usize,
    /// The means of the older and of the newer window; `None` with too few runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    means: Option<[f64; 2]>,
    /// Corrected for all checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<f64>,
    pub(super) verdict: GateVerdict,
    reason: String,
}

impl Series {
    /// The measure of each line, and the latencies of each history if the tolerance has a meaning for them.
    pub(super) fn all(
        lines: &[Line<'_>],
        histories: &[History<'_>],
        tolerance: Tolerance,
    ) -> Vec<Self> {
        let measures = lines.iter().map(|line| Self {
            subject: format!("{}, {}, {}", line.dataset, line.benchmark, line.profile),
            quantity: line.measure.title().to_owned(),
            unit: line.measure.unit,
            better: line.measure.better,
            values: line.values().into_iter().map(|(_, value)| value).collect(),
        });
        let timed = histories.iter().filter(|_| tolerance.is_share());
        let latencies = timed.flat_map(|history| {
            let subject = history.trend().subject().to_owned();
            history.latencies().map(|(name, values)| Self {
                subject: subject.clone(),
                quantity: name.to_owned(),
                unit: Unit::Seconds,
                better: Direction::Lower,
                values,
            })
        });
        // Runs that time too few cases have no percentiles.
        let latencies = latencies.filter(|it| !it.values.is_empty());
        measures.chain(latencies).collect()
    }

    /// The older and the newer window.
    fn windows(&self, window: usize) -> Option<[&[f64]; 2]> {
        let start = self.values.len().checked_sub(2 * window)?;
        let (older, newer) = self.values[start..].split_at(window);
        Some([older, newer])
    }
}

impl Check {
    /// Judges each series: its newest runs failed if they are worse than as many runs before them by more than the tolerance, and the
    /// difference is significant. Fails if no difference between such short windows is significant after the correction.
    pub(super) fn all(
        series: Vec<Series>,
        window: usize,
        tolerance: Tolerance,
    ) -> Result<Vec<Self>> {
        let p_values: Vec<Option<f64>> = series
            .iter()
            .filter(|it| it.better != Direction::Unknown)
            .map(|it| {
                let [older, newer] = it.windows(window)?;
                permutation_test(older, newer, 0).ok()
            })
            .collect();
        check_window(window, p_values.iter().flatten().count())?;
        check_tolerance(tolerance, &series)?;
        let family = Family::of(p_values, Adjustment::Holm, SIGNIFICANCE);
        let mut adjusted = family.adjusted().iter();
        let checks = series.into_iter().map(|series| {
            let p_value = match series.better {
                Direction::Unknown => None,
                Direction::Higher | Direction::Lower => adjusted.next().copied().flatten(),
            };
            Self::of(series, window, p_value, tolerance)
        });
        Ok(checks.collect())
    }

    fn of(series: Series, window: usize, p_value: Option<f64>, tolerance: Tolerance) -> Self {
        let mean = |values: &[f64]| values.iter().map(|value| value / as_f64(window)).sum();
        let means = series.windows(window).map(|windows| windows.map(mean));
        let (verdict, reason) = match (means, series.better) {
            (_, Direction::Unknown) => (
                GateVerdict::CannotTell,
                "neither direction of it is better".to_owned(),
            ),
            (None, _) => (
                GateVerdict::CannotTell,
                format!(
                    "{} with a value, and two windows of {window} need {}",
                    quantity::of(series.values.len(), "run"),
                    2 * window
                ),
            ),
            (Some([older, newer]), better) => {
                let loss = match better {
                    Direction::Lower => difference(older, newer),
                    Direction::Higher | Direction::Unknown => difference(newer, older),
                };
                let is_larger = difference(tolerance.of(older), loss) > 0.0;
                match p_value {
                    Some(p_value) if is_larger && p_value <= SIGNIFICANCE => (
                        GateVerdict::Failed,
                        format!("worse by more than {tolerance}"),
                    ),
                    _ if is_larger => (
                        GateVerdict::CannotTell,
                        format!("worse by more than {tolerance}, but it may be chance"),
                    ),
                    _ => (
                        GateVerdict::Passed,
                        format!("not worse by more than {tolerance}"),
                    ),
                }
            }
        };
        Self {
            subject: series.subject,
            quantity: series.quantity,
            unit: series.unit,
            window,
            means,
            p_value,
            verdict,
            reason,
        }
    }
}

/// Refuses windows so short that even the clearest drop in `tests` tests is not significant.
fn check_window(window: usize, tests: usize) -> Result<()> {
    let least = |window| least_p_value(window) * as_f64(tests);
    if least(window) <= SIGNIFICANCE {
        return Ok(());
    }
    // Each further run at least halves the least p value, so this ends.
    let mut enough = window + 1;
    while least(enough) > SIGNIFICANCE {
        enough += 1;
    }
    bail!(
        "`--window {window}` is too short for {tests} checks: the least p value that they can have, corrected for their number, is {:.4}; \
         use `--window {}`, or choose fewer lines with `--dataset`, `--profile` and `--measure`",
        least(window),
        enough
    )
}

/// Refuses an amount by which no measure of these can drop, such as 5 in place of 5%.
fn check_tolerance(tolerance: Tolerance, series: &[Series]) -> Result<()> {
    let mut values = series.iter().flat_map(|it| &it.values);
    match tolerance {
        Tolerance::Amount(amount) if amount >= 1.0 && values.all(|it| (0.0..=1.0).contains(it)) => {
            bail!(
                "`--fail-on-drop {amount}` can never fail, because all values are from 0 to 1; write `{amount}%` for a share of the value"
            )
        }
        _ => Ok(()),
    }
}

/// The p value if all runs of one window are above all of the other: 2 of the binomial(2n, n) ways to choose a window.
fn least_p_value(window: usize) -> f64 {
    let ways = (1..=window).fold(1.0, |ways, n| {
        ways * (as_f64(window) + as_f64(n)) / as_f64(n)
    });
    2.0 / ways
}

/// `failed: MRR@5 of sample, retrieval, bm25: 0.6507 in 7 runs, 0.6255 in the 7 newest (-3.9 %, p = 0.0006): worse by more than 2 %`.
impl Display for Check {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            GateVerdict::Passed => "passed",
            GateVerdict::CannotTell => "cannot tell",
            GateVerdict::Failed => "failed",
        };
        write!(
            formatter,
            "{verdict}: {} of {}: ",
            self.quantity, self.subject
        )?;
        if let Some([older, newer]) = self.means {
            let [before, after] = [older, newer].map(|mean| self.unit.print(mean));
            let window = self.window;
            write!(
                formatter,
                "{before} in {window} runs, {after} in the {window} newest ("
            )?;
            let change = 100.0 * difference(older, newer) / older.abs();
            if change.is_finite() {
                write!(formatter, "{change:+.1} %, ")?;
            }
            match self.p_value {
                Some(corrected) => write!(formatter, "{}): ", p_value(corrected))?,
                None => write!(formatter, "no change in any run): ")?,
            }
        }
        formatter.write_str(&self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(quantity: &str, better: Direction, values: &[f64]) -> Series {
        Series {
            subject: "sample, qa, hybrid".to_owned(),
            quantity: quantity.to_owned(),
            unit: Unit::Score,
            better,
            values: values.to_vec(),
        }
    }

    fn judged(series: Vec<Series>, tolerance: Tolerance) -> Vec<(GateVerdict, String)> {
        let checks = Check::all(series, 4, tolerance).unwrap().into_iter();
        checks.map(|it| (it.verdict, it.to_string())).collect()
    }

    #[test]
    fn a_significant_drop_above_the_tolerance_fails() {
        let fallen = [0.5, 0.8, 0.81, 0.8, 0.79, 0.7, 0.71, 0.7, 0.69];
        let of = |tolerance| judged(vec![series("MRR", Direction::Higher, &fallen)], tolerance);
        assert_eq!(
            of(Tolerance::Share(0.05)),
            [(
                GateVerdict::Failed,
                "failed: MRR of sample, qa, hybrid: 0.8000 in 4 runs, 0.7000 in the 4 newest (-12.5 %, p = 0.0286): worse by more \
                 than 5 %"
                    .to_owned()
            )]
        );
        assert_eq!(of(Tolerance::Amount(0.05))[0].0, GateVerdict::Failed);
        assert_eq!(of(Tolerance::Amount(0.2))[0].0, GateVerdict::Passed);
    }

    #[test]
    fn a_latency_that_rises_is_a_drop() {
        let risen = [1.0, 1.1, 1.0, 1.1, 2.0, 2.1, 2.0, 2.1];
        for (better, verdict) in [
            (Direction::Lower, GateVerdict::Failed),
            (Direction::Higher, GateVerdict::Passed),
            (Direction::Unknown, GateVerdict::CannotTell),
        ] {
            let found = judged(
                vec![series("latency.p95", better, &risen)],
                Tolerance::Share(0.05),
            );
            assert_eq!(found[0].0, verdict, "{found:?}");
        }
    }

    #[test]
    fn what_chance_explains_and_what_too_few_runs_show_is_no_verdict() {
        let noisy = [0.8, 0.2, 0.9, 0.1, 0.7, 0.3, 0.1, 0.2];
        let of = |values: &[f64]| {
            let series = vec![series("MRR", Direction::Higher, values)];
            judged(series, Tolerance::Share(0.05)).remove(0)
        };
        let (verdict, shown) = of(&noisy);
        assert_eq!(verdict, GateVerdict::CannotTell);
        assert!(shown.ends_with("but it may be chance"), "{shown}");
        assert_eq!(
            of(&noisy[..7]).1,
            "cannot tell: MRR of sample, qa, hybrid: 7 runs with a value, and two windows of 4 need 8"
        );
        let (verdict, shown) = of(&[0.5; 8]);
        assert_eq!(verdict, GateVerdict::Passed);
        assert!(shown.contains("no change in any run"), "{shown}");
    }

    #[test]
    fn p_values_of_one_command_are_corrected_together() {
        let fallen = [0.8, 0.81, 0.8, 0.79, 0.8, 0.7, 0.71, 0.7, 0.69, 0.7];
        let series = |quantity, better| series(quantity, better, &fallen);
        let all = vec![
            series("MRR", Direction::Higher),
            series("tokens", Direction::Unknown),
            series("R@5", Direction::Higher),
        ];
        let tolerance = Tolerance::Share(0.05);
        let found = Check::all(all, 5, tolerance).unwrap();
        // 2 of 252 choices are as extreme. Tokens have no better direction, and are no test.
        let p_values = found.iter().map(|it| it.p_value).collect::<Vec<_>>();
        let [Some(first), None, Some(second)] = p_values[..] else {
            panic!("{p_values:?}");
        };
        assert!((first - 4.0 / 252.0).abs() < 1e-12 && (second - first).abs() < 1e-12);
        assert_eq!(
            found.iter().map(|it| it.verdict).collect::<Vec<_>>(),
            [
                GateVerdict::Failed,
                GateVerdict::CannotTell,
                GateVerdict::Failed
            ]
        );
    }

    #[test]
    fn an_amount_that_no_share_can_lose_is_refused() {
        let fallen = [0.8, 0.81, 0.8, 0.79, 0.7, 0.71, 0.7, 0.69];
        let of = |values: &[f64]| {
            let series = vec![series("MRR", Direction::Higher, values)];
            Check::all(series, 4, Tolerance::Amount(5.0))
        };
        assert_eq!(
            of(&fallen).unwrap_err().to_string(),
            "`--fail-on-drop 5` can never fail, because all values are from 0 to 1; write `5%` for a share of the value"
        );
        assert!(of(&fallen.map(|it| 100.0 * it)).is_ok());
    }

    #[test]
    fn windows_too_short_for_the_number_of_checks_are_refused() {
        let fallen = [0.8, 0.81, 0.8, 0.79, 0.7, 0.71, 0.7, 0.69];
        let twice = ["MRR", "R@5"].map(|it| series(it, Direction::Higher, &fallen));
        let refused = Check::all(twice.into(), 4, Tolerance::Share(0.05));
        assert_eq!(
            refused.unwrap_err().to_string(),
            "`--window 4` is too short for 2 checks: the least p value that they can have, corrected for their number, is 0.0571; \
             use `--window 5`, or choose fewer lines with `--dataset`, `--profile` and `--measure`"
        );
    }
}
