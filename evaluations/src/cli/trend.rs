//! The command line of `evaluations runs trend`.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use evals::render::percent;
use evals_runs::clock::now;

use super::cache::age;

/// The end of `runs trend --help`, for terminals of 80 columns.
const HELP: &str = "\
A line joins the finished runs of one dataset, benchmark and profile that read
the same files and asked the same number of questions. It shows its main
measure, or the measures of `--measure`.

In a line of at least 8 runs, Pettitt's test finds where the level changed. The
p values are not corrected for the number of lines: among 20 lines without any
change, expect one with p < 0.05.

`--fail-on-drop` compares the mean of the newest 7 runs with that of the 7 runs
before them. It exits with 1 if a mean is worse by more than X and a permutation
test of the runs finds the difference significant at 5 %, corrected for all
checks (Holm). It exits with 0 and a warning where it cannot tell.";

/// How much worse the newest runs may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tolerance {
    /// A share of the value before.
    Share(f64),
    /// An amount, in the unit of the measure.
    Amount(f64),
}

#[derive(Debug, Clone, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct TrendArgs {
    /// Show this measure, named as in tables; repeat the option for several [default: the main measure of each line]
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Show only runs of this dataset; repeat the option for several
    #[arg(long = "dataset", help_heading = "Runs", value_name = "NAME")]
    pub(crate) datasets: Vec<String>,
    /// Show only runs of this profile; repeat the option for several
    #[arg(
        long = "profile",
        hide = true,
        help_heading = "Runs",
        value_name = "NAME"
    )]
    pub(crate) profiles: Vec<String>,
    /// Show only runs that started since then: a day such as 2026-05-01 (UTC), or an age such as 30d or 12h
    #[arg(long, hide = true, help_heading = "Runs", value_name = "DAY|AGE", value_parser = since)]
    pub(crate) since: Option<DateTime<Utc>>,
    /// Exit with 1 if the newest runs are worse by more than X: `5%` of the measure and of the latency (p50 and p95), or 0.02 of the measure
    #[arg(long, value_name = "X", value_parser = tolerance)]
    pub(crate) fail_on_drop: Option<Tolerance>,
    /// For `--fail-on-drop`: compare the newest N runs, at least 4, with the N before them
    #[arg(long, hide = true, value_name = "N", default_value = "7", value_parser = RangedU64ValueParser::<usize>::new().range(4..=1_000))]
    pub(crate) window: usize,
    /// Write the history to FILE, with one row for each run; its extension chooses the format: .csv .json .md .html
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
}

impl Tolerance {
    /// The drop from a value that it allows.
    pub(crate) fn of(self, value: f64) -> f64 {
        match self {
            Self::Share(share) => share * value.abs(),
            Self::Amount(amount) => amount,
        }
    }

    /// Whether it has a meaning for quantities of any unit.
    pub(crate) fn is_share(self) -> bool {
        matches!(self, Self::Share(_))
    }
}

impl Display for Tolerance {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => formatter.write_str(&percent(*share)),
            Self::Amount(amount) => write!(formatter, "{amount}"),
        }
    }
}

/// A share such as `5%`, or an amount such as `0.02`.
fn tolerance(text: &str) -> Result<Tolerance, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(match text.strip_suffix('%') {
            Some(_) => Tolerance::Share(number / 100.0),
            None => Tolerance::Amount(number),
        }),
        _ => Err("not a drop such as 5% or 0.02".to_owned()),
    }
}

/// A day, or an age before now.
fn since(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_time(NaiveTime::MIN).and_utc());
    }
    let wrong = || "not a day such as 2026-05-01, or an age such as 30d or 12h".to_owned();
    let age = age(text).map_err(|_| wrong())?;
    let age = chrono::Duration::from_std(age).map_err(|_| wrong())?;
    now().checked_sub_signed(age).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_is_a_share_or_an_amount() {
        assert_eq!(tolerance("5%"), Ok(Tolerance::Share(0.05)));
        assert_eq!(tolerance("0.02"), Ok(Tolerance::Amount(0.02)));
        for wrong in ["", "%", "-1%", "five", "nan", "inf%"] {
            assert!(tolerance(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_beginning_is_a_day_or_an_age() {
        let day = since("2026-05-01").unwrap();
        assert_eq!(day.to_rfc3339(), "2026-05-01T00:00:00+00:00");
        let since_then = since("36h").unwrap();
        assert_eq!((now() - since_then).num_hours(), 36);
        for wrong in ["", "yesterday", "2026-13-01", "-3d", "99999999999999d"] {
            assert!(
                since(wrong).unwrap_err().starts_with("not a day"),
                "{wrong}"
            );
        }
    }
}
