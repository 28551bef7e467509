//! Why a script of the page gets no reply, as JSON.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use evals_runs::annotations::LongNote;
use serde_json::json;

use super::super::failure::{PageFailure, refusal};

/// A failure that a script shows on its page.
#[derive(Debug)]
pub(super) struct ReplyFailure(PageFailure);

impl From<PageFailure> for ReplyFailure {
    fn from(failure: PageFailure) -> Self {
        Self(failure)
    }
}

/// Puts the sentence of a refusal into a reply, as [`PageFailure`]s are.
pub(super) async fn as_reply(response: Response) -> Response {
    match refusal(response).await {
        // Of what a request holds, only the note may be that long.
        Ok((status @ StatusCode::PAYLOAD_TOO_LARGE, _)) => reply(status, &LongNote.to_string()),
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
