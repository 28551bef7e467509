//! What the time is.

use std::time::SystemTime;

use anyhow::{Result, bail};
use chrono::{DateTime, Utc};

/// The time, also where the clock says that 1970 is to come, on which [`Utc::now`] panics.
pub(crate) fn now() -> DateTime<Utc> {
    SystemTime::now().into()
}

/// Refuses a clock that is before 1970: the storage engine cannot name its files, and no server's certificate is valid.
pub(crate) fn check() -> Result<()> {
    let now = now();
    if now < DateTime::UNIX_EPOCH {
        bail!("the clock of this machine says {now}, which is before 1970; set it");
    }
    Ok(())
}
