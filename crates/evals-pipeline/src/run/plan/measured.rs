//! The measures of a run, and how many documents they look at.

use std::num::NonZeroUsize;

use anyhow::{Result, bail};
use evals_data::Manifest;
use evals_messages::quantity;
use evals_metrics::Measure;
use evals_rag::retrieval::IdenticalIds;

use crate::options::RunArgs;

/// The measures of a run, and the number of documents that they need.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The headline first.
    pub(crate) measures: Vec<Measure>,
    pub(crate) k: NonZeroUsize,
    /// The dataset's measures that look deeper than k, each with its replacement.
    pub(crate) cut: Vec<(Measure, Measure)>,
    pub(crate) identical_ids: IdenticalIds,
}

impl Measured {
    /// Without `--k`, a search keeps as many documents as the dataset says, or more if a measure looks deeper. With `--k`, deeper
    /// measures of the dataset are cut at k, and their names change accordingly. A measure of `--measure` is never cut.
    pub(crate) fn of(arguments: &RunArgs, manifest: &Manifest) -> Result<Self> {
        let defaults = &manifest.retrieval;
        let asked = &arguments.retrieval.measures;
        let identical_ids = if defaults.ignore_identical_ids {
            IdenticalIds::LeaveOut
        } else {
            IdenticalIds::Keep
        };
        let Some(k) = arguments.retrieval.k else {
            let measures = distinct(defaults.measures.iter().chain(asked));
            let deepest = measures.iter().filter_map(Measure::cutoff).max();
            let k = deepest.map_or(defaults.limit, |deepest| deepest.max(defaults.limit));
            return Ok(Self {
                measures,
                k,
                cut: Vec::new(),
                identical_ids,
            });
        };
        if let Some(deep) = asked
            .iter()
            .find(|measure| measure.cutoff().is_some_and(|cutoff| cutoff > k))
        {
            bail!("`--measure {deep}` looks at more documents than `--k {k}` keeps");
        }
        let own: Vec<_> = defaults
            .measures
            .iter()
            .map(|measure| (*measure, measure.cut_at_most(k)))
            .collect();
        Ok(Self {
            measures: distinct(own.iter().map(|(_, cut)| cut).chain(asked)),
            k,
            cut: own.into_iter().filter(|(deep, cut)| deep != cut).collect(),
            identical_ids,
        })
    }
}

/// Notes which measures of a dataset `--k` cuts; `None` if it cuts none.
pub(crate) fn cut_note(k: NonZeroUsize, cut: &[(Measure, Measure)]) -> Option<String> {
    let replaced = cut.iter();
    let replaced = replaced.map(|(deep, cut)| format!("{cut} replaces {deep}"));
    let replaced: Vec<String> = replaced.collect();
    (!replaced.is_empty()).then(|| {
        let kept = quantity::of(k.get(), "document");
        format!(
            "`--k {k}` keeps {kept} for each question: {}",
            replaced.join(", ")
        )
    })
}

fn distinct<'m>(measures: impl Iterator<Item = &'m Measure>) -> Vec<Measure> {
    let mut distinct: Vec<Measure> = Vec::new();
    for measure in measures {
        if !distinct.contains(measure) {
            distinct.push(*measure);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use evals_data::Catalog;

    use super::*;

    fn arguments(line: &str) -> RunArgs {
        #[derive(clap::Parser)]
        struct CommandLine {
            #[command(flatten)]
            run: RunArgs,
        }
        let words = ["run", "sample"].into_iter().chain(line.split_whitespace());
        CommandLine::try_parse_from(words).unwrap().run
    }

    fn planned(line: &str) -> Result<(String, usize)> {
        let manifest = Catalog::new(Vec::<String>::new())
            .find("beir:scifact")
            .unwrap();
        let measured = Measured::of(&arguments(line), &manifest)?;
        let names: Vec<String> = measured.measures.iter().map(ToString::to_string).collect();
        Ok((names.join(" "), measured.k.get()))
    }

    /// The measures that are cut, in the form `deep>cut`.
    fn cut(line: &str) -> String {
        let manifest = Catalog::new(Vec::<String>::new())
            .find("beir:scifact")
            .unwrap();
        let measured = Measured::of(&arguments(line), &manifest).unwrap();
        let cut = measured.cut.iter();
        let cut = cut.map(|(deep, cut)| format!("{deep}>{cut}"));
        cut.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_dataset_brings_its_measures_and_its_depth() {
        assert_eq!(
            planned("").unwrap(),
            ("nDCG@10 R@100 AP@100 RR@10 R@10".to_owned(), 100)
        );
    }

    #[test]
    fn a_deeper_measure_keeps_more_documents() {
        let (names, k) = planned("--measure R@1000").unwrap();
        assert_eq!(
            (names.as_str(), k),
            ("nDCG@10 R@100 AP@100 RR@10 R@10 R@1000", 1000)
        );
    }

    #[test]
    fn a_smaller_k_renames_what_it_cuts() {
        assert_eq!(
            planned("--k 5").unwrap(),
            ("nDCG@5 R@5 AP@5 RR@5".to_owned(), 5)
        );
        assert_eq!(
            cut("--k 5"),
            "nDCG@10>nDCG@5 R@100>R@5 AP@100>AP@5 RR@10>RR@5 R@10>R@5"
        );
        assert_eq!(cut("--k 50"), "R@100>R@50 AP@100>AP@50");
        assert_eq!(cut("--k 100") + &cut("") + &cut("--measure R@1000"), "");
        assert_eq!(
            planned("--k 5 --measure P@10").unwrap_err().to_string(),
            "`--measure P@10` looks at more documents than `--k 5` keeps"
        );
    }
}
