//! Numbers with few digits, read faster than by the standard parser.

/// A number of at most 15 digits without an exponent, which most scores are. The quotient of two whole numbers that a double holds
/// exactly is rounded once, so it is the nearest double.
///
/// Source: Clinger, "How to Read Floating Point Numbers Accurately" (1990).
pub(super) fn short_decimal(text: &str) -> Option<f64> {
    const TENS: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.len() > 16 {
        return None;
    }
    let (mut number, mut count, mut decimals) = (0_u64, 0, None);
    for byte in digits.bytes() {
        match byte {
            b'0'..=b'9' => {
                // At most 16 digits do not overflow.
                number = number.wrapping_mul(10).wrapping_add((byte - b'0').into());
                count += 1;
                decimals = decimals.map(|decimals| decimals + 1);
            }
            b'.' if decimals.is_none() => decimals = Some(0_usize),
            _ => return None,
        }
    }
    if !(1..=15).contains(&count) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "15 digits are below 2^53")]
    let value = number as f64 / TENS[decimals.unwrap_or(0)];
    Some(if digits.len() < text.len() {
        -value
    } else {
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_decimals_are_those_of_the_standard_parser() {
        for text in [
            "0",
            "-0",
            "12.5",
            "-0.1",
            "0.000001",
            "99999999999999.9",
            "123456789.012345",
            ".5",
            "5.",
            "007",
            "39.712345",
            "0.30000000000000004",
            "1e5",
            "-",
            ".",
            "",
            "1.2.3",
            "1234567890123456",
        ] {
            if let Some(value) = short_decimal(text) {
                assert_eq!(
                    Ok(value.to_bits()),
                    text.parse().map(f64::to_bits),
                    "{text}"
                );
            }
        }
        assert_eq!(short_decimal("12.5"), Some(12.5));
        for text in ["1e5", "-", ".", "", "1.2.3", "1234567890123456", "+1"] {
            assert_eq!(short_decimal(text), None, "{text}");
        }
    }
}
