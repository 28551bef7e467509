//! The figure `trend` of stored runs: one for each dataset, benchmark and profile.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use evals_html::page::PageFigure;
use evals_pages::figures;
use evals_runs::run_record::Benchmark;
use evals_runs::stored_runs::{StoredRun, StoredTrend, TREND};

/// The trends of all profiles. Several of them are named after their profiles.
pub(super) fn of_group(
    dataset: &str,
    benchmark: Benchmark,
    finished: &[StoredRun],
) -> Vec<PageFigure> {
    let mut drawn = Vec::new();
    for profile in profiles(dataset, benchmark, finished) {
        let figure = of_profile(dataset, benchmark, profile, finished);
        drawn.extend(figure.map(|figure| (profile, figure)));
    }
    let is_alone = drawn.len() == 1;
    let named = drawn
        .into_iter()
        .flat_map(|(profile, figure)| figures::named(vec![figure], (!is_alone).then_some(profile)));
    named.collect()
}

/// The trend of runs that have one profile.
pub(super) fn draw(
    dataset: &str,
    benchmark: Benchmark,
    finished: &[StoredRun],
) -> Result<PageFigure> {
    let profiles: Vec<&str> = profiles(dataset, benchmark, finished).into_iter().collect();
    let [profile] = profiles[..] else {
        bail!(
            "the figure `{TREND}` shows runs of one profile, and several are selected; add `profile=NAME` to select one: {}",
            profiles.join(", ")
        );
    };
    let figure = of_profile(dataset, benchmark, profile, finished);
    figure.with_context(|| {
        format!("the figure `{TREND}` needs two finished runs of `{dataset}` with profile `{profile}`, and there is one")
    })
}

fn profiles<'r>(
    dataset: &str,
    benchmark: Benchmark,
    finished: &'r [StoredRun],
) -> BTreeSet<&'r str> {
    let records = finished.iter().map(|run| &run.record);
    let of_group = records.filter(|it| it.dataset.name == dataset && it.benchmark == benchmark);
    of_group.map(|record| record.system_name()).collect()
}

/// The main measure of most runs over all of them; `None` for fewer than two runs.
fn of_profile(
    dataset: &str,
    benchmark: Benchmark,
    profile: &str,
    finished: &[StoredRun],
) -> Option<PageFigure> {
    let is_of_line = |run: &&StoredRun| {
        let record = &run.record;
        record.dataset.name == dataset
            && record.benchmark == benchmark
            && record.system_name() == profile
    };
    let runs: Vec<&StoredRun> = finished.iter().filter(is_of_line).collect();
    if runs.len() < 2 {
        return None;
    }
    let trend = StoredTrend::of(runs);
    let measure = trend.headline();
    measure.map(|measure| trend.draw(measure))
}
