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
    /// What to measure, in ir-measures notation or by trec_eval's name; without it AP, nDCG@10, RR, P@10,
    /// R@100 and Rprec
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<Measure>,
    /// Count judged queries that the run leaves out as 0 (trec_eval -c)
    #[arg(long)]
    pub(crate) complete: bool,
    /// Print a row for every query as well (trec_eval -q)
    #[arg(long)]
    pub(crate) per_query: bool,
}
