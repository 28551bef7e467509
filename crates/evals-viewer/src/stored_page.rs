//! Pages that are the same as the files of `--out`, but for links to the viewer's pages: of a run's report, and of the change between two runs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Bytes;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse as _, Response};
use evals_html::page::page_policy;
use evals_runs::calibrations::CalibrationStore;
use evals_runs::run_folder::RunFolder;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::failure::PageFailure;

/// Makes pages one at a time, because each takes memory of several times its report, and keeps the last one.
#[derive(Debug, Clone, Default)]
pub(super) struct StoredPages {
    last: Arc<Mutex<Option<(PageKey, Bytes)>>>,
}

/// The runs of a page and their files, and where its links lead. Another page, or one that changed, has another key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageKey {
    runs: Vec<(PathBuf, Vec<FileState>)>,
    /// The files of the calibrations.
    calibrations: Vec<FileState>,
    links: Vec<String>,
}

/// The name of a file, when it was changed, and its size.
type FileState = (OsString, Option<SystemTime>, u64);

/// A page that was made.
#[derive(Debug)]
pub(super) struct StoredPage {
    pub(super) html: Vec<u8>,
    /// Whether it depends on nothing but the files of its runs.
    pub(super) is_lasting: bool,
}

impl PageKey {
    /// The key of a page of these runs.
    pub(super) fn of(runs: &[&RunFolder]) -> Self {
        let key = |run: &&RunFolder| (run.path().to_owned(), files(run.path()));
        Self {
            runs: runs.iter().map(key).collect(),
            calibrations: Vec::new(),
            links: Vec::new(),
        }
    }

    /// The key of a page that shows what these calibrations say.
    pub(super) fn corrected_by(self, calibrations: &CalibrationStore) -> Self {
        Self {
            calibrations: files(calibrations.folder()),
            ..self
        }
    }

    /// The key of a page with links to these addresses.
    pub(super) fn linking(self, links: Vec<String>) -> Self {
        Self { links, ..self }
    }
}

fn files(folder: &Path) -> Vec<FileState> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<FileState> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok()?;
            Some((entry.file_name(), metadata.modified().ok(), metadata.len()))
        })
        .collect();
    files.sort();
    files
}

impl StoredPages {
    /// The page with this key: the last one, or one that is made on a blocking thread when no other is being made.
    pub(super) async fn get(
        &self,
        key: PageKey,
        make: impl FnOnce() -> Result<StoredPage, PageFailure> + Send + 'static,
    ) -> Result<Bytes, PageFailure> {
        // The thread holds the lock, because a reader who leaves does not stop it.
        let mut last = Arc::clone(&self.last).lock_owned().await;
        if let Some((known, page)) = &*last
            && *known == key
        {
            return Ok(page.clone());
        }
        let making = spawn_blocking(move || {
            *last = None;
            let StoredPage { html, is_lasting } = make()?;
            let html = Bytes::from(html);
            *last = is_lasting.then(|| (key, html.clone()));
            Ok(html)
        });
        making.await.unwrap_or_else(|_| Err(PageFailure::fault()))
    }
}

/// The answer with a whole page. Its script and style are part of it, so its policy names their digests.
pub(super) fn answer(page: Bytes) -> Result<Response, PageFailure> {
    let policy = format!("{}; frame-ancestors 'none'", page_policy());
    let policy = HeaderValue::from_str(&policy).map_err(|_| PageFailure::fault())?;
    Ok(([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use futures::future::join_all;

    use super::*;

    #[tokio::test]
    async fn pages_are_made_one_at_a_time_and_the_last_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let run = |seconds: &str| {
            let time = format!("2026-05-01T12:00:{seconds}Z").parse().unwrap();
            RunFolder::create(folder.path(), time, "n").unwrap()
        };
        let runs = [run("00"), run("01")];
        let pages = StoredPages::default();
        let [making, made] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let get = |run: &RunFolder, is_lasting: bool| {
            let [making, made] = [&making, &made].map(Arc::clone);
            pages.get(PageKey::of(&[run]), move || {
                assert_eq!(making.fetch_add(1, Ordering::SeqCst), 0, "two at a time");
                thread::sleep(Duration::from_millis(20));
                making.fetch_sub(1, Ordering::SeqCst);
                let number = made.fetch_add(1, Ordering::SeqCst);
                let html = number.to_string().into_bytes();
                Ok(StoredPage { html, is_lasting })
            })
        };
        let both = join_all(runs.iter().map(|run| get(run, true))).await;
        assert!(both.iter().all(Result::is_ok));
        assert_eq!(get(&runs[1], true).await.unwrap(), "1", "kept");
        fs::write(runs[1].path().join("annotations.jsonl"), "{}").unwrap();
        assert_eq!(get(&runs[1], true).await.unwrap(), "2", "a file changed");
        assert_eq!(get(&runs[0], false).await.unwrap(), "3", "another run");
        assert_eq!(get(&runs[0], false).await.unwrap(), "4", "not lasting");
    }
}
