//! Credentials and options of stores that are not folders.

use std::collections::BTreeMap;
use std::fmt;

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
/// };
/// assert_eq!(format!("{local_server:?}"), r#"StoreSettings { options: ["allow_http", "aws_endpoint"] }"#);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StoreSettings {
    /// Options of the store, such as `aws_region`, `aws_endpoint` and `allow_http` for `s3://`. An option that is missing here is read from
    /// the environment (`AWS_REGION`, `AWS_ACCESS_KEY_ID` …). Default: empty.
    pub options: BTreeMap<String, String>,
}

impl fmt::Debug for StoreSettings {
    /// Omits the values of options, which may be secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreSettings")
            .field("options", &self.options.keys().collect::<Vec<_>>())
            .finish()
    }
}
