//! How numbers are printed for people.

/// A score: four decimals.
pub(crate) fn score(value: f64) -> String {
    format!("{value:.4}")
}

/// A number of unknown size: four decimals below 1000, one from there.
pub(crate) fn metric(value: f64) -> String {
    if value.abs() < 1000.0 {
        format!("{value:.4}")
    } else {
        format!("{value:.1}")
    }
}

/// A duration in seconds, in the unit that suits its size: `812 µs`, `1.6 ms`, `120 ms`, `1.2 s`, `3 min 20 s`.
pub(crate) fn duration(seconds: f64) -> String {
    // The limits are where rounding reaches the next unit, so that nothing prints as `1000 ms`.
    if seconds < 0.000_999_5 {
        in_unit(seconds * 1e6, "µs")
    } else if seconds < 0.999_5 {
        in_unit(seconds * 1e3, "ms")
    } else if seconds < 119.5 {
        in_unit(seconds, "s")
    } else {
        let whole = seconds.round();
        format!("{} min {:02} s", (whole / 60.0).floor(), whole % 60.0)
    }
}

fn in_unit(value: f64, unit: &str) -> String {
    if value < 99.95 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
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
    fn large_metrics_lose_decimals() {
        assert_eq!(
            [metric(-0.5), metric(999.99), metric(12_345.67)],
            ["-0.5000", "999.9900", "12345.7"]
        );
    }
}
