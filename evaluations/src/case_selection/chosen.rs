//! Which of a dataset's cases a run has: what its report says about that.

use serde_json::{Map, Value};

use super::record::SelectionRecord;
use crate::shards::ShardHeader;

/// Which of a dataset's cases a run has.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChosenCases {
    /// The options that chose the cases, if any did.
    pub(crate) selection: Option<SelectionRecord>,
    /// The shard, if the run is one.
    pub(crate) shard: Option<ShardHeader>,
    /// The number of cases.
    pub(crate) count: usize,
}

impl ChosenCases {
    pub(crate) fn new(
        selection: Option<SelectionRecord>,
        shard: Option<ShardHeader>,
        count: usize,
    ) -> Self {
        Self {
            selection,
            shard,
            count,
        }
    }

    /// Whether the run is a shard without cases.
    pub(crate) fn is_empty_shard(&self) -> bool {
        self.shard.is_some() && self.count == 0
    }

    /// What the metadata of a report holds, for a run of `count` cases.
    pub(crate) fn of_report(
        metadata: &Map<String, Value>,
        count: usize,
    ) -> serde_json::Result<Self> {
        let selection = metadata.get(SelectionRecord::KEY).cloned();
        let shard = metadata.get(ShardHeader::KEY).cloned();
        Ok(Self {
            selection: selection.map(serde_json::from_value).transpose()?,
            shard: shard.map(serde_json::from_value).transpose()?,
            count,
        })
    }

    /// The lines of a report, as labels and texts. `cases` is the label of the cases that the options chose.
    pub(crate) fn lines(&self, cases: &str) -> Vec<(String, String)> {
        let of_all_shards = self.shard.map_or(self.count, |shard| shard.cases);
        let selection = self.selection.iter();
        let selection = selection.map(|it| (cases.to_owned(), it.text(of_all_shards)));
        let shard = self.shard.iter();
        let shard = shard.map(|it| (ShardHeader::KEY.to_owned(), it.text(self.count)));
        selection.chain(shard).collect()
    }

    /// Adds the records to the metadata of a report, for programs.
    pub(crate) fn enter(&self, metadata: &mut Map<String, Value>) -> serde_json::Result<()> {
        if let Some(selection) = &self.selection {
            let record = serde_json::to_value(selection)?;
            metadata.insert(SelectionRecord::KEY.to_owned(), record);
        }
        if let Some(shard) = &self.shard {
            let record = serde_json::to_value(shard)?;
            metadata.insert(ShardHeader::KEY.to_owned(), record);
        }
        Ok(())
    }
}
