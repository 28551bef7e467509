//! Credentials, and their removal from texts.
//!
//! A server may repeat the credentials that it was sent anywhere: in a reply, in an error, in the reason for which a reply ended. So
//! they are removed from every text of a server as soon as it arrives, before it is stored, judged or shown.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use evals_messages::credential::is_credential;
use evals_messages::secrets::Secrets;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::settings::ServerSettings;

/// The credentials of a server: its key, and the part of its address before the `@`.
pub(super) fn of(server: &ServerSettings) -> Secrets {
    let mut secrets = Secrets::default();
    if let Some(key) = &server.api_key {
        secrets.add(key.expose());
    }
    let (user, password) = server.base_url.userinfo();
    let plain = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    // A user name is not secret, but without a password it is a token.
    let secret = match (user, password) {
        ("", None) => return secrets,
        (user, None) => user,
        (_, Some(password)) => password,
    };
    secrets.add(secret);
    secrets.add(&plain(secret));
    let both = format!("{}:{}", plain(user), plain(password.unwrap_or_default()));
    for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE] {
        secrets.add(&engine.encode(&both));
    }
    secrets
}

/// Adds the credentials among the extra fields of a request.
pub(super) fn add_fields(secrets: &mut Secrets, fields: &Map<String, Value>) {
    for (name, value) in fields {
        add(secrets, name, value, false);
    }
}

fn add(secrets: &mut Secrets, name: &str, value: &Value, secret: bool) {
    let secret = secret || is_credential(name);
    match value {
        Value::String(text) if secret => {
            // A header's value has its scheme in front.
            let bare = text.split_once(' ').map_or(text.as_str(), |(_, rest)| rest);
            secrets.add(text);
            secrets.add(bare);
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                add(secrets, name, value, secret);
            }
        }
        Value::Array(values) => {
            for value in values {
                add(secrets, name, value, secret);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use evals_messages::credential::REDACTED;
    use serde_json::json;

    use super::*;
    use crate::settings::{ApiKey, BaseUrl};

    fn secrets(url: &str, key: Option<&str>) -> Secrets {
        let mut server = ServerSettings::new(BaseUrl::parse(url).unwrap());
        server.api_key = key.map(|key| ApiKey::new(key, "KEY").unwrap());
        of(&server)
    }

    #[test]
    fn a_password_is_found_in_every_form_that_was_sent() {
        let secrets = secrets("http://me:p%40ss%3Aword@host/", None);
        // `me:p@ss:word`, as it is sent.
        for form in ["p%40ss%3Aword", "p@ss:word", "Basic bWU6cEBzczp3b3Jk"] {
            let redacted = secrets.redact(&format!("you sent {form}!"));
            assert!(redacted.contains(REDACTED), "{redacted}");
            assert!(
                !redacted.contains(form.trim_start_matches("Basic ")),
                "{redacted}"
            );
        }
        assert_eq!(secrets.redact("hello me"), "hello me");
    }

    #[test]
    fn an_address_with_a_name_alone_holds_a_token() {
        let secrets = secrets("http://tok%2Fen-123@host/", None);
        assert_eq!(
            secrets.redact("tok/en-123 tok%2Fen-123 dG9rL2VuLTEyMzo="),
            "[redacted] [redacted] [redacted]"
        );
    }

    #[test]
    fn a_key_is_found_percent_encoded() {
        let secrets = secrets("http://host", Some("sk-Ab/cd+ef=="));
        for form in [
            "sk-Ab/cd+ef==",
            "sk-Ab%2Fcd%2Bef%3D%3D",
            "sk-Ab%2fcd%2bef%3d%3d",
            "sk%2DAb%2Fcd%2Bef%3D%3D",
        ] {
            assert_eq!(
                secrets.redact(&format!("GET /v1?key={form}&x=1")),
                "GET /v1?key=[redacted]&x=1"
            );
        }
    }

    #[test]
    fn placeholders_are_left_where_they_stand() {
        for placeholder in ["x", "none", "EMPTY", "ollama", "1234567"] {
            let text = format!("an answer with {placeholder} in it");
            assert_eq!(
                secrets("http://host", Some(placeholder)).redact(&text),
                text
            );
        }
        let text = secrets("http://host", Some("12345678")).redact("it is 12345678.");
        assert_eq!(text, "it is [redacted].");
    }

    #[test]
    fn a_secret_that_holds_another_goes_whole() {
        let mut secrets = secrets("http://host", Some("abcdefgh-ijkl"));
        let fields = json!({"headers": {"X-Api-Key": "abcdefgh", "Authorization": "Bearer zzzzzzzz-1"}, "top_p": 1});
        add_fields(&mut secrets, fields.as_object().unwrap());
        assert_eq!(
            secrets.redact("abcdefgh-ijkl abcdefgh zzzzzzzz-1"),
            "[redacted] [redacted] [redacted]"
        );
        assert!(!format!("{secrets:?}").contains("abcdefgh"));
    }
}
