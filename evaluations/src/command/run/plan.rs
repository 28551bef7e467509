//! What a run is going to do, settled before anything is fetched or written.

use std::num::NonZeroUsize;

use anyhow::{Result, bail};
use evals_data::Manifest;
use evals_index::Chunker;
use evals_metrics::Measure;
use evals_rag::retrieval::IdenticalIds;

use super::super::{Session, named_models};
use super::output::OutFile;
use super::qa::QaPlan;
use super::reranking;
use crate::choices::{self, Choices};
use crate::cli::RunArgs;
use crate::models::{ConfiguredModels, embedder, reranker};
use crate::quantity;
use crate::search_profile::SearchProfile;
use crate::settings::{self, Layer, Resolved};

/// A run with every choice made.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) manifest: Manifest,
    pub(super) resolved: Resolved,
    pub(super) models: ConfiguredModels,
    pub(super) profiles: Vec<SearchProfile>,
    pub(super) chunker: Chunker,
    /// Whether any profile compares vectors.
    pub(super) needs_embeddings: bool,
    /// Whether rankings are measured.
    pub(super) retrieval: bool,
    /// `None` where questions are not answered.
    pub(super) qa: Option<QaPlan>,
    pub(super) measures: Vec<Measure>,
    pub(super) k: NonZeroUsize,
    /// The dataset's measures that look deeper than `k`, each with what is measured in its place.
    cut: Vec<(Measure, Measure)>,
    pub(super) identical_ids: IdenticalIds,
    pub(super) concurrency: NonZeroUsize,
    pub(super) name: String,
    pub(super) out: Vec<OutFile>,
}

impl Plan {
    pub(super) fn new(session: &Session<'_>, arguments: &RunArgs) -> Result<Self> {
        let stages = &arguments.stages;
        if stages.skip_retrieval && stages.skip_qa && !arguments.out.is_empty() {
            bail!("`--out` has nothing to write: both benchmarks are left out");
        }
        let manifest = session.manifest(&arguments.dataset)?;
        let mut layers = vec![Layer::dataset(&manifest)?];
        let models = named_models(arguments.qa.model.as_ref(), arguments.qa.judge.as_ref());
        layers.extend(session.user_layers(&arguments.settings, models)?);
        let resolved = settings::resolve(layers)?;
        let choices = Choices::of(&resolved)?;
        let profiles = profiles(&arguments.retrieval.profiles, &choices)?;
        reranking::check(session, &resolved, &choices.models, &profiles)?;
        let Measured { measures, k, cut } = Measured::of(arguments, &manifest)?;
        let default = choices.profiles.first().copied();
        let default = default.unwrap_or(choices.hybrid.into());
        let qa = if arguments.stages.skip_qa {
            None
        } else {
            Some(QaPlan::new(
                session,
                arguments,
                &manifest,
                &resolved,
                &choices.models,
                &profiles,
                default,
            )?)
        };
        embedder::check(&resolved, &choices.models.embedder)?;
        Ok(Self {
            needs_embeddings: profiles.iter().any(|it| it.base.needs_embeddings()),
            retrieval: !arguments.stages.skip_retrieval,
            qa,
            profiles,
            chunker: choices.chunker,
            measures,
            k,
            cut,
            identical_ids: if manifest.retrieval.ignore_identical_ids {
                IdenticalIds::LeaveOut
            } else {
                IdenticalIds::Keep
            },
            concurrency: arguments
                .control
                .concurrency
                .unwrap_or(resolved.settings.evaluations.concurrency),
            name: arguments
                .control
                .name
                .clone()
                .unwrap_or_else(|| format!("{}_retrieval_evaluation", manifest.name)),
            out: OutFile::all(&arguments.out)?,
            manifest,
            resolved,
            models: choices.models,
        })
    }

    /// Which measures of the dataset are measured otherwise than its manifest says, if any are.
    pub(super) fn cut_note(&self) -> Option<String> {
        let cut = self.cut.iter();
        let cut = cut.map(|(deep, cut)| format!("{cut} in place of {deep}"));
        let cut: Vec<String> = cut.collect();
        (self.retrieval && !cut.is_empty()).then(|| {
            let k = self.k.get();
            let kept = quantity::of(k, "document");
            format!(
                "`--k {k}` keeps {kept} for each question: {}",
                cut.join(", ")
            )
        })
    }
}

fn profiles(names: &[String], choices: &Choices) -> Result<Vec<SearchProfile>> {
    if names.is_empty() {
        return Ok(choices.profiles.clone());
    }
    Ok(choices::profiles(
        names.iter().map(String::as_str),
        choices.hybrid,
        reranker::is_known(&choices.models),
    )?)
}

/// What is measured, and how many documents that takes.
#[derive(Debug)]
struct Measured {
    /// The headline first.
    measures: Vec<Measure>,
    k: NonZeroUsize,
    /// The dataset's measures that look deeper than k, each with what is measured in its place.
    cut: Vec<(Measure, Measure)>,
}

impl Measured {
    /// Without `--k`, as many documents are kept as the dataset says or the deepest measure looks at. With it, the
    /// dataset's own measures are cut at k where they look deeper: their names say so. A measure that was asked for is
    /// never changed.
    fn of(arguments: &RunArgs, manifest: &Manifest) -> Result<Self> {
        let defaults = &manifest.retrieval;
        let asked = &arguments.retrieval.measures;
        let Some(k) = arguments.retrieval.k else {
            let measures = distinct(defaults.measures.iter().chain(asked));
            let deepest = measures.iter().filter_map(Measure::cutoff).max();
            let k = deepest.map_or(defaults.limit, |deepest| deepest.max(defaults.limit));
            let cut = Vec::new();
            return Ok(Self { measures, k, cut });
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
        })
    }
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
    use crate::cli::{Cli, Command};

    fn arguments(line: &str) -> RunArgs {
        let words = ["evaluations", "run", "sample"]
            .into_iter()
            .chain(line.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Run(arguments) => *arguments,
            other => panic!("not a run: {other:?}"),
        }
    }

    fn planned(line: &str) -> Result<(String, usize)> {
        let manifest = Catalog::new(Vec::<String>::new())
            .find("beir:scifact")
            .unwrap();
        let measured = Measured::of(&arguments(line), &manifest)?;
        let names: Vec<String> = measured.measures.iter().map(ToString::to_string).collect();
        Ok((names.join(" "), measured.k.get()))
    }

    /// The measures that are cut, as `deep>cut`.
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
