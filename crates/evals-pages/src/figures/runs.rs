//! The figures of several runs: `comparison`, `bars`, `trade-off` and `precision`.

use std::collections::BTreeMap;

use evals::{CaseReport, Direction, Domain, Report, Summary, Unit};
use evals_html::figure::{
    Estimate, Estimates, Panel, Style, TradeOff, TradeOffPoint, Width, distinct,
};
use evals_html::page::PageFigure;
use evals_metrics::{Bootstrap, Mean, Percentiles};
use evals_rag::Purpose;

use super::caption;
use super::domain::HasFigures;
use super::measures::{Measured, estimate, measured};
use super::place::FigurePlace;
use super::precision::{self, Curve};

/// Most measures that a comparison shows.
const MOST: usize = 6;

/// Most curves of precision in one figure: readers could not distinguish more.
const CURVES: usize = 6;

/// The stage that lists documents without a search. How long that takes says nothing about a search.
const UNRANKED: &str = "unranked";

/// One of several runs, reduced to what their figures show.
#[derive(Debug)]
pub struct ComparedRun {
    label: String,
    series: usize,
    summary: Summary,
    /// The median service time of a case in seconds, or why there is none.
    latency: Result<f64, &'static str>,
    curve: Option<Curve>,
}

impl ComparedRun {
    /// Reads a report with its summary. Runs of one `series` have the same colour.
    pub fn of<D: HasFigures>(
        label: String,
        series: usize,
        report: &Report<D>,
        summary: Summary,
        bootstrap: &Bootstrap,
    ) -> Self {
        let mut timings = report.cases.iter().flat_map(|case| &case.timings);
        let latency = if timings.any(|it| it.stage == UNRANKED) {
            Err("does not search")
        } else {
            let seconds = report.cases.iter().filter_map(service_time);
            let median = Percentiles::of(seconds).p50;
            median.ok_or("fewer than 20 timed cases")
        };
        Self {
            label,
            series,
            summary,
            latency,
            curve: precision::curve(report, bootstrap),
        }
    }
}

/// The same for a case that searched; `None` for one that lists documents without a search.
pub fn search_time<D: Domain>(case: &CaseReport<D>) -> Option<f64> {
    let is_search = case.timings.iter().all(|it| it.stage != UNRANKED);
    is_search.then(|| service_time(case)).flatten()
}

/// The service time of a case in seconds: the sum over its stages. Stages from a cache count with their original times, and judging does
/// not count. `None` if the task failed or timed nothing, or if a part of its work was done together with that of other cases.
pub fn service_time<D: Domain>(case: &CaseReport<D>) -> Option<f64> {
    case.result.output()?;
    if case.untimed().is_some() {
        return None;
    }
    let is_judging = |stage: &str| Purpose::of_stage(stage).is_some_and(Purpose::is_judging);
    let own = case.timings.iter().filter(|it| !is_judging(&it.stage));
    let seconds: f64 = own.map(|it| it.duration.as_secs_f64()).sum();
    (seconds > 0.0).then_some(seconds)
}

/// The figures, in the order of a page.
pub(super) fn figures(
    subject: &str,
    runs: &[ComparedRun],
    bootstrap: &Bootstrap,
    place: FigurePlace<'_>,
) -> Vec<PageFigure> {
    let labels: Vec<String> = runs.iter().map(|run| run.label.clone()).collect();
    let drawn = RunFigures {
        subject,
        labels: distinct(&labels),
        runs,
        measures: measures(runs),
        bootstrap,
        place,
    };
    let figures = [
        drawn.comparison(),
        drawn.bars(),
        drawn.trade_off(),
        drawn.curves(),
    ];
    figures.into_iter().flatten().collect()
}

/// What the figures of several runs show.
struct RunFigures<'r> {
    subject: &'r str,
    /// The shortest names of the runs.
    labels: Vec<String>,
    runs: &'r [ComparedRun],
    measures: Vec<Shared<'r>>,
    bootstrap: &'r Bootstrap,
    place: FigurePlace<'r>,
}

/// A measure in all runs.
#[derive(Debug)]
struct Shared<'r> {
    title: &'r str,
    unit: Unit,
    better: Direction,
    /// One for each run; `None` where the run does not have the measure.
    means: Vec<Option<&'r Mean>>,
}

/// The measures of all runs, in first-seen order.
fn measures(runs: &[ComparedRun]) -> Vec<Shared<'_>> {
    let mut shared: Vec<Shared<'_>> = Vec::new();
    for (position, run) in runs.iter().enumerate() {
        for Measured {
            title,
            unit,
            better,
            mean,
        } in measured(&run.summary)
        {
            let known = shared
                .iter()
                .position(|it| it.title == title && it.unit == unit);
            let place = known.unwrap_or_else(|| {
                shared.push(Shared {
                    title,
                    unit,
                    better,
                    means: vec![None; runs.len()],
                });
                shared.len() - 1
            });
            shared[place].means[position] = Some(mean);
        }
    }
    shared
}

impl RunFigures<'_> {
    fn comparison(&self) -> Option<PageFigure> {
        let title = caption::titled("Comparison", self.subject);
        let (shown, rest) = self.measures.split_at(self.measures.len().min(MOST));
        let left_out: Vec<&str> = rest.iter().map(|it| it.title).collect();
        let left_out = if left_out.is_empty() {
            String::new()
        } else {
            format!("Not drawn: {}.", left_out.join(", "))
        };
        let figure = self.estimates(title, shown, Style::Dots, left_out)?;
        // More measures are no longer a small figure: two of them stand beside each other, on the whole width of a page.
        let width = if shown.len() > 2 {
            Width::Page
        } else {
            self.place.width()
        };
        Some(named("comparison", &figure, width))
    }

    fn bars(&self) -> Option<PageFigure> {
        let headline = self.measures.get(..1)?;
        let title = caption::titled(headline[0].title, self.subject);
        let mut figure = self.estimates(title, headline, Style::Bars, String::new())?;
        let gain = if headline[0].better == Direction::Lower {
            -1.0
        } else {
            1.0
        };
        for panel in &mut figure.panels {
            let value = |it: &Estimate| {
                it.value
                    .as_ref()
                    .map_or(f64::NEG_INFINITY, |value| gain * value)
            };
            panel
                .estimates
                .sort_by(|one, other| value(other).total_cmp(&value(one)));
        }
        Some(named("bars", &figure, self.place.width()))
    }

    fn estimates(
        &self,
        title: String,
        measures: &[Shared<'_>],
        style: Style,
        note: String,
    ) -> Option<Estimates> {
        let Self {
            runs,
            bootstrap,
            labels,
            ..
        } = self;
        if measures.is_empty() {
            return None;
        }
        let panels = measures.iter().map(|measure| Panel {
            name: caption::directed(measure.title, measure.better),
            unit: measure.unit,
            estimates: runs
                .iter()
                .zip(labels)
                .zip(&measure.means)
                .map(|((run, label), mean)| match mean {
                    Some(mean) => estimate(label.clone(), mean, run.series),
                    None => Estimate {
                        label: label.clone(),
                        value: Err("the run does not have the measure".to_owned()),
                        interval: None,
                        series: run.series,
                    },
                })
                .collect(),
        });
        let means: Vec<&Mean> = measures
            .iter()
            .flat_map(|it| it.means.iter().flatten().copied())
            .collect();
        let repeat = runs.iter().map(|run| run.summary.repeat).max();
        let sentences = [
            caption::sizes(means.iter().copied()),
            caption::repeats(repeat.unwrap_or(1)),
            caption::intervals(means.iter().copied(), bootstrap),
            caption::excluded(means.iter().copied()),
            note,
        ];
        Some(Estimates {
            heading: caption::heading(title, sentences),
            panels: panels.collect(),
            style,
        })
    }

    /// Quality against latency; `None` if fewer than two runs have both.
    fn trade_off(&self) -> Option<PageFigure> {
        let Self {
            subject,
            runs,
            bootstrap,
            ref labels,
            ..
        } = *self;
        let headline = self.measures.first();
        let headline = headline.filter(|it| it.better == Direction::Higher)?;
        let mut points = Vec::new();
        let mut left_out: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut means = Vec::new();
        for ((run, label), mean) in runs.iter().zip(labels).zip(&headline.means) {
            let Some((quality, mean)) = mean.and_then(|mean| Some((mean.value?, mean))) else {
                left_out.entry("no value").or_default().push(label);
                continue;
            };
            let price = match run.latency {
                Ok(price) => price,
                Err(why) => {
                    left_out.entry(why).or_default().push(label);
                    continue;
                }
            };
            means.push(mean);
            points.push(TradeOffPoint {
                label: label.clone(),
                price,
                quality,
                interval: mean.interval.map(|it| (it.low, it.high)),
            });
        }
        if points.len() < 2 {
            return None;
        }
        let sentences = [
        caption::sizes(means.iter().copied()),
        "Latency is the median over cases of the service times of all stages together, without queueing and judging; a stage from \
         a cache counts with its original time. Filled circles: no other run is both faster and better."
            .to_owned(),
        caption::intervals(means.iter().copied(), bootstrap),
        caption::excluded(means.iter().copied()),
        not_drawn(&left_out),
    ];
        let title = format!("{} against latency", headline.title);
        let figure = TradeOff {
            heading: caption::heading(caption::titled(&title, subject), sentences),
            price: "Latency, p50".to_owned(),
            unit: Unit::Seconds,
            quality: headline.title.to_owned(),
            is_crowded: false,
            points,
        };
        Some(PageFigure {
            name: "trade-off".to_owned(),
            scene: figure.draw(self.place.width()),
        })
    }

    /// The curves of the first runs.
    fn curves(&self) -> Option<PageFigure> {
        let runs = self.runs.iter().zip(&self.labels);
        let curves = runs.filter_map(|(run, label)| Some((label.as_str(), run.curve.as_ref()?)));
        let curves: Vec<(&str, &Curve)> = curves.take(CURVES).collect();
        precision::figure(self.subject, &curves, self.place)
    }
}

fn named(name: &str, figure: &Estimates, width: Width) -> PageFigure {
    PageFigure {
        name: name.to_owned(),
        scene: figure.draw(width),
    }
}

/// The sentence about runs that a figure leaves out, by the reason.
fn not_drawn(left_out: &BTreeMap<&str, Vec<&str>>) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let left_out = left_out.iter();
    let left_out = left_out.map(|(why, runs)| format!("{} ({why})", runs.join(", ")));
    let left_out: Vec<String> = left_out.collect();
    format!("Not drawn: {}.", left_out.join(", "))
}
