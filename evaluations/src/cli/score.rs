//! The command lines of `evaluations score`, which scores rankings and fuses them.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use evals_metrics::fusion::{Method, Normalization};
use evals_pipeline::options::numbers::{at_least_once, at_least_one};

#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ScoreOrFuseArgs {
    /// `None` only if there is a command.
    #[command(flatten)]
    pub(crate) score: Option<ScoreArgs>,
    #[command(subcommand)]
    pub(crate) command: Option<ScoreCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ScoreCommand {
    /// Fuse the rankings of several runs into one
    Fuse(FuseArgs),
}

#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate option, as in trec_eval"
)]
pub(crate) struct ScoreArgs {
    /// Judgements: TREC (query, iteration, document, grade), JSON, or CSV or TSV with a header; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: PathBuf,
    /// Rankings: TREC (query, Q0, document, rank, score, tag), JSON, or CSV or TSV with a header; `-` reads stdin. Repeat the
    /// option to compare several
    #[arg(long = "run", value_name = "FILE", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Measure by the name of ir-measures or trec_eval, such as `nDCG@10` or `P.5,10`; or `official`, `all_trec` or `set`
    /// (default: AP, nDCG@10, RR, P@10, R@100 and Rprec)
    #[arg(long = "measure", short, value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Count judged queries that are missing from the run as 0
    #[arg(long, short)]
    pub(crate) complete: bool,
    /// Also print a row for each query (trec_eval -q)
    #[arg(long)]
    pub(crate) per_query: bool,
    /// Print no row for all queries
    #[arg(long, hide = true, short, requires = "per_query")]
    pub(crate) no_summary: bool,
    /// Lowest grade of a relevant document, for measures without a `rel`
    #[arg(long, hide = true, short = 'l', value_name = "N", default_value = "1", value_parser = at_least_once)]
    pub(crate) relevance_level: NonZeroU32,
    /// Look only at the best N documents of each query
    #[arg(long, hide = true, short = 'M', value_name = "N", value_parser = at_least_one)]
    pub(crate) max_documents: Option<NonZeroUsize>,
    /// Remove unjudged documents from the rankings; the results are not comparable with those of complete rankings
    #[arg(long, hide = true, short = 'J')]
    pub(crate) judged_only: bool,
    /// Number of documents in the collection, for the last coefficient of `utility`
    #[arg(long, hide = true, short = 'N', value_name = "N", default_value_t = 0)]
    pub(crate) collection_size: u32,
    /// Version of trec_eval whose rules apply; ir-measures uses version 9
    #[arg(
        long,
        hide = true,
        value_name = "VERSION",
        value_enum,
        default_value = "10"
    )]
    pub(crate) trec_eval: TrecEvalVersion,
    /// Layout of the output
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ScoreFormat,
    /// Test clusters of queries rather than queries
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) cluster: Option<QueryCluster>,
    /// Which of several runs the others are compared with
    #[arg(long, value_enum, value_name = "WHICH", default_value = "first")]
    pub(crate) baseline: Baseline,
}

/// A version of trec_eval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrecEvalVersion {
    /// Scores in single precision
    #[value(name = "9")]
    V9,
    /// Scores in double precision
    #[value(name = "10")]
    V10,
}

/// A layout of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreFormat {
    /// For people
    Table,
    /// The lines of trec_eval, byte by byte
    #[value(name = "trec_eval")]
    TrecEval,
    /// For programs, with all digits
    Json,
    /// Rows of run, query, measure and value
    Csv,
}

/// What makes queries a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueryCluster {
    /// Queries that share a relevant document, directly or through other queries
    Document,
    /// No clusters: queries are independent
    None,
}

/// The run that others are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Baseline {
    /// The first one named
    First,
    /// The one with the best mean of the first measure
    Best,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct FuseArgs {
    /// Rankings in any form that `score` reads; two or more
    #[arg(long = "run", value_name = "FILE", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Formula of fusion
    #[arg(long, value_enum, value_name = "METHOD", default_value = "rrf")]
    pub(crate) method: FusionMethod,
    /// How to make the scores of different systems comparable, for the `comb` methods
    #[arg(
        long,
        hide = true,
        value_enum,
        value_name = "HOW",
        default_value = "min-max"
    )]
    pub(crate) normalize: ScoreNormalization,
    /// The constant k of `rrf`
    #[arg(long, hide = true, value_name = "N", default_value = "60", value_parser = at_least_once)]
    pub(crate) k: NonZeroU32,
    /// Probability that a reader goes on to the next document, for `rbc`
    #[arg(long, hide = true, value_name = "P", default_value = "0.8", value_parser = probability)]
    pub(crate) persistence: f64,
    /// Weight of each run, in the order of `--run`
    #[arg(long, hide = true, value_name = "W,W", value_delimiter = ',')]
    pub(crate) weights: Option<Vec<f64>>,
    /// Documents to keep for each query
    #[arg(long, hide = true, value_name = "N", default_value = "1000", value_parser = at_least_one)]
    pub(crate) depth: NonZeroUsize,
    /// Tag of the new run [default: the method]
    #[arg(long, hide = true, value_name = "TAG")]
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
