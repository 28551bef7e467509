//! Scores a run with the options of `trec_eval`, which `scripts/bench-score` and `scripts/fuzz-score` compare it with.
//!
//! ```sh
//! cargo run -p evals-metrics --example score -- [-q] [-c] [-J] [-n] [-l N] [-M N] [-N N] [-m MEASURE]… QRELS RUN
//! ```
//!
//! `--decimals N` prints more digits, and `--trec-eval 9` follows the rules of version 9.

use std::error::Error;
use std::io::{self, Write as _};
use std::{env, fs};

use evals_metrics::measures::MinimumGrade;
use evals_metrics::scoring::{
    Judged, Options, Ranked, Request, TrecEvalLayout, score, trec_eval_layout,
};
use evals_metrics::{Queries, TrecEval};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    let mut layout = TrecEvalLayout::default();
    let (mut measures, mut files) = (Vec::new(), Vec::new());
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or("a value is missing");
        match word.as_str() {
            "-q" => layout.per_query = true,
            "-n" => layout.summary = false,
            "-c" => options.queries = Queries::Judged,
            "-J" => options.judged_only = true,
            "-l" => options.relevant_from = MinimumGrade::new(value()?.parse()?),
            "-M" => options.max_documents = Some(value()?.parse()?),
            "-N" => options.collection_size = value()?.parse()?,
            "-m" => measures.push(value()?),
            "--decimals" => layout.decimals = value()?.parse()?,
            "--trec-eval" => {
                options.version = match value()?.as_str() {
                    "9" => TrecEval::V9,
                    _ => TrecEval::V10,
                };
            }
            _ => files.push(word),
        }
    }
    if measures.is_empty() {
        measures.push("official".to_owned());
    }
    let [qrels, run] = &files[..] else {
        return Err("expected two files: QRELS RUN".into());
    };
    let (qrels, run) = (fs::read_to_string(qrels)?, fs::read_to_string(run)?);
    let request = Request::parse(measures.iter().map(String::as_str))?;
    let scores = score(
        &Judged::read(&qrels)?,
        &Ranked::read(&run)?,
        &request,
        &options,
    )?;
    io::stdout().write_all(trec_eval_layout(&scores, layout).as_bytes())?;
    Ok(())
}
