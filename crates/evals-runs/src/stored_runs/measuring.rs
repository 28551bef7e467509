//! Rank measures that a report lacks, computed from the rankings that it holds.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::{Result, bail};
use evals_messages::quantity;
use evals_metrics::Measure;
use evals_rag::retrieval::RankMeasures;

use super::report::StoredReport;
use crate::run_record::RunRecord;

/// Adds the `wanted` measures that the report of a run lacks; `run` is its name. Fails if it has no rankings, or too short ones.
pub(super) fn add(
    mut report: StoredReport,
    run: &str,
    record: &RunRecord,
    wanted: &[Measure],
) -> Result<StoredReport> {
    let StoredReport::Retrieval(rankings) = &mut report else {
        bail!(
            "run `{run}` stores no rankings ({}), so `--measure` cannot compute a rank measure for it; name a retrieval run",
            record.benchmark
        );
    };
    let outcomes = rankings.cases.iter().flat_map(|case| &case.outcomes);
    let known: BTreeSet<&str> = outcomes.map(|outcome| outcome.name.as_str()).collect();
    let lacking = wanted.iter().copied();
    let lacking = lacking.filter(|measure| !known.contains(&*measure.to_string()));
    let lacking: Vec<Measure> = lacking.collect();
    let kept = if let Some(measured) = &record.measured {
        measured.k
    } else {
        // A report without its folder does not say how deep the searches went.
        let found = rankings.cases.iter();
        let found = found.filter_map(|case| case.result.output());
        found.map(|found| found.ranking.len()).max().unwrap_or(0)
    };
    let is_deeper = |it: &&Measure| it.cutoff().map_or(0, NonZeroUsize::get) > kept;
    if let Some(deep) = lacking.iter().find(is_deeper) {
        bail!(
            "run `{run}` lacks `{deep}`, which looks deeper than the {} that it kept for each question; run it again with `--measure {deep}`",
            quantity::of(kept, "document")
        );
    }
    if !lacking.is_empty() {
        RankMeasures::new(lacking).add_to(Arc::make_mut(rankings));
    }
    Ok(report)
}
