//! Parsers for numbers on the command line. Their errors state the accepted range.

use std::num::{IntErrorKind, NonZeroU32, NonZeroUsize, ParseIntError};

pub(super) fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) => Err("has to be more than 0".to_owned()),
        Err(_) => Err("not an amount in USD, such as 2.50".to_owned()),
    }
}

pub(super) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<usize>() {
        Ok(number) => NonZeroUsize::new(number).ok_or_else(|| AT_LEAST_ONE.to_owned()),
        Err(error) => Err(explain_invalid(text, &error)),
    }
}

pub(super) fn at_least_once(text: &str) -> Result<NonZeroU32, String> {
    match text.parse::<u32>() {
        Ok(number) => NonZeroU32::new(number).ok_or_else(|| AT_LEAST_ONE.to_owned()),
        Err(error) => Err(explain_invalid(text, &error)),
    }
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse::<u64>().map_err(|error| {
        if is_negative(text) {
            "has to be at least 0".to_owned()
        } else {
            explain_invalid(text, &error)
        }
    })
}

const AT_LEAST_ONE: &str = "has to be at least 1";

/// Explains why a text is not a count.
fn explain_invalid(text: &str, error: &ParseIntError) -> String {
    match error.kind() {
        IntErrorKind::PosOverflow => "too large".to_owned(),
        _ if is_negative(text) => AT_LEAST_ONE.to_owned(),
        _ => "not a whole number".to_owned(),
    }
}

/// Whether a text is a whole number below 0.
fn is_negative(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser as _;

    use crate::cli::{Cli, expand};

    /// The first line of the error for a command line.
    fn refused(line: &str) -> String {
        let error =
            Cli::try_parse_from(expand(line.split(' ').map(OsString::from)).words).unwrap_err();
        error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    #[test]
    fn a_number_that_is_too_small_is_refused_with_the_minimum() {
        for option in ["--limit", "--k", "--concurrency", "--repeat"] {
            for number in ["-1", "0", "-99999999999999999999"] {
                let message = refused(&format!("evaluations sample {option} {number}"));
                assert!(
                    message.starts_with(&format!(
                        "error: invalid value '{number}' for '{option} <N>'"
                    )),
                    "{message}"
                );
                assert!(message.ends_with(": has to be at least 1"), "{message}");
            }
            let message = refused(&format!("evaluations sample {option} 1.5"));
            assert!(message.ends_with(": not a whole number"), "{message}");
            let message = refused(&format!("evaluations sample {option} 99999999999999999999"));
            assert!(message.ends_with(": too large"), "{message}");
        }
        for (line, end) in [
            ("sample --seed -1", ": has to be at least 0"),
            ("sample --budget -5", ": has to be more than 0"),
            ("rejudge latest --concurrency -1", ": has to be at least 1"),
            ("bench embed --batch -1", ": has to be at least 1"),
            ("bench embed --concurrency -1", ": has to be at least 1"),
            ("bench embed --seconds -1", ": has to be from 0.1 to 86400"),
            (
                "cache prune --older-than -1d",
                ": not an age such as 30d, 12h or 45m",
            ),
        ] {
            let message = refused(&format!("evaluations {line}"));
            assert!(message.ends_with(end), "{message}");
        }
    }
}
