//! The kinds of object stores: what the engine, the environment and messages call the parts of each.

use evals_index::StoreFault;
use evals_settings::StoreSection;

/// What the user may expect of a command that failed because of the store. A command such as `doctor` has nothing to resume.
const UNFINISHED: &str = "an unfinished run or index resumes";

/// A kind of object store.
#[derive(Debug)]
pub struct StoreKind {
    /// The start of its addresses, without `://`.
    pub(super) scheme: &'static str,
    /// The keys of the section `store` that it takes, beside the times, each with the engine's option.
    options: &'static [(&'static str, &'static str)],
    /// The environment variables with the address of a server. The first one that is set counts.
    pub(super) endpoint_variables: &'static [&'static str],
    /// The variables and the keys of the section `store` with credentials, where the engine repeats requests to the machine's service for
    /// credentials if none of them is set. Empty where it does not repeat them.
    machine_unless: (&'static [&'static str], &'static [&'static str]),
    /// The variables with a key, each with the key of the section `store` that replaces it.
    key_variables: &'static [(&'static str, &'static str)],
    /// The name of what an address names first.
    pub(super) container: &'static str,
    /// How credentials are given.
    credentials: &'static str,
    /// Where the credentials are that a server refused.
    keys: &'static str,
    /// Where it is written which server is asked, and as whom.
    whereabouts: &'static str,
    /// Where the address of the server is written.
    endpoint: &'static str,
}

/// Every kind of object store.
pub(super) const KINDS: [StoreKind; 3] = [
    StoreKind {
        scheme: "s3",
        options: &[
            ("endpoint", "aws_endpoint_url_s3"),
            ("region", "aws_region"),
            ("path_style", "aws_virtual_hosted_style_request"),
            ("access_key_env", "aws_access_key_id"),
            ("secret_key_env", "aws_secret_access_key"),
            ("token_env", "aws_session_token"),
        ],
        endpoint_variables: &["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"],
        machine_unless: (&[], &[]),
        key_variables: &[
            ("AWS_ACCESS_KEY_ID", "access_key_env"),
            ("AWS_SECRET_ACCESS_KEY", "secret_key_env"),
        ],
        container: "bucket",
        credentials: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or name other variables with \
                      `store.access_key_env` and `store.secret_key_env`",
        keys: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or in the variables that `store.access_key_env`, \
               `store.secret_key_env` and `store.token_env` name",
        whereabouts: "`store.endpoint` and `store.region`, or AWS_ENDPOINT_URL and AWS_REGION",
        endpoint: "`store.endpoint` or AWS_ENDPOINT_URL",
    },
    StoreKind {
        scheme: "az",
        options: &[
            ("endpoint", "azure_endpoint"),
            ("account", "azure_storage_account_name"),
            ("secret_key_env", "azure_storage_account_key"),
            ("token_env", "azure_storage_sas_token"),
        ],
        endpoint_variables: &["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"],
        machine_unless: (
            &[
                "AZURE_STORAGE_ACCOUNT_KEY",
                "AZURE_STORAGE_ACCESS_KEY",
                "AZURE_STORAGE_SAS_TOKEN",
                "AZURE_STORAGE_SAS_KEY",
                "AZURE_STORAGE_TOKEN",
            ],
            &["secret_key_env", "token_env"],
        ),
        key_variables: &[
            ("AZURE_STORAGE_ACCOUNT_KEY", "secret_key_env"),
            ("AZURE_STORAGE_SAS_TOKEN", "token_env"),
        ],
        container: "container",
        credentials: "set AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN; or name the account with \
                      `store.account`, and a different variable with `store.secret_key_env` or `store.token_env`",
        keys: "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN, or in the variable that `store.secret_key_env` or `store.token_env` \
               names",
        whereabouts: "`store.endpoint` and `store.account`, or AZURE_STORAGE_ENDPOINT and AZURE_STORAGE_ACCOUNT_NAME",
        endpoint: "`store.endpoint` or AZURE_STORAGE_ENDPOINT",
    },
    StoreKind {
        scheme: "gs",
        options: &[
            ("endpoint", "google_base_url"),
            ("credentials_file", "google_service_account"),
        ],
        endpoint_variables: &["GOOGLE_BASE_URL"],
        machine_unless: (
            &[
                "GOOGLE_APPLICATION_CREDENTIALS",
                "GOOGLE_SERVICE_ACCOUNT",
                "GOOGLE_SERVICE_ACCOUNT_PATH",
                "GOOGLE_SERVICE_ACCOUNT_KEY",
            ],
            &["credentials_file"],
        ),
        key_variables: &[],
        container: "bucket",
        credentials: "set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT to the path of a file with credentials, or name the file \
                      with `store.credentials_file`",
        keys: "the file that GOOGLE_APPLICATION_CREDENTIALS, GOOGLE_SERVICE_ACCOUNT or `store.credentials_file` names",
        whereabouts: "`store.endpoint` or GOOGLE_BASE_URL",
        endpoint: "`store.endpoint` or GOOGLE_BASE_URL",
    },
];

impl StoreKind {
    /// The kind of the store at `uri`; `None` for a folder and for memory.
    pub fn of(uri: &str) -> Option<&'static Self> {
        let (scheme, _) = uri.split_once("://")?;
        KINDS.iter().find(|kind| kind.scheme == scheme)
    }

    /// The engine's option for a key of the section `store`; `None` if stores of this kind do not take the key.
    pub(super) fn option(&self, key: &str) -> Option<&'static str> {
        let mut options = self.options.iter();
        options.find_map(|(name, option)| (*name == key).then_some(*option))
    }

    /// A variable with a key that is set to nothing, as CI passes secrets that it does not have. The engine would sign requests with it.
    pub(super) fn empty_key(
        &self,
        store: &StoreSection,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Option<&'static str> {
        let is_replaced = |key: &str| store.place().any(|(given, _)| given == key);
        let mut variables = self.key_variables.iter();
        let (name, _) = variables.find(|(name, key)| {
            !is_replaced(key) && variable(name).is_some_and(|value| value.is_empty())
        })?;
        Some(name)
    }

    /// Who may have failed a request that is repeated, for notes.
    pub(super) fn server(
        &self,
        store: &StoreSection,
        variable: impl Fn(&str) -> Option<String>,
    ) -> &'static str {
        let (variables, keys) = self.machine_unless;
        let has_variable = variables.iter().any(|name| variable(name).is_some());
        let has_key = || store.place().any(|(key, _)| keys.contains(&key));
        if variables.is_empty() || has_variable || has_key() {
            "the object store"
        } else {
            "the object store, or the service that gives this machine its credentials,"
        }
    }

    /// How to mend a fault of a store, which is of this kind.
    pub fn hint(&self, fault: &StoreFault) -> Option<String> {
        Some(match fault {
            StoreFault::NoCredentials => self.credentials.to_owned(),
            StoreFault::UnusableCredentials { .. } => {
                format!("check the credentials in {}", self.keys)
            }
            StoreFault::Denied => format!(
                "check the keys in {}; they need the rights to list, read, write and delete objects below the prefix",
                self.keys
            ),
            StoreFault::NoBucket => format!(
                "check the name after `{}://`, or create the {}: this program creates none",
                self.scheme, self.container
            ),
            StoreFault::Misunderstood => format!("check {}", self.whereabouts),
            StoreFault::Unreachable => format!(
                "check the network and {}, then run the same command again; {UNFINISHED}",
                self.endpoint
            ),
            StoreFault::Interrupted | StoreFault::Unavailable { .. } => {
                format!(
                    "run the same command again later; {UNFINISHED}; `store.retry_for` sets how long requests are repeated"
                )
            }
            StoreFault::OtherWriter => {
                "wait until the other process is done, and run the same command again".to_owned()
            }
            _ => return None,
        })
    }
}

/// The schemes of the stores that take a key of the section `store`: `` `s3://` and `az://` ``.
pub(super) fn schemes_with(key: &str) -> String {
    let kinds = KINDS.iter().filter(|kind| kind.option(key).is_some());
    let schemes: Vec<_> = kinds.map(|kind| format!("`{}://`", kind.scheme)).collect();
    schemes.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAULTS: [StoreFault; 5] = [
        StoreFault::NoCredentials,
        StoreFault::Denied,
        StoreFault::NoBucket,
        StoreFault::Misunderstood,
        StoreFault::Unreachable,
    ];

    #[test]
    fn a_hint_names_variables_and_settings_of_its_kind_alone() {
        for (uri, own) in [
            ("s3://bucket/db", "AWS_"),
            ("az://bucket/db", "AZURE_"),
            ("gs://bucket/db", "GOOGLE_"),
        ] {
            let kind = StoreKind::of(uri).unwrap();
            for fault in FAULTS {
                let hint = kind.hint(&fault).unwrap();
                let is_named = hint.contains(own);
                assert!(is_named || fault == StoreFault::NoBucket, "{hint}");
                for other in ["AWS_", "AZURE_", "GOOGLE_"] {
                    assert!(other == own || !hint.contains(other), "{uri}: {hint}");
                }
                for (start, _) in hint.match_indices("`store.") {
                    let key = &hint[start + "`store.".len()..];
                    let key = &key[..key.find('`').unwrap()];
                    assert!(kind.option(key).is_some(), "{uri}: {hint}");
                }
            }
        }
        assert!(StoreKind::of("/data/db").is_none());
        assert!(StoreKind::of("memory://").is_none());
    }

    #[test]
    fn the_schemes_of_a_key_are_listed() {
        assert_eq!(schemes_with("account"), "`az://`");
        assert_eq!(schemes_with("token_env"), "`s3://` and `az://`");
    }
}
