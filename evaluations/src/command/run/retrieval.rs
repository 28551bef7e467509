//! The retrieval benchmark: one experiment for each search profile.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals::{Event, Experiment, Observer, Report, Summary};
use evals_index::{CachePolicy, Profile, SearchOptions};
use evals_metrics::Bootstrap;
use evals_rag::{Retrieval, retrieval};
use indicatif::ProgressBar;

use super::Run;
use crate::progress;

/// A question that no dataset asks, to load what a first search loads before anything is timed.
const WARM_UP: &str = "warm-up";

/// One profile's finished run.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) profile: Profile,
    pub(super) report: Report<Retrieval>,
    pub(super) summary: Summary,
}

/// Searches every question with `profile` and measures the rankings.
pub(super) async fn run(run: Run<'_>, profile: Profile) -> Result<Finished> {
    let Run {
        arguments,
        plan,
        prepared,
        ..
    } = run;
    let options = SearchOptions {
        filter: arguments.retrieval.filter.clone(),
        // A repetition that finds its results in a cache repeats nothing.
        cache: if arguments.control.repeat.get() > 1 {
            CachePolicy::Fresh
        } else {
            CachePolicy::Shared
        },
        ..SearchOptions::default()
    };
    let searcher = prepared.ready.index.searcher(profile, &options).await?;
    searcher
        .search(WARM_UP, plan.k.get())
        .await
        .with_context(|| format!("cannot search by `{profile}`"))?;
    let dataset = retrieval::dataset(
        &plan.manifest.name,
        prepared.questions.iter().cloned(),
        plan.measures.clone(),
    )?;
    let bar = Arc::new(Bar(progress::counted(
        run.session.printer,
        &profile.to_string(),
    )));
    let task = retrieval::task(searcher, plan.k, plan.identical_ids);
    let report = Experiment::new(dataset, task)
        .name(format!("{} ({profile})", plan.name))
        .metadata("profile", profile.to_string())
        .concurrency(plan.concurrency)
        .repeat(arguments.control.repeat)
        .cancellation(run.cancellation.clone())
        .observer(Arc::clone(&bar) as Arc<dyn Observer<Retrieval>>)
        .run()
        .await;
    bar.0.finish_and_clear();
    let bootstrap = Bootstrap {
        seed: arguments.control.seed,
        ..Bootstrap::default()
    };
    let summary = report.summary(&bootstrap);
    Ok(Finished {
        profile,
        report,
        summary,
    })
}

#[derive(Debug)]
struct Bar(ProgressBar);

impl Observer<Retrieval> for Bar {
    fn on_event(&self, event: Event<'_, Retrieval>) {
        match event {
            Event::Started { total, .. } => self.0.set_length(total as u64),
            Event::CaseFinished { .. } => self.0.inc(1),
            _ => {}
        }
    }
}
