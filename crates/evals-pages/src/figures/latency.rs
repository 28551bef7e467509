//! The figure `latency`: the distribution of each stage's service time.

use evals::{Domain, Report, Unit};
use evals_html::figure::{Distribution, Samples};
use evals_html::page::PageFigure;
use evals_metrics::Percentiles;

use super::caption;
use super::place::FigurePlace;

pub(super) fn figure<D: Domain>(
    subject: &str,
    report: &Report<D>,
    place: FigurePlace<'_>,
) -> Option<PageFigure> {
    let stages = stages(report);
    let (drawn, few): (Vec<Samples>, Vec<Samples>) = stages
        .into_iter()
        .partition(|stage| stage.values.len() >= Percentiles::FEWEST_SAMPLES);
    if drawn.is_empty() {
        return None;
    }
    let has_cached = drawn.iter().any(|stage| stage.name.ends_with(CACHED));
    let few = few
        .iter()
        .map(|stage| format!("{} ({})", stage.name, stage.values.len()));
    let few = few.collect::<Vec<_>>().join(", ");
    let sentences = [
        "Each line is the share of calls that took at most this long; its symbol marks the median. Times are service times, \
         without queueing and retries."
            .to_owned(),
        if has_cached {
            "“(cached)”: the original times of results that came from a cache.".to_owned()
        } else {
            String::new()
        },
        if few.is_empty() {
            String::new()
        } else {
            let fewest = Percentiles::FEWEST_SAMPLES;
            format!("Not drawn, with fewer than {fewest} samples: {few}.")
        },
    ];
    let figure = Distribution {
        heading: caption::heading(caption::titled("Latency of each stage", subject), sentences),
        axis: "Service time".to_owned(),
        unit: Unit::Seconds,
        series: drawn,
    };
    Some(PageFigure {
        name: "latency".to_owned(),
        scene: figure.draw(place.width()),
    })
}

/// The end of the name of a stage whose results came from a cache.
const CACHED: &str = " (cached)";

/// The samples of each stage in seconds, in first-seen order; those from a cache apart from the others.
fn stages<D: Domain>(report: &Report<D>) -> Vec<Samples> {
    let mut stages: Vec<Samples> = Vec::new();
    for timing in report.cases.iter().flat_map(|case| &case.timings) {
        let suffix = if timing.cached { CACHED } else { "" };
        let name = format!("{}{suffix}", timing.stage);
        let seconds = timing.duration.as_secs_f64();
        match stages.iter_mut().find(|stage| stage.name == name) {
            Some(stage) => stage.values.push(seconds),
            None => stages.push(Samples {
                name,
                values: vec![seconds],
            }),
        }
    }
    stages
}
