//! The figure `measures`: the means of one report with their intervals.

use evals::{Direction, Summary, Unit};
use evals_html::figure::{Estimate, Estimates, Panel, Style};
use evals_html::page::PageFigure;
use evals_metrics::{Bootstrap, Mean};

use super::caption;
use super::place::FigurePlace;

/// A mean of a summary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured<'s> {
    /// Its name in tables.
    pub(super) title: &'s str,
    pub(super) unit: Unit,
    pub(super) better: Direction,
    pub(super) mean: &'s Mean,
}

/// The scores and pass rates of a summary, in the order of their evaluators: authors put the most important one first.
pub(super) fn measured(summary: &Summary) -> Vec<Measured<'_>> {
    let scores = summary.scores.iter();
    let scores = scores.map(|(name, mean)| (name, Unit::Score, mean));
    let rates = summary.assertions.iter();
    let rates = rates.map(|(name, mean)| (name, Unit::PassRate, mean));
    let mut placed: Vec<(usize, Measured<'_>)> = scores
        .chain(rates)
        .map(|(name, unit, mean)| {
            let source = summary.sources.iter().enumerate();
            let source = source.map(|(place, (title, source))| (place, title, source));
            let source = source.into_iter().find(|(_, title, _)| *title == name);
            let mean_title = source.and_then(|(_, _, source)| source.mean_title.as_deref());
            let measured = Measured {
                title: mean_title.filter(|_| unit == Unit::Score).unwrap_or(name),
                unit,
                better: source.map_or(Direction::Higher, |(_, _, source)| source.better),
                mean,
            };
            (source.map_or(usize::MAX, |(place, ..)| place), measured)
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, measured)| measured).collect()
}

/// A mean as a figure draws it.
pub(super) fn estimate(label: String, mean: &Mean, series: usize) -> Estimate {
    Estimate {
        label,
        value: mean.value.ok_or_else(|| reasons(mean)),
        interval: mean.interval.map(|interval| (interval.low, interval.high)),
        series,
    }
}

/// Why a mean has no value.
fn reasons(mean: &Mean) -> String {
    let reasons: Vec<&str> = mean.excluded.keys().map(String::as_str).collect();
    if reasons.is_empty() {
        "no case has a value".to_owned()
    } else {
        reasons.join(", ")
    }
}

pub(super) fn figure(
    subject: &str,
    summary: &Summary,
    bootstrap: &Bootstrap,
    place: FigurePlace<'_>,
) -> Option<PageFigure> {
    let measures = measured(summary);
    let panel = |name: &str, unit: Unit| Panel {
        name: name.to_owned(),
        unit,
        estimates: measures
            .iter()
            .filter(|it| it.unit == unit)
            .map(|it| estimate(caption::directed(it.title, it.better), it.mean, 0))
            .collect(),
    };
    let panels = [
        panel("Mean", Unit::Score),
        panel("Pass rate", Unit::PassRate),
    ];
    let panels: Vec<Panel> = panels
        .into_iter()
        .filter(|panel| !panel.estimates.is_empty())
        .collect();
    if panels.is_empty() {
        return None;
    }
    let means = || measures.iter().map(|it| it.mean);
    let sentences = [
        caption::sizes(means()),
        caption::repeats(summary.repeat),
        caption::intervals(means(), bootstrap),
        caption::excluded(means()),
    ];
    let figure = Estimates {
        heading: caption::heading(caption::titled("Measures", subject), sentences),
        panels,
        style: Style::Dots,
    };
    Some(PageFigure {
        name: "measures".to_owned(),
        scene: figure.draw(place.width()),
    })
}
