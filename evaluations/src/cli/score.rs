//! The command line of `evaluations score`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::numbers::{at_least_once, at_least_one};

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
    #[arg(long, short, requires = "per_query")]
    pub(crate) no_summary: bool,
    /// Lowest grade of a relevant document, for measures without a `rel`
    #[arg(long, short = 'l', value_name = "N", default_value = "1", value_parser = at_least_once)]
    pub(crate) relevance_level: NonZeroU32,
    /// Look only at the best N documents of each query
    #[arg(long, short = 'M', value_name = "N", value_parser = at_least_one)]
    pub(crate) max_documents: Option<NonZeroUsize>,
    /// Remove documents without a judgement from the rankings. Do not compare the results with those of complete rankings
    #[arg(long, short = 'J')]
    pub(crate) judged_only: bool,
    /// Number of documents in the collection, for the last coefficient of `utility`
    #[arg(long, short = 'N', value_name = "N", default_value_t = 0)]
    pub(crate) collection_size: u32,
    /// Version of trec_eval whose rules apply; ir-measures uses version 9
    #[arg(long, value_name = "VERSION", value_enum, default_value = "10")]
    pub(crate) trec_eval: TrecEvalVersion,
    /// Layout of the output
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ScoreFormat,
    /// Test clusters of queries rather than queries
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) cluster: Option<QueryCluster>,
    /// Run that the others are compared with, if there are several
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
    /// Queries that share a relevant document, also over a chain of queries
    Document,
    /// Every query is alone
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
