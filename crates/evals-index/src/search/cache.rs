//! The cache that the profiles of one index share: embeddings of questions, and results of searches.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;

use super::Filter;
use super::hit::{Found, Hit};

/// Bytes of embeddings kept for other profiles.
const EMBEDDING_BYTES: usize = 8 << 20;
/// Bytes of search results kept for other profiles.
const LEG_BYTES: usize = 56 << 20;
/// Bytes of an entry beyond its key's text and its value's numbers: the map's slot, the cell and the allocations.
const ENTRY_BYTES: usize = 200;

/// Computes each question's embedding and each search's result once for all profiles of an index.
///
/// If two searches need the same result at the same time, the second waits for the first.
pub(crate) struct Cache {
    pub(super) embeddings: Entries<String, Embedded>,
    pub(super) legs: Entries<LegKey, Found>,
}

/// A question's embedding.
#[derive(Debug)]
pub(super) struct Embedded {
    pub(super) vector: Vec<f32>,
    /// How long the model took for it, now or when the vector store saved it.
    pub(super) duration: Duration,
    /// Whether it came from a vector store instead of the model.
    pub(super) stored: bool,
}

/// Everything that the result of one search depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LegKey {
    pub(super) leg: &'static str,
    pub(super) question: String,
    pub(super) filter: Option<String>,
    pub(super) depth: usize,
}

/// Values by key, each computed at most once, up to a number of bytes.
///
/// A value beyond the limit is computed and not cached. Nothing is evicted to make room for it: every profile asks the same questions
/// in the same order, so that eviction would always remove the entries that are needed next.
pub(super) struct Entries<K, V> {
    kept: Mutex<Kept<K, V>>,
    most_bytes: usize,
}

struct Kept<K, V> {
    cells: HashMap<K, Arc<OnceCell<Arc<V>>>>,
    bytes: usize,
}

/// The bytes that a key or a value holds on the heap.
pub(super) trait HeapSize {
    fn heap_size(&self) -> usize;
}

/// A value, and whether the cache had it.
#[derive(Debug, Clone)]
pub(super) struct Cached<V> {
    pub(super) value: Arc<V>,
    pub(super) hit: bool,
}

impl<K: Clone + Eq + Hash + HeapSize, V: HeapSize> Entries<K, V> {
    fn new(most_bytes: usize) -> Self {
        let kept = Kept {
            cells: HashMap::new(),
            bytes: 0,
        };
        Self {
            kept: Mutex::new(kept),
            most_bytes,
        }
    }

    /// The cached value of `key`, else the one from `compute`. A failure is not cached.
    pub(super) async fn get<E>(
        &self,
        key: K,
        compute: impl Future<Output = Result<V, E>>,
    ) -> Result<Cached<V>, E> {
        let cell = Arc::clone(self.kept().cells.entry(key.clone()).or_default());
        let mut hit = true;
        let computed = cell
            .get_or_try_init(async || {
                hit = false;
                compute.await.map(Arc::new)
            })
            .await
            .cloned();
        if !hit {
            self.settle(key, &cell, computed.as_deref().ok());
        }
        computed.map(|value| Cached { value, hit })
    }

    /// The cached value of `key`, if it is computed.
    pub(super) fn peek(&self, key: &K) -> Option<Arc<V>> {
        self.kept().cells.get(key)?.get().cloned()
    }

    /// Caches a value that the caller computed, if there is room and the key has no value yet.
    pub(super) fn offer(&self, key: K, value: Arc<V>) {
        let mut kept = self.kept();
        let bytes = ENTRY_BYTES + key.heap_size() + value.heap_size();
        if kept.bytes + bytes <= self.most_bytes && !kept.cells.contains_key(&key) {
            kept.bytes += bytes;
            kept.cells
                .insert(key, Arc::new(OnceCell::new_with(Some(value))));
        }
    }

    /// Accounts for the value that was just computed into `cell`, or removes its key if the computation failed or there is no room.
    ///
    /// After a failed computation, a waiting one computes into the same cell. By then the key may be gone or have another cell, so
    /// bytes are counted only while a cell is the one that its key leads to.
    fn settle(&self, key: K, cell: &Arc<OnceCell<Arc<V>>>, computed: Option<&V>) {
        let mut kept = self.kept();
        let of_key = kept.cells.get(&key);
        if of_key.is_some_and(|of_key| !Arc::ptr_eq(of_key, cell)) {
            return;
        }
        let bytes = computed.map(|value| ENTRY_BYTES + key.heap_size() + value.heap_size());
        match bytes {
            Some(bytes) if kept.bytes + bytes <= self.most_bytes => {
                kept.bytes += bytes;
                kept.cells.insert(key, Arc::clone(cell));
            }
            // Another computation succeeded after this one failed, and its bytes are counted.
            None if cell.initialized() => {}
            _ => drop(kept.cells.remove(&key)),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            embeddings: Entries::new(EMBEDDING_BYTES),
            legs: Entries::new(LEG_BYTES),
        }
    }
}

impl HeapSize for String {
    fn heap_size(&self) -> usize {
        self.len()
    }
}

impl LegKey {
    pub(super) fn new(leg: &'static str, question: &str, filter: &Filter, depth: usize) -> Self {
        Self {
            leg,
            question: question.to_owned(),
            filter: filter.sql().map(ToOwned::to_owned),
            depth,
        }
    }
}

impl HeapSize for LegKey {
    fn heap_size(&self) -> usize {
        self.question.len() + self.filter.as_ref().map_or(0, String::len)
    }
}

impl HeapSize for Embedded {
    fn heap_size(&self) -> usize {
        size_of_val(self.vector.as_slice())
    }
}

impl HeapSize for Found {
    fn heap_size(&self) -> usize {
        self.hits.capacity() * size_of::<Hit>()
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cache")
            .field("embedding_bytes", &self.embeddings.kept().bytes)
            .field("leg_bytes", &self.legs.kept().bytes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl HeapSize for u32 {
        fn heap_size(&self) -> usize {
            100
        }
    }

    async fn get(entries: &Entries<String, u32>, key: &str, value: u32) -> (u32, bool) {
        let computed = async { Ok::<_, &str>(value) };
        let cached = entries.get(key.to_owned(), computed).await.unwrap();
        (*cached.value, cached.hit)
    }

    #[tokio::test]
    async fn computes_once_and_caches_no_failure() {
        let entries = Entries::<String, u32>::new(1_000);
        let failed: Result<_, &str> = entries.get("a".to_owned(), async { Err("down") }).await;
        assert_eq!(failed.unwrap_err(), "down");
        assert_eq!(get(&entries, "a", 1).await, (1, false));
        assert_eq!(get(&entries, "a", 2).await, (1, true));
    }

    /// Two searches need one value at once: the first fails to compute it, and the second succeeds.
    #[tokio::test]
    async fn counts_the_bytes_of_cached_values() {
        let bytes = ENTRY_BYTES + 1 + 100;
        let entries = Entries::<String, u32>::new(10 * bytes);
        for number in 0..3 {
            let key = || "a".to_owned();
            let (fail, failure) = tokio::sync::oneshot::channel::<()>();
            let first = entries.get(key(), async {
                failure.await.map_err(|_| "down")?;
                Ok::<u32, &str>(1)
            });
            let second = entries.get(key(), async { Ok::<_, &str>(2) });
            let (first, second, ()) = tokio::join!(first, second, async {
                tokio::task::yield_now().await;
                drop(fail);
            });
            if number == 0 {
                assert_eq!(first.unwrap_err(), "down");
            }
            assert_eq!(*second.unwrap().value, 2);
            assert_eq!(entries.kept().cells.len(), 1);
            assert_eq!(entries.kept().bytes, bytes);
        }
    }

    #[tokio::test]
    async fn a_failure_does_not_remove_another_computations_value() {
        let entries = Entries::<String, u32>::new(1_000);
        let key = || "a".to_owned();
        let failed = Arc::clone(entries.kept().cells.entry(key()).or_default());
        assert_eq!(get(&entries, "a", 1).await, (1, false));
        entries.settle(key(), &failed, None);
        assert_eq!(get(&entries, "a", 2).await, (1, true));
        entries.kept().cells.remove("a");
        assert_eq!(get(&entries, "a", 3).await, (3, false));
        entries.settle(key(), &failed, None);
        assert_eq!(get(&entries, "a", 4).await, (3, true));
    }

    #[tokio::test]
    async fn caches_as_much_as_there_is_room_for() {
        let room_for_two = 2 * (ENTRY_BYTES + 1 + 100);
        let entries = Entries::<String, u32>::new(room_for_two);
        for key in ["a", "b", "c", "d"] {
            assert_eq!(get(&entries, key, 1).await, (1, false));
        }
        assert_eq!(get(&entries, "a", 2).await, (1, true));
        assert_eq!(get(&entries, "b", 2).await, (1, true));
        assert_eq!(get(&entries, "c", 2).await, (2, false));
        assert_eq!(entries.kept().cells.len(), 2);
    }

    #[tokio::test]
    async fn an_offered_value_is_cached_like_a_computed_one() {
        let entries = Entries::<String, u32>::new(ENTRY_BYTES + 1 + 100);
        assert_eq!(entries.peek(&"a".to_owned()), None);
        entries.offer("a".to_owned(), Arc::new(1));
        entries.offer("a".to_owned(), Arc::new(2));
        entries.offer("b".to_owned(), Arc::new(3));
        assert_eq!(entries.peek(&"a".to_owned()).as_deref(), Some(&1));
        assert_eq!(get(&entries, "a", 4).await, (1, true));
        assert_eq!(entries.peek(&"b".to_owned()), None);
        assert_eq!(entries.kept().bytes, ENTRY_BYTES + 1 + 100);
    }
}
