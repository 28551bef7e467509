use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, as stores note when an entry was made.
pub(crate) fn now() -> i64 {
    milliseconds(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default(),
    )
}

pub(super) fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn moment(milliseconds: Option<i64>) -> Option<SystemTime> {
    let since = Duration::from_millis(u64::try_from(milliseconds?).ok()?);
    UNIX_EPOCH.checked_add(since)
}
