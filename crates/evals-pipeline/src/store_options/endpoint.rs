//! The address of the server that has an object store.

use evals_providers::BaseUrl;
use evals_settings::StoreSection;

use super::kind::StoreKind;

/// The address of a server, and where it is written.
pub(super) struct Endpoint {
    address: String,
    /// The environment variable that holds it; `None` if the settings do.
    variable: Option<&'static str>,
}

impl Endpoint {
    /// The address in the settings, or else in the environment.
    pub(super) fn of(
        store: &StoreSection,
        kind: &StoreKind,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        if let Some(address) = store.endpoint.clone() {
            return Some(Self {
                address,
                variable: None,
            });
        }
        kind.endpoint_variables.iter().find_map(|name| {
            Some(Self {
                address: variable(name)?,
                variable: Some(name),
            })
        })
    }

    pub(super) fn is_unencrypted(&self) -> bool {
        self.address.starts_with("http://")
    }

    /// Refuses an address that the engine would panic for, or would put the name of the bucket into twice.
    pub(super) fn check(
        &self,
        store: &StoreSection,
        kind: &StoreKind,
        uri: &str,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        let place = self.variable.map_or_else(String::new, |name| {
            format!("the environment variable `{name}` ")
        });
        let Ok(address) = BaseUrl::parse(&self.address) else {
            return Err(format!(
                "{place}must be an address such as `https://host:port`"
            ));
        };
        if is_address_of_bucket(store, kind, variable) {
            return Ok(());
        }
        let container = container(uri);
        let address = address.to_string();
        let Some(server) = without_container(&address, container) else {
            return Ok(());
        };
        // Azurite has the account in the path, and a container may have the same name.
        let account = account(store, kind, variable);
        let is_container = match path(server) {
            "" => account.as_deref() != Some(container),
            path => kind.option("account").is_some() && !path.contains('/'),
        };
        // Longer paths are those of other servers, and may end like the name of a bucket: `https://host/storage/v1/s3`.
        if !is_container {
            return Ok(());
        }
        Err(format!(
            "{place}must be the address of the server without the {} `{container}`, which the address of the index names: `{server}`",
            kind.container
        ))
    }
}

/// Whether the engine takes the endpoint as the address of the bucket: with the bucket in the name of the host.
fn is_address_of_bucket(
    store: &StoreSection,
    kind: &StoreKind,
    variable: &impl Fn(&str) -> Option<String>,
) -> bool {
    let Some(option) = kind.option("path_style") else {
        return false;
    };
    let of_environment = || {
        let value = variable(&option.to_ascii_uppercase())?;
        Some(!["1", "true", "on", "yes", "y"].contains(&value.to_ascii_lowercase().as_str()))
    };
    store.path_style.or_else(of_environment) == Some(false)
}

/// The account, if stores of this kind have one.
fn account(
    store: &StoreSection,
    kind: &StoreKind,
    variable: &impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let option = kind.option("account")?;
    let of_environment = || variable(&option.to_ascii_uppercase());
    store.account.clone().or_else(of_environment)
}

/// What an address such as `s3://bucket/prefix` names first.
fn container(uri: &str) -> &str {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

/// The address without the container at the end of its path; `None` if it is not there.
fn without_container<'a>(address: &'a str, container: &str) -> Option<&'a str> {
    let server = address.strip_suffix(container)?.strip_suffix('/')?;
    // The container may also be the name of the host.
    (!container.is_empty() && !server.ends_with('/')).then_some(server)
}

/// What follows the host and the port of an address, without the slash; may be empty.
fn path(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split_once('/').map_or("", |(_, path)| path)
}
