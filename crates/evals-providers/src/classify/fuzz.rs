//! Refusals in any bytes: each has a class, and none asks for a pause of more than a day.

use std::time::{Duration, UNIX_EPOCH};

use evals_fuzz::Target;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::classify;
use super::retry_after::pause;
use evals_models::Failure;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

const PAUSES: [&str; 6] = [
    "retry-after-ms",
    "retry-after",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
];

#[test]
fn no_server_is_left_alone_for_more_than_a_day() {
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
    Target::new("retry-after", CORPUS)
        .seed("retry-after: 2\nretry-after-ms: 1500")
        .seed("retry-after: Sun, 06 Nov 1994 08:49:47 GMT")
        .seed("x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 6m0.5s\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 20ms")
        .dictionary([
            "nan", "inf", "-1", "1e999", "1e-999", "d", "h", "ms", "\u{e9}", "Thu, 01 Jan 1970 00:00:00 GMT", "9999", "99999999999999999999",
            "retry-after: ", "0x1p3", "+", "",
        ])
        .run(|input| {
            let lines = input.split(|byte| *byte == b'\n');
            let header = |line: &[u8]| {
                let at = line.windows(2).position(|two| two == b": ")?;
                let name = HeaderName::from_bytes(&line[..at]).ok()?;
                let known = PAUSES.contains(&name.as_str());
                let value = HeaderValue::from_bytes(&line[at + 2..]).ok()?;
                known.then_some((name, value))
            };
            let headers: HeaderMap = lines.filter_map(header).collect();
            if let Some(pause) = pause(&headers, now) {
                assert!(pause <= Duration::from_hours(24), "{pause:?}");
                assert!(!headers.is_empty());
            }
        });
}

#[test]
fn an_error_means_the_same_in_each_of_its_shapes() {
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
    Target::new("error-body", CORPUS)
        .seed(r#"{"error": {"message": "Rate limit reached", "type": "tokens", "param": null, "code": "rate_limit_exceeded"}}"#)
        .seed(r#"{"error": "model \"qwen3\" not found, try pulling it first"}"#)
        .seed(r#"{"detail": [{"loc": ["body", "temperature"], "msg": "Input should be less than 2", "type": "less_than"}]}"#)
        .seed(r#"[{"message": "maximum context length is 4096 tokens", "code": 400}]"#)
        .seed("<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>")
        .dictionary([
            "{", "}", "[", "]", "\"error\":", "\"message\":", "\"code\":", "null", "1e999", "\\ud800", "\\u0000", "\n", "\u{130}",
            "<title>", "</title>", "<!DOCTYPE html>", "insufficient_quota", "invalid_api_key", "context_length_exceeded", "\u{1b}[31m",
        ])
        .run(|input| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", HeaderValue::from_static("7"));
            for status in [400, 401, 403, 404, 429, 500, 503] {
                let refusal = classify(status, &headers, input, now);
                let transient = refusal.failure == Failure::Transient;
                assert_eq!(refusal.status, status);
                assert_eq!(refusal.retry_after.is_some(), transient, "{refusal:?}");
                assert!(transient || !refusal.overloaded && !refusal.loading, "{refusal:?}");
                assert!(!transient || refusal.remedy.is_none(), "{refusal:?}");
                assert!(!refusal.body.message.contains(['\n', '\r']), "{refusal:?}");
            }
            // An error that a gateway wraps into a list is the same error.
            if let Ok(object @ serde_json::Value::Object(_)) = serde_json::from_slice(input) {
                let wrapped = serde_json::json!([object]).to_string();
                let plain = classify(400, &headers, object.to_string().as_bytes(), now);
                assert_eq!(classify(400, &headers, wrapped.as_bytes(), now), plain);
            }
        });
}
