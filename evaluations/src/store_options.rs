//! Opens stores of indexes, with what the section `store` of the settings and the environment say about an object store.

use std::env;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use evals_index::{Store, StoreSettings};
use evals_providers::BaseUrl;

use crate::settings::{Resolved, SettingsError};
use crate::terminal::Printer;

/// The longest time of any setting. More seconds than this are an error of typing.
const LONGEST: f64 = 86_400.0;

/// Opens the store at `uri`. Requests to an object store that are repeated are noted.
pub(crate) async fn open(printer: &Printer, resolved: &Resolved, uri: &str) -> Result<Store> {
    let settings = of(resolved, uri, |name| env::var(name).ok())?;
    if uri.contains("://") {
        note_retries(printer, settings.retry_for);
    }
    Ok(Store::open_with(uri, &settings).await?)
}

/// The shortest time between two notes of requests that are repeated.
const BETWEEN_NOTES: Duration = Duration::from_secs(10);

/// Notes that requests to an object store are repeated, every ten seconds at most.
fn note_retries(printer: &Printer, retry_for: Duration) {
    let watch = printer.watch();
    let last_note = Mutex::new(None::<Instant>);
    evals_index::watch_retries(move |retry| {
        let mut last_note = last_note.lock().unwrap_or_else(PoisonError::into_inner);
        if last_note.is_none_or(|note| note.elapsed() >= BETWEEN_NOTES) {
            *last_note = Some(Instant::now());
            let seconds = retry_for.as_secs();
            watch(&format!(
                "{}; repeating the request for up to {seconds} s",
                retry.reason
            ));
        }
    });
}

/// The settings of the store at `uri`, with the value of each environment variable that is set.
fn of(
    resolved: &Resolved,
    uri: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<StoreSettings, SettingsError> {
    let mut settings = StoreSettings::default();
    let Some((scheme, _)) = uri.split_once("://") else {
        return Ok(settings);
    };
    let store = &resolved.settings.store;
    let names: &Names = match scheme {
        "s3" => &S3,
        "az" => &AZURE,
        "gs" => &GOOGLE,
        _ => return Ok(settings),
    };
    let mut set = |name: Option<&str>, value: String| {
        if let Some(name) = name {
            settings.options.insert(name.to_owned(), value);
        }
    };
    let environment = || {
        let mut variables = names.endpoint_variables.iter();
        variables.find_map(|name| Some((Some(*name), variable(name)?)))
    };
    if let Some(endpoint) = &store.endpoint {
        set(names.endpoint, endpoint.clone());
    }
    let endpoint = store.endpoint.clone().map(|endpoint| (None, endpoint));
    if let Some((variable, endpoint)) = endpoint.or_else(environment) {
        // The engine panics for an address that is not one.
        if BaseUrl::parse(&endpoint).is_err() {
            let place = variable.map_or_else(String::new, |name| {
                format!("the environment variable `{name}` ")
            });
            let message = format!("{place}must be an address such as `https://host:port`");
            return Err(resolved.bad_value("store.endpoint", &message));
        }
        // The engine refuses an address with `http://` without this option.
        if endpoint.starts_with("http://") {
            set(Some("allow_http"), true.to_string());
        }
    }
    if let Some(region) = &store.region {
        set(names.region, region.clone());
    }
    if let Some(path_style) = store.path_style {
        set(names.virtual_hosts, (!path_style).to_string());
    }
    if let Some(account) = &store.account {
        set(names.account, account.clone());
    }
    if let Some(file) = &store.credentials_file {
        set(names.credentials_file, file.clone());
    }
    let variables = [
        ("access_key_env", names.access_key, &store.access_key_env),
        ("secret_key_env", names.secret_key, &store.secret_key_env),
        ("token_env", names.token, &store.token_env),
    ];
    for (key, name, written) in variables {
        let Some(written) = written.as_ref().filter(|_| name.is_some()) else {
            continue;
        };
        let secret = variable(written).ok_or_else(|| {
            let message = format!("the environment variable `{written}` is not set");
            resolved.bad_value(&format!("store.{key}"), &message)
        })?;
        set(name, secret);
    }
    if let Some(seconds) = store.timeout {
        settings.timeout = duration(resolved, "store.timeout", seconds, 1.0)?;
    }
    if let Some(seconds) = store.retry_for {
        if seconds.fract() != 0.0 {
            let message = "must be a whole number of seconds";
            return Err(resolved.bad_value("store.retry_for", &message));
        }
        settings.retry_for = duration(resolved, "store.retry_for", seconds, 0.0)?;
    }
    Ok(settings)
}

fn duration(
    resolved: &Resolved,
    path: &str,
    seconds: f64,
    least: f64,
) -> Result<Duration, SettingsError> {
    if (least..=LONGEST).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    let message = format!("must be between {least} and {LONGEST} seconds");
    Err(resolved.bad_value(path, &message))
}

/// The engine's names of the options of one kind of store. `None` for an option that the kind does not have.
struct Names {
    /// The environment variables with the address of a server. The first one that is set counts.
    endpoint_variables: &'static [&'static str],
    endpoint: Option<&'static str>,
    region: Option<&'static str>,
    virtual_hosts: Option<&'static str>,
    account: Option<&'static str>,
    access_key: Option<&'static str>,
    secret_key: Option<&'static str>,
    token: Option<&'static str>,
    credentials_file: Option<&'static str>,
}

const S3: Names = Names {
    endpoint_variables: &["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"],
    endpoint: Some("aws_endpoint_url_s3"),
    region: Some("aws_region"),
    virtual_hosts: Some("aws_virtual_hosted_style_request"),
    account: None,
    access_key: Some("aws_access_key_id"),
    secret_key: Some("aws_secret_access_key"),
    token: Some("aws_session_token"),
    credentials_file: None,
};

const AZURE: Names = Names {
    endpoint_variables: &["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"],
    endpoint: Some("azure_endpoint"),
    region: None,
    virtual_hosts: None,
    account: Some("azure_storage_account_name"),
    access_key: None,
    secret_key: Some("azure_storage_account_key"),
    token: Some("azure_storage_sas_token"),
    credentials_file: None,
};

const GOOGLE: Names = Names {
    endpoint_variables: &["GOOGLE_BASE_URL"],
    endpoint: Some("google_base_url"),
    region: None,
    virtual_hosts: None,
    account: None,
    access_key: None,
    secret_key: None,
    token: None,
    credentials_file: Some("google_service_account"),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, Tree, resolve};

    fn resolved(text: &str) -> Resolved {
        let tree = Tree::parse(&format!("store: {text}")).unwrap();
        resolve(vec![Layer::new("evaluations.yaml", tree)]).unwrap()
    }

    #[test]
    fn each_kind_of_store_has_its_options() {
        let all = resolved(
            "{endpoint: 'http://localhost:1', region: eu-1, path_style: true, account: me, retry_for: 5, timeout: 2.5}",
        );
        let options = |uri| of(&all, uri, |_| None).unwrap().options;
        let s3 = options("s3://bucket/db");
        assert_eq!(s3["aws_endpoint_url_s3"], "http://localhost:1");
        assert_eq!(s3["allow_http"], "true");
        assert_eq!(s3["aws_region"], "eu-1");
        assert_eq!(s3["aws_virtual_hosted_style_request"], "false");
        assert_eq!(s3.len(), 4);
        let azure = options("az://container/db");
        assert_eq!(azure["azure_storage_account_name"], "me");
        assert_eq!(azure["azure_endpoint"], "http://localhost:1");
        assert_eq!(azure.len(), 3);
        assert_eq!(
            of(&all, "/data/db", |_| None).unwrap(),
            StoreSettings::default()
        );
        let settings = of(&all, "gs://bucket", |_| None).unwrap();
        assert_eq!(settings.retry_for, Duration::from_secs(5));
        assert_eq!(settings.timeout, Duration::from_millis(2_500));
    }

    #[test]
    fn an_address_with_http_in_the_environment_is_used_as_written() {
        for (uri, name) in [
            ("s3://bucket/db", "AWS_ENDPOINT_URL"),
            ("az://container/db", "AZURE_ENDPOINT"),
            ("az://container/db", "AZURE_STORAGE_ENDPOINT"),
            ("gs://bucket/db", "GOOGLE_BASE_URL"),
        ] {
            let options = |endpoint: &str| {
                let variable = |asked: &str| (asked == name).then(|| endpoint.to_owned());
                of(&resolved("{}"), uri, variable).unwrap().options
            };
            let allowed = options("http://localhost:1");
            assert_eq!(allowed["allow_http"], "true", "{name}");
            assert!(options("https://localhost:1").is_empty(), "{name}");
        }
    }

    #[test]
    fn a_variable_that_holds_no_address_is_refused_by_name() {
        let variable =
            |asked: &str| (asked == "AWS_ENDPOINT_URL").then(|| "127.0.0.1:1".to_owned());
        let error = of(&resolved("{}"), "s3://bucket/db", variable).unwrap_err();
        let message = error.to_string();
        assert!(
            message.ends_with("the environment variable `AWS_ENDPOINT_URL` must be an address such as `https://host:port`"),
            "{message}"
        );
    }

    #[test]
    fn a_variable_that_is_not_set_and_a_time_that_cannot_be_are_refused() {
        for (text, expected) in [
            (
                "{secret_key_env: NO_SUCH_SECRET}",
                "evaluations.yaml:1: bad value for `store.secret_key_env`: the environment variable `NO_SUCH_SECRET` is not set",
            ),
            (
                "{endpoint: 'localhost:8333'}",
                "evaluations.yaml:1: bad value for `store.endpoint`: must be an address such as `https://host:port`",
            ),
            (
                "{endpoint: 'http://localhost:999999'}",
                "evaluations.yaml:1: bad value for `store.endpoint`: must be an address such as `https://host:port`",
            ),
            (
                "{timeout: 0}",
                "evaluations.yaml:1: bad value for `store.timeout`: must be between 1 and 86400 seconds",
            ),
            (
                "{retry_for: 0.5}",
                "evaluations.yaml:1: bad value for `store.retry_for`: must be a whole number of seconds",
            ),
            (
                "{retry_for: -1}",
                "evaluations.yaml:1: bad value for `store.retry_for`: must be between 0 and 86400 seconds",
            ),
        ] {
            let error = of(&resolved(text), "s3://bucket/db", |_| None).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
