//! The clock: reads and checks the time, and formats it for files.

use std::time::SystemTime;

use anyhow::{Result, bail};
use chrono::{DateTime, SecondsFormat, Utc};

/// The current time. Unlike [`Utc::now`], does not panic on a clock before 1970.
pub fn now() -> DateTime<Utc> {
    SystemTime::now().into()
}

/// Refuses a clock that is before 1970: the storage engine cannot name its files, and no server's certificate is valid.
pub fn check(now: DateTime<Utc>) -> Result<()> {
    if now < DateTime::UNIX_EPOCH {
        bail!("the clock of this machine says {now}, which is before 1970; set the clock");
    }
    Ok(())
}

/// Formats a time for manifests: `2026-05-01T12:00:00.000Z`.
pub fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_before_1970_is_refused() {
        let before = SystemTime::UNIX_EPOCH - Duration::from_hours(1);
        assert_eq!(
            check(before.into()).unwrap_err().to_string(),
            "the clock of this machine says 1969-12-31 23:00:00 UTC, which is before 1970; set the clock"
        );
        assert!(check(now()).is_ok());
    }
}
