//! The number and size of attention heads.

use super::norm::Norm;

/// How many heads attention has, and how long their vectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heads {
    pub(crate) queries: usize,
    /// Heads of keys, and of values. If there are fewer than heads of queries, consecutive heads of queries share one.
    pub(crate) keys: usize,
    pub(crate) size: usize,
}

/// Normalisation of the query and key of each head, before rotary positions.
#[derive(Debug)]
pub(crate) struct HeadNorms {
    pub(crate) query: Norm,
    pub(crate) key: Norm,
}

impl Heads {
    /// `count` heads of each kind that share `width` values between them.
    pub(crate) fn sharing(width: usize, count: usize) -> Self {
        Self {
            queries: count,
            keys: count,
            size: width / count,
        }
    }

    /// Length of all queries of a token.
    pub(crate) fn query_width(self) -> usize {
        self.queries * self.size
    }

    /// Length of all keys of a token, and of all its values.
    pub(crate) fn key_width(self) -> usize {
        self.keys * self.size
    }

    /// Length of all queries, keys and values of a token, one after another.
    pub(super) fn row(self) -> usize {
        self.query_width() + 2 * self.key_width()
    }

    /// Where the query of a head starts in a row.
    pub(super) fn query_column(self, head: usize) -> usize {
        head * self.size
    }

    /// Where the key for the query of a head starts in a row.
    pub(super) fn key_column(self, head: usize) -> usize {
        self.query_width() + head * self.keys / self.queries * self.size
    }

    /// Where the value for that key starts in a row.
    pub(super) fn value_column(self, head: usize) -> usize {
        self.key_column(head) + self.key_width()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_heads_of_queries_share_keys_and_values() {
        let heads = Heads {
            queries: 4,
            keys: 2,
            size: 3,
        };
        assert_eq!(heads.row(), 24);
        assert_eq!(
            [0, 1, 2, 3].map(|head| heads.query_column(head)),
            [0, 3, 6, 9]
        );
        assert_eq!(
            [0, 1, 2, 3].map(|head| heads.key_column(head)),
            [12, 12, 15, 15]
        );
        assert_eq!(
            [0, 1, 2, 3].map(|head| heads.value_column(head)),
            [18, 18, 21, 21]
        );
    }
}
