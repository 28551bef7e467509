//! Parsers for numbers on the command line. Their errors state the accepted range.

use std::num::{IntErrorKind, NonZeroU32, NonZeroUsize, ParseIntError};

pub fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) => Err("has to be more than 0".to_owned()),
        Err(_) => Err("not an amount in USD, such as 2.50".to_owned()),
    }
}

pub fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<usize>() {
        Ok(number) => NonZeroUsize::new(number).ok_or_else(|| AT_LEAST_ONE.to_owned()),
        Err(error) => Err(explain_invalid(text, &error)),
    }
}

pub fn at_least_once(text: &str) -> Result<NonZeroU32, String> {
    match text.parse::<u32>() {
        Ok(number) => NonZeroU32::new(number).ok_or_else(|| AT_LEAST_ONE.to_owned()),
        Err(error) => Err(explain_invalid(text, &error)),
    }
}

pub fn seed(text: &str) -> Result<u64, String> {
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
