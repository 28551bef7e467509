//! The clusters that the cases of a run come in.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::groups::{check_key, metadata_keys};
use crate::{Case, CaseId, CaseReport, Dataset, Domain, GroupError, NO_GROUP, Report, group_name};
use evals_metrics::{Clusters, as_f64};

/// What makes cases a cluster: those of a cluster may depend on each other, such as questions about one document.
///
/// In files and on the command line `document`, `metadata:KEY` or `none`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ClusterKey {
    /// Cases that share a relevant document are one cluster, and so are cases that a chain of such cases links.
    Document,
    /// Cases with one value of this key of their metadata, or of a [fact](Domain::group_facts), are a cluster.
    Metadata(String),
    /// Every case is alone, whatever documents cases share.
    None,
}

/// What a case can share with others.
#[derive(Clone, Debug, Default)]
pub struct ClusterTraits {
    /// The documents that are relevant for the case, or that it was written about.
    pub documents: Vec<String>,
    /// The metadata of the case.
    pub metadata: Map<String, Value>,
}

/// A text that is not a [`ClusterKey`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` does not say what makes cases a cluster: write `document`, `metadata:KEY` or `none`"
)]
pub struct ClusterKeyError(String);

/// How many clusters the cases of a report come in, or would come in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterCounts {
    /// What makes the clusters. `None` if nobody declared clusters: the counts then are those of shared documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ClusterKey>,
    /// The number of cases.
    pub cases: usize,
    /// The number of clusters; a case alone is one.
    pub clusters: usize,
    /// The number of cases in the largest cluster.
    pub largest: usize,
    /// The number of cases that share their cluster with another one.
    pub sharing: usize,
    /// What the clusters cost. `None` if nobody declared any, or without a measure whose values differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design_effect: Option<DesignEffect>,
}

/// How many times the variance of a mean is that of as many independent cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DesignEffect {
    /// The title of the measure, the first of the run.
    pub measure: String,
    /// The [design effect](Clusters::design_effect).
    pub value: f64,
}

/// The number of each case's cluster.
#[derive(Debug)]
pub(crate) struct CaseClusters<'r>(BTreeMap<&'r CaseId, usize>);

impl FromStr for ClusterKey {
    type Err = ClusterKeyError;

    fn from_str(text: &str) -> Result<Self, ClusterKeyError> {
        match text.strip_prefix("metadata:") {
            Some(key) if !key.is_empty() => Ok(Self::Metadata(key.to_owned())),
            None if text == "document" => Ok(Self::Document),
            None if text == "none" => Ok(Self::None),
            _ => Err(ClusterKeyError(text.to_owned())),
        }
    }
}

impl From<String> for ClusterKey {
    /// A stored key. Comparisons used to store the name of the metadata alone.
    fn from(text: String) -> Self {
        text.parse().unwrap_or(Self::Metadata(text))
    }
}

impl From<ClusterKey> for String {
    fn from(key: ClusterKey) -> Self {
        key.to_string()
    }
}

impl fmt::Display for ClusterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => formatter.write_str("document"),
            Self::Metadata(key) => write!(formatter, "metadata:{key}"),
            Self::None => formatter.write_str("none"),
        }
    }
}

impl ClusterKey {
    /// The name of each case's cluster: a value of the metadata, or the least of the documents that a chain of shared documents links to
    /// the case. `None` for a case without such a value, or without documents, which is alone.
    ///
    /// # Errors
    ///
    /// No case has metadata with the key, or no case has a document.
    ///
    /// ```
    /// use evals::{ClusterKey, ClusterTraits};
    ///
    /// let cases = [vec!["b", "a"], vec![], vec!["c"], vec!["b", "d"]].map(|documents| ClusterTraits {
    ///     documents: documents.into_iter().map(str::to_owned).collect(),
    ///     ..ClusterTraits::default()
    /// });
    /// let names = ClusterKey::Document.names(&cases)?;
    /// let names: Vec<_> = names.iter().map(Option::as_deref).collect();
    /// assert_eq!(names, [Some("a"), None, Some("c"), Some("a")]);
    /// # Ok::<(), evals::GroupError>(())
    /// ```
    pub fn names(&self, cases: &[ClusterTraits]) -> Result<Vec<Option<String>>, GroupError> {
        match self {
            Self::None => Ok(vec![None; cases.len()]),
            Self::Document => {
                let names = linked_documents(cases);
                if names.iter().all(Option::is_none) {
                    return Err(GroupError::NoDocuments);
                }
                Ok(names)
            }
            Self::Metadata(key) => {
                let keys = cases.iter().flat_map(|case| case.metadata.keys());
                check_key(key, keys.cloned())?;
                let names = cases.iter().map(|case| group_name(case.metadata.get(key)));
                Ok(names
                    .map(|name| (name != NO_GROUP).then_some(name))
                    .collect())
            }
        }
    }

    /// What the cases of a cluster share, in words.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Document => "document".to_owned(),
            Self::Metadata(key) => format!("`{key}`"),
            Self::None => "case".to_owned(),
        }
    }
}

/// The least of the documents that a chain of shared documents links to each case.
fn linked_documents(cases: &[ClusterTraits]) -> Vec<Option<String>> {
    let mut links = Links::default();
    for case in cases {
        for pair in case.documents.windows(2) {
            links.join(&pair[0], &pair[1]);
        }
    }
    let firsts = cases.iter().map(|case| case.documents.first());
    let least = firsts.map(|first| Some(links.least(first?).to_owned()));
    least.collect()
}

/// A lesser document of the same cluster for each document, except for the least.
#[derive(Default)]
struct Links<'d>(BTreeMap<&'d str, &'d str>);

impl<'d> Links<'d> {
    /// Halves the way to the least document, so that long chains take little time.
    fn least(&mut self, document: &'d str) -> &'d str {
        let mut least = document;
        while let Some(lesser) = self.0.get(least).copied() {
            if let Some(further) = self.0.get(lesser).copied() {
                self.0.insert(least, further);
            }
            least = lesser;
        }
        least
    }

    fn join(&mut self, one: &'d str, other: &'d str) {
        let least = [one, other].map(|it| self.least(it));
        if least[0] != least[1] {
            self.0
                .insert(least[0].max(least[1]), least[0].min(least[1]));
        }
    }
}

impl<D: Domain> Report<D> {
    /// Puts the cases in clusters. A report that already has the clusters of this key keeps them.
    ///
    /// # Errors
    ///
    /// As [`ClusterKey::names`].
    pub fn cluster_by(&mut self, key: &ClusterKey) -> Result<(), GroupError> {
        if self.cluster.as_ref() == Some(key) {
            return Ok(());
        }
        let traits = |case: &CaseReport<D>| ClusterTraits {
            documents: D::documents(case.expected.as_ref(), &case.metadata),
            metadata: case.group_keys(),
        };
        let names = key.names(&self.cases.iter().map(traits).collect::<Vec<_>>())?;
        for (case, name) in self.cases.iter_mut().zip(names) {
            case.cluster = name;
        }
        self.cluster = Some(key.clone());
        Ok(())
    }
}

impl<D: Domain> Dataset<D> {
    /// Puts the cases in clusters, by their metadata or the documents that are relevant for them.
    ///
    /// # Errors
    ///
    /// As [`ClusterKey::names`].
    pub fn cluster_by(self, key: &ClusterKey) -> Result<Self, GroupError> {
        let traits = |case: &Arc<Case<D>>| ClusterTraits {
            documents: D::documents(case.expected.as_ref(), &case.metadata),
            metadata: metadata_keys(&case.metadata),
        };
        let names = key.names(&self.cases().iter().map(traits).collect::<Vec<_>>())?;
        Ok(self.in_clusters(key.clone(), names))
    }
}

impl<'r> CaseClusters<'r> {
    /// The clusters of a report; `None` if none are declared. A case without a cluster is alone.
    pub(crate) fn of<D: Domain>(report: &'r Report<D>) -> Option<Self> {
        let of_cases = report.cases.iter();
        let of_cases = of_cases.map(|case| (&case.id, case.cluster.as_deref()));
        Self::numbered(of_cases)
    }

    /// The clusters of the first of these reports that has any, with their key.
    pub(crate) fn of_any<D: Domain>(
        reports: impl IntoIterator<Item = &'r Report<D>>,
    ) -> (Option<ClusterKey>, Option<Self>) {
        let clustered = |report: &'r Report<D>| Some((report.cluster.clone(), Self::of(report)?));
        let found = reports.into_iter().find_map(clustered);
        found.map_or((None, None), |(key, clusters)| (key, Some(clusters)))
    }

    fn numbered<'n>(cases: impl Iterator<Item = (&'r CaseId, Option<&'n str>)>) -> Option<Self> {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut numbers = BTreeMap::new();
        let mut next = 0;
        for (id, name) in cases {
            let number = name.and_then(|name| names.get(name).copied());
            let number = *numbers.entry(id).or_insert(number.unwrap_or(next));
            names.extend(name.map(|name| (name, number)));
            next = next.max(number + 1);
        }
        // Clusters of one case each are no clusters.
        (next < numbers.len()).then_some(Self(numbers))
    }

    /// The clusters of these cases. A case that the report lacks is in the cluster of all that it lacks.
    pub(crate) fn among<'i>(&self, ids: impl IntoIterator<Item = &'i CaseId>) -> Vec<usize> {
        let ids = ids.into_iter();
        ids.map(|id| self.get(id)).collect()
    }

    pub(crate) fn get(&self, id: &CaseId) -> usize {
        self.0.get(id).copied().unwrap_or(usize::MAX)
    }

    /// What the clusters cost a measure with these values.
    pub(crate) fn design_effect<'v>(
        &self,
        measure: &str,
        values: impl IntoIterator<Item = (&'v CaseId, Result<f64, &'v str>)>,
    ) -> Option<DesignEffect> {
        let values = values.into_iter();
        let values = values.filter_map(|(id, value)| Some((self.get(id), value.ok()?)));
        let value = Clusters::new(values).design_effect().ok()?;
        Some(DesignEffect {
            measure: measure.to_owned(),
            value,
        })
    }
}

impl ClusterCounts {
    /// The clusters of a report. Without a declaration, those of shared documents, and `None` if fewer than one case in twenty shares one.
    pub(crate) fn of<D: Domain>(report: &Report<D>) -> Option<Self> {
        if let Some(declared) = CaseClusters::of(report) {
            return Some(Self::counted(report.cluster.clone(), &declared));
        }
        if report.cluster.is_some() {
            return None;
        }
        let traits = report.cases.iter().map(|case| ClusterTraits {
            documents: D::documents(case.expected.as_ref(), &case.metadata),
            ..ClusterTraits::default()
        });
        let names = linked_documents(&traits.collect::<Vec<_>>());
        let cases = report.cases.iter().zip(&names);
        let cases = cases.map(|(case, name)| (&case.id, name.as_deref()));
        let shared = Self::counted(None, &CaseClusters::numbered(cases)?);
        // A few pairs of dependent cases change no interval that anybody reads.
        (shared.sharing * 20 >= shared.cases && shared.sharing > 0).then_some(shared)
    }

    /// The share of the cases in the largest cluster.
    pub(crate) fn share_of_largest(&self) -> f64 {
        as_f64(self.largest) / as_f64(self.cases.max(1))
    }

    /// Whether one cluster holds most of the cases: shared documents can chain them all together.
    pub(crate) fn is_one_giant(&self) -> bool {
        self.share_of_largest() > 0.5 && self.cases > 1
    }

    fn counted(key: Option<ClusterKey>, clusters: &CaseClusters<'_>) -> Self {
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        for number in clusters.0.values() {
            *sizes.entry(*number).or_default() += 1;
        }
        Self {
            key,
            cases: clusters.0.len(),
            clusters: sizes.len(),
            largest: sizes.values().copied().max().unwrap_or(0),
            sharing: sizes.into_values().filter(|size| *size > 1).sum(),
            design_effect: None,
        }
    }
}
