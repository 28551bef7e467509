//! The guard in front of every page: whose requests are answered.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::address::Address;
use super::protection::protect;
use super::token::Token;
use super::writing;

/// What the guard compares requests with.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) address: Address,
    pub(super) token: Token,
}

/// Why a request is refused, as a sentence.
type Refusal = (StatusCode, &'static str);

/// Answers a request, or refuses it. Every answer gets the protecting headers.
pub(super) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut response = match guard.admitted(&parts) {
        Ok(page) => {
            parts.uri = page;
            next.run(Request::from_parts(parts, body)).await
        }
        Err((status, sentence)) => (status, format!("{sentence}\n")).into_response(),
    };
    protect(response.headers_mut());
    response
}

impl Guard {
    /// The address of the page that a request asks for, without the token. Looks at the host first: a page of another site whose name was
    /// made to point to this machine learns nothing from us.
    fn admitted(&self, request: &Parts) -> Result<Uri, Refusal> {
        let forbidden = |sentence| (StatusCode::FORBIDDEN, sentence);
        let host = self.address.host(request).ok_or_else(|| {
            forbidden(
                "This server answers only requests for this machine's own address, as `evaluations view` printed it.",
            )
        })?;
        if let Some(objection) = writing::foreign_origin(request, host) {
            return Err(forbidden(objection));
        }
        let page = self.page(&request.uri).ok_or_else(|| {
            forbidden(
                "Open the address that `evaluations view` printed: it holds a token that this request lacks.",
            )
        })?;
        if ![Method::GET, Method::HEAD, Method::POST].contains(&request.method) {
            let sentence = "This server answers GET, HEAD and POST.";
            return Err((StatusCode::METHOD_NOT_ALLOWED, sentence));
        }
        match writing::objection(request, host) {
            None => Ok(page),
            Some(objection) => Err(forbidden(objection)),
        }
    }

    /// The address of a page without the folder that is the token; `None` if it is not in it.
    fn page(&self, address: &Uri) -> Option<Uri> {
        let path = self.token.below(address.path())?;
        let page = match address.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        };
        Some(Uri::from(page.parse::<PathAndQuery>().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use axum::http::request::Builder;

    use super::*;

    fn guard() -> Guard {
        Guard {
            address: Address::new(8123),
            token: Token::random().unwrap(),
        }
    }

    /// The page that a request gets, or the status of its refusal.
    fn asked(guard: &Guard, request: Builder) -> Result<String, u16> {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let admitted = guard.admitted(&parts);
        admitted
            .map(|page| page.to_string())
            .map_err(|(status, _)| status.as_u16())
    }

    fn local(guard: &Guard, page: &str) -> Builder {
        let request = Request::builder().uri(guard.token.path(page));
        request.header("host", "localhost:8123")
    }

    #[test]
    fn only_a_path_with_the_token_leads_to_a_page() {
        let guard = guard();
        let page = "run/a%20b?x=1";
        assert_eq!(asked(&guard, local(&guard, page)), Ok(format!("/{page}")));
        assert_eq!(asked(&guard, local(&guard, "")), Ok("/".to_owned()));
        let token = guard.token.path("").replace('/', "");
        for (path, cookie) in [
            ("/run/a".to_owned(), String::new()),
            (format!("/run/a?token={token}"), String::new()),
            (format!("/run/a?x=/{token}/"), String::new()),
            ("/run/a".to_owned(), format!("evaluations-8123={token}")),
        ] {
            let request = Request::builder().uri(&path).header("cookie", cookie);
            let request = request.header("host", "localhost:8123");
            assert_eq!(asked(&guard, request), Err(403), "{path}");
        }
    }

    #[test]
    fn a_page_of_another_origin_reads_nothing_though_it_has_the_token() {
        let guard = guard();
        let read = |origin: &str| {
            let request = local(&guard, "run/a").header("origin", origin);
            asked(&guard, request).err()
        };
        assert_eq!(read("http://localhost:8123"), None);
        assert_eq!(read("http://evil.example"), Some(403));
        assert_eq!(read("null"), Some(403));
    }

    #[test]
    fn a_wrong_host_is_refused_though_it_has_the_token() {
        let guard = guard();
        let request = Request::builder().uri(guard.token.path(""));
        let request = request.header("host", "evil.example:8123");
        assert_eq!(asked(&guard, request), Err(403));
    }

    #[test]
    fn only_our_own_pages_write_and_only_by_post() {
        let guard = guard();
        let request = |method: &str| local(&guard, "run/a/labels").method(method);
        let ours = |request: Builder| {
            let request = request.header("origin", "http://localhost:8123");
            let request = request.header("content-type", "application/json");
            request.header("x-evaluations-view", "1")
        };
        assert_eq!(asked(&guard, request("POST")), Err(403));
        let page = "/run/a/labels".to_owned();
        assert_eq!(asked(&guard, ours(request("POST"))), Ok(page));
        for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
            assert_eq!(asked(&guard, ours(request(method))), Err(405));
        }
        let without = Request::builder().method("POST").uri("/run/a/labels");
        let without = without.header("host", "localhost:8123");
        assert_eq!(asked(&guard, ours(without)), Err(403));
    }
}
