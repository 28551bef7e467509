//! Credentials and options of stores that are not folders.

use std::collections::BTreeMap;
use std::fmt;

use lancedb::connection::ConnectBuilder;

/// How to reach a store that is not a folder; [`Store::open_with`](crate::Store::open_with) needs it for `s3://` and `db://`.
///
/// All fields are empty by default; `s3://` then follows the environment (`AWS_ACCESS_KEY_ID`, `AWS_REGION` …). A folder needs none of
/// them. The `Debug` text does not contain secrets.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use evals_index::StoreSettings;
///
/// let minio = StoreSettings {
///     storage: BTreeMap::from([
///         ("aws_endpoint".to_owned(), "http://localhost:9000".to_owned()),
///         ("allow_http".to_owned(), "true".to_owned()),
///     ]),
///     ..StoreSettings::default()
/// };
/// assert_eq!(minio.region, None);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StoreSettings {
    /// Key for `db://` stores.
    pub api_key: Option<String>,
    /// Region of `db://` stores. Default `us-east-1`.
    pub region: Option<String>,
    /// Address of an enterprise server to use instead of the cloud.
    pub host: Option<String>,
    /// Options of object stores, such as `aws_region`, `aws_endpoint` and `allow_http` for `s3://`.
    pub storage: BTreeMap<String, String>,
}

impl fmt::Debug for StoreSettings {
    /// Omits the key and the values of options, which may be secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreSettings")
            .field("region", &self.region)
            .field("host", &self.host)
            .field("storage", &self.storage.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "remote")]
pub(super) fn remote(builder: ConnectBuilder, settings: &StoreSettings) -> ConnectBuilder {
    let builder = builder.region(settings.region.as_deref().unwrap_or("us-east-1"));
    let builder = match &settings.api_key {
        Some(key) => builder.api_key(key),
        None => builder,
    };
    match &settings.host {
        Some(host) => builder.host_override(host),
        None => builder,
    }
}

#[cfg(not(feature = "remote"))]
pub(super) fn remote(builder: ConnectBuilder, _settings: &StoreSettings) -> ConnectBuilder {
    builder
}
