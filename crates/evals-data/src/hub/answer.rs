//! Interpreting the hub's answers.

use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};

use super::{HubError, Repository, TransportError};

/// An answer with a file's bytes from some offset on.
#[derive(Debug)]
pub(super) struct FileAnswer {
    pub(super) response: Response,
    /// The offset of the first byte: the requested one, or 0.
    pub(super) begins_at: u64,
}

impl FileAnswer {
    /// Finds the offset of the first byte in the answer to a request for the bytes from `asked` on.
    pub(super) fn resumed(response: Response, asked: u64, url: &str) -> Result<Self, HubError> {
        if response.status() != StatusCode::PARTIAL_CONTENT {
            return Ok(Self {
                response,
                begins_at: 0,
            });
        }
        let range = response.headers().get(CONTENT_RANGE);
        let range = range.map_or("", |value| value.to_str().unwrap_or_default());
        if range.starts_with(&format!("bytes {asked}-")) {
            return Ok(Self {
                response,
                begins_at: asked,
            });
        }
        let what = format!("`{range}` instead of the bytes from {asked} on");
        Err(HubError::malformed(url, what))
    }
}

/// Most bytes of a description of a repository.
const MAX_ANSWER: usize = 64 << 20;

/// The body of an answer that describes a revision or lists files. A longer body than any such answer is an error.
pub(super) async fn described(mut response: Response, url: &str) -> Result<Vec<u8>, HubError> {
    let mut body = Vec::new();
    while let Some(bytes) = response
        .chunk()
        .await
        .map_err(|source| unreachable(url, source))?
    {
        if body.len() + bytes.len() > MAX_ANSWER {
            let what = format!("more than {} MiB", MAX_ANSWER >> 20);
            return Err(HubError::malformed(url, what));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

pub(super) fn unreachable(url: &str, source: reqwest::Error) -> HubError {
    let is_connect = source.is_connect();
    let source = TransportError(source);
    if is_connect {
        // A connection is made to the scheme, host and port of an address.
        let server = Url::parse(url).map(|url| url.origin().ascii_serialization());
        return HubError::NoConnection {
            server: server.unwrap_or_else(|_| url.to_owned()),
            source,
        };
    }
    HubError::Unreachable {
        url: url.to_owned(),
        source,
    }
}

pub(super) fn status_error(response: &Response, repo: &Repository, url: &str) -> Option<HubError> {
    let status = response.status();
    if status.is_success() {
        return None;
    }
    let repo = repo.clone();
    Some(match status {
        StatusCode::UNAUTHORIZED => HubError::Unauthorized { repo },
        StatusCode::FORBIDDEN => HubError::Forbidden { repo },
        // Only what the hub named is asked for here: the files at a commit, or one of these files.
        StatusCode::NOT_FOUND => {
            let what = format!("status 404 (not found), although the hub says that {repo} has it");
            HubError::malformed(url, what)
        }
        other => HubError::Status {
            url: url.to_owned(),
            status: other.as_u16(),
            retry_after: retry_after(response.headers()),
        },
    })
}

/// The pause in whole seconds. The hub does not use the header's date form.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()
        .map(Duration::from_secs)
}

/// The error for a request that asked for a revision's commit.
pub(super) fn revision_error(
    response: &Response,
    repo: &Repository,
    revision: &str,
    url: &str,
) -> Option<HubError> {
    if response.status() != StatusCode::NOT_FOUND {
        return status_error(response, repo, url);
    }
    let code = response.headers().get("x-error-code");
    let repo = repo.clone();
    Some(if code.is_some_and(|code| code == "RevisionNotFound") {
        HubError::RevisionNotFound {
            repo,
            revision: revision.to_owned(),
        }
    } else {
        HubError::RepositoryNotFound { repo }
    })
}
