//! Formats the numbers of benchmarks for people.

/// The text of a missing value.
pub(super) const NONE: &str = "-";

/// A duration in milliseconds or seconds.
pub(super) fn seconds(seconds: Option<f64>) -> String {
    match seconds {
        None => NONE.to_owned(),
        Some(seconds) if seconds < 1.0 => format!("{} ms", significant(seconds * 1e3)),
        Some(seconds) => format!("{} s", significant(seconds)),
    }
}

/// A number with three significant digits, or with all digits before the decimal point.
pub(super) fn significant(number: f64) -> String {
    let decimals = match number {
        number if number < 1.0 => 3,
        number if number < 10.0 => 2,
        number if number < 100.0 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}")
}

/// A size in megabytes of a million bytes.
#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
pub(super) fn megabytes(bytes: u64) -> String {
    format!("{} MB", significant(bytes as f64 / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let shown = [0.000_012_34, 0.012_34, 0.123_4, 1.234, 123.4].map(|it| seconds(Some(it)));
        assert_eq!(shown, ["0.012 ms", "12.3 ms", "123 ms", "1.23 s", "123 s"]);
        assert_eq!(seconds(None), "-");
    }

    #[test]
    fn sizes_are_in_megabytes() {
        assert_eq!(megabytes(0), "0.000 MB");
        assert_eq!(megabytes(1_536_000_000), "1536 MB");
    }
}
