use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Adds up the tokens that answers say were read for them.
#[derive(Debug, Default)]
pub(super) struct TokensRead {
    told: AtomicU64,
    /// Whether any answer did not say.
    untold: AtomicBool,
}

impl TokensRead {
    pub(super) fn add(&self, tokens: Option<u64>) {
        match tokens {
            Some(tokens) => {
                self.told.fetch_add(tokens, Ordering::Relaxed);
            }
            None => self.untold.store(true, Ordering::Relaxed),
        }
    }

    /// The sum, where every answer said.
    pub(super) fn sum(&self) -> Option<u64> {
        let untold = self.untold.load(Ordering::Relaxed);
        (!untold).then(|| self.told.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_with_a_part_unknown_is_unknown() {
        let read = TokensRead::default();
        assert_eq!(read.sum(), Some(0));
        read.add(Some(5));
        read.add(Some(7));
        assert_eq!(read.sum(), Some(12));
        read.add(None);
        assert_eq!(read.sum(), None);
    }
}
