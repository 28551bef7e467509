//! The command line of `trend`.

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::Args;

use super::cache::age;
use crate::clock::now;

/// The end of `trend --help`, for terminals of 80 columns.
const HELP: &str = "\
A line joins the finished runs of one dataset, benchmark and profile that read
the same files and asked the same number of questions. It shows its main
measure, or the measures of `--measure`.

In a line of 8 runs or more, Pettitt's test finds where the level changed. The
p values are not corrected for the number of lines: among 20 lines without any
change, expect one with p < 0.05.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct TrendArgs {
    /// Show this measure, named as in tables; repeat the option for several [default: the main measure of each line]
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Show only runs of this dataset; repeat the option for several
    #[arg(long = "dataset", value_name = "NAME")]
    pub(crate) datasets: Vec<String>,
    /// Show only runs of this profile; repeat the option for several
    #[arg(long = "profile", value_name = "NAME")]
    pub(crate) profiles: Vec<String>,
    /// Show only runs that started since then: a day such as 2026-05-01 (UTC), or an age such as 30d or 12h
    #[arg(long, value_name = "DAY|AGE", value_parser = since)]
    pub(crate) since: Option<DateTime<Utc>>,
    /// Write the history to FILE, with one row for each run; its extension chooses the format: .csv .json .md .html
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
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
