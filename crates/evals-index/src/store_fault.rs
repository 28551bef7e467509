//! Why an object store failed, in plain words.

use std::error::Error;
use std::fmt;

use thiserror::Error as ThisError;

/// The reason of a refused commit: another process wrote to the table after this one opened it.
#[derive(Debug, ThisError)]
#[error("another process wrote to the index at the same time")]
pub(crate) struct OtherWriter;

/// A failure of an object store. Each kind has another remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFault {
    /// The engine found no credentials.
    NoCredentials,
    /// There are credentials, and they cannot be read.
    UnusableCredentials {
        /// The defect, without the credentials.
        reason: String,
    },
    /// The store knows the caller and refuses, or the keys or the session token are wrong: 403 or 401, and at AWS 400 for a token.
    Denied,
    /// The bucket or container does not exist.
    NoBucket,
    /// The address speaks another protocol, or the region is another one: a redirect or a request that makes no sense to the server:
    /// 400, 501, or another refusal than those above.
    Misunderstood,
    /// The server accepts no connection.
    Unreachable,
    /// No answer came in time, or the connection broke.
    Interrupted,
    /// The store answered that it cannot serve the request now.
    Unavailable {
        /// The status: 429, or 5xx other than 501 and 505.
        status: u16,
    },
    /// Another process wrote to the same index.
    OtherWriter,
}

impl StoreFault {
    /// The fault behind an error of the engine; `None` if the error is not one of an object store.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut text = String::new();
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<OtherWriter>() {
                return Some(Self::OtherWriter);
            }
            // The text of the engine's errors contains their causes. The text of other errors does not.
            let message = error.to_string();
            if !text.contains(&message) {
                text.push_str(&message);
                text.push('\n');
            }
            cause = error.source();
        }
        Self::in_text(&text)
    }

    fn in_text(text: &str) -> Option<Self> {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        // The service that gives a machine its credentials answers with statuses, too.
        if has(&NO_CREDENTIALS) {
            return Some(Self::NoCredentials);
        }
        if let Some(reason) = defect_of_credentials(text) {
            return Some(Self::UnusableCredentials { reason });
        }
        if has(&[
            "NoSuchBucket",
            "ContainerNotFound",
            "ContainerBeingDeleted",
            "The specified bucket does not exist",
        ]) {
            return Some(Self::NoBucket);
        }
        // AWS answers these with 400.
        if has(&["<Code>ExpiredToken</Code>", "<Code>InvalidToken</Code>"]) {
            return Some(Self::Denied);
        }
        let is_request = has(&[
            "Error performing",
            "error sending request",
            "HTTP error",
            "dispatch failure",
        ]);
        Some(match status(text) {
            Some(401 | 403) => Self::Denied,
            // The server does not implement the request, or this version of HTTP: it never will.
            Some(300..=400 | 501 | 505) => Self::Misunderstood,
            Some(status) if status == 429 || status >= 500 => Self::Unavailable { status },
            // The server speaks another protocol, or the address has another path. 408 means that it waited for too long, and 409 and 412
            // that an object exists already or has changed.
            Some(status) if is_request && ![408, 409, 412].contains(&status) => Self::Misunderstood,
            _ if has(&["without LOCATION"]) => Self::Misunderstood,
            _ if !is_request => return None,
            _ if has(&[
                "tcp connect",
                "client error (Connect)",
                "dns error",
                "Connection refused",
            ]) =>
            {
                Self::Unreachable
            }
            _ => Self::Interrupted,
        })
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unreachable | Self::Interrupted | Self::Unavailable { .. }
        )
    }
}

impl fmt::Display for StoreFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoCredentials => "there are no credentials for the object store",
            Self::UnusableCredentials { reason } => {
                return write!(formatter, "the credentials for the object store cannot be used: {reason}");
            }
            Self::Denied => "the object store denied access, because the keys are wrong, have expired or may not do this",
            Self::NoBucket => "the object store has no such bucket or container",
            Self::Misunderstood => "the object store did not understand the request; the endpoint or the region may be wrong",
            Self::Unreachable => "the object store cannot be reached",
            Self::Interrupted => "the object store did not answer in time, or broke the connection off",
            Self::Unavailable { status } => {
                return write!(formatter, "the object store answered {status}, which means that it cannot serve the request now");
            }
            Self::OtherWriter => {
                "another process wrote to this index at the same time, and this process stopped before it wrote more"
            }
        })
    }
}

/// Words of messages about credentials that could not be found. The last ones are from the addresses of the services that give a machine
/// its credentials, at AWS, Google and Azure: the engine asks them if nothing else is set.
const NO_CREDENTIALS: [&str; 9] = [
    "credentials provider",
    "CredentialsNotLoaded",
    "no providers in chain provided credentials",
    "Failed to get AWS credentials",
    "no Azure account name",
    "Account must be specified",
    "169.254.169.254",
    "/computeMetadata/",
    "resource=https%3A%2F%2Fstorage.azure.com",
];

/// What is wrong with credentials that the engine could not read. Its own words might quote a secret.
fn defect_of_credentials(text: &str) -> Option<String> {
    if let Some((_, rest)) = text.split_once("Unable to open service account file from ") {
        let line = rest.lines().next().unwrap_or_default();
        if line.contains(['{', '"']) {
            // The value may hold a private key.
            return Some(
                "the path of the key file is JSON; set GOOGLE_SERVICE_ACCOUNT_KEY to the JSON, or give the path of a file"
                    .to_owned(),
            );
        }
        let (path, cause) = line.rsplit_once(": ").unwrap_or((line, "it is not there"));
        return Some(format!("cannot open `{path}`: {cause}"));
    }
    let defects = [
        (
            "Unable to decode service account file",
            "this is not the JSON of a Google service account or user",
        ),
        ("Invalid Access Key", "the key of the account is not base64"),
        (
            "Failed parsing an SAS key",
            "the SAS token has no parameters",
        ),
        (
            "Missing component in SAS query pair",
            "a parameter of the SAS token has no value",
        ),
    ];
    let defect = defects.iter().find(|(words, _)| text.contains(words));
    defect.map(|(_, defect)| (*defect).to_owned())
}

/// The status of an answer that a message quotes.
fn status(text: &str) -> Option<u16> {
    let places = text.match_indices("status code: ");
    let digits = places.filter_map(|(at, words)| text.get(at + words.len()..at + words.len() + 3));
    digits.filter_map(|digits| digits.parse().ok()).last()
}

/// The code and message that a store gave in XML, such as `SlowDown: Please reduce your request rate`.
pub(crate) fn quoted_reason(text: &str) -> Option<String> {
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (content, _) = rest.split_once(&format!("</{name}>"))?;
        let line = content.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    };
    let code = element("Code")?;
    Some(match element("Message") {
        Some(message) => format!("{code}: {message}"),
        None => code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unusable(reason: &str) -> StoreFault {
        StoreFault::UnusableCredentials {
            reason: reason.to_owned(),
        }
    }

    /// Messages as the engine wrote them in November 2026, with the addresses shortened.
    #[test]
    fn messages_of_the_engine_have_their_faults() {
        for (text, expected) in [
            (
                "Error performing GET http://host/bucket in 2ms - Server returned non-2xx status code: 403 Forbidden: <Code>InvalidAccessKeyId</Code>",
                Some(StoreFault::Denied),
            ),
            (
                "Error performing GET http://host/bucket in 2ms - Server returned non-2xx status code: 400 Bad Request: <Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>",
                Some(StoreFault::Denied),
            ),
            (
                "Server returned non-2xx status code: 400 Bad Request: <Error><Code>InvalidToken</Code></Error>",
                Some(StoreFault::Denied),
            ),
            (
                "Server returned non-2xx status code: 400 Bad Request: <Error><Code>InvalidRequest</Code></Error>",
                Some(StoreFault::Misunderstood),
            ),
            (
                "Server returned non-2xx status code: 404 Not Found: <Error><Code>NoSuchBucket</Code></Error>",
                Some(StoreFault::NoBucket),
            ),
            (
                "Error performing GET http://host/bucket/bucket in 2ms - Server returned non-2xx status code: 404 Not Found: <Error><Code>NoSuchKey</Code></Error>",
                Some(StoreFault::Misunderstood),
            ),
            (
                r#"Unable to open service account file from {"type": "service_account", "private_key": "-----BEGIN"}: File name too long"#,
                Some(unusable(
                    "the path of the key file is JSON; set GOOGLE_SERVICE_ACCOUNT_KEY to the JSON, or give the path of a file",
                )),
            ),
            (
                "Error performing GET http://host/bucket in 2ms - Server returned non-2xx status code: 405 Method Not Allowed: ",
                Some(StoreFault::Misunderstood),
            ),
            (
                "Error performing PUT http://host/o in 2ms - Server returned non-2xx status code: 411 Length Required: ",
                Some(StoreFault::Misunderstood),
            ),
            (
                "Error performing PUT http://host/o in 2ms - Server returned non-2xx status code: 501 Not Implemented: ",
                Some(StoreFault::Misunderstood),
            ),
            (
                "Error performing GET http://host/bucket in 2ms - Server returned non-2xx status code: 408 Request Timeout: ",
                Some(StoreFault::Interrupted),
            ),
            (
                "Error performing PUT http://host/o in 60s, after 31 retries, max_retries: 10000, retry_timeout: 60s - Server returned non-2xx status code: 503 Service Unavailable: ",
                Some(StoreFault::Unavailable { status: 503 }),
            ),
            (
                "Error performing GET http://127.0.0.1:1/ - HTTP error: error sending request\nclient error (Connect)\ntcp connect error\nConnection refused (os error 111)",
                Some(StoreFault::Unreachable),
            ),
            (
                "Error performing GET http://h/ - HTTP error: error sending request\noperation timed out",
                Some(StoreFault::Interrupted),
            ),
            (
                "Error performing token request: Error performing GET http://127.0.0.1:1/computeMetadata/v1/instance/service-accounts/default/token?audience=x in 2ms - Server returned non-2xx status code: 403 Forbidden: ",
                Some(StoreFault::NoCredentials),
            ),
            (
                "Error performing GET http://127.0.0.1:1/msi?api-version=2019-08-01&resource=https%3A%2F%2Fstorage.azure.com in 1s - HTTP error: error sending request",
                Some(StoreFault::NoCredentials),
            ),
            (
                "Generic GCS error: GCP credential error: Unable to open service account file from /keys/a: b.json: No such file or directory (os error 2)",
                Some(unusable(
                    "cannot open `/keys/a: b.json`: No such file or directory (os error 2)",
                )),
            ),
            (
                "Generic MicrosoftAzure error: Invalid Access Key: Invalid symbol 45, offset 3.",
                Some(unusable("the key of the account is not base64")),
            ),
            ("No space left on device (os error 28)", None),
            ("Query error: Full-text index not found", None),
        ] {
            assert_eq!(StoreFault::in_text(text), expected, "{text}");
        }
    }

    #[test]
    fn the_reason_of_a_store_is_quoted() {
        let body = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.\nRequestId:1</Message></Error>";
        assert_eq!(
            quoted_reason(body).unwrap(),
            "SlowDown: Please reduce your request rate."
        );
        assert_eq!(quoted_reason("no XML"), None);
    }
}
