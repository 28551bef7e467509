//! The cache that the profiles of one index share: embeddings of questions, and results of searches.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::OnceCell;

use super::hit::{FoundChunks, Hit};

/// Bytes of embeddings kept for other profiles.
const EMBEDDING_BYTES: usize = 8 << 20;
/// Bytes of search results kept for other profiles.
const LEG_BYTES: usize = 56 << 20;
/// Bytes of an entry beyond its key's text and its value's numbers: the map's slot, the cell and the allocations.
const ENTRY_BYTES: usize = 200;

/// Keeps each question's embedding and each search's result for all profiles of an index.
///
/// If two searches need the same value at the same time, the second waits for the first, so that no model and no engine is asked twice.
#[derive(Debug)]
pub(crate) struct Cache {
    pub(super) embeddings: Entries<String, Embedded>,
    pub(super) legs: Entries<LegKey, FoundChunks>,
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

/// Values by key, up to a number of bytes.
///
/// A value beyond the limit is computed and not cached. Nothing is evicted to make room for it: every profile asks the same questions
/// in the same order, so that eviction would always remove the entries that are needed next.
#[derive(Debug)]
pub(super) struct Entries<K, V> {
    kept: Mutex<Kept<K, V>>,
    most_bytes: usize,
}

#[derive(Debug)]
struct Kept<K, V> {
    values: HashMap<K, Arc<V>>,
    bytes: usize,
    /// The values that are being computed. Those who need one hold its cell.
    awaited: HashMap<K, Weak<OnceCell<Arc<V>>>>,
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
            values: HashMap::new(),
            bytes: 0,
            awaited: HashMap::new(),
        };
        Self {
            kept: Mutex::new(kept),
            most_bytes,
        }
    }

    /// The cached value of `key`, else the one that is being computed for it, else the one from `compute`. A failure is not cached: those who
    /// waited for it compute the value themselves, one after the other.
    pub(super) async fn get<E>(
        &self,
        key: K,
        compute: impl Future<Output = Result<V, E>>,
    ) -> Result<Cached<V>, E> {
        let cell = {
            let mut kept = self.kept();
            if let Some(value) = kept.values.get(&key).cloned() {
                return Ok(Cached { value, hit: true });
            }
            kept.awaited(&key)
        };
        let mut hit = true;
        let computed = cell
            .get_or_try_init(async || {
                hit = false;
                compute.await.map(Arc::new)
            })
            .await;
        let value = computed.cloned()?;
        if !hit {
            self.offer(key, Arc::clone(&value));
        }
        Ok(Cached { value, hit })
    }

    /// The cached value of `key`.
    pub(super) fn peek(&self, key: &K) -> Option<Arc<V>> {
        self.kept().values.get(key).cloned()
    }

    /// Caches a value that the caller computed, if there is room and the key has no value yet.
    pub(super) fn offer(&self, key: K, value: Arc<V>) {
        let mut kept = self.kept();
        let bytes = ENTRY_BYTES + key.heap_size() + value.heap_size();
        if kept.bytes + bytes <= self.most_bytes && !kept.values.contains_key(&key) {
            kept.bytes += bytes;
            kept.values.insert(key, value);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash, V> Kept<K, V> {
    /// The cell that all who need a value at this moment share.
    fn awaited(&mut self, key: &K) -> Arc<OnceCell<Arc<V>>> {
        if let Some(cell) = self.awaited.get(key).and_then(Weak::upgrade) {
            return cell;
        }
        // Nobody holds the cells of finished and abandoned computations any more.
        self.awaited.retain(|_, cell| cell.strong_count() > 0);
        let cell = Arc::default();
        self.awaited.insert(key.clone(), Arc::downgrade(&cell));
        cell
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

impl HeapSize for FoundChunks {
    fn heap_size(&self) -> usize {
        self.hits.capacity() * size_of::<Hit>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures::future;
    use tokio::task;

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

    #[tokio::test]
    async fn what_is_needed_several_times_at_once_is_computed_once() {
        let without_room = 0;
        for most_bytes in [1_000, without_room] {
            let entries = Entries::<String, u32>::new(most_bytes);
            let computed = AtomicU32::new(0);
            let get = |key: &str| {
                entries.get(key.to_owned(), async {
                    task::yield_now().await;
                    Ok::<_, &str>(computed.fetch_add(1, Ordering::Relaxed))
                })
            };
            let all = future::join_all(["a", "a", "b", "a"].map(get)).await;
            let all = all.into_iter().map(|it| it.unwrap());
            let all: Vec<(u32, bool)> = all.map(|it| (*it.value, it.hit)).collect();
            assert_eq!(all, [(0, false), (0, true), (1, false), (0, true)]);
        }
    }

    #[tokio::test]
    async fn one_that_waited_for_a_failure_or_a_search_that_was_given_up_computes_itself() {
        let bytes = ENTRY_BYTES + 1 + 100;
        let entries = Entries::<String, u32>::new(10 * bytes);
        let failed = entries.get("a".to_owned(), async {
            task::yield_now().await;
            Err::<u32, _>("down")
        });
        let (failed, second) = tokio::join!(failed, get(&entries, "a", 2));
        assert_eq!(failed.unwrap_err(), "down");
        assert_eq!(second, (2, false));
        assert_eq!(entries.kept().bytes, bytes);

        let endless = entries.get("b".to_owned(), future::pending::<Result<u32, &str>>());
        let mut endless = Box::pin(endless);
        assert!(future::poll_immediate(&mut endless).await.is_none());
        let mut waiting = Box::pin(get(&entries, "b", 3));
        assert!(future::poll_immediate(&mut waiting).await.is_none());
        drop(endless);
        assert_eq!(waiting.await, (3, false));
        assert_eq!(get(&entries, "b", 4).await, (3, true));
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
        assert_eq!(entries.kept().values.len(), 2);
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
