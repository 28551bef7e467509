//! Which tokens a token attends to.

use std::ops::Range;

/// Which tokens of its own text a token attends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mask {
    /// All of them.
    Full,
    /// Itself and this many on each side.
    Window(usize),
    /// Itself and those before it.
    Causal,
}

impl Mask {
    /// The part of `attended` that at least one of `queries` sees.
    pub(super) fn keys(self, queries: &Range<usize>, attended: &Range<usize>) -> Range<usize> {
        match self {
            Self::Full => attended.clone(),
            Self::Window(reach) => {
                attended.start.max(queries.start.saturating_sub(reach))
                    ..attended.end.min(queries.end + reach)
            }
            Self::Causal => attended.start..attended.end.min(queries.end),
        }
    }

    /// The part of `keys` that `token` sees, counted from the first key.
    pub(super) fn seen(self, token: usize, keys: &Range<usize>) -> Range<usize> {
        match self {
            Self::Full => 0..keys.len(),
            Self::Window(reach) => {
                let start = token.saturating_sub(reach).saturating_sub(keys.start);
                let end = keys.len().min(token + reach + 1 - keys.start);
                start.min(end)..end
            }
            Self::Causal => 0..keys.len().min(token + 1 - keys.start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_queries_reads_no_more_keys_than_it_sees() {
        let text = 100..200;
        assert_eq!(Mask::Full.keys(&(120..130), &text), 100..200);
        assert_eq!(Mask::Window(8).keys(&(120..130), &text), 112..138);
        assert_eq!(Mask::Window(40).keys(&(120..190), &text), 100..200);
        assert_eq!(Mask::Causal.keys(&(120..130), &text), 100..130);
    }

    #[test]
    fn each_token_sees_its_own_part_of_the_keys() {
        assert_eq!(Mask::Full.seen(125, &(100..200)), 0..100);
        assert_eq!(Mask::Window(8).seen(125, &(112..138)), 5..22);
        assert_eq!(Mask::Window(8).seen(101, &(100..138)), 0..10);
        assert_eq!(Mask::Causal.seen(125, &(100..130)), 0..26);
    }

    #[test]
    fn tokens_after_the_attended_ones_see_those_in_reach() {
        let attended = 100..110;
        assert_eq!(Mask::Full.keys(&(100..130), &attended), 100..110);
        assert_eq!(Mask::Window(8).keys(&(112..130), &attended), 104..110);
        assert_eq!(Mask::Window(8).seen(112, &(104..110)), 0..6);
        assert_eq!(Mask::Window(8).seen(125, &(104..110)), 6..6);
        assert!(Mask::Window(8).keys(&(125..130), &attended).is_empty());
        assert_eq!(Mask::Causal.keys(&(112..130), &attended), 100..110);
        assert_eq!(Mask::Causal.seen(125, &(100..110)), 0..10);
    }
}
