//! One caller asks a model for a reply that several want: within a process by a shared flight, between processes by a claim in the store.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evals_models::ChatReply;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep};

use super::ReplyStore;
use crate::store::EntryKey;

/// The result of a call, once it is there.
type Slot = Arc<tokio::sync::Mutex<Option<ChatReply>>>;

/// A call under way.
#[derive(Debug, Default)]
struct ReplyUnderWay {
    slot: Slot,
    /// How many requests wait for it, the one that makes it included.
    waiting: usize,
}

/// The calls under way in this process, by the key of their request.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<EntryKey, ReplyUnderWay>>);

impl Flights {
    /// Joins the call for a request, or begins it.
    pub(super) fn join(&self, key: EntryKey) -> Flight<'_> {
        let mut under_way = self.under_way();
        let shared = under_way.entry(key).or_default();
        shared.waiting += 1;
        let slot = Arc::clone(&shared.slot);
        Flight {
            flights: self,
            key,
            slot,
        }
    }

    /// The number of calls under way.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.under_way().len()
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<EntryKey, ReplyUnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request's part in a call. The call is forgotten when the last part is dropped.
#[derive(Debug)]
pub(super) struct Flight<'a> {
    flights: &'a Flights,
    key: EntryKey,
    slot: Slot,
}

impl Flight<'_> {
    /// Waits for the request that makes the call, if another does. Returns its result, or the turn to make the call if it failed.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, Option<ChatReply>> {
        self.slot.lock().await
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut under_way = self.flights.under_way();
        if let Entry::Occupied(mut shared) = under_way.entry(self.key) {
            shared.get_mut().waiting -= 1;
            if shared.get().waiting == 0 {
                shared.remove();
            }
        }
    }
}

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
            // Each attempt opens the file again, because a process deletes the file when it gives up its claim.
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
