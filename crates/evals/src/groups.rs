//! Cases in groups, by a key of their metadata or by a fact: the names of groups, and the cases of each.

use std::collections::{BTreeMap, BTreeSet};

use evals_messages::nearest;
use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::{CaseId, CaseReport, Domain, Report};

/// Why a report has no such groups.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GroupError {
    /// No case has metadata or a [fact](crate::Domain::group_facts) with that key.
    #[error(
        "no case has `{key}` in its metadata{}{}",
        known(keys),
        nearest::did_you_mean(nearest::of(key, keys.iter().map(String::as_str)))
    )]
    UnknownKey {
        /// The key asked for.
        key: String,
        /// The keys that cases have, in order.
        keys: Vec<String>,
    },
    /// No case has a relevant document, so none can share one.
    #[error(
        "no case has a relevant document, so `document` makes no clusters; write `metadata:KEY`"
    )]
    NoDocuments,
}

fn known(keys: &[String]) -> String {
    if keys.is_empty() {
        return ", and cases have no metadata with keys".to_owned();
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    format!("; known are {}", keys.join(", "))
}

/// The cases of each group, by its name.
pub(crate) type Members<'a> = BTreeMap<String, BTreeSet<&'a CaseId>>;

/// Groups the cases of a report by a key of their metadata, if that is an object, or by one of their facts.
pub(crate) fn members<'a, D: Domain>(
    report: &'a Report<D>,
    key: &str,
) -> Result<Members<'a>, GroupError> {
    let mut members = Members::new();
    let mut keys = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for case in &report.cases {
        if !seen.insert(&case.id) {
            continue;
        }
        let of_case = case.group_keys();
        let name = group_name(of_case.get(key));
        keys.extend(of_case.into_iter().map(|(key, _)| key));
        members.entry(name).or_default().insert(&case.id);
    }
    check_key(key, keys)?;
    Ok(members)
}

/// Fails unless the key is among those that cases have.
pub(crate) fn check_key(
    key: &str,
    known: impl IntoIterator<Item = String>,
) -> Result<(), GroupError> {
    let known: BTreeSet<String> = known.into_iter().collect();
    if known.contains(key) {
        return Ok(());
    }
    Err(GroupError::UnknownKey {
        key: key.to_owned(),
        keys: known.into_iter().collect(),
    })
}

/// The members of the metadata of a case, if that is an object.
pub(crate) fn metadata_keys(metadata: &impl Serialize) -> Map<String, Value> {
    // A value that JSON cannot hold is never in a stored report.
    match serde_json::to_value(metadata) {
        Ok(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    }
}

impl<D: Domain> CaseReport<D> {
    /// What the case can be grouped by: the members of its metadata, if that is an object, and its
    /// [facts](crate::Domain::group_facts).
    pub fn group_keys(&self) -> Map<String, Value> {
        let mut keys = metadata_keys(&self.metadata);
        for (key, fact) in D::group_facts(self) {
            keys.entry(key).or_insert(fact);
        }
        keys
    }
}

/// The name of the group of cases without a value.
pub const NO_GROUP: &str = "(none)";

/// The name of the group that a value of metadata stands for: a text itself, and the JSON of any other value. A missing value, null
/// and the empty text stand for [`NO_GROUP`].
///
/// ```
/// use serde_json::json;
///
/// assert_eq!(evals::group_name(Some(&json!("Sports"))), "Sports");
/// assert_eq!(evals::group_name(Some(&json!(2024))), "2024");
/// assert_eq!(evals::group_name(None), evals::NO_GROUP);
/// ```
pub fn group_name(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => NO_GROUP.to_owned(),
        Some(Value::String(text)) if text.is_empty() => NO_GROUP.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
