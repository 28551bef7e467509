//! Opens stores of indexes, with what the section `store` of the settings and the environment say about an object store.

mod endpoint;
mod kind;

use std::env;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use evals_index::{Store, StoreSettings};
use evals_settings::redaction;
use evals_settings::{Resolved, SettingsError, StoreValue};
use evals_terminal::Printer;

use endpoint::Endpoint;
use kind::schemes_with;

pub use kind::StoreKind;

/// The longest time of any setting. More seconds than this are an error of typing.
const LONGEST: f64 = 86_400.0;

/// Opens the store at `uri`. Requests to an object store that are repeated are noted.
pub async fn open(printer: &Printer, resolved: &Resolved, uri: &str) -> Result<Store> {
    let variable = |name: &str| env::var(name).ok();
    let settings = of(resolved, uri, variable)?;
    if let Some(kind) = StoreKind::of(uri) {
        if let Some(name) = kind.empty_key(&resolved.settings.store, variable) {
            bail!(
                "the environment variable `{name}` is empty; set it to the key of the store, or remove the variable"
            );
        }
        let server = kind.server(&resolved.settings.store, variable);
        note_retries(printer, server, settings.retry_for);
    }
    Ok(Store::open_with(uri, &settings).await?)
}

/// The shortest time between two notes of requests that are repeated.
const BETWEEN_NOTES: Duration = Duration::from_secs(10);

/// Notes that requests to `server` are repeated, every ten seconds at most.
fn note_retries(printer: &Printer, server: &'static str, retry_for: Duration) {
    let watch = printer.watch();
    let last_note = Mutex::new(None::<Instant>);
    evals_index::watch_retries(move |retry| {
        let mut last_note = last_note.lock().unwrap_or_else(PoisonError::into_inner);
        if last_note.is_none_or(|note| note.elapsed() >= BETWEEN_NOTES) {
            *last_note = Some(Instant::now());
            let seconds = retry.limit.unwrap_or(retry_for).as_secs();
            watch(&format!(
                "{server} {}; repeating the request for up to {seconds} s",
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
    let Some(kind) = StoreKind::of(uri) else {
        return Ok(settings);
    };
    let store = &resolved.settings.store;
    for (key, value) in store.place() {
        let path = format!("store.{key}");
        let option = kind.option(key).ok_or_else(|| {
            let (own, other) = (schemes_with(key), kind.scheme);
            let message =
                format!("it is for {own}, and this index is at `{other}://`; leave it out");
            resolved.bad_value(&path, &message)
        })?;
        let value = match value {
            StoreValue::Text(text) => text.to_owned(),
            // The engine's option is about the opposite of `path_style`, the only switch.
            StoreValue::Switch(is_on) => (!is_on).to_string(),
            StoreValue::Variable(name) => match variable(name) {
                Some(value) if !value.is_empty() => {
                    redaction::hide(&value);
                    value
                }
                found => {
                    let state = found.map_or("not set", |_| "empty");
                    let message = format!("the environment variable `{name}` is {state}");
                    return Err(resolved.bad_value(&path, &message));
                }
            },
        };
        settings.options.insert(option.to_owned(), value);
    }
    if let Some(endpoint) = Endpoint::of(store, kind, &variable) {
        endpoint
            .check(store, kind, uri, &variable)
            .map_err(|message| resolved.bad_value("store.endpoint", &message))?;
        // The engine refuses an address with `http://` without this option.
        if endpoint.is_unencrypted() {
            let allowed = ("allow_http".to_owned(), true.to_string());
            settings.options.extend([allowed]);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use evals_settings::{Layer, Tree, resolve};

    type Environment = dyn Fn(&str) -> Option<String>;

    fn resolved(text: &str) -> Resolved {
        let tree = Tree::parse(&format!("store: {text}")).unwrap();
        resolve(vec![Layer::new("evaluations.yaml", tree)]).unwrap()
    }

    fn message(text: &str, uri: &str, variable: impl Fn(&str) -> Option<String>) -> String {
        let error = of(&resolved(text), uri, variable).unwrap_err();
        error.to_string()
    }

    #[test]
    fn empty_keys_are_no_keys() {
        let empty =
            |name: &str| (name == "AWS_SECRET_ACCESS_KEY" || name == "MY_KEY").then(String::new);
        let s3 = StoreKind::of("s3://b").unwrap();
        let found = |text: &str| s3.empty_key(&resolved(text).settings.store, empty);
        assert_eq!(found("{}"), Some("AWS_SECRET_ACCESS_KEY"));
        assert_eq!(found("{secret_key_env: OTHER}"), None);
        let azure = StoreKind::of("az://c").unwrap();
        assert_eq!(azure.empty_key(&resolved("{}").settings.store, empty), None);
        assert!(
            message("{secret_key_env: MY_KEY}", "s3://b", empty)
                .contains("the environment variable `MY_KEY` is empty")
        );
    }

    #[test]
    fn each_kind_of_store_has_its_options() {
        let options = |text: &str, uri: &str| of(&resolved(text), uri, |_| None).unwrap().options;
        let s3 = options(
            "{endpoint: 'http://localhost:1', region: eu-1, path_style: true}",
            "s3://bucket/db",
        );
        assert_eq!(s3["aws_endpoint_url_s3"], "http://localhost:1");
        assert_eq!(s3["allow_http"], "true");
        assert_eq!(s3["aws_region"], "eu-1");
        assert_eq!(s3["aws_virtual_hosted_style_request"], "false");
        assert_eq!(s3.len(), 4);
        let azure = options(
            "{endpoint: 'http://localhost:1', account: me}",
            "az://container/db",
        );
        assert_eq!(azure["azure_storage_account_name"], "me");
        assert_eq!(azure["azure_endpoint"], "http://localhost:1");
        assert_eq!(azure.len(), 3);
        let google = options("{credentials_file: key.json}", "gs://bucket/db");
        assert_eq!(google["google_service_account"], "key.json");
        assert_eq!(google.len(), 1);
        let times = resolved("{retry_for: 5, timeout: 2.5}");
        let settings = of(&times, "gs://bucket", |_| None).unwrap();
        assert_eq!(settings.retry_for, Duration::from_secs(5));
        assert_eq!(settings.timeout, Duration::from_millis(2_500));
    }

    #[test]
    fn a_key_of_another_kind_of_store_is_refused() {
        for (key, own, others) in [
            ("region: eu-1", "`s3://`", ["az", "gs"].as_slice()),
            ("path_style: true", "`s3://`", &["az", "gs"]),
            ("access_key_env: ID", "`s3://`", &["az", "gs"]),
            ("account: me", "`az://`", &["s3", "gs"]),
            ("credentials_file: key.json", "`gs://`", &["s3", "az"]),
            ("secret_key_env: SECRET", "`s3://` and `az://`", &["gs"]),
            ("token_env: TOKEN", "`s3://` and `az://`", &["gs"]),
        ] {
            let (name, _) = key.split_once(':').unwrap();
            for other in others {
                let uri = format!("{other}://id:hunter2@bucket/db");
                assert_eq!(
                    message(&format!("{{{key}}}"), &uri, |_| Some("x".to_owned())),
                    format!(
                        "evaluations.yaml:1: bad value for `store.{name}`: it is for {own}, and this index is at `{other}://`; leave it out"
                    )
                );
            }
            let folder = of(&resolved(&format!("{{{key}}}")), "/data/db", |_| None);
            assert_eq!(folder.unwrap(), StoreSettings::default());
        }
    }

    #[test]
    fn variables_of_other_kinds_of_stores_are_ignored() {
        let everything = |_: &str| Some("http://localhost:1".to_owned());
        let options = of(&resolved("{}"), "az://container/db", everything);
        let options: Vec<_> = options.unwrap().options.into_keys().collect();
        assert_eq!(options, ["allow_http"]);
    }

    #[test]
    fn an_endpoint_with_the_bucket_in_its_path_is_refused() {
        let endpoint = |address: &str| format!("{{endpoint: '{address}'}}");
        let fault = "must be the address of the server without the";
        for (address, uri, expected) in [
            (
                "http://id:hunter2@127.0.0.1:8333/my-bucket/",
                "s3://my-bucket/db",
                "bucket `my-bucket`, which the address of the index names: `http://127.0.0.1:8333`",
            ),
            (
                "http://127.0.0.1:10000/me/mine",
                "az://mine/db",
                "container `mine`, which the address of the index names: `http://127.0.0.1:10000/me`",
            ),
        ] {
            assert_eq!(
                message(&endpoint(address), uri, |_| None),
                format!("evaluations.yaml:1: bad value for `store.endpoint`: {fault} {expected}")
            );
        }
        let variable = |asked: &str| {
            (asked == "AWS_ENDPOINT_URL").then(|| "http://127.0.0.1:1/bucket".to_owned())
        };
        let message = message("{}", "s3://bucket/db", variable);
        let expected =
            format!("the environment variable `AWS_ENDPOINT_URL` {fault} bucket `bucket`");
        assert!(message.contains(&expected), "{message}");
    }

    #[test]
    fn an_endpoint_with_another_path_is_used() {
        let account = |asked: &str| {
            (asked == "AZURE_STORAGE_ACCOUNT_NAME").then(|| "devstoreaccount1".to_owned())
        };
        let hosted =
            |asked: &str| (asked == "AWS_VIRTUAL_HOSTED_STYLE_REQUEST").then(|| "true".to_owned());
        let nothing = |_: &str| None;
        let azurite = "endpoint: 'http://127.0.0.1:10000/devstoreaccount1'";
        let cases: [(&str, &str, &Environment); 8] = [
            (
                "endpoint: 'https://host/storage/v1/s3'",
                "s3://bucket/db",
                &nothing,
            ),
            // The path of the server may end like the name of the bucket.
            (
                "endpoint: 'https://host/storage/v1/s3'",
                "s3://s3/db",
                &nothing,
            ),
            ("endpoint: 'https://bucket'", "s3://bucket/db", &nothing),
            (
                "endpoint: 'https://bucket.host'",
                "s3://bucket/db",
                &nothing,
            ),
            // With a host of the bucket, the engine takes the endpoint as the address of the bucket.
            (
                "endpoint: 'https://host/bucket', path_style: false",
                "s3://bucket/db",
                &nothing,
            ),
            ("endpoint: 'https://host/bucket'", "s3://bucket/db", &hosted),
            (azurite, "az://container/db", &account),
            // A container may have the name of its account.
            (azurite, "az://devstoreaccount1/db", &account),
        ];
        for (text, uri, variable) in cases {
            let accepted = of(&resolved(&format!("{{{text}}}")), uri, variable);
            assert!(accepted.is_ok(), "{text}: {accepted:?}");
        }
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
        let message = message("{}", "s3://bucket/db", variable);
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
            assert_eq!(message(text, "s3://bucket/db", |_| None), expected);
        }
    }
}
