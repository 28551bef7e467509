//! The `retrieval` section of a manifest.

use std::num::NonZeroUsize;

use evals_metrics::Measure;
use serde::{Deserialize, Serialize};

/// The default measures and settings of a dataset's retrieval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalDefaults {
    /// Documents kept for each question; 10 by default.
    #[serde(default = "default_limit")]
    pub limit: NonZeroUsize,
    /// The measure that ranks systems and that comparisons test first; `nDCG@10` by default.
    #[serde(default = "default_headline")]
    pub headline: Measure,
    /// The reported measures; `nDCG@10, R@10, RR@10` by default. The headline comes first.
    #[serde(default = "default_measures")]
    pub measures: Vec<Measure>,
    /// Whether a document with the question's own id is removed from its ranking, as in the published BEIR figures if questions are part
    /// of the corpus.
    #[serde(default)]
    pub ignore_identical_ids: bool,
}

fn default_limit() -> NonZeroUsize {
    NonZeroUsize::new(10).expect("10 is not 0")
}

fn default_headline() -> Measure {
    "nDCG@10".parse().expect("a measure's own notation parses")
}

fn default_measures() -> Vec<Measure> {
    ["nDCG@10", "R@10", "RR@10"]
        .map(|measure| measure.parse().expect("a measure's own notation parses"))
        .to_vec()
}

impl Default for RetrievalDefaults {
    fn default() -> Self {
        Self {
            limit: default_limit(),
            headline: default_headline(),
            measures: default_measures(),
            ignore_identical_ids: false,
        }
    }
}

impl RetrievalDefaults {
    pub(super) fn with_headline_first(mut self) -> Self {
        self.measures.retain(|measure| *measure != self.headline);
        self.measures.insert(0, self.headline);
        self
    }
}
