//! Why a page cannot be shown, as a page.

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use evals_html::view::{MessagePage, TemplateError, up};
use evals_runs::annotations::checked_labeller;

/// The longest refusal in bytes. One may quote a parameter.
const LONGEST_REFUSAL: usize = 64 << 10;

/// Why a page cannot be shown. As a response it is its sentence alone, which [`as_page`] makes a page.
#[derive(Debug, Clone)]
pub(super) struct PageFailure {
    status: StatusCode,
    title: &'static str,
    sentence: String,
}

impl PageFailure {
    /// No listed run has the name.
    pub(super) fn no_run(name: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            title: "No such run",
            sentence: format!("No run `{name}` is listed. It may have been deleted."),
        }
    }

    /// There is no such page.
    pub(super) fn no_page() -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            title: "No such page",
            sentence: "The viewer has no page at this address.".to_owned(),
        }
    }

    /// The address asks for something that is not possible.
    pub(super) fn bad_request(sentence: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            title: "This does not work",
            sentence: sentence.into(),
        }
    }

    /// The program has a fault.
    pub(super) fn fault() -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            title: "A fault of this program",
            sentence: "The page could not be made. The terminal of `evaluations view` shows why."
                .to_owned(),
        }
    }
}

impl PageFailure {
    /// The status and what is wrong, for a reply that is not a page.
    pub(super) fn into_parts(self) -> (StatusCode, String) {
        (self.status, self.sentence)
    }
}

/// The name of a person without white space around it. An empty name and one that is too long are errors.
pub(super) fn person(name: &str) -> Result<&str, PageFailure> {
    checked_labeller(name).map_err(|error| PageFailure::bad_request(error.to_string()))
}

/// The files of a run cannot be read.
impl From<anyhow::Error> for PageFailure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            title: "This cannot be shown",
            sentence: format!("{error:#}"),
        }
    }
}

impl From<TemplateError> for PageFailure {
    fn from(error: TemplateError) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            title: "A fault of this program",
            sentence: format!("{:#}", anyhow::Error::from(error)),
        }
    }
}

/// Makes a page of a failure, and of a refusal: the server refuses what it cannot read, such as a wrong parameter, with bare text. Only here
/// is the address known from which the page links to others.
pub(super) async fn as_page(request: Request, next: Next) -> Response {
    let up = up(request.uri().path());
    let mut response = next.run(request).await;
    let failure = match response.extensions_mut().remove::<PageFailure>() {
        Some(failure) => failure,
        None => match refusal(response).await {
            Ok((status, sentence)) => PageFailure {
                status,
                ..PageFailure::bad_request(sentence)
            },
            Err(response) => return response,
        },
    };
    let page = MessagePage {
        up,
        title: failure.title.to_owned(),
        sentence: failure.sentence.clone(),
    };
    match page.html() {
        Ok(html) => (failure.status, Html(html)).into_response(),
        Err(_) => (failure.status, failure.sentence).into_response(),
    }
}

/// The status and the sentence of a refusal in bare text; the response if it is something else.
pub(super) async fn refusal(response: Response) -> Result<(StatusCode, String), Response> {
    let is_text = response.headers().get(CONTENT_TYPE).is_some_and(|kind| {
        kind.to_str()
            .is_ok_and(|kind| kind.starts_with("text/plain"))
    });
    if !response.status().is_client_error() || !is_text {
        return Err(response);
    }
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, LONGEST_REFUSAL).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    Ok((parts.status, format!("{}.", text.trim_end_matches('.'))))
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.sentence.clone()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}
