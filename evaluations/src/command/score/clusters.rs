//! Clusters of queries: those that share a relevant document.

use std::collections::BTreeMap;

use evals::{ClusterKey, ClusterTraits};
use evals_messages::quantity;
use evals_metrics::measures::MinimumGrade;
use evals_metrics::scoring::Judged;
use evals_metrics::trec::ParseError;

/// The number of each query's cluster. A query without a relevant document is alone.
pub(super) struct QueryClusters(BTreeMap<String, usize>);

impl QueryClusters {
    /// The clusters of queries that share a document of at least this grade.
    pub(super) fn of(judged: &Judged<'_>, from: MinimumGrade) -> Result<Self, ParseError> {
        let (queries, traits): (Vec<String>, Vec<ClusterTraits>) = judged
            .relevant(from)?
            .into_iter()
            .map(|(query, documents)| {
                let traits = ClusterTraits {
                    documents,
                    ..ClusterTraits::default()
                };
                (query, traits)
            })
            .unzip();
        // Without any relevant document, every query is alone.
        let names = ClusterKey::Document.names(&traits);
        let names = names.unwrap_or_else(|_| vec![None; queries.len()]);
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let named = queries.into_iter().zip(names).enumerate();
        let numbers = named.map(|(place, (query, name))| {
            let number = name.map(|name| *known.entry(name).or_insert(place));
            (query, number.unwrap_or(place))
        });
        Ok(Self(numbers.collect()))
    }

    /// The number of each query's cluster.
    pub(super) fn numbers(&self) -> &BTreeMap<String, usize> {
        &self.0
    }

    /// What a reader of the tests of these queries has to know. `is_asked` says whether the tests count clusters.
    pub(super) fn note(&self, queries: &[String], is_asked: bool) -> Option<String> {
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        for number in queries
            .iter()
            .filter_map(|query| self.0.get(query).copied())
        {
            *sizes.entry(number).or_default() += 1;
        }
        let sharing: usize = sizes.values().filter(|size| **size > 1).sum();
        let largest = sizes.values().copied().max().unwrap_or(0);
        let all = quantity::of(queries.len(), "query");
        let is_giant = largest * 2 > queries.len() && queries.len() > 1;
        if is_asked {
            let clusters = quantity::of(sizes.len(), "cluster");
            let few =
                (sizes.len() < 10).then_some("; below 10, intervals and p values are unreliable");
            return Some(format!(
                "{all} in {clusters} by shared relevant documents, the largest of {largest}{}",
                few.unwrap_or_default()
            ));
        }
        (sharing > 0 && sharing * 20 >= queries.len()).then(|| {
            let advice = if is_giant {
                format!("; clusters cannot help, because shared documents link {largest} of them")
            } else {
                "; `--cluster document` counts them as clusters, and `--cluster none` takes them for independent without this note".to_owned()
            };
            format!("{sharing} of {all} share a relevant document with another, and the tests treat each as independent{advice}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_that_share_a_relevant_document_are_a_cluster() {
        let qrels = "q1 0 a 1\nq1 0 b 1\nq2 0 c 1\nq3 0 b 2\nq4 0 c 0\nq4 0 d 1\n";
        let judged = Judged::read(qrels).unwrap();
        let clusters = QueryClusters::of(&judged, MinimumGrade::default()).unwrap();
        let queries = ["q1", "q2", "q3", "q4"].map(str::to_owned);
        let numbers: Vec<usize> = clusters.numbers().values().copied().collect();
        assert_eq!(numbers, [0, 1, 0, 3]);
        let note = clusters.note(&queries, false).unwrap();
        assert!(
            note.starts_with("2 of 4 queries share a relevant document"),
            "{note}"
        );
        let asked = clusters.note(&queries, true).unwrap();
        assert!(
            asked.contains("in 3 clusters") && asked.contains("below 10"),
            "{asked}"
        );
        assert_eq!(clusters.note(&queries[1..2], false), None);
    }
}
