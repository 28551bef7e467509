//! Prints numbers for people, and rounds them as printed.

use evals_metrics::Interval;

/// Metrics from this size on, and below its inverse, are printed in scientific notation.
const LARGEST_WRITTEN_OUT: f64 = 1e12;

/// Prints a score with four decimals.
pub(crate) fn score(value: f64) -> String {
    unsigned_zero(format!("{value:.4}"))
}

/// Rounds a score to the digits that are printed.
pub(crate) fn rounded_score(value: f64) -> f64 {
    read_back(&score(value), value)
}

/// Prints a number of any size: with at least four decimals below 1000, and at least three significant digits however small
/// it is.
pub(crate) fn metric(value: f64) -> String {
    let size = value.abs();
    let printed = if size == 0.0 {
        format!("{value:.4}")
    } else if !(1.0 / LARGEST_WRITTEN_OUT..LARGEST_WRITTEN_OUT).contains(&size) {
        format!("{value:.2e}")
    } else if size < 1000.0 {
        format!("{value:.*}", decimals(size))
    } else {
        format!("{value:.1}")
    };
    unsigned_zero(printed)
}

/// Prints an interval.
pub(crate) fn range(interval: &Interval, print: impl Fn(f64) -> String) -> String {
    format!("[{}, {}]", print(interval.low), print(interval.high))
}

/// Prints a number of any size without zeros at its end: `0.75`, `3`.
pub(crate) fn short(value: f64) -> String {
    let printed = metric(value);
    if printed.contains('e') {
        return printed;
    }
    printed
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// The decimals that show three significant digits, at least four.
fn decimals(size: f64) -> usize {
    let scientific = format!("{size:.2e}");
    let exponent = scientific.split_once("e-").map(|(_, digits)| digits);
    let leading_zeros = exponent.and_then(|digits| digits.parse::<usize>().ok());
    leading_zeros.map_or(4, |zeros| (zeros + 2).max(4))
}

/// Prints a duration given in seconds, in a unit that suits its size: `812 µs`, `1.6 ms`, `120 ms`, `1.2 s`, `3 min 20 s`.
pub(crate) fn duration(seconds: f64) -> String {
    match Scale::of(seconds) {
        Scale::Unit { per_second, name } => format!("{} {name}", in_unit(seconds * per_second)),
        Scale::Minutes => {
            let whole = seconds.round();
            format!("{} min {:02} s", (whole / 60.0).floor(), whole % 60.0)
        }
    }
}

/// Prints a duration given in seconds with all of its digits: `0.5 µs`, `190 ms`, `90 s`.
pub(crate) fn whole_duration(seconds: f64) -> String {
    let (per_second, name) = match seconds.abs() {
        size if size < 0.001 => (1e6, "µs"),
        size if size < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    // Binary fractions of seconds are no whole milliseconds: 0.19 * 1000 is a little more than 190.
    let rounded = (seconds * per_second * 1e9).round() / 1e9;
    format!("{} {name}", short(rounded))
}

/// Rounds a duration to the digits that are printed, in seconds.
pub(crate) fn rounded_duration(seconds: f64) -> f64 {
    match Scale::of(seconds) {
        Scale::Unit { per_second, .. } => {
            let value = seconds * per_second;
            read_back(&in_unit(value), value) / per_second
        }
        Scale::Minutes => seconds.round(),
    }
}

/// The unit that suits a duration.
enum Scale {
    Unit { per_second: f64, name: &'static str },
    Minutes,
}

impl Scale {
    /// The limits are where rounding reaches the next unit, so nothing prints as `1000 ms`.
    fn of(seconds: f64) -> Self {
        let unit = |per_second, name| Self::Unit { per_second, name };
        if seconds < 0.000_999_5 {
            unit(1e6, "µs")
        } else if seconds < 0.999_5 {
            unit(1e3, "ms")
        } else if seconds < 119.5 {
            unit(1.0, "s")
        } else {
            Self::Minutes
        }
    }
}

fn in_unit(value: f64) -> String {
    if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Removes the sign of a number that prints as zero.
fn unsigned_zero(printed: String) -> String {
    match printed.strip_prefix('-') {
        Some(digits) if digits.chars().all(|digit| matches!(digit, '0' | '.')) => digits.to_owned(),
        Some(_) | None => printed,
    }
}

fn read_back(printed: &str, value: f64) -> f64 {
    printed.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_the_unit_of_their_size() {
        let printed: Vec<String> = [
            0.0,
            812e-6,
            0.000_999_6,
            0.001_64,
            0.099_96,
            0.12,
            0.999_6,
            1.24,
            119.4,
            119.6,
            3599.9,
        ]
        .into_iter()
        .map(duration)
        .collect();
        assert_eq!(
            printed,
            [
                "0.0 µs",
                "812 µs",
                "1.0 ms",
                "1.6 ms",
                "100 ms",
                "120 ms",
                "1.0 s",
                "1.2 s",
                "119 s",
                "2 min 00 s",
                "60 min 00 s"
            ]
        );
    }

    #[test]
    fn durations_that_a_person_wrote_keep_their_digits() {
        let printed = [0.19, 1.2345, 0.000_8, -1.0, 90.0].map(whole_duration);
        assert_eq!(printed, ["190 ms", "1.2345 s", "800 µs", "-1 s", "90 s"]);
    }

    #[test]
    fn short_numbers_have_no_zeros_at_the_end() {
        assert_eq!(
            [
                short(0.75),
                short(3.0),
                short(0.0),
                short(1200.0),
                short(1e20)
            ],
            ["0.75", "3", "0", "1200", "1.00e20"]
        );
    }

    #[test]
    fn large_metrics_lose_decimals() {
        assert_eq!(
            [metric(-0.5), metric(999.99), metric(12_345.67)],
            ["-0.5000", "999.9900", "12345.7"]
        );
    }

    #[test]
    fn small_metrics_keep_three_digits() {
        let printed = [0.0, 0.01, 0.002, 0.000_031, -4.56e-9, 1e-12, 7.0e-300, 1e12].map(metric);
        let expected = [
            "0.0000",
            "0.0100",
            "0.00200",
            "0.0000310",
            "-0.00000000456",
            "0.00000000000100",
            "7.00e-300",
            "1.00e12",
        ];
        assert_eq!(printed, expected);
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!([score(-0.0), score(-0.000_01)], ["0.0000", "0.0000"]);
        assert_eq!([metric(-0.0), score(-0.000_06)], ["0.0000", "-0.0001"]);
    }

    #[test]
    fn rounding_does_not_change_the_printed_text() {
        // In binary 0.00015 is a little less, so it prints as 0.0001.
        assert_eq!(score(0.000_15), "0.0001");
        assert!(rounded_score(0.000_15).total_cmp(&0.0001).is_eq());
        assert!(rounded_duration(0.001_04).total_cmp(&0.001).is_eq());
        assert!(rounded_duration(200.4).total_cmp(&200.0).is_eq());
    }
}
