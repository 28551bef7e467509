//! The command line of `evaluations score`.

use std::path::PathBuf;

use clap::Args;
use evals_metrics::Measure;

#[derive(Debug, Clone, Args)]
pub(crate) struct ScoreArgs {
    /// Judgements in TREC format: query, iteration, document, grade
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: PathBuf,
    /// Rankings in TREC format: query, Q0, document, rank, score, tag
    #[arg(long, value_name = "FILE")]
    pub(crate) run: PathBuf,
    /// Measure, in ir-measures notation or by its trec_eval name (default: AP, nDCG@10, RR, P@10, R@100 and Rprec)
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<Measure>,
    /// Count judged queries that are missing from the run as 0 (trec_eval -c)
    #[arg(long)]
    pub(crate) complete: bool,
    /// Also print a row for each query (trec_eval -q)
    #[arg(long)]
    pub(crate) per_query: bool,
}
