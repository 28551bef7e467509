//! Prints p values and levels of confidence.

use crate::{Adjustment, PairTesting};

/// Smaller p values print as `< 0.0001`, because four decimals would show them as 0.
const LEAST: f64 = 0.0001;

/// A p value as part of a sentence: `p = 0.0278`, or `p < 0.0001` for any smaller one.
pub fn p_value(p: f64) -> String {
    if p < LEAST {
        format!("p < {LEAST}")
    } else {
        format!("p = {p:.4}")
    }
}

/// A p value in the column of a table: `0.0278`, or `<0.0001`.
pub(crate) fn p_cell(p: f64) -> String {
    if p < LEAST {
        format!("<{LEAST}")
    } else {
        format!("{p:.4}")
    }
}

/// A share from 0 to 1 in percent, such as the level of an interval: `95 %`.
pub fn percent(share: f64) -> String {
    // Rounded first, because 0.95 * 100 need not be exactly 95.
    format!("{} %", (share * 1e4).round() / 1e2)
}

/// The level of the strictest of several tests as a share of the level for all: `5 % / 4 measures`. `tests` names and counts them, such as
/// `4 measures`.
pub(crate) fn strictest(testing: &PairTesting, count: usize, tests: &str) -> String {
    let level = percent(testing.significance());
    if count > 1 && testing.adjustment != Adjustment::None {
        format!("{level} / {tests}")
    } else {
        level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_p_value_never_prints_as_zero() {
        assert_eq!(
            [0.0278, 0.0001, 0.0].map(p_value),
            ["p = 0.0278", "p = 0.0001", "p < 0.0001"]
        );
        assert_eq!([0.0278, 0.000_099].map(p_cell), ["0.0278", "<0.0001"]);
    }

    #[test]
    fn the_level_of_the_strictest_test_does_not_read_as_a_p_value() {
        let holm = PairTesting::default();
        let plain = PairTesting {
            adjustment: Adjustment::None,
            ..PairTesting::default()
        };
        assert_eq!(strictest(&holm, 4, "4 measures"), "5 % / 4 measures");
        assert_eq!(strictest(&holm, 1, "1 measure"), "5 %");
        assert_eq!(strictest(&plain, 4, "4 measures"), "5 %");
    }

    #[test]
    fn levels_are_percentages_without_noise() {
        assert_eq!(
            [0.95, 1.0 - 0.95, 0.999].map(percent),
            ["95 %", "5 %", "99.9 %"]
        );
    }
}
