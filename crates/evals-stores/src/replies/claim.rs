//! The right to ask a model for one reply, held by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep};

use super::ReplyStore;
use crate::store::EntryKey;

/// The pause between two attempts to lock the file of a request.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a process waits before it tells the user why. Most replies take less.
const SILENCE: Duration = Duration::from_mins(1);
/// Most claims of this process at a time: each has an open file, and systems limit these.
const MOST: usize = 256;

static CLAIMS: Semaphore = Semaphore::const_new(MOST);

/// The right to ask a model for one reply. Other processes with the same store wait until it is dropped, and then look for the reply in
/// the store. The operating system releases it when its process ends for whatever reason.
#[derive(Debug)]
pub(super) struct Claim {
    file: File,
    path: PathBuf,
    _permit: SemaphorePermit<'static>,
}

impl Claim {
    /// Takes the claim as soon as no other process has it. `None` on a file system without locks.
    pub(super) async fn take(store: &ReplyStore, key: EntryKey) -> Option<Self> {
        let folder = store.path().with_extension("asking");
        let path = folder.join(key.to_string());
        let began = Instant::now();
        let mut is_noted = false;
        loop {
            let permit = CLAIMS.acquire().await.ok()?;
            // Opened anew each time: the process that had the claim has deleted its file.
            let file = opened(&folder, &path).ok()?;
            match file.try_lock() {
                Ok(()) => {
                    return Some(Self {
                        file,
                        path,
                        _permit: permit,
                    });
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(_)) => return None,
            }
            drop(permit);
            if !is_noted && began.elapsed() >= SILENCE {
                is_noted = true;
                store.note(&format!(
                    "waiting for a reply that another process has asked for; it has locked `{}`",
                    path.display()
                ));
            }
            sleep(PAUSE).await;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // A file that stays does no harm: the next process with this request locks it.
        let _ = fs::remove_file(&self.path);
        // If a child process is just being started, it would inherit the lock when the file is only closed.
        let _ = self.file.unlock();
    }
}

fn opened(folder: &Path, path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    options.open(path).or_else(|_| {
        fs::create_dir_all(folder)?;
        options.open(path)
    })
}
