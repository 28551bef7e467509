//! The command line of `evaluations cache`.

use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};

#[derive(Debug, Clone, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum CacheCommand {
    /// Show how many replies, vectors and scores are cached for each model
    Stats,
    /// Remove cached replies, vectors and scores by age or by model, or all of them
    #[command(group(ArgGroup::new("which").required(true).args(["older_than", "model", "all"])))]
    Prune {
        /// Remove entries older than this, e.g. `30d` or `12h`
        #[arg(long, value_name = "AGE", allow_hyphen_values = true, value_parser = age)]
        older_than: Option<Duration>,
        /// Remove the entries of this model, named as in `cache stats`
        #[arg(long, value_name = "PROVIDER:NAME")]
        model: Option<String>,
        /// Remove all entries
        #[arg(long)]
        all: bool,
    },
}

/// A number followed by `d`, `h` or `m`.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    let unit = match text.chars().last() {
        Some('d') => 86_400,
        Some('h') => 3_600,
        Some('m') => 60,
        _ => return Err("not an age such as 30d, 12h or 45m".to_owned()),
    };
    let number: u64 = text[..text.len() - 1]
        .parse()
        .map_err(|_| "not an age such as 30d, 12h or 45m".to_owned())?;
    number
        .checked_mul(unit)
        .map(Duration::from_secs)
        .ok_or_else(|| "too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_unit() {
        assert_eq!(age("45m"), Ok(Duration::from_mins(45)));
        assert_eq!(age("12h"), Ok(Duration::from_hours(12)));
        assert_eq!(age("2d"), Ok(Duration::from_hours(48)));
        for wrong in ["", "30", "d", "1.5h", "-1d"] {
            assert_eq!(
                age(wrong),
                Err("not an age such as 30d, 12h or 45m".to_owned()),
                "{wrong}"
            );
        }
        let beyond = format!("{}d", u64::MAX);
        assert_eq!(age(&beyond), Err("too long".to_owned()));
    }
}
