//! Bringing one file into the cache.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cache::{RepositoryCache, create_parent};
use super::online::{Online, unreachable};
use super::tree::ListedFile;
use super::verify::{Damage, Identity, check_size, verify};
use super::{DownloadEvent, DownloadObserver, FetchedFile, HubError, HubWarning};

/// One repository's files on their way into the cache.
pub(super) struct Download<'a> {
    pub(super) online: &'a Online<'a>,
    pub(super) cache: &'a RepositoryCache,
    pub(super) repo: &'a str,
    pub(super) commit: &'a str,
    pub(super) observer: &'a dyn DownloadObserver,
}

impl Download<'_> {
    /// The file from the cache where it is there whole, else from the hub.
    pub(super) async fn file(
        &self,
        file: &ListedFile,
    ) -> Result<(FetchedFile, Option<HubWarning>), HubError> {
        let snapshot = self.cache.snapshot(self.commit).join(&file.path);
        let warning = match cached(&snapshot, file) {
            Cached::Whole(identity) => return Ok((fetched(file, snapshot, identity), None)),
            Cached::Absent => None,
            Cached::Damaged(damage) => {
                self.cache.discard(self.commit, &file.path, &file.etag)?;
                Some(HubWarning::Refetched {
                    file: file.path.clone(),
                    reason: damage.to_string(),
                })
            }
        };
        let _lock = self.lock(file).await?;
        // The other process may have fetched it meanwhile, or another commit holds the same content.
        let blob = self.cache.blob(&file.etag);
        let identity = match cached(&blob, file) {
            Cached::Whole(identity) => identity,
            Cached::Absent | Cached::Damaged(_) => self.fetch(file, &blob).await?,
        };
        let local = self.cache.link(self.commit, &file.path, &file.etag)?;
        self.observer
            .on_event(&DownloadEvent::Finished { file: &file.path });
        Ok((fetched(file, local, identity), warning))
    }

    /// Fetches the blob; once more where what arrived is not the file, because a proxy may have stood in between.
    async fn fetch(&self, file: &ListedFile, blob: &Path) -> Result<Identity, HubError> {
        match self.fetch_once(file, blob).await {
            Err(HubError::Corrupt { .. }) => self.fetch_once(file, blob).await,
            settled => settled,
        }
    }

    async fn fetch_once(&self, file: &ListedFile, blob: &Path) -> Result<Identity, HubError> {
        create_parent(blob)?;
        let partial = Partial(partial_path(blob));
        let url = self.online.file_url(self.repo, self.commit, &file.path);
        let mut retry = self.online.retry();
        while let Err(error) = self.transfer(file, &partial, url.as_str()).await {
            retry.after(error, url.as_str(), self.observer).await?;
        }
        let identity = verify(&partial.0, &file.path, &file.expected())
            .map_err(|damage| self.corrupt(file, damage))?;
        std::fs::rename(&partial.0, blob).map_err(|source| HubError::Cache {
            path: blob.to_owned(),
            source,
        })?;
        Ok(identity)
    }

    async fn transfer(
        &self,
        file: &ListedFile,
        partial: &Partial,
        url: &str,
    ) -> Result<(), HubError> {
        self.observer.on_event(&DownloadEvent::Started {
            file: &file.path,
            total: file.size,
        });
        let mut response = self.online.file(self.repo, self.commit, &file.path).await?;
        let failed = |source| HubError::Cache {
            path: partial.0.clone(),
            source,
        };
        let mut writer = File::create(&partial.0).map_err(failed)?;
        let mut done = 0;
        while let Some(bytes) = response
            .chunk()
            .await
            .map_err(|source| unreachable(url, source))?
        {
            done += bytes.len() as u64;
            if done > file.size {
                // Do not fill the disk with what is not wanted.
                check_size(done, &file.expected()).map_err(|damage| self.corrupt(file, damage))?;
            }
            writer.write_all(&bytes).map_err(failed)?;
            self.observer.on_event(&DownloadEvent::Advanced {
                file: &file.path,
                done,
                total: file.size,
            });
        }
        writer.sync_all().map_err(failed)
    }

    fn corrupt(&self, file: &ListedFile, damage: Damage) -> HubError {
        HubError::Corrupt {
            repo: self.repo.to_owned(),
            file: file.path.clone(),
            damage,
        }
    }

    /// Waits until no other process writes the same blob, however long that takes: the lock goes with its holder.
    async fn lock(&self, file: &ListedFile) -> Result<File, HubError> {
        let path = self.cache.lock(&file.etag);
        create_parent(&path)?;
        let failed = |source| HubError::Cache {
            path: path.clone(),
            source,
        };
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        let mut told = false;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) if !told => {
                    told = true;
                    self.observer
                        .on_event(&DownloadEvent::Waiting { file: &file.path });
                }
                Err(TryLockError::WouldBlock) => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

enum Cached {
    Whole(Identity),
    Absent,
    Damaged(Damage),
}

fn cached(path: &Path, file: &ListedFile) -> Cached {
    if !path.exists() {
        return Cached::Absent;
    }
    match verify(path, &file.path, &file.expected()) {
        Ok(identity) => Cached::Whole(identity),
        Err(damage) => Cached::Damaged(damage),
    }
}

fn fetched(file: &ListedFile, local: PathBuf, identity: Identity) -> FetchedFile {
    FetchedFile {
        path: file.path.clone(),
        local,
        size: identity.size,
        sha256: identity.sha256,
    }
}

/// A name of its own beside the blob: the official clients would continue a `.incomplete` file, whatever it holds.
fn partial_path(blob: &Path) -> PathBuf {
    let mut name = blob.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// A file that is removed unless it was renamed into place, also when the download is cancelled.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        // Gone already where it was renamed; nothing else can be done about a failure here.
        let _ = std::fs::remove_file(&self.0);
    }
}
