//! Which requests come from our own pages: those that write have to, and the others must not name another origin.

use axum::http::Method;
use axum::http::header::{CONTENT_TYPE, HeaderName, ORIGIN};
use axum::http::request::Parts;

/// A header that only scripts of our own pages set. A form cannot, and a script of another site has to ask first, which nothing here
/// allows.
const OWN: &str = "x-evaluations-view";

/// Where a browser says which site a request comes from.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a request is refused that a page of another origin sends. `host` is the host that the request names.
///
/// Browsers send the origin with requests whose answers a script wants to read. They send none when a user follows a link.
pub(super) fn foreign_origin(request: &Parts, host: &str) -> Option<&'static str> {
    let own = format!("http://{host}");
    let mut origins = request.headers.get_all(ORIGIN).iter();
    origins
        .any(|origin| origin.as_bytes() != own.as_bytes())
        .then_some("only pages of this server may read or write")
}

/// Why a request does not come from one of our pages; `None` if it does, or only reads. `host` is the host that it names.
pub(super) fn objection(request: &Parts, host: &str) -> Option<&'static str> {
    if request.method == Method::GET || request.method == Method::HEAD {
        return None;
    }
    let header = |name: &HeaderName| {
        let mut values = request.headers.get_all(name).iter();
        let value = values.next().and_then(|value| value.to_str().ok());
        value.filter(|_| values.next().is_none())
    };
    if header(&ORIGIN) != Some(&format!("http://{host}")) {
        return Some("only pages of this server may write");
    }
    if header(&FETCH_SITE).is_some_and(|site| site != "same-origin")
        || request.headers.get_all(FETCH_SITE).iter().count() > 1
    {
        return Some("only pages of this server may write");
    }
    let media_type = header(&CONTENT_TYPE).and_then(|it| it.split(';').next());
    if media_type.map(str::trim) != Some("application/json") {
        return Some("a request that writes has the content type `application/json`");
    }
    if header(&HeaderName::from_static(OWN)).is_none() {
        return Some("a request that writes has the header `X-Evaluations-View`");
    }
    None
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    const GOOD: [(&str, &str); 4] = [
        ("origin", "http://localhost:8123"),
        ("sec-fetch-site", "same-origin"),
        ("content-type", "application/json"),
        ("x-evaluations-view", "1"),
    ];

    fn is_refused(method: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        objection(&parts, "localhost:8123").is_some()
    }

    /// The headers of our own pages, with one of them changed or left out.
    fn changed(name: &str, value: Option<&'static str>) -> Vec<(&'static str, &'static str)> {
        let others = GOOD.into_iter().filter(|(other, _)| *other != name);
        let headers = GOOD.into_iter().filter(|(other, _)| *other == name);
        let changed = headers.filter_map(|(name, _)| Some((name, value?)));
        others.chain(changed).collect()
    }

    #[test]
    fn our_own_pages_may_write() {
        assert!(!is_refused("POST", &GOOD));
        assert!(!is_refused("POST", &changed("sec-fetch-site", None)));
        let with_charset = changed("content-type", Some("application/json; charset=utf-8"));
        assert!(!is_refused("POST", &with_charset));
    }

    #[test]
    fn a_request_without_one_of_the_marks_is_refused() {
        for name in ["origin", "content-type", "x-evaluations-view"] {
            assert!(is_refused("POST", &changed(name, None)), "{name}");
        }
    }

    #[test]
    fn another_origin_is_refused() {
        let origins = [
            "null",
            "http://evil.example",
            "http://localhost:8124",
            "https://localhost:8123",
            "http://127.0.0.1:8123",
            "http://localhost:8123.evil.example",
            "http://localhost:8123/",
        ];
        for origin in origins {
            assert!(
                is_refused("POST", &changed("origin", Some(origin))),
                "{origin}"
            );
        }
        let mut twice = GOOD.to_vec();
        twice.push(("origin", "http://localhost:8123"));
        assert!(is_refused("POST", &twice));
    }

    #[test]
    fn a_request_that_reads_for_another_origin_is_refused() {
        let is_foreign = |origins: &[&str]| {
            let request = Request::builder();
            let request = origins
                .iter()
                .fold(request, |request, origin| request.header("origin", *origin));
            let (parts, ()) = request.body(()).unwrap().into_parts();
            foreign_origin(&parts, "localhost:8123").is_some()
        };
        assert!(!is_foreign(&[]) && !is_foreign(&["http://localhost:8123"]));
        for origin in ["null", "", "http://evil.example", "http://localhost:8124"] {
            assert!(is_foreign(&[origin]), "{origin}");
            assert!(is_foreign(&["http://localhost:8123", origin]), "{origin}");
        }
    }

    #[test]
    fn a_request_that_another_site_started_is_refused() {
        for site in ["cross-site", "same-site", "none", ""] {
            let headers = changed("sec-fetch-site", Some(site));
            assert!(is_refused("POST", &headers), "{site}");
        }
    }

    #[test]
    fn a_form_cannot_write() {
        for media_type in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "text/plain; application/json",
        ] {
            let headers = changed("content-type", Some(media_type));
            assert!(is_refused("POST", &headers), "{media_type}");
        }
    }

    #[test]
    fn methods_that_only_read_need_no_marks() {
        assert!(!is_refused("GET", &[]) && !is_refused("HEAD", &[]));
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            assert!(is_refused(method, &[]), "{method}");
        }
    }
}
