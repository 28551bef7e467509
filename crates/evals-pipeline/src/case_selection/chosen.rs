//! Which of a dataset's cases a run has, and how good they are: what its report says about that.

use std::collections::BTreeSet;

use evals_questions::review::DefectRates;
use evals_runs::run_record::{DEFECTS, FILTER, LimitRecord, SelectionRecord, selection_text};
use evals_runs::shards::ShardHeader;
use serde_json::{Map, Value};

/// Which of a dataset's cases a run has, and which of its documents.
#[derive(Debug, Clone, Default)]
pub struct ChosenCases {
    /// The options that chose the cases, if any did.
    pub selection: Option<SelectionRecord>,
    /// The limit, if it left cases out.
    pub limit: Option<LimitRecord>,
    /// The shard, if the run is one.
    pub shard: Option<ShardHeader>,
    /// The number of cases.
    pub count: usize,
    /// The condition on documents, if a search finds only some.
    pub filter: Option<String>,
    /// How many questions of the test set are defective, if people reviewed it.
    pub defects: Option<DefectRates>,
    /// The conversations whose last turns are not among the cases of all shards.
    pub cut: BTreeSet<String>,
}

/// The key of a report's metadata with the conversations whose last turns it lacks.
const CUT: &str = "cut conversations";

impl ChosenCases {
    /// Whether the run is a shard without cases.
    pub(crate) fn is_empty_shard(&self) -> bool {
        self.shard.is_some() && self.count == 0
    }

    /// What the metadata of a report holds, for a run of `count` cases.
    pub fn of_report(metadata: &Map<String, Value>, count: usize) -> serde_json::Result<Self> {
        let selection = metadata.get(SelectionRecord::KEY).cloned();
        let limit = metadata.get(LimitRecord::KEY).cloned();
        let shard = metadata.get(ShardHeader::KEY).cloned();
        let filter = metadata.get(FILTER).cloned();
        let defects = metadata.get(DefectRates::KEY).cloned();
        let cut = metadata.get(CUT).cloned();
        Ok(Self {
            selection: selection.map(serde_json::from_value).transpose()?,
            limit: limit.map(serde_json::from_value).transpose()?,
            shard: shard.map(serde_json::from_value).transpose()?,
            count,
            filter: filter.map(serde_json::from_value).transpose()?,
            defects: defects.map(serde_json::from_value).transpose()?,
            cut: cut
                .map(serde_json::from_value)
                .transpose()?
                .unwrap_or_default(),
        })
    }

    /// The lines of a report, as labels and texts. `cases` is the label of the cases that the options chose.
    pub fn lines(&self, cases: &str) -> Vec<(String, String)> {
        let of_all_shards = self.shard.map_or(self.count, |shard| shard.cases);
        let chosen = selection_text(self.selection.as_ref(), self.limit, of_all_shards);
        let shard = self.shard.map(|it| it.text(self.count));
        let lines = [
            (cases, chosen),
            (ShardHeader::KEY, shard),
            (FILTER, self.filter.clone()),
            (DEFECTS, self.defects.as_ref().map(ToString::to_string)),
        ];
        let lines = lines.into_iter();
        lines
            .filter_map(|(label, text)| Some((label.to_owned(), text?)))
            .collect()
    }

    /// Adds the records to the metadata of a report, for programs.
    pub fn enter(&self, metadata: &mut Map<String, Value>) -> serde_json::Result<()> {
        if let Some(selection) = &self.selection {
            let record = serde_json::to_value(selection)?;
            metadata.insert(SelectionRecord::KEY.to_owned(), record);
        }
        if let Some(limit) = &self.limit {
            let record = serde_json::to_value(limit)?;
            metadata.insert(LimitRecord::KEY.to_owned(), record);
        }
        if let Some(shard) = &self.shard {
            let record = serde_json::to_value(shard)?;
            metadata.insert(ShardHeader::KEY.to_owned(), record);
        }
        if let Some(filter) = &self.filter {
            metadata.insert(FILTER.to_owned(), filter.as_str().into());
        }
        if let Some(defects) = &self.defects {
            let record = serde_json::to_value(defects)?;
            metadata.insert(DefectRates::KEY.to_owned(), record);
        }
        if !self.cut.is_empty() {
            metadata.insert(CUT.to_owned(), serde_json::to_value(&self.cut)?);
        }
        Ok(())
    }
}
