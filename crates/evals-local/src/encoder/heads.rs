use super::norm::Norm;

/// How many heads there are and how long their vectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heads {
    pub(crate) queries: usize,
    /// Heads of keys, and of values; each serves as many consecutive heads of queries as there are more of those.
    pub(crate) keys: usize,
    pub(crate) size: usize,
}

/// Normalisation of each head's query and key before positions turn them.
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

    /// Values of a token's queries.
    pub(crate) fn query_width(self) -> usize {
        self.queries * self.size
    }

    /// Values of a token's keys, and of its values.
    pub(crate) fn key_width(self) -> usize {
        self.keys * self.size
    }

    /// Values of a token's queries, keys and values, one after another.
    pub(super) fn row(self) -> usize {
        self.query_width() + 2 * self.key_width()
    }

    /// Where the query of a head starts in a row.
    pub(super) fn query_column(self, head: usize) -> usize {
        head * self.size
    }

    /// Where the key that a head's query meets starts in a row.
    pub(super) fn key_column(self, head: usize) -> usize {
        self.query_width() + head * self.keys / self.queries * self.size
    }

    /// Where the value that belongs to that key starts in a row.
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
