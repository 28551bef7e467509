//! Prints p values and levels of confidence.

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
pub(super) fn p_cell(p: f64) -> String {
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

/// A level of significance such as 0.05, with two significant digits.
pub(super) fn significance(level: f64) -> String {
    if level < 1e-4 {
        return format!("{level:.1e}");
    }
    let decimals = [1e-1, 1e-2, 1e-3]
        .into_iter()
        .filter(|limit| level < *limit);
    let decimals = 2 + decimals.count();
    let text = format!("{level:.decimals$}");
    text.trim_end_matches('0').to_owned()
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
    fn a_level_of_significance_has_two_digits() {
        let shown = [0.05, 0.05 / 4.0, 0.05 / 90.0, 0.05 / 3000.0, 0.1].map(significance);
        assert_eq!(shown, ["0.05", "0.013", "0.00056", "1.7e-5", "0.1"]);
    }

    #[test]
    fn levels_are_percentages_without_noise() {
        assert_eq!(
            [0.95, 1.0 - 0.95, 0.999].map(percent),
            ["95 %", "5 %", "99.9 %"]
        );
    }
}
