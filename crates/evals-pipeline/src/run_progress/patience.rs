//! How long a reading of the progress may fail before the failure counts.

use std::time::{Duration, Instant};

use anyhow::Result;

/// A file may be replaced while it is read, and a network drive may be away for a moment.
const LONGEST: Duration = Duration::from_secs(3);

/// Passes failures only when they have lasted.
#[derive(Debug, Default)]
pub struct Patience {
    failing_since: Option<Instant>,
}

impl Patience {
    /// What was read; `None` if the reading failed and is worth another try.
    ///
    /// # Errors
    ///
    /// That of the reading, if every one in the last three seconds failed.
    pub fn with<T>(&mut self, read: Result<T>, now: Instant) -> Result<Option<T>> {
        match read {
            Ok(read) => {
                self.failing_since = None;
                Ok(Some(read))
            }
            Err(error) => {
                let since = *self.failing_since.get_or_insert(now);
                if now.saturating_duration_since(since) < LONGEST {
                    Ok(None)
                } else {
                    Err(error)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn only_a_failure_that_lasts_ends_the_reading() {
        let start = Instant::now();
        let mut patience = Patience::default();
        let mut read = |second: u64, fails: bool| {
            let read = if fails { Err(anyhow!("busy")) } else { Ok(7) };
            patience.with(read, start + Duration::from_secs(second))
        };
        assert_eq!(read(0, true).unwrap(), None);
        assert_eq!(read(2, true).unwrap(), None);
        assert_eq!(read(3, false).unwrap(), Some(7));
        assert_eq!(read(4, true).unwrap(), None, "counted from here");
        assert_eq!(read(7, true).unwrap_err().to_string(), "busy");
    }
}
