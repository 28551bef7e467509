//! The results of the benchmark, and the JSON that holds them.

use std::collections::BTreeMap;

use evals_metrics::{PairedDifference, Percentiles, PricedChoice, cheapest, pareto_front};
use evals_rag::VectorSearch;
use serde::Serialize;

/// Version of the JSON format.
const SCHEMA_VERSION: u32 = 1;

/// The results of all settings.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    schema_version: u32,
    benchmark: &'static str,
    version: &'static str,
    pub(super) vectors: VectorFigures,
    /// The number of chunks to find for latency, load and nDCG.
    pub(super) k: usize,
    /// The number of concurrent callers for the comparison of settings.
    pub(super) concurrency: usize,
    pub(super) seed: u64,
    /// The least recall of the cheapest setting.
    pub(super) least_recall: f64,
    /// The position of the setting with the lowest p95 among those with that recall.
    pub(super) cheapest: Option<usize>,
    /// The positions of the settings on the Pareto front of recall and p95, fastest first.
    pub(super) front: Vec<usize>,
    /// Exact search first.
    pub(super) settings: Vec<SettingFigures>,
}

/// The size of the vectors, and the number of questions.
#[derive(Debug, Serialize)]
pub(super) struct VectorFigures {
    pub(super) source: String,
    pub(super) count: usize,
    pub(super) dimension: usize,
    pub(super) questions: usize,
    /// Bytes of their files.
    pub(super) bytes: u64,
}

/// The results of one setting.
#[derive(Debug, Default, Serialize)]
pub(super) struct SettingFigures {
    pub(super) label: String,
    /// As under `search.index` in a settings file.
    pub(super) settings: VectorSearch,
    /// Mean recall over the questions, by the number of chunks to find.
    pub(super) recall: BTreeMap<usize, f64>,
    /// nDCG@10 of exact search and of this setting. `None` without judgements, and for exact search.
    pub(super) ndcg: Option<PairedDifference>,
    /// How long the build of the index took; `None` for exact search. Settings that share an index have the same time.
    pub(super) build_seconds: Option<f64>,
    /// Bytes of the files of the index.
    pub(super) index_bytes: u64,
    /// The most memory of the process during the build.
    pub(super) build_peak_bytes: Option<u64>,
    /// The time to connect, to open the table and to search once, in seconds.
    pub(super) cold: Percentiles,
    pub(super) closed: Vec<ClosedFigures>,
    pub(super) open: Vec<OpenFigures>,
    /// The most memory of the process during the searches.
    pub(super) search_peak_bytes: Option<u64>,
}

/// The load of callers that wait for each reply.
#[derive(Debug, Serialize)]
pub(super) struct ClosedFigures {
    pub(super) concurrency: usize,
    pub(super) searches: usize,
    pub(super) per_second: Option<f64>,
    /// In seconds, from the start of each search.
    pub(super) seconds: Percentiles,
}

/// The load of searches at a fixed rate.
#[derive(Debug, Serialize)]
pub(super) struct OpenFigures {
    /// Searches per second that were due.
    pub(super) rate: f64,
    /// The rate as a share of the highest rate of the callers; `None` for a rate of the command line.
    pub(super) share: Option<f64>,
    pub(super) searches: usize,
    pub(super) per_second: Option<f64>,
    /// In seconds, from the time at which each search was due.
    pub(super) seconds: Percentiles,
}

/// The facts that all settings share.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedFacts {
    pub(super) k: usize,
    pub(super) concurrency: usize,
    pub(super) seed: u64,
    pub(super) least_recall: f64,
}

impl Figures {
    /// The results, with the front and the cheapest setting.
    pub(super) fn new(
        vectors: VectorFigures,
        comparison: SharedFacts,
        settings: Vec<SettingFigures>,
    ) -> Self {
        let SharedFacts {
            k,
            concurrency,
            seed,
            least_recall,
        } = comparison;
        let choices: Vec<PricedChoice> = settings
            .iter()
            .map(|setting| PricedChoice {
                price: setting.compared().p95.unwrap_or(f64::NAN),
                quality: setting.recall_at(k).unwrap_or(f64::NAN),
            })
            .collect();
        Self {
            schema_version: SCHEMA_VERSION,
            benchmark: "index",
            version: env!("CARGO_PKG_VERSION"),
            vectors,
            k,
            concurrency,
            seed,
            least_recall,
            cheapest: cheapest(&choices, least_recall),
            front: pareto_front(&choices),
            settings,
        }
    }

    /// The settings on the Pareto front, fastest first.
    pub(super) fn on_front(&self) -> Vec<&SettingFigures> {
        let positions = self.front.iter();
        positions
            .map(|position| &self.settings[*position])
            .collect()
    }

    /// The cheapest setting with enough recall. Exact search has enough, so the result is `None` only if exact search was too slow for
    /// percentiles.
    pub(super) fn cheapest(&self) -> Option<&SettingFigures> {
        self.settings.get(self.cheapest?)
    }
}

impl SettingFigures {
    /// The latency for the comparison of settings: with the first number of callers.
    pub(super) fn compared(&self) -> Percentiles {
        self.closed
            .first()
            .map_or_else(Percentiles::default, |it| it.seconds)
    }

    pub(super) fn recall_at(&self, k: usize) -> Option<f64> {
        self.recall.get(&k).copied()
    }

    /// The most searches per second of any number of callers.
    pub(super) fn most_per_second(&self) -> Option<f64> {
        let rates = self.closed.iter().filter_map(|it| it.per_second);
        rates.reduce(f64::max)
    }
}
