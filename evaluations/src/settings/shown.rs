//! Addresses as settings are shown: without the user name and the password that they are reached with.

use evals_models::http::BaseUrl;
use serde::Serializer;

/// Writes an address for `config show` and for a run's manifest.
#[expect(clippy::ref_option, reason = "the signature is serde's")]
pub(super) fn serialize<S: Serializer>(
    address: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => serializer.serialize_some(&without_credentials(address)),
        None => serializer.serialize_none(),
    }
}

/// A command line as manifests hold it: an address that an assignment sets has lost its user name and its password.
pub(crate) fn command_line() -> Vec<String> {
    std::env::args().map(|word| argument(&word)).collect()
}

fn argument(word: &str) -> String {
    match word.split_once('=') {
        Some((key, address)) if key.ends_with("base_url") => {
            format!("{key}={}", without_credentials(address))
        }
        _ => word.to_owned(),
    }
}

/// An address without user name and password, also where it cannot be read as one.
fn without_credentials(address: &str) -> String {
    let Some((_, after)) = address.rsplit_once('@') else {
        return address.to_owned();
    };
    match BaseUrl::parse(address) {
        Ok(url) => url.to_string(),
        Err(_) => after.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_password() {
        let cases = [
            ("http://localhost:11434/", "http://localhost:11434/"),
            (
                "https://me:hunter2@models.example/v1",
                "https://models.example/v1",
            ),
            ("https://token@models.example", "https://models.example"),
            ("https://models.example/@me", "https://models.example/@me"),
            ("https://me:hunter2@:99999", ":99999"),
            ("me:hunter2@models.example", "models.example"),
        ];
        for (address, shown) in cases {
            assert_eq!(without_credentials(address), shown);
        }
    }

    #[test]
    fn a_command_line_is_shown_without_passwords() {
        let assigned = "providers.ollama.base_url=http://me:hunter2@models.example/";
        let shown = "providers.ollama.base_url=http://models.example";
        assert_eq!(argument(assigned), shown);
        assert_eq!(argument("--set"), "--set");
        assert_eq!(argument("search.limit=5"), "search.limit=5");
    }
}
