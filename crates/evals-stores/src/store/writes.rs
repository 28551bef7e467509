use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts what is being written to a store, for whoever has to wait for it before the process ends. Clones count the same.
#[derive(Clone, Debug, Default)]
pub struct Writes(Arc<AtomicUsize>);

/// Something that is being written until this is dropped.
#[derive(Debug)]
pub(crate) struct Writing(Writes);

impl Writes {
    /// How many writes have begun and not ended, well or not.
    pub fn under_way(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn begin(&self) -> Writing {
        self.0.fetch_add(1, Ordering::AcqRel);
        Writing(self.clone())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::AcqRel);
    }
}
