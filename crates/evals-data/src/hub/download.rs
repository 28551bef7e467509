//! Downloading files into the cache.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};

use super::cache::{RepositoryCache, create_parent, remove};
use super::online::{Online, unreachable};
use super::tree::ListedFile;
use super::verify::{Damage, Identity, check_size, verify};
use super::{
    DownloadEvent, DownloadObserver, FetchedFile, HubError, HubFiles, HubWarning, Repository,
    blocking,
};

/// Files downloaded at the same time.
const CONCURRENT_FILES: usize = 4;

/// The download of one repository's files into the cache.
pub(super) struct Download<'a> {
    pub(super) online: &'a Online<'a>,
    pub(super) cache: &'a RepositoryCache,
    pub(super) repo: &'a Repository,
    pub(super) commit: &'a str,
    pub(super) observer: &'a dyn DownloadObserver,
}

impl Download<'_> {
    /// All files, several at once.
    pub(super) async fn all(&self, wanted: &[ListedFile]) -> Result<HubFiles, HubError> {
        self.observer.on_event(&DownloadEvent::Listed {
            repo: self.repo.id(),
            files: wanted.len(),
            bytes: wanted
                .iter()
                .fold(0, |bytes, file| file.size.saturating_add(bytes)),
        });
        let files: Vec<_> = wanted.iter().map(|file| self.file(file)).collect();
        let fetched: Vec<(FetchedFile, Option<HubWarning>)> = stream::iter(files)
            .buffered(CONCURRENT_FILES)
            .try_collect()
            .await?;
        let (files, warnings): (Vec<_>, Vec<_>) = fetched.into_iter().unzip();
        let without_digest = wanted
            .iter()
            .filter(|file| !file.expected().has_digest())
            .map(|file| file.path.as_str());
        let unverified = HubWarning::of_unverified(self.repo, self.commit, without_digest);
        Ok(HubFiles {
            folder: self.cache.snapshot(self.commit),
            commit: self.commit.to_owned(),
            files,
            warnings: warnings.into_iter().flatten().chain(unverified).collect(),
        })
    }

    /// The file from the cache if it is intact there, else from the hub.
    async fn file(&self, file: &ListedFile) -> Result<(FetchedFile, Option<HubWarning>), HubError> {
        let snapshot = self.cache.snapshot(self.commit).join(&file.path);
        let warning = match cached(&snapshot, file).await {
            Some(Ok(identity)) => {
                let file = FetchedFile::new(file.path.clone(), snapshot, identity);
                return Ok((file, None));
            }
            None => None,
            Some(Err(damage)) => {
                self.cache.discard(self.commit, &file.path, &file.etag)?;
                Some(HubWarning::Refetched {
                    file: file.path.clone(),
                    reason: damage.to_string(),
                })
            }
        };
        let _lock = self.lock(file).await?;
        // Another process may have fetched the blob in the meantime, or another commit may have the same content.
        let blob = self.cache.blob(&file.etag);
        let identity = match cached(&blob, file).await {
            Some(Ok(identity)) => identity,
            _ => self.fetch(file, &blob).await?,
        };
        let local = self.cache.link(self.commit, &file.path, &file.etag)?;
        self.observer
            .on_event(&DownloadEvent::Finished { file: &file.path });
        Ok((
            FetchedFile::new(file.path.clone(), local, identity),
            warning,
        ))
    }

    /// Fetches the blob. If the result is not the listed file, fetches it once more, because a proxy may have interfered.
    async fn fetch(&self, file: &ListedFile, blob: &Path) -> Result<Identity, HubError> {
        match self.fetch_once(file, blob).await {
            Err(HubError::Corrupt { .. }) => self.fetch_once(file, blob).await,
            settled => settled,
        }
    }

    async fn fetch_once(&self, file: &ListedFile, blob: &Path) -> Result<Identity, HubError> {
        create_parent(blob)?;
        let partial = Partial::new(blob, file)?;
        let fetched = match self.transfer_all(file, &partial).await {
            Ok(()) => {
                let verified = verified(&partial.path, file).await;
                verified.map_err(|damage| self.corrupt(file, damage))
            }
            Err(error) => Err(error),
        };
        match fetched {
            Ok(_) => partial.keep_as(blob)?,
            Err(HubError::Corrupt { .. }) => partial.discard()?,
            Err(_) => {}
        }
        fetched
    }

    fn corrupt(&self, file: &ListedFile, damage: Damage) -> HubError {
        HubError::Corrupt {
            repo: self.repo.clone(),
            file: file.path.clone(),
            damage,
        }
    }

    /// Transfers until the file is complete. The bytes before a failure stay, and every transfer that gets further than all before it
    /// resets the count of failures.
    async fn transfer_all(&self, file: &ListedFile, partial: &Partial) -> Result<(), HubError> {
        let url = self.online.file_url(self.repo, self.commit, &file.path);
        let mut retry = self.online.retry();
        let mut furthest = partial.length();
        loop {
            let Err(error) = self.transfer(file, partial, url.as_str()).await else {
                return Ok(());
            };
            if partial.length() > furthest {
                furthest = partial.length();
                retry = self.online.retry();
            }
            retry.after(error, url.as_str(), self.observer).await?;
        }
    }

    async fn transfer(
        &self,
        file: &ListedFile,
        partial: &Partial,
        url: &str,
    ) -> Result<(), HubError> {
        let begun = partial.resumable();
        if begun > 0 && begun == file.size {
            return Ok(());
        }
        self.observer.on_event(&DownloadEvent::Started {
            file: &file.path,
            total: file.size,
        });
        let (mut response, mut done) = self.online.file(self.repo, url, begun).await?;
        let mut writer = partial.writer(done)?;
        while let Some(bytes) = response
            .chunk()
            .await
            .map_err(|source| unreachable(url, source))?
        {
            done += bytes.len() as u64;
            // A body longer than the file must not fill the disk.
            if done > file.size {
                check_size(done, &file.expected()).map_err(|damage| self.corrupt(file, damage))?;
            }
            writer
                .write_all(&bytes)
                .map_err(|source| partial.failed(source))?;
            self.observer.on_event(&DownloadEvent::Advanced {
                file: &file.path,
                done,
                total: file.size,
            });
        }
        let synced = writer.sync_all();
        synced.map_err(|source| partial.failed(source))
    }

    /// Waits without limit until no other process writes the same blob. The operating system releases the lock when its holder ends.
    async fn lock(&self, file: &ListedFile) -> Result<File, HubError> {
        let path = self.cache.lock(&file.etag);
        create_parent(&path)?;
        let failed = HubError::cache(&path);
        let mut options = File::options();
        let options = options.create(true).truncate(false).write(true);
        let lock = options.open(&path).map_err(&failed)?;
        let mut noted = false;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) if !noted => {
                    noted = true;
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

/// The file's identity or its damage; `None` if it does not exist.
async fn cached(path: &Path, file: &ListedFile) -> Option<Result<Identity, Damage>> {
    if path.exists() {
        Some(verified(path, file).await)
    } else {
        None
    }
}

async fn verified(path: &Path, file: &ListedFile) -> Result<Identity, Damage> {
    let (path, file) = (path.to_owned(), file.clone());
    blocking(move || verify(&path, &file.path, &file.expected())).await
}

/// The part of a blob that has arrived. It stays when a run ends, and the next run resumes there.
///
/// Its name is not `.incomplete`, because the official clients would resume a file of that name, whatever its content.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) path: PathBuf,
    /// Whether a digest proves in the end that all parts belong together. Files without a digest are small.
    has_digest: bool,
}

impl Partial {
    /// Finds the part of a file. A part longer than the file is removed.
    pub(super) fn new(blob: &Path, file: &ListedFile) -> Result<Self, HubError> {
        let mut name = blob.as_os_str().to_owned();
        name.push(".partial");
        let partial = Self {
            path: PathBuf::from(name),
            has_digest: file.sha256.is_some(),
        };
        if partial.length() > file.size {
            partial.discard()?;
        }
        Ok(partial)
    }

    /// Number of bytes that have arrived.
    pub(super) fn length(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// The offset at which a transfer may resume.
    pub(super) fn resumable(&self) -> u64 {
        if self.has_digest { self.length() } else { 0 }
    }

    /// A writer at `begins_at`, which is the end of the part, or 0 to start over.
    pub(super) fn writer(&self, begins_at: u64) -> Result<File, HubError> {
        let file = if begins_at == 0 {
            File::create(&self.path)
        } else {
            File::options().append(true).open(&self.path)
        };
        file.map_err(|source| self.failed(source))
    }

    /// Renames the complete file to the blob.
    pub(super) fn keep_as(&self, blob: &Path) -> Result<(), HubError> {
        std::fs::rename(&self.path, blob).map_err(HubError::cache(blob))
    }

    /// Removes the part.
    pub(super) fn discard(&self) -> Result<(), HubError> {
        remove(&self.path).map_err(|source| self.failed(source))
    }

    pub(super) fn failed(&self, source: io::Error) -> HubError {
        HubError::cache(&self.path)(source)
    }
}
