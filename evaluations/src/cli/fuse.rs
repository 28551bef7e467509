//! The command line of `evaluations fuse`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evals_metrics::fusion::{Method, Normalization};

use super::numbers::{at_least_once, at_least_one};

#[derive(Debug, Clone, Args)]
pub(crate) struct FuseArgs {
    /// Rankings in any form that `score` reads; two or more
    #[arg(long = "run", value_name = "FILE", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Formula of fusion
    #[arg(long, value_enum, value_name = "METHOD", default_value = "rrf")]
    pub(crate) method: FusionMethod,
    /// How to make the scores of different systems comparable, for the `comb` methods
    #[arg(long, value_enum, value_name = "HOW", default_value = "min-max")]
    pub(crate) normalize: ScoreNormalization,
    /// The constant k of `rrf`
    #[arg(long, value_name = "N", default_value = "60", value_parser = at_least_once)]
    pub(crate) k: NonZeroU32,
    /// Probability that a reader goes on to the next document, for `rbc`
    #[arg(long, value_name = "P", default_value = "0.8", value_parser = probability)]
    pub(crate) persistence: f64,
    /// Weight of each run, in the order of `--run`
    #[arg(long, value_name = "W,W", value_delimiter = ',')]
    pub(crate) weights: Option<Vec<f64>>,
    /// Documents to keep for each query
    #[arg(long, value_name = "N", default_value = "1000", value_parser = at_least_one)]
    pub(crate) depth: NonZeroUsize,
    /// Tag of the new run [default: the method]
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// TREC file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A formula of fusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FusionMethod {
    /// Reciprocal rank fusion
    Rrf,
    /// Sum of the scores
    Combsum,
    /// Sum of the scores, times the number of runs with the document
    Combmnz,
    /// Mean of the scores of the runs with the document
    Combanz,
    /// Highest score
    Combmax,
    /// Lowest score
    Combmin,
    /// Median score
    Combmed,
    /// Sum of the inverse square ranks, times the number of runs with the document
    Isr,
    /// Sum of the inverse square ranks, times the logarithm of the number of runs with the document
    Logisr,
    /// Points by rank
    Bordafuse,
    /// Rank-biased centroid
    Rbc,
}

/// How scores become comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreNormalization {
    /// From 0 to 1 between the lowest and the highest score of the query
    MinMax,
    /// As a share of the highest score
    Max,
    /// As a share of the sum, above the lowest score
    Sum,
    /// In standard deviations from the mean
    Zscore,
    /// By rank
    Rank,
    /// As they are
    None,
}

impl FuseArgs {
    pub(crate) fn formula(&self) -> Method {
        match self.method {
            FusionMethod::Rrf => Method::Rrf { k: self.k.get() },
            FusionMethod::Combsum => Method::CombSum,
            FusionMethod::Combmnz => Method::CombMnz,
            FusionMethod::Combanz => Method::CombAnz,
            FusionMethod::Combmax => Method::CombMax,
            FusionMethod::Combmin => Method::CombMin,
            FusionMethod::Combmed => Method::CombMed,
            FusionMethod::Isr => Method::Isr,
            FusionMethod::Logisr => Method::LogIsr,
            FusionMethod::Bordafuse => Method::BordaFuse,
            FusionMethod::Rbc => Method::Rbc {
                persistence: self.persistence,
            },
        }
    }

    pub(crate) fn normalization(&self) -> Normalization {
        match self.normalize {
            ScoreNormalization::MinMax => Normalization::MinMax,
            ScoreNormalization::Max => Normalization::Max,
            ScoreNormalization::Sum => Normalization::Sum,
            ScoreNormalization::Zscore => Normalization::ZScore,
            ScoreNormalization::Rank => Normalization::Rank,
            ScoreNormalization::None => Normalization::None,
        }
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..1.0).contains(&number) => Ok(number),
        _ => Err("not a number from 0 to below 1".to_owned()),
    }
}
