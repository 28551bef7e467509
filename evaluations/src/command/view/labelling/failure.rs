//! Why a script of the page gets no reply, as JSON.

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::super::failure::PageFailure;

/// A failure that a script shows on its page.
#[derive(Debug)]
pub(super) struct ReplyFailure(PageFailure);

impl From<PageFailure> for ReplyFailure {
    fn from(failure: PageFailure) -> Self {
        Self(failure)
    }
}

impl IntoResponse for ReplyFailure {
    fn into_response(self) -> Response {
        let (status, sentence) = self.0.into_parts();
        (status, Json(json!({"message": sentence}))).into_response()
    }
}
