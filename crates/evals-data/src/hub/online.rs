//! Requests to the hub: the commit of a revision, the list of its files, and their bytes.

use std::collections::HashSet;
use std::time::Duration;

use reqwest::header::{
    AUTHORIZATION, CONTENT_RANGE, HeaderMap, HeaderValue, LINK, RANGE, RETRY_AFTER,
};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;

use super::settings::Retry;
use super::tree::{ListedFile, read_page};
use super::{DownloadObserver, Greeting, HubError, HubSettings, Repository, TransportError};

/// The time limit of a greeting.
const GREETING: Duration = Duration::from_secs(5);

/// The time limit of an answer that describes a revision or lists files. Downloads of files have none.
const DESCRIPTION: Duration = Duration::from_mins(2);

/// The most pages of a list. The hub's pages have a thousand entries, and it advises against repositories of more than 100,000 files.
const MAX_PAGES: usize = 2000;

/// The most redirects of one request.
const MAX_REDIRECTS: usize = 10;

/// The hub's description of a revision.
#[derive(Debug, Deserialize)]
struct Revision {
    sha: Option<String>,
}

/// A client for the hub.
#[derive(Debug)]
pub(super) struct Online<'a> {
    settings: &'a HubSettings,
    http: Client,
    endpoint: Url,
}

impl<'a> Online<'a> {
    pub(super) fn connect(settings: &'a HubSettings) -> Result<Self, HubError> {
        let failed = |what: String| HubError::Settings {
            endpoint: settings.endpoint.clone(),
            what,
        };
        let endpoint = Url::parse(&settings.endpoint).map_err(|error| failed(error.to_string()))?;
        if endpoint.cannot_be_a_base() {
            return Err(failed("it is not an address".to_owned()));
        }
        let http = client(settings).map_err(failed)?;
        Ok(Self {
            settings,
            http,
            endpoint,
        })
    }

    /// Asks who the token belongs to, once and with a short time limit.
    pub(super) async fn greet(&self) -> Result<Greeting, HubError> {
        let url = self.url(["api", "whoami-v2"]);
        let request = self.http.get(url.clone()).timeout(GREETING);
        let response = sent(request, url.as_str()).await?;
        let refused = matches!(
            response.status(),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
        );
        // Without a token the hub refuses this request, but still serves public repositories.
        Ok(if refused && self.settings.token.is_some() {
            Greeting::TokenRefused
        } else {
            Greeting::Reached
        })
    }

    /// The commit that a revision points to. If `is_cached`, gives up soon without a connection.
    pub(super) async fn commit(
        &self,
        repo: &Repository,
        revision: &str,
        is_cached: bool,
        observer: &dyn DownloadObserver,
    ) -> Result<String, HubError> {
        let path = repo.api_path().into_iter().chain(["revision", revision]);
        let url = self.url(path).to_string();
        let mut retry = self.retry();
        if is_cached {
            retry = retry.with_fallback();
        }
        loop {
            match self.pointed_to(repo, revision, &url).await {
                Ok(commit) => return Ok(commit),
                Err(error) => retry.after(error, &url, observer).await?,
            }
        }
    }

    /// Asks once for the commit that a revision points to.
    async fn pointed_to(
        &self,
        repo: &Repository,
        revision: &str,
        url: &str,
    ) -> Result<String, HubError> {
        let response = sent(self.http.get(url).timeout(DESCRIPTION), url).await?;
        if let Some(error) = revision_error(&response, repo, revision, url) {
            return Err(error);
        }
        let body = described(response, url).await?;
        let described: Revision = serde_json::from_slice(&body)
            .map_err(|error| HubError::malformed(url, error.to_string()))?;
        described
            .sha
            .filter(|sha| super::cache::is_commit(sha))
            .ok_or_else(|| HubError::malformed(url, "it names no commit"))
    }

    /// All files of a commit, page by page. A page that leads back to an earlier one is an error, and so are too many pages.
    pub(super) async fn list(
        &self,
        repo: &Repository,
        commit: &str,
        observer: &dyn DownloadObserver,
    ) -> Result<Vec<ListedFile>, HubError> {
        let mut next = Some(self.tree_url(repo, commit));
        let mut files = Vec::new();
        let mut retry = self.retry();
        let mut read = HashSet::new();
        while let Some(url) = next {
            if read.contains(&url) {
                let what = "the list of files leads back to this page";
                return Err(HubError::malformed(url, what));
            }
            if read.len() >= MAX_PAGES {
                let what = format!("a list of more than {MAX_PAGES} pages");
                return Err(HubError::malformed(url, what));
            }
            match self.page(repo, &url).await {
                Ok((page, following)) => {
                    files.extend(page);
                    read.insert(url);
                    next = following;
                    retry = self.retry();
                }
                Err(error) => {
                    retry.after(error, url.as_str(), observer).await?;
                    next = Some(url);
                }
            }
        }
        Ok(files)
    }

    async fn page(
        &self,
        repo: &Repository,
        url: &Url,
    ) -> Result<(Vec<ListedFile>, Option<Url>), HubError> {
        let request = self.http.get(url.clone()).timeout(DESCRIPTION);
        let response = self.send(repo, url.as_str(), request).await?;
        let following = self.next_page(response.headers());
        let body = described(response, url.as_str()).await?;
        let files = read_page(&body).map_err(|what| HubError::malformed(url.as_str(), what))?;
        Ok((files, following))
    }

    /// The next page of a list. Only the part after `/api/` comes from the header: a mirror may pass on the hub's own address, but the
    /// token may go to the configured endpoint only.
    fn next_page(&self, headers: &HeaderMap) -> Option<Url> {
        let header = headers.get(LINK)?.to_str().ok()?;
        let next = header
            .split(',')
            .find(|part| part.contains("rel=\"next\""))?;
        let address = next.split_once('<')?.1.split_once('>')?.0;
        let (_, rest) = address.split_once("/api/")?;
        Url::parse(&format!("{}/api/{rest}", self.settings.endpoint)).ok()
    }

    /// Requests a file's bytes from `begins_at` on. A server may send all of them nevertheless: the answer comes with the offset of its
    /// first byte.
    pub(super) async fn file(
        &self,
        repo: &Repository,
        url: &str,
        begins_at: u64,
    ) -> Result<(Response, u64), HubError> {
        if begins_at > 0 {
            let request = self
                .http
                .get(url)
                .header(RANGE, format!("bytes={begins_at}-"));
            match self.send(repo, url, request).await {
                // The server does not have that range, so request the whole file.
                Err(HubError::Status { status: 416, .. }) => {}
                answer => {
                    let response = answer?;
                    let first = first_byte(&response, begins_at, url)?;
                    return Ok((response, first));
                }
            }
        }
        let response = self.send(repo, url, self.http.get(url)).await?;
        Ok((response, 0))
    }

    async fn send(
        &self,
        repo: &Repository,
        url: &str,
        request: RequestBuilder,
    ) -> Result<Response, HubError> {
        let response = sent(request, url).await?;
        match status_error(&response, repo, url) {
            Some(error) => Err(error),
            None => Ok(response),
        }
    }

    /// A new count of failures for one request.
    pub(super) fn retry(&self) -> Retry {
        Retry::new(self.settings.retry)
    }

    fn tree_url(&self, repo: &Repository, commit: &str) -> Url {
        let mut url = self.url(repo.api_path().into_iter().chain(["tree", commit]));
        url.set_query(Some("recursive=true"));
        url
    }

    pub(super) fn file_url(&self, repo: &Repository, commit: &str, path: &str) -> Url {
        let place = repo.page_path().into_iter().chain(["resolve", commit]);
        self.url(place.chain(path.split('/')))
    }

    fn url<'s>(&self, segments: impl IntoIterator<Item = &'s str>) -> Url {
        let mut url = self.endpoint.clone();
        url.path_segments_mut()
            .expect("checked when connecting")
            .pop_if_empty()
            .extend(segments);
        url
    }
}

async fn sent(request: RequestBuilder, url: &str) -> Result<Response, HubError> {
    let response = request.send().await;
    response.map_err(|source| unreachable(url, source))
}

/// Follows a limited number of redirects, but none from https to http.
fn redirected(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let leaves_https = attempt
        .previous()
        .last()
        .is_some_and(|from| from.scheme() == "https" && attempt.url().scheme() != "https");
    if leaves_https {
        attempt.error("it redirects from https to an unencrypted address")
    } else if attempt.previous().len() > MAX_REDIRECTS {
        attempt.error(format!("it redirects more than {MAX_REDIRECTS} times"))
    } else {
        attempt.follow()
    }
}

fn client(settings: &HubSettings) -> Result<Client, String> {
    let mut headers = HeaderMap::new();
    if let Some(token) = &settings.token {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.secret()))
            .map_err(|_| "the token holds characters that a header cannot".to_owned())?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Client::builder()
        .user_agent(concat!("evaluations/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .connect_timeout(settings.connect_timeout)
        .read_timeout(settings.read_timeout)
        .redirect(Policy::custom(redirected))
        // A compressed transfer would not have the file's size and digest.
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .build()
        .map_err(|error| error.to_string())
}

/// The offset of the first byte in the answer to a request for the bytes from `asked` on: that one, or 0.
fn first_byte(response: &Response, asked: u64, url: &str) -> Result<u64, HubError> {
    if response.status() != StatusCode::PARTIAL_CONTENT {
        return Ok(0);
    }
    let range = response.headers().get(CONTENT_RANGE);
    let range = range.map_or("", |value| value.to_str().unwrap_or_default());
    if range.starts_with(&format!("bytes {asked}-")) {
        return Ok(asked);
    }
    let what = format!("`{range}` instead of the bytes from {asked} on");
    Err(HubError::malformed(url, what))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_with_slashes_is_one_part_of_an_address() {
        let settings = HubSettings::from_variables(|name| {
            (name == "HF_ENDPOINT").then(|| "http://m/hf".to_owned())
        });
        let online = Online::connect(&settings).unwrap();
        let url = |repo: &Repository| {
            let url = online.file_url(repo, "refs/convert/parquet", "x y/0.parquet");
            url.to_string()
        };
        assert_eq!(
            url(&Repository::dataset("a/b")),
            "http://m/hf/datasets/a/b/resolve/refs%2Fconvert%2Fparquet/x%20y/0.parquet"
        );
        assert_eq!(
            url(&Repository::model("a/b")),
            "http://m/hf/a/b/resolve/refs%2Fconvert%2Fparquet/x%20y/0.parquet"
        );
    }
}
