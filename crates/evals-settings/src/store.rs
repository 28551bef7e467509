//! The section `store`: how to reach an index in an object store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How to reach an index in an object store; see `docs/stores.md`. Takes precedence over the environment. A database in a folder needs none
/// of these settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSection {
    /// The address of a server other than AWS or Azure. With `http://` the requests are not encrypted.
    #[serde(
        serialize_with = "super::model::redacted_address",
        skip_serializing_if = "Option::is_none"
    )]
    pub endpoint: Option<String>,
    /// `s3://`: the region of the bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// `s3://`: whether the name of the bucket is part of the path (`true`, the default) or of the host name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_style: Option<bool>,
    /// `az://`: the name of the storage account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// `s3://`: the name of the environment variable that holds the id of the access key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_key_env: Option<String>,
    /// The name of the environment variable that holds the secret key (`s3://`) or the key of the account (`az://`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_env: Option<String>,
    /// The name of the environment variable that holds the session token (`s3://`) or the SAS token (`az://`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// `gs://`: the file with the key of a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_file: Option<String>,
    /// Time limit of one request with its body, in seconds. The default is 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// How long the engine repeats a failed request, in seconds. The default is 90.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_for: Option<f64>,
}

/// The value of a key that says where a store is or who asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StoreValue<'s> {
    /// A text.
    Text(&'s str),
    /// On or off.
    Switch(bool),
    /// The name of an environment variable that holds the value.
    Variable(&'s str),
}

impl StoreSection {
    /// The keys that are set and say where a store is or who asks, so all but the times.
    pub fn place(&self) -> impl Iterator<Item = (&'static str, StoreValue<'_>)> {
        use StoreValue::{Switch, Text, Variable};
        let all = [
            ("endpoint", self.endpoint.as_deref().map(Text)),
            ("region", self.region.as_deref().map(Text)),
            ("path_style", self.path_style.map(Switch)),
            ("account", self.account.as_deref().map(Text)),
            (
                "access_key_env",
                self.access_key_env.as_deref().map(Variable),
            ),
            (
                "secret_key_env",
                self.secret_key_env.as_deref().map(Variable),
            ),
            ("token_env", self.token_env.as_deref().map(Variable)),
            (
                "credentials_file",
                self.credentials_file.as_deref().map(Text),
            ),
        ];
        all.into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
    }

    /// The keys that name an environment variable, with the names.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.place().filter_map(|(key, value)| match value {
            StoreValue::Variable(name) => Some((key, name)),
            StoreValue::Text(_) | StoreValue::Switch(_) => None,
        })
    }
}
