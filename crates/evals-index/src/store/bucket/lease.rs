//! The lease that lets one process at a time write to the database in an object store.
//!
//! A lease is an object with a number. Only the object with the greatest number is valid. Its holder renews it every few seconds, and marks it
//! as over at the end. A process that wants to write waits until the lease is over, or until its holder has not renewed it for
//! [`EXPIRY`]. It then creates the object with the next number. A store creates an object only once, so only one process gets the lease.
//!
//! A process that was suspended, or cut off from the store, for longer than a lease lasts may continue to write. [`Fence`](super::Fence) refuses its commits, and
//! [`Lease::check`] prevents its deletions.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{self, Instant};

use super::claim::Claim;
use super::{Bucket, Creation};
use crate::engine_error::EngineError;
use crate::error::IndexError;
use crate::lock_holder::LockHolder;
use crate::store_fault::OtherWriter;

/// The folder of leases in a database.
const FOLDER: &str = "evaluations-lock";
/// How often the holder renews its lease.
const RENEWAL: Duration = Duration::from_secs(5);
/// A lease is over if its holder does not renew it for so long.
const EXPIRY: Duration = Duration::from_secs(30);
/// If a waiting process could not read the lease for longer than this, the store was out of service.
const OUTAGE: Duration = Duration::from_secs(10);
/// How often a waiting process reads the lease.
const POLL: Duration = Duration::from_secs(1);
/// The pause before a process looks again for a lease that the store lists and does not have.
const PAUSE: Duration = Duration::from_millis(100);

/// The right to write to a database, until [`release`](Self::release).
///
/// Without `release`, a dropped lease is over after [`EXPIRY`]. If its process has ended, processes of the same machine take it at once.
#[derive(Debug)]
pub(crate) struct Lease {
    bucket: Bucket,
    number: u64,
    claim: Claim,
    renewing: JoinHandle<()>,
}

impl Lease {
    /// Takes the lease as soon as no other process holds it, and calls `waiting` with each holder until then.
    ///
    /// Dropping the future ends the wait.
    pub(in crate::store) async fn wait(
        bucket: &Bucket,
        waiting: impl Fn(&LockHolder),
    ) -> Result<Self, IndexError> {
        let mut shown = None;
        loop {
            let held = |_, claim: &Claim| {
                if shown != Some(claim.token) {
                    shown = Some(claim.token);
                    waiting(&claim.holder());
                }
                Ok(())
            };
            if let Some(lease) = Self::take_when_free(bucket, held).await? {
                return Ok(lease);
            }
        }
    }

    /// Takes the lease, or fails if another process holds it and renews it.
    ///
    /// A process that ended without releasing the lease delays this by up to [`EXPIRY`].
    pub(in crate::store) async fn acquire(bucket: &Bucket) -> Result<Self, IndexError> {
        let mut first = None;
        let held = |number, claim: &Claim| {
            if *first.get_or_insert_with(|| claim.clone()) == *claim {
                return Ok(());
            }
            Err(busy(bucket, number, claim))
        };
        if let Some(lease) = Self::take_when_free(bucket, held).await? {
            return Ok(lease);
        }
        let (number, claim) = latest(bucket).await?.unwrap_or_else(|| (1, Claim::new()));
        Err(busy(bucket, number, &claim))
    }

    /// Waits until no process holds the lease, and takes it; `None` if another process was faster. Calls `held` each time that a process holds
    /// it, and stops if that fails.
    async fn take_when_free(
        bucket: &Bucket,
        mut held: impl FnMut(u64, &Claim) -> Result<(), IndexError>,
    ) -> Result<Option<Self>, IndexError> {
        let mut watch = Watch::new();
        loop {
            match watch.read(bucket).await? {
                Some((number, claim)) if !claim.is_free() && !watch.has_expired() => {
                    held(number, &claim)?;
                    time::sleep(POLL).await;
                }
                Some((number, _)) => return Self::take(bucket, number + 1).await,
                None => return Self::take(bucket, 1).await,
            }
        }
    }

    /// Creates the lease with this number; `None` if another process was faster.
    ///
    /// Creates it twice: a store that does not refuse the second request would lose commits silently.
    async fn take(bucket: &Bucket, number: u64) -> Result<Option<Self>, IndexError> {
        let claim = Claim::new();
        let name = name(number);
        let created = bucket.create(&name, claim.to_json()).await?;
        let is_own = created == Creation::Created
            || read(bucket, number)
                .await?
                .is_some_and(|found| found.token == claim.token);
        let again = if is_own {
            bucket.create(&name, claim.to_json()).await?
        } else {
            Creation::Present
        };
        let numbers = numbers(bucket).await?;
        if numbers.iter().all(|other| *other < number) {
            if is_own {
                bucket.delete(&name).await?;
            }
            // Without the lists of the store no process knows who holds the lease, and each would try the same number for ever.
            return Err(bucket.leaves_out(&name));
        }
        if !is_own {
            return Ok(None);
        }
        // Another process may have taken and released a lease since this one listed the numbers. It deleted earlier numbers, perhaps this one,
        // and perhaps between the two requests, so that both created it.
        if numbers.iter().any(|other| *other > number) {
            bucket.delete(&name).await?;
            return Ok(None);
        }
        if again == Creation::Created {
            bucket.delete(&name).await?;
            return Err(IndexError::Unconditional {
                uri: bucket.uri.clone(),
            });
        }
        for earlier in numbers.into_iter().filter(|other| *other < number) {
            bucket.delete(&self::name(earlier)).await?;
        }
        Ok(Some(Self {
            bucket: bucket.clone(),
            number,
            renewing: tokio::spawn(renew(bucket.clone(), number, claim.clone())),
            claim,
        }))
    }

    /// Fails if another process took the lease. Asks the store, because this process may have been suspended since the last renewal.
    pub(in crate::store) async fn check(&self) -> Result<(), IndexError> {
        if is_held(&self.bucket, self.number, &self.claim).await? {
            return Ok(());
        }
        Err(IndexError::Store {
            uri: self.bucket.uri.clone(),
            source: EngineError::new(Box::new(OtherWriter)),
        })
    }

    /// Marks the lease as over, unless another process took it. If that fails, it is over after [`EXPIRY`].
    pub(in crate::store) async fn release(mut self) {
        self.renewing.abort();
        // A renewal under way would undo the release.
        let _ = (&mut self.renewing).await;
        if !matches!(self.check().await, Ok(())) {
            return;
        }
        let over = Claim {
            over: true,
            ..self.claim.clone()
        };
        let _ = self.bucket.put(&name(self.number), over.to_json()).await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

/// Renews the lease until another process takes it.
async fn renew(bucket: Bucket, number: u64, mut claim: Claim) {
    let mut ticks = time::interval_at(Instant::now() + RENEWAL, RENEWAL);
    loop {
        ticks.tick().await;
        match is_held(&bucket, number, &claim).await {
            Ok(true) => {
                claim.renewals += 1;
                // Without renewals another process takes the lease, and the fence refuses further commits of this process.
                let _ = bucket.put(&name(number), claim.to_json()).await;
            }
            Ok(false) => return,
            // The store does not answer now. The next tick tries again.
            Err(_) => {}
        }
    }
}

fn name(number: u64) -> String {
    format!("{FOLDER}/{number:020}.json")
}

async fn numbers(bucket: &Bucket) -> Result<Vec<u64>, IndexError> {
    let names = bucket.names(FOLDER).await?.into_iter();
    Ok(names
        .filter_map(|name| name.strip_suffix(".json")?.parse().ok())
        .collect())
}

/// Whether the valid lease has this number and belongs to this process.
async fn is_held(bucket: &Bucket, number: u64, claim: &Claim) -> Result<bool, IndexError> {
    let latest = latest(bucket).await?;
    Ok(latest.is_some_and(|(it, found)| it == number && found.token == claim.token))
}

/// The valid lease: the one with the greatest number.
async fn latest(bucket: &Bucket) -> Result<Option<(u64, Claim)>, IndexError> {
    let began = Instant::now();
    loop {
        let Some(number) = numbers(bucket).await?.into_iter().max() else {
            return Ok(None);
        };
        // A process that takes the lease deletes the ones before it.
        if let Some(claim) = read(bucket, number).await? {
            return Ok(Some((number, claim)));
        }
        // Some stores list a deleted object for a while.
        let waited = began.elapsed();
        if waited > bucket.list_limit {
            let (object, waited) = (bucket.address(&name(number)), waited.as_secs());
            return Err(bucket.lists_wrongly(format!(
                "it has not had `{object}` for {waited} s, and still lists it"
            )));
        }
        time::sleep(PAUSE).await;
    }
}

/// How long the valid lease has stayed the same while the store answered.
///
/// During an outage of the store, the holder cannot renew its lease either, so that the time counts anew after it.
struct Watch {
    claim: Option<Claim>,
    since: Instant,
    /// The end of the last read.
    read: Instant,
}

impl Watch {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            claim: None,
            since: now,
            read: now,
        }
    }

    /// Reads the valid lease.
    async fn read(&mut self, bucket: &Bucket) -> Result<Option<(u64, Claim)>, IndexError> {
        let found = latest(bucket).await?;
        let now = Instant::now();
        let claim = found.as_ref().map(|(_, claim)| claim);
        if claim != self.claim.as_ref() || now - self.read > OUTAGE {
            self.claim = claim.cloned();
            self.since = now;
        }
        self.read = now;
        Ok(found)
    }

    fn has_expired(&self) -> bool {
        self.since.elapsed() >= EXPIRY
    }
}

async fn read(bucket: &Bucket, number: u64) -> Result<Option<Claim>, IndexError> {
    let Some(content) = bucket.get(&name(number)).await? else {
        return Ok(None);
    };
    let claim = serde_json::from_slice(&content);
    claim.map(Some).map_err(|source| IndexError::Lease {
        lease: bucket.address(&name(number)),
        source,
    })
}

fn busy(bucket: &Bucket, number: u64, claim: &Claim) -> IndexError {
    IndexError::Busy {
        lock: bucket.address(&name(number)),
        holder: claim.holder(),
    }
}

#[cfg(test)]
mod tests {
    use std::process;
    use std::sync::{Arc, Mutex};

    use object_store::memory::InMemory;
    use object_store::throttle::{ThrottleConfig, ThrottledStore};

    use super::*;
    use crate::store_fault::StoreFault;

    fn bucket() -> Bucket {
        Bucket {
            uri: "s3://bucket/db".to_owned(),
            store: Arc::new(InMemory::new()),
            prefix: "db".into(),
            list_limit: Duration::from_mins(1),
        }
    }

    /// Lets another process hold the lease.
    async fn held_elsewhere(bucket: &Bucket, number: u64) -> Claim {
        let claim = Claim {
            machine: None,
            host: Some("node-1".to_owned()),
            ..Claim::new()
        };
        bucket.put(&name(number), claim.to_json()).await.unwrap();
        claim
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_is_held_by_one_and_given_back() {
        let bucket = bucket();
        let lease = Lease::acquire(&bucket).await.unwrap();
        let error = Lease::acquire(&bucket).await.unwrap_err().to_string();
        let expected = format!(
            "which holds the lock `s3://bucket/db/evaluations-lock/{:020}.json`",
            1
        );
        assert!(error.ends_with(&expected), "{error}");
        lease.release().await;
        let next = Lease::acquire(&bucket).await.unwrap();
        assert_eq!(next.number, 2);
        assert_eq!(numbers(&bucket).await.unwrap(), [2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_without_renewals_is_over_after_half_a_minute() {
        let bucket = bucket();
        held_elsewhere(&bucket, 7).await;
        let holders = Mutex::new(Vec::new());
        let started = Instant::now();
        let lease = Lease::wait(&bucket, |it| holders.lock().unwrap().push(it.to_string())).await;
        assert_eq!(lease.unwrap().number, 8);
        let waited = started.elapsed();
        assert!(waited >= EXPIRY && waited < 2 * EXPIRY, "{waited:?}");
        let expected = format!("process {} on node-1", process::id());
        assert_eq!(holders.into_inner().unwrap(), [expected]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_wait_takes_a_lease_that_nobody_renews() {
        let bucket = bucket();
        let claim = held_elsewhere(&bucket, 7).await;
        let started = Instant::now();
        let lease = Lease::acquire(&bucket).await.unwrap();
        assert_eq!(lease.number, 8);
        assert!(started.elapsed() >= EXPIRY, "{:?}", started.elapsed());
        lease.release().await;

        let claim = Claim {
            token: claim.token + 1,
            ..claim
        };
        bucket.put(&name(9), claim.to_json()).await.unwrap();
        let renewing = tokio::spawn(renew(bucket.clone(), 9, claim));
        let started = Instant::now();
        let error = Lease::acquire(&bucket).await.unwrap_err();
        assert!(matches!(error, IndexError::Busy { .. }), "{error:?}");
        assert!(started.elapsed() < 2 * RENEWAL, "{:?}", started.elapsed());
        renewing.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_the_store_does_not_answer_expires_no_lease() {
        let bucket = bucket();
        let claim = held_elsewhere(&bucket, 1).await;
        let mut watch = Watch::new();
        watch.read(&bucket).await.unwrap();
        time::sleep(EXPIRY.saturating_sub(POLL)).await;
        assert!(!watch.has_expired());
        // The store answers again 16 s later.
        time::sleep(EXPIRY / 2 + POLL).await;
        watch.read(&bucket).await.unwrap();
        assert!(!watch.has_expired());
        for _ in 0..4 {
            time::sleep(EXPIRY / 4).await;
            let (_, same) = watch.read(&bucket).await.unwrap().unwrap();
            assert_eq!(same, claim);
        }
        assert!(watch.has_expired());
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewed_lease_is_waited_for() {
        let bucket = bucket();
        let claim = held_elsewhere(&bucket, 1).await;
        let renewing = tokio::spawn(renew(bucket.clone(), 1, claim));
        let waiting = time::timeout(10 * EXPIRY, Lease::wait(&bucket, |_| {}));
        assert!(waiting.await.is_err());
        renewing.abort();
        assert!(Lease::wait(&bucket, |_| {}).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_another_process_took_is_lost_and_not_written_again() {
        let bucket = bucket();
        let lease = Lease::acquire(&bucket).await.unwrap();
        lease.check().await.unwrap();
        held_elsewhere(&bucket, 2).await;
        let error = lease.check().await.unwrap_err();
        assert_eq!(error.store_fault(), Some(StoreFault::OtherWriter));
        // The other process deletes the lease before its own.
        bucket.delete(&name(1)).await.unwrap();
        time::sleep(3 * RENEWAL).await;
        assert_eq!(numbers(&bucket).await.unwrap(), [2]);
        lease.release().await;
        assert_eq!(numbers(&bucket).await.unwrap(), [2]);
    }

    #[tokio::test]
    async fn a_lease_with_the_same_number_of_another_process_is_lost() {
        let bucket = bucket();
        let lease = Lease::acquire(&bucket).await.unwrap();
        let other = held_elsewhere(&bucket, 1).await;
        assert!(lease.check().await.is_err());
        lease.release().await;
        assert_eq!(read(&bucket, 1).await.unwrap(), Some(other));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_lease_of_a_process_of_this_machine_that_ended_is_free() {
        let bucket = bucket();
        let mut child = process::Command::new("true").spawn().unwrap();
        let claim = Claim {
            process: child.id(),
            ..Claim::new()
        };
        child.wait().unwrap();
        bucket.put(&name(3), claim.to_json()).await.unwrap();
        assert_eq!(Lease::acquire(&bucket).await.unwrap().number, 4);
    }

    #[tokio::test]
    async fn a_number_below_the_greatest_is_no_lease() {
        let bucket = bucket();
        held_elsewhere(&bucket, 9).await;
        assert!(Lease::take(&bucket, 5).await.unwrap().is_none());
        assert_eq!(numbers(&bucket).await.unwrap(), [9]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_a_faster_process_deletes_between_both_requests_is_not_taken() {
        let store: Arc<dyn object_store::ObjectStore> = Arc::new(InMemory::new());
        let pause = Duration::from_millis(10);
        let slow = ThrottleConfig {
            wait_put_per_call: pause,
            ..ThrottleConfig::default()
        };
        let slow = Bucket {
            store: Arc::new(ThrottledStore::new(store.clone(), slow)),
            ..bucket()
        };
        let fast = Bucket { store, ..bucket() };
        let overtaking = async {
            time::sleep(pause * 3 / 2).await;
            assert_eq!(numbers(&fast).await.unwrap(), [5]);
            held_elsewhere(&fast, 6).await;
            fast.delete(&name(5)).await.unwrap();
        };
        let (taken, ()) = tokio::join!(Lease::take(&slow, 5), overtaking);
        assert!(taken.unwrap().is_none());
        assert_eq!(numbers(&fast).await.unwrap(), [6]);
    }

    #[tokio::test]
    async fn of_many_that_try_one_gets_the_lease() {
        let bucket = bucket();
        let tries = (0..20).map(|_| Lease::acquire(&bucket));
        let outcomes = futures::future::join_all(tries).await;
        assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 1);
    }

    #[tokio::test]
    async fn a_damaged_lease_is_named() {
        let bucket = bucket();
        bucket.put(&name(1), b"{".to_vec()).await.unwrap();
        let error = Lease::acquire(&bucket).await.unwrap_err().to_string();
        assert!(
            error.contains("evaluations-lock/00000000000000000001.json"),
            "{error}"
        );
    }
}
