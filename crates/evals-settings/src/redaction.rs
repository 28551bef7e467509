//! Removes credentials from addresses, settings and command lines before they reach files or messages.

use std::borrow::Cow;
use std::path::Path;

use evals_messages::credential::{REDACTED, is_credential};
use evals_messages::{secrets, visible};
use evals_models::redacted_fields;
use evals_yaml::Tree;
use serde_json::Value;

/// An address without user name and password, even if it is not a valid address.
pub fn address(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, address),
    };
    let Some((before, after)) = rest.rsplit_once('@') else {
        return address.to_owned();
    };
    // User, password, host and port come before the first slash, but a password may contain slashes.
    let authority = rest.split('/').next().unwrap_or_default();
    let shown = match authority.rsplit_once('@') {
        _ if has_password(before) => after,
        Some((_, host)) => &rest[authority.len() - host.len()..],
        None if scheme.is_none() => after,
        None => return address.to_owned(),
    };
    // Addresses of servers are stored without a trailing slash.
    match scheme {
        Some(scheme @ ("http" | "https")) => format!("{scheme}://{}", shown.trim_end_matches('/')),
        Some(scheme) => format!("{scheme}://{shown}"),
        None => shown.to_owned(),
    }
}

/// Whether the text before an `@` is a name with a password, and not a host with a port.
fn has_password(before: &str) -> bool {
    let is_bracketed = before.starts_with('[');
    !is_bracketed
        && before.split_once(':').is_some_and(|(_, after)| {
            let port = after.split('/').next().unwrap_or_default();
            port.is_empty()
                || !port.bytes().all(|byte| byte.is_ascii_digit())
                || !after.contains('/')
        })
}

/// A text with user names and passwords removed from its addresses.
pub fn prose(text: &str) -> Cow<'_, str> {
    if !text.contains("://") || !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let is_end = |letter: char| letter.is_whitespace() || "`'\"<>()[]{}".contains(letter);
    let mut shown = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_end) {
        let end = piece.trim_end_matches(is_end).len();
        let (word, separator) = piece.split_at(end);
        match word.find("://") {
            Some(at) if word[at..].contains('@') => {
                let start = word[..at]
                    .rfind(|letter: char| {
                        !letter.is_ascii_alphanumeric() && !"+-.".contains(letter)
                    })
                    .map_or(0, |before| before + 1);
                shown.push_str(&word[..start]);
                shown.push_str(&address(&word[start..]));
            }
            _ => shown.push_str(word),
        }
        shown.push_str(separator);
    }
    Cow::Owned(shown)
}

/// Makes a text from outside safe to print: escapes control sequences, which servers, datasets and file names may bring into a message, and
/// removes credentials and passwords in addresses.
pub fn printable(text: &str) -> String {
    visible::text(&prose(&secrets::redacted(text)))
}

/// Hides the credentials of the environment from all messages: a server may repeat one, also to a command that does not know that the
/// storage engine sent it.
pub fn hide_environment() {
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(text)) = (name.to_str(), value.to_str()) else {
            continue;
        };
        // Variables with a path have such names, too: `PWD`, `SSH_AUTH_SOCK`, and `GOOGLE_APPLICATION_CREDENTIALS`, whose file may be
        // missing. An encoded key may begin with a slash, but has no dot.
        let path = Path::new(text);
        let is_path = path.is_absolute() && (path.exists() || path.extension().is_some());
        if is_credential(name) && !is_path {
            hide(text);
        }
    }
}

/// Hides a credential from all messages, and the signature in it if it is a SAS token of Azure.
pub fn hide(credential: &str) {
    secrets::hide(credential);
    let mut parameters = credential.split('&');
    if let Some(signature) = parameters.find_map(|pair| pair.strip_prefix("sig=")) {
        secrets::hide(signature);
    }
}

/// The command line for manifests, without credentials.
pub fn command_line() -> Vec<String> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.map(|word| argument(&word)).collect()
}

/// A word of the command line without credentials in addresses and assignments.
pub fn argument(word: &str) -> String {
    match word.split_once('=') {
        Some((key, value)) if key.starts_with("--") && value.contains('=') => {
            format!("{key}={}", argument(value))
        }
        Some((key, value)) => format!("{key}={}", assigned(key, value)),
        None => shown(word),
    }
}

fn assigned(key: &str, text: &str) -> String {
    if key.rsplit('.').next().is_some_and(is_credential) && !text.is_empty() {
        return REDACTED.to_owned();
    }
    match Tree::parse(text).map(|tree| tree.to_value()) {
        Ok(written @ (Value::Object(_) | Value::Array(_))) => {
            let redacted = without(&written);
            if redacted == written {
                text.to_owned()
            } else {
                redacted.to_string()
            }
        }
        Err(_) if names_credential(text) => REDACTED.to_owned(),
        Ok(_) | Err(_) => shown(text),
    }
}

/// A value without its credentials.
fn without(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = redacted_fields(fields);
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), without(value)));
            Value::Object(fields.collect())
        }
        Value::Array(values) => values.iter().map(without).collect(),
        Value::String(text) => shown(text).into(),
        other => other.clone(),
    }
}

fn shown(text: &str) -> String {
    if text.contains("://") || is_userinfo(text) {
        address(text)
    } else {
        text.to_owned()
    }
}

/// Whether a text starts like an address with a password and without a scheme: `me:secret@host`.
fn is_userinfo(text: &str) -> bool {
    text.split_once('@')
        .is_some_and(|(before, _)| before.contains(':') && !before.contains(char::is_whitespace))
}

/// Whether an unparsable text contains the name of a credential.
fn names_credential(text: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    text.split(|letter| !is_part(letter)).any(is_credential)
}

/// The path of a setting for messages. YAML without a blank after the colon makes the value part of the key: `{api_key:sk-…}`.
pub fn key(path: &str) -> String {
    match path.split_once(':') {
        Some((key, _)) if key.rsplit('.').next().is_some_and(is_credential) => format!("{key}:…"),
        _ => {
            let parts: Vec<String> = path.split('.').map(quoted).collect();
            parts.join(".")
        }
    }
}

/// Whether a text looks like a key rather than the name of a variable: it has the prefix of a well-known provider, or it is long
/// and mixes digits with letters of both cases.
pub fn looks_like_key(text: &str) -> bool {
    const PREFIXES: [&str; 12] = [
        "sk-", "sk_", "gsk_", "hf_", "AIza", "AKIA", "ghp_", "jina_", "pplx-", "xai-", "xoxb-",
        "ze_",
    ];
    let any = |test: fn(&char) -> bool| text.chars().any(|letter| test(&letter));
    let mixed = text.len() >= 20
        && any(char::is_ascii_digit)
        && any(char::is_ascii_lowercase)
        && any(char::is_ascii_uppercase);
    // A variable may be called `hf_token`.
    let begins = PREFIXES.iter().any(|prefix| text.starts_with(prefix))
        && text.len() >= 8
        && any(char::is_ascii_digit);
    (begins || mixed)
        && !text.contains(|letter: char| letter.is_whitespace() || "/.:".contains(letter))
}

/// A message without quoted values that look like keys.
pub fn quoted(message: &str) -> String {
    let is_end = |letter: char| letter.is_whitespace() || "`'\",".contains(letter);
    let pieces = message.split_inclusive(is_end).map(|piece| {
        let word = piece.trim_end_matches(is_end);
        if looks_like_key(word) {
            format!("{REDACTED}{}", &piece[word.len()..])
        } else {
            piece.to_owned()
        }
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_user_and_password() {
        for (written, shown) in [
            ("http://localhost:11434/", "http://localhost:11434/"),
            (
                "https://me:hunter2@models.example/v1",
                "https://models.example/v1",
            ),
            (
                "https://me:p%40ss@models.example/v1",
                "https://models.example/v1",
            ),
            ("https://token@models.example", "https://models.example"),
            ("https://models.example/@me", "https://models.example/@me"),
            ("https://me:hunter2@:99999", "https://:99999"),
            ("me:hunter2@models.example", "models.example"),
            ("s3://bucket/folder", "s3://bucket/folder"),
            ("s3://bucket/@me/folder", "s3://bucket/@me/folder"),
            ("s3://host:9000/@me", "s3://host:9000/@me"),
            ("s3://AKIA1:se/c+r@et@bucket/folder", "s3://bucket/folder"),
            ("az://token@container/folder", "az://container/folder"),
            ("s3://me:123@bucket", "s3://bucket"),
            ("./data@home", "./data@home"),
            ("http://[::1]:80/@me", "http://[::1]:80/@me"),
            ("http://me:pw@[::1]:80/v1/", "http://[::1]:80/v1"),
        ] {
            let redacted = if written.starts_with('.') {
                super::shown(written)
            } else {
                address(written)
            };
            assert_eq!(redacted, shown);
        }
    }

    #[test]
    fn a_message_loses_only_its_passwords() {
        for (written, shown) in [
            (
                "cannot open `s3://id:secret@bucket/x`: no",
                "cannot open `s3://bucket/x`: no",
            ),
            (
                "(url=https://me:pw@host/v1)\nnext",
                "(url=https://host/v1)\nnext",
            ),
            (
                "mail me@host about http://host",
                "mail me@host about http://host",
            ),
            ("two http://a:b@c, http://d:e@f.", "two http://c, http://f."),
        ] {
            assert_eq!(prose(written), shown);
        }
    }

    #[test]
    fn a_command_line_is_shown_without_credentials() {
        for (written, shown) in [
            ("--set", "--set"),
            ("search.limit=5", "search.limit=5"),
            (
                "providers.ollama.base_url=http://me:hunter2@models.example/",
                "providers.ollama.base_url=http://models.example",
            ),
            (
                "providers.openai.api_key=sk-1",
                "providers.openai.api_key=[redacted]",
            ),
            (
                "--set=qa.model.extra_body.token=abc",
                "--set=qa.model.extra_body.token=[redacted]",
            ),
            (
                "qa.model={provider: openai, name: m, extra_body: {api_key: sk-1, top_p: 1}}",
                r#"qa.model={"provider":"openai","name":"m","extra_body":{"api_key":"[redacted]","top_p":1}}"#,
            ),
            (
                "qa.model={provider: openai, name: m}",
                "qa.model={provider: openai, name: m}",
            ),
            ("qa.model={api_key: sk-1", "qa.model=[redacted]"),
            ("s3://id:secret@bucket/x", "s3://bucket/x"),
            ("--db=s3://id:secret@bucket/x", "--db=s3://bucket/x"),
            (
                "qa.model.api_key_env=OPENAI_API_KEY",
                "qa.model.api_key_env=OPENAI_API_KEY",
            ),
            ("uri = 'a@b'", "uri = 'a@b'"),
        ] {
            assert_eq!(argument(written), shown);
        }
    }

    #[test]
    fn keys_are_distinguished_from_names() {
        for key in [
            "sk-proj-abc123",
            "gsk_aB3dE6",
            "hf_abcdefgh1",
            "Zx81Kq0pLm27Vn53RtYu99",
        ] {
            assert!(looks_like_key(key), "{key}");
        }
        for name in [
            "OPENAI_API_KEY",
            "MY_KEY_2",
            "hf_token",
            "sentence-transformers",
            "Qwen/Qwen3-Embedding-0.6B",
            "http://localhost:11434",
            "sk-",
        ] {
            assert!(!looks_like_key(name), "{name}");
        }
        assert_eq!(
            key("providers.openai.api_key:hunter2"),
            "providers.openai.api_key:…"
        );
        assert_eq!(key("prices.qwen3:8b"), "prices.qwen3:8b");
        assert_eq!(key("qa.model.sk-proj-abc123"), "qa.model.[redacted]");
        assert_eq!(
            quoted("expected a mapping, found the text \"sk-proj-abc123\""),
            "expected a mapping, found the text \"[redacted]\""
        );
    }
}
