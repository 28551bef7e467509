//! Why a script of a page gets no reply, as JSON.

use std::fmt::Display;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::failure::{PageFailure, refusal};

/// A failure that a script shows on its page.
#[derive(Debug)]
pub(super) struct ReplyFailure(PageFailure);

impl From<PageFailure> for ReplyFailure {
    fn from(failure: PageFailure) -> Self {
        Self(failure)
    }
}

/// Puts the sentence of a refusal into a reply, as [`PageFailure`]s are. `too_long` says what may be too long of a request.
pub(super) async fn as_reply(response: Response, too_long: impl Display) -> Response {
    match refusal(response).await {
        Ok((status @ StatusCode::PAYLOAD_TOO_LARGE, _)) => reply(status, &too_long.to_string()),
        Ok((status, sentence)) => reply(status, &sentence),
        Err(response) => response,
    }
}

fn reply(status: StatusCode, sentence: &str) -> Response {
    (status, Json(json!({"message": sentence}))).into_response()
}

impl IntoResponse for ReplyFailure {
    fn into_response(self) -> Response {
        let (status, sentence) = self.0.into_parts();
        reply(status, &sentence)
    }
}
