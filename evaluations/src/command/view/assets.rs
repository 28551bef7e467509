//! The style sheets and scripts of the pages.

use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use evals_html::view::Asset;

use super::failure::PageFailure;

/// One file. Only the names of a fixed list exist.
pub(super) async fn show(Path(name): Path<String>) -> Result<Response, PageFailure> {
    let Asset { media_type, text } = Asset::named(&name).ok_or_else(PageFailure::no_page)?;
    Ok(([(CONTENT_TYPE, media_type)], text).into_response())
}
