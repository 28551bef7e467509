//! How to reach a store that is not a folder.

use std::collections::BTreeMap;
use std::fmt;

use lancedb::connection::ConnectBuilder;

/// How to reach a store that is not a folder: what [`Store::open_with`] needs for `s3://` and `db://`.
///
/// All fields are empty by default, which leaves `s3://` to the environment (`AWS_ACCESS_KEY_ID`, `AWS_REGION` …). A folder needs
/// none of them. The values of secrets are left out of the `Debug` text.
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
    /// Address of an enterprise server, instead of the cloud.
    pub host: Option<String>,
    /// Options of object stores, such as `aws_region`, `aws_endpoint` and `allow_http` for `s3://`.
    pub storage: BTreeMap<String, String>,
}

impl fmt::Debug for StoreSettings {
    /// Leaves the key and the values of options, which may be secrets, out.
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
