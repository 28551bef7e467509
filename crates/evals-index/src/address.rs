//! The place of an index, as messages name it.

use std::fmt;

/// A table and its store, displayed as `` `index-0a1b` of `/data/scifact.lancedb` ``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    store: String,
    table: String,
}

impl Address {
    pub(crate) fn new(store: &str, table: &str) -> Self {
        Self {
            store: store.to_owned(),
            table: table.to_owned(),
        }
    }

    /// The location of the store.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    /// The folder of the table. Deleting it deletes the index and nothing else.
    pub fn folder(&self) -> String {
        format!("{}/{}.lance", self.store.trim_end_matches('/'), self.table)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` of `{}`", self.table, self.store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_folder_of_a_table() {
        let address = Address::new("s3://bucket/", "index-0a");
        assert_eq!(address.to_string(), "`index-0a` of `s3://bucket/`");
        assert_eq!(address.folder(), "s3://bucket/index-0a.lance");
    }
}
