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
}
