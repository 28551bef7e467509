//! Chooses cases of a dataset: by their metadata, by their ids, and by what became of them in an earlier run.

mod chosen;
mod condition;
mod earlier;

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use evals_messages::{nearest, quantity};
use evals_runs::run_record::SelectionRecord;
use serde_json::{Map, Value};

pub use self::chosen::ChosenCases;
pub(crate) use self::condition::Condition;
pub(crate) use self::earlier::EarlierCases;

use crate::options::SelectionArgs;
use crate::session::Session;

/// Most values of a key, or ids, that an error lists.
const NAMED: usize = 10;

/// The properties that cases are selected by: their ids and metadata.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'c> {
    pub(crate) id: &'c str,
    pub(crate) metadata: &'c Map<String, Value>,
}

/// Where the metadata of cases is from, which says how to get further keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetadataFrom {
    /// Columns that the manifest of a dataset names.
    Manifest,
    /// The cases of a dataset file.
    Cases,
}

/// The chosen cases of a dataset.
#[derive(Debug)]
pub(crate) struct Selection {
    metadata: MetadataFrom,
    filters: Vec<Condition>,
    cases: Vec<String>,
    earlier: Option<EarlierCases>,
}

impl Selection {
    /// Reads the options; `None` if they choose nothing. If the keys of the metadata are known, another key fails here, before
    /// anything is downloaded.
    pub(crate) fn new(
        session: &Session<'_>,
        arguments: &SelectionArgs,
        dataset: &str,
        metadata: MetadataFrom,
        known: Option<&[String]>,
    ) -> Result<Option<Self>> {
        for condition in &arguments.filters {
            if let Some(known) = known {
                metadata.check_filter(condition, known)?;
            }
        }
        let earlier = match arguments.only.zip(arguments.from.as_deref()) {
            Some((only, from)) => Some(EarlierCases::read(
                session,
                only,
                from,
                arguments.against.as_deref(),
                dataset,
            )?),
            None => None,
        };
        let is_empty =
            arguments.filters.is_empty() && arguments.cases.is_empty() && earlier.is_none();
        Ok((!is_empty).then(|| Self {
            metadata,
            filters: arguments.filters.clone(),
            cases: arguments.cases.clone(),
            earlier,
        }))
    }

    /// Removes the cases that are not chosen.
    pub(crate) fn retain<T>(
        &self,
        items: &mut Vec<T>,
        candidate: impl for<'t> Fn(&'t T) -> Candidate<'t>,
    ) -> Result<SelectionRecord> {
        let of = items.len();
        let chosen = self.chosen(items.iter().map(&candidate))?;
        let mut places = chosen.iter().copied();
        items.retain(|_| places.next().unwrap_or_default());
        let ids: Vec<&str> = items.iter().map(|item| candidate(item).id).collect();
        Ok(SelectionRecord {
            of,
            chosen: items.len(),
            by: self.options(),
            ids: SelectionRecord::digest(&ids),
        })
    }

    /// Whether each candidate is chosen.
    fn chosen<'c>(
        &self,
        candidates: impl Iterator<Item = Candidate<'c>> + Clone,
    ) -> Result<Vec<bool>> {
        self.check_ids(candidates.clone().map(|candidate| candidate.id))?;
        let keys: BTreeSet<&String> = candidates
            .clone()
            .flat_map(|candidate| candidate.metadata.keys())
            .collect();
        let keys: Vec<String> = keys.into_iter().cloned().collect();
        for condition in &self.filters {
            self.metadata.check_filter(condition, &keys)?;
        }
        let fits: Vec<bool> = candidates
            .clone()
            .map(|candidate| condition::all_hold(&self.filters, candidate.metadata))
            .collect();
        if !fits.contains(&true) {
            bail!(self.nothing_fits(candidates));
        }
        let is_named =
            |id: &str| self.cases.is_empty() || self.cases.iter().any(|named| named == id);
        let was_found = |id: &str| {
            let earlier = self.earlier.as_ref();
            earlier.is_none_or(|earlier| earlier.ids.contains(id))
        };
        let chosen: Vec<bool> = candidates
            .zip(fits)
            .map(|(candidate, fits)| fits && is_named(candidate.id) && was_found(candidate.id))
            .collect();
        if !chosen.contains(&true) {
            bail!(
                "no case is left: {} exclude each other",
                self.options().join(", ")
            );
        }
        Ok(chosen)
    }

    fn check_ids<'c>(&self, ids: impl Iterator<Item = &'c str>) -> Result<()> {
        let known: BTreeSet<&str> = ids.collect();
        let mut named = self.cases.iter().map(String::as_str);
        let Some(unknown) = named.find(|id| !known.contains(id)) else {
            return Ok(());
        };
        let similar = nearest::of(unknown, known.iter().copied());
        bail!(
            "no case `{unknown}` among {}{}",
            quantity::of(known.len(), "case"),
            nearest::did_you_mean(similar)
        );
    }

    /// The error if no case fits the filters. It lists the values of the first filter that nothing fits.
    fn nothing_fits<'c>(&self, candidates: impl Iterator<Item = Candidate<'c>> + Clone) -> String {
        let fits_none = |condition: &&Condition| {
            let one = std::slice::from_ref(*condition);
            !candidates
                .clone()
                .any(|candidate| condition::all_hold(one, candidate.metadata))
        };
        let Some(condition) = self.filters.iter().find(fits_none) else {
            let filters: Vec<String> = self.filters.iter().map(ToString::to_string).collect();
            return format!("no case fits {} together", filters.join(", "));
        };
        let values: BTreeSet<String> = candidates
            .flat_map(|candidate| condition.values_of(candidate.metadata))
            .collect();
        let mut shown: Vec<String> = values
            .iter()
            .take(NAMED)
            .map(|value| format!("`{value}`"))
            .collect();
        if values.len() > NAMED {
            shown.push(format!("{} more", values.len() - NAMED));
        }
        format!(
            "no case fits `{condition}`; the values of `{}` are {}",
            condition.key(),
            shown.join(", ")
        )
    }

    /// The options that choose, in one canonical form.
    fn options(&self) -> Vec<String> {
        let filters = self.filters.iter().map(ToString::to_string);
        let mut options: Vec<String> = filters.collect();
        match self.cases.as_slice() {
            [] => {}
            few if few.len() <= NAMED => options.extend(few.iter().map(|id| format!("case {id}"))),
            many => options.push(quantity::of(many.len(), "named case")),
        }
        options.extend(self.earlier.as_ref().map(ToString::to_string));
        options
    }
}

impl MetadataFrom {
    fn check_filter(self, condition: &Condition, known: &[String]) -> Result<()> {
        self.check_key(
            &format!("--filter-case {condition}"),
            condition.key(),
            known,
        )
    }

    /// Refuses a key of `option` that no case has.
    pub(crate) fn check_key(self, option: &str, key: &str, known: &[String]) -> Result<()> {
        if known.iter().any(|it| it == key) {
            return Ok(());
        }
        let further = match self {
            Self::Manifest => " (`questions.metadata` in the manifest names further columns)",
            Self::Cases => "",
        };
        if known.is_empty() {
            bail!("`{option}`: no case has metadata{further}");
        }
        let names: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
        let similar = nearest::did_you_mean(nearest::of(key, known.iter().map(String::as_str)));
        bail!(
            "`{option}`: cases have no `{key}`; known are {}{similar}{further}",
            names.join(", ")
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn questions() -> Vec<(String, Map<String, Value>)> {
        let question = |id: &str, metadata: Value| {
            let Value::Object(metadata) = metadata else {
                panic!("metadata is an object");
            };
            (id.to_owned(), metadata)
        };
        vec![
            question("a", json!({"topic": "Sports", "year": 2023})),
            question("b", json!({"topic": "News", "year": 2024})),
            question("c", json!({"topic": null, "year": 2024})),
        ]
    }

    fn selection(filters: &[&str], cases: &[&str]) -> Selection {
        Selection {
            metadata: MetadataFrom::Manifest,
            filters: filters.iter().map(|text| text.parse().unwrap()).collect(),
            cases: cases.iter().map(|&id| id.to_owned()).collect(),
            earlier: None,
        }
    }

    fn chosen(selection: &Selection) -> Result<(String, SelectionRecord)> {
        let mut questions = questions();
        let record =
            selection.retain(&mut questions, |(id, metadata)| Candidate { id, metadata })?;
        let ids: Vec<String> = questions.into_iter().map(|(id, _)| id).collect();
        Ok((ids.join(" "), record))
    }

    #[test]
    fn the_chosen_cases_stay_in_their_order() {
        let ids = |filters: &[&str], cases: &[&str]| chosen(&selection(filters, cases)).unwrap().0;
        assert_eq!(ids(&["year=2024"], &[]), "b c");
        assert_eq!(ids(&[], &["c", "a"]), "a c");
        assert_eq!(ids(&["year=2024"], &["c", "a"]), "c");
    }

    #[test]
    fn the_record_tells_selections_apart() {
        let (_, record) = chosen(&selection(&["year=2024"], &["c"])).unwrap();
        assert_eq!((record.of, record.chosen), (3, 1));
        assert_eq!(record.by, ["year=2024", "case c"]);
        assert_eq!(record.text(), "1 of 3 (year=2024, case c)");
        let (_, other) = chosen(&selection(&["topic!=News"], &["c"])).unwrap();
        assert_eq!(record.ids, other.ids, "the same case");
        assert_ne!(record, other, "by other options");
    }

    #[test]
    fn an_empty_choice_is_an_error_that_says_why() {
        let error = |filters: &[&str], cases: &[&str]| {
            chosen(&selection(filters, cases)).unwrap_err().to_string()
        };
        assert_eq!(
            error(&["topic=Sprots"], &[]),
            "no case fits `topic=Sprots`; the values of `topic` are `(none)`, `News`, `Sports`"
        );
        assert_eq!(
            error(&["topic=News", "year=2023"], &[]),
            "no case fits topic=News, year=2023 together"
        );
        assert_eq!(
            error(&["topic=News"], &["a"]),
            "no case is left: topic=News, case a exclude each other"
        );
        assert_eq!(error(&[], &["d"]), "no case `d` among 3 cases");
    }

    #[test]
    fn an_unknown_key_lists_the_known_ones() {
        let known = ["answerable".to_owned(), "topic".to_owned()];
        let error = |metadata: MetadataFrom, known: &[String]| {
            let condition = "topics=a".parse().unwrap();
            let error = metadata.check_filter(&condition, known).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            error(MetadataFrom::Manifest, &known),
            "`--filter-case topics=a`: cases have no `topics`; known are `answerable`, `topic`; did you mean `topic`? (`questions.metadata` in the manifest names further columns)"
        );
        assert_eq!(
            error(MetadataFrom::Cases, &known[1..]),
            "`--filter-case topics=a`: cases have no `topics`; known are `topic`; did you mean `topic`?"
        );
        assert_eq!(
            error(MetadataFrom::Cases, &[]),
            "`--filter-case topics=a`: no case has metadata"
        );
    }
}
