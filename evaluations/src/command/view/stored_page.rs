//! Pages that are the same as the files of `--out`: of a run's report, and of the change between two runs.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse as _, Response};
use evals_html::page::page_policy;

use super::failure::PageFailure;

/// The answer with a whole page. Its script and style are part of it, so its policy names their digests.
pub(super) fn answer(page: Vec<u8>) -> Result<Response, PageFailure> {
    let policy = format!("{}; frame-ancestors 'none'", page_policy());
    let policy = HeaderValue::from_str(&policy).map_err(|_| PageFailure::fault())?;
    Ok(([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response())
}
