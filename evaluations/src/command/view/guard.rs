//! The guard in front of every page: whose requests are answered.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse as _, Response};
use evals_html::view::ForwardPage;

use super::address::Address;
use super::failure::PageFailure;
use super::protection::protect;
use super::token::{Proof, Token};
use super::writing::{self, FETCH_SITE};

/// What the guard compares requests with.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) address: Address,
    pub(super) token: Token,
}

/// What happens with a request.
#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Answer,
    /// Set the cookie and go on at this address.
    Redirect(String),
    /// The same, by a page: where another page led to the token, browsers leave the cookie out of the requests of a redirect.
    Forward(String),
    Refuse(StatusCode, &'static str),
}

/// Answers a request, or refuses it. Every answer gets the protecting headers.
pub(super) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let mut response = match guard.decide(&parts) {
        Decision::Answer => next.run(Request::from_parts(parts, body)).await,
        Decision::Redirect(location) => {
            let cookie = guard.token.cookie(guard.address);
            let headers = [(SET_COOKIE, cookie), (LOCATION, location)];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Decision::Forward(address) => {
            let cookie = guard.token.cookie(guard.address);
            let page = ForwardPage { address }.html().map_err(PageFailure::from);
            ([(SET_COOKIE, cookie)], page.map(Html)).into_response()
        }
        Decision::Refuse(status, sentence) => (status, format!("{sentence}\n")).into_response(),
    };
    protect(response.headers_mut());
    response
}

impl Guard {
    /// Looks at the host first: a page of another site whose name was made to point to this machine learns nothing from us.
    fn decide(&self, request: &Parts) -> Decision {
        let forbidden = |sentence| Decision::Refuse(StatusCode::FORBIDDEN, sentence);
        let Some(host) = self.address.host(request) else {
            return forbidden(
                "This server answers only requests for this machine's own address, as `evaluations view` printed it.",
            );
        };
        if let Some(objection) = writing::foreign_origin(request, host) {
            return forbidden(objection);
        }
        let is_read = [Method::GET, Method::HEAD].contains(&request.method);
        match self.token.proof(request, self.address) {
            Proof::Cookie => {}
            Proof::Address(location) if is_read && is_typed(request) => {
                return Decision::Redirect(location);
            }
            Proof::Address(location) if is_read => return Decision::Forward(location),
            Proof::Address(_) | Proof::None => {
                return forbidden(
                    "Open the address that `evaluations view` printed: it holds a token that this request lacks. If a link \
                     on another page led here, go to the address bar and press Enter.",
                );
            }
        }
        if !is_read && request.method != Method::POST {
            return Decision::Refuse(
                StatusCode::METHOD_NOT_ALLOWED,
                "This server answers GET, HEAD and POST.",
            );
        }
        match writing::objection(request, host) {
            None => Decision::Answer,
            Some(objection) => forbidden(objection),
        }
    }
}

/// Whether no other page led to a request.
fn is_typed(request: &Parts) -> bool {
    let site = request.headers.get(FETCH_SITE);
    site.is_some_and(|site| site == "none" || site == "same-origin")
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

    fn decide(guard: &Guard, request: Builder) -> Decision {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        guard.decide(&parts)
    }

    fn status(decision: &Decision) -> Option<u16> {
        match decision {
            Decision::Refuse(status, _) => Some(status.as_u16()),
            _ => None,
        }
    }

    /// The cookie without its attributes.
    fn cookie(guard: &Guard) -> String {
        let cookie = guard.token.cookie(guard.address);
        cookie.split(';').next().unwrap().to_owned()
    }

    #[test]
    fn the_token_leads_to_a_cookie_and_the_cookie_to_the_page() {
        let guard = guard();
        let local = || Request::builder().header("host", "localhost:8123");
        let with_token = || local().uri(guard.token.in_address("/run/a"));
        let typed = with_token().header("sec-fetch-site", "none");
        let redirect = Decision::Redirect("/run/a".to_owned());
        assert_eq!(decide(&guard, typed), redirect);
        let forward = || Decision::Forward("/run/a".to_owned());
        assert_eq!(decide(&guard, with_token()), forward());
        let linked = with_token().header("sec-fetch-site", "cross-site");
        assert_eq!(decide(&guard, linked), forward());
        let with_cookie = local().uri("/run/a").header("cookie", cookie(&guard));
        assert_eq!(decide(&guard, with_cookie), Decision::Answer);
        assert_eq!(status(&decide(&guard, local().uri("/run/a"))), Some(403));
        let read = |origin: &str| {
            let request = local().uri("/run/a").header("cookie", cookie(&guard));
            decide(&guard, request.header("origin", origin))
        };
        assert_eq!(read("http://localhost:8123"), Decision::Answer);
        assert_eq!(status(&read("http://evil.example")), Some(403));
        let foreign = with_token().header("origin", "null");
        assert_eq!(status(&decide(&guard, foreign)), Some(403));
    }

    #[test]
    fn a_wrong_host_is_refused_though_it_has_the_token() {
        let guard = guard();
        let elsewhere = || Request::builder().header("host", "evil.example:8123");
        let with_token = elsewhere().uri(guard.token.in_address("/"));
        assert_eq!(status(&decide(&guard, with_token)), Some(403));
        let with_cookie = elsewhere().uri("/").header("cookie", cookie(&guard));
        assert_eq!(status(&decide(&guard, with_cookie)), Some(403));
    }

    #[test]
    fn only_our_own_pages_write_and_only_by_post() {
        let guard = guard();
        let asked = |method: &str| {
            let request = Request::builder().method(method).uri("/run/a/labels");
            let request = request.header("host", "localhost:8123");
            request.header("cookie", cookie(&guard))
        };
        let ours = |request: Builder| {
            let request = request.header("origin", "http://localhost:8123");
            let request = request.header("content-type", "application/json");
            request.header("x-evaluations-view", "1")
        };
        assert_eq!(status(&decide(&guard, asked("POST"))), Some(403));
        assert_eq!(decide(&guard, ours(asked("POST"))), Decision::Answer);
        for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
            assert_eq!(status(&decide(&guard, ours(asked(method)))), Some(405));
        }
    }

    #[test]
    fn a_token_in_the_address_does_not_write() {
        let guard = guard();
        let request = Request::builder().method("POST");
        let request = request.uri(guard.token.in_address("/run/a/labels"));
        let request = request.header("host", "localhost:8123");
        assert_eq!(status(&decide(&guard, request)), Some(403));
    }
}
