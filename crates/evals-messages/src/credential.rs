//! Names under which settings and requests hold credentials.

/// The replacement for a credential.
pub const REDACTED: &str = "[redacted]";

/// Whether a field or a setting of that name holds a credential: `api_key`, `X-Api-Key`, `authToken`, `client_secret`.
///
/// Names of text tokens, of cache keys, or of the variable that holds a key are not credentials.
pub fn is_credential(name: &str) -> bool {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((last, before)) = words.split_last() else {
        return false;
    };
    let qualifier = before.last().copied().unwrap_or_default();
    if words.iter().any(|word| SECRET_WORDS.contains(word)) {
        return !matches!(*last, "env" | "variable" | "file");
    }
    match *last {
        // Not a token of text.
        "token" => !matches!(
            qualifier,
            "bos" | "eos" | "image" | "mask" | "pad" | "sep" | "special" | "start" | "stop" | "unk"
        ),
        "key" | "keys" => {
            !["cache", "sort", "primary", "foreign", "partition"].contains(&qualifier)
        }
        _ => false,
    }
}

/// Words that make a name a credential's, anywhere in it.
const SECRET_WORDS: &[&str] = &[
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "secrets",
];

/// The words of a name in lower case: `X-Api-Key` and `xApiKey` have the same three words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && small) {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words
                .last_mut()
                .expect("there is one")
                .extend(letter.to_lowercase());
        }
        small = letter.is_lowercase() || letter.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_recognised() {
        for name in [
            "api_key",
            "apikey",
            "API-KEY",
            "apiKey",
            "X-Api-Key",
            "key",
            "token",
            "access_token",
            "hfToken",
            "password",
            "client_secret",
            "Authorization",
            "aws_secret_access_key",
            "subscription-key",
            "auth",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in [
            "max_tokens",
            "tokens",
            "stop_token_ids",
            "eos_token",
            "stop_token",
            "prompt_cache_key",
            "api_key_env",
            "keep_alive",
            "monkey",
            "top_k",
            "keyword",
            "author",
            "seed",
            "",
        ] {
            assert!(!is_credential(name), "{name}");
        }
    }
}
