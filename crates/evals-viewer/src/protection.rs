//! Headers that every answer has.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};

/// What our own pages may load: scripts and styles of this server, no text as markup, nothing from elsewhere, and no page may frame
/// them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The headers with their values. None of them allows another site to read an answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    // Answers hold texts of a corpus, which must not stay in the cache of a browser.
    (CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (CONTENT_SECURITY_POLICY, POLICY),
];

/// Adds the headers. If an answer already has a content security policy, it keeps it.
pub(super) fn protect(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        if name != CONTENT_SECURITY_POLICY || !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_own_policy_and_nothing_else() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("own"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
        protect(&mut headers);
        assert_eq!(headers[CONTENT_SECURITY_POLICY], "own");
        assert_eq!(headers[CACHE_CONTROL], "no-store");
        assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(headers[REFERRER_POLICY], "no-referrer");
    }

    #[test]
    fn our_pages_run_no_inline_script_and_cannot_be_framed() {
        let mut headers = HeaderMap::new();
        protect(&mut headers);
        let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.split("; ").any(|it| it == part), "{part}");
        }
        assert!(!policy.contains("unsafe"));
    }
}
