//! Why a page cannot be shown, as a page.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use evals_html::view::{MessagePage, TemplateError};

/// Why a page cannot be shown.
#[derive(Debug)]
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
    /// The status and what is wrong, for a reply that is no page.
    pub(super) fn into_parts(self) -> (StatusCode, String) {
        (self.status, self.sentence)
    }
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

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        let page = MessagePage {
            title: self.title.to_owned(),
            sentence: self.sentence.clone(),
        };
        match page.html() {
            Ok(html) => (self.status, Html(html)).into_response(),
            Err(_) => (self.status, self.sentence).into_response(),
        }
    }
}
