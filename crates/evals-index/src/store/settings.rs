//! Credentials, options and time limits for stores that are not folders.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// How to reach an object store. A folder needs no settings. The `Debug` text does not contain secrets.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use evals_index::StoreSettings;
///
/// let local_server = StoreSettings {
///     options: BTreeMap::from([
///         ("aws_endpoint".to_owned(), "http://localhost:8333".to_owned()),
///         ("allow_http".to_owned(), "true".to_owned()),
///     ]),
///     ..StoreSettings::default()
/// };
/// assert!(format!("{local_server:?}").contains("aws_endpoint"));
/// assert!(!format!("{local_server:?}").contains("8333"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// Options of the store, such as `aws_region`, `aws_endpoint` and `allow_http` for `s3://`. The engine reads options that are missing here
    /// from the environment (`AWS_REGION`, `AWS_ACCESS_KEY_ID` …). Default: empty.
    pub options: BTreeMap<String, String>,
    /// How long the engine repeats a request that failed for a temporary reason: an answer 429 or 5xx, no connection, no answer in time. It
    /// repeats the requests that open a store for at most 10 s. A fraction of a second counts as a whole one. Default 90 s.
    pub retry_for: Duration,
    /// How long one request may take, with its body. Default 30 s.
    pub timeout: Duration,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            options: BTreeMap::new(),
            retry_for: Duration::from_secs(90),
            timeout: Duration::from_secs(30),
        }
    }
}

impl fmt::Debug for StoreSettings {
    /// Omits the values of options, which may be secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreSettings")
            .field("options", &self.options.keys().collect::<Vec<_>>())
            .field("retry_for", &self.retry_for)
            .field("timeout", &self.timeout)
            .finish()
    }
}
