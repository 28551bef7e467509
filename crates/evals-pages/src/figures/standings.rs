//! The figure `standings`: the means of several runs with their intervals and letters.

use evals::render::percent;
use evals::{RankedMeasure, Standing, Standings};
use evals_html::figure::{Estimate, Estimates, Panel, Style, Width};
use evals_html::page::PageFigure;
use evals_messages::quantity;

use super::caption;

/// Most measures that the figure shows.
const MOST: usize = 6;

/// The means of each ranked measure; `None` if there is none.
pub(super) fn figure(subject: &str, standings: &Standings) -> Option<PageFigure> {
    let ranked = standings.measures.iter().filter(|it| it.is_ranked());
    let ranked: Vec<&RankedMeasure> = ranked.collect();
    let (shown, rest) = ranked.split_at(ranked.len().min(MOST));
    if shown.is_empty() {
        return None;
    }
    let panels = shown.iter().map(|measure| Panel {
        name: caption::directed(measure.title(), measure.better),
        unit: measure.unit,
        // In one order in all panels, so that a run has one place and one colour.
        estimates: (0..standings.reports.len())
            .map(|report| estimate(standings, measure, report))
            .collect(),
    });
    let figure = Estimates {
        heading: caption::heading(
            caption::titled("Comparison", subject),
            sentences(standings, shown, rest),
        ),
        panels: panels.collect(),
        style: Style::Dots,
    };
    Some(PageFigure {
        name: "standings".to_owned(),
        scene: figure.draw(Width::Page),
    })
}

fn estimate(standings: &Standings, measure: &RankedMeasure, report: usize) -> Estimate {
    let own = measure.standings.iter().find(|it| it.report == report);
    let title = standings.title(report);
    let mean = own.and_then(|own: &Standing| own.mean);
    Estimate {
        label: match own {
            Some(own) => format!("{title} ({})", own.letters),
            None => title.to_owned(),
        },
        value: mean.ok_or_else(|| "the run does not have the measure".to_owned()),
        interval: own.and_then(|own| own.interval.map(|it| (it.low, it.high))),
        series: report,
    }
}

fn sentences(
    standings: &Standings,
    shown: &[&RankedMeasure],
    rest: &[&RankedMeasure],
) -> Vec<String> {
    let test = &standings.test;
    let sizes = shown.iter().map(|it| it.n);
    let n = match (sizes.clone().min(), sizes.max()) {
        (Some(least), Some(most)) if least < most => format!("n = {least} to {most} cases."),
        (Some(n), _) => format!("n = {}.", quantity::of(n, "case")),
        (None, _) => String::new(),
    };
    let tests = |count| quantity::of(count, "test");
    let families = format!(
        "{} of the headline measure and {} of the others",
        tests(standings.headline_tests),
        tests(standings.tests)
    );
    let correction = match test.adjustment.name() {
        Some(name) => format!("corrected for {families} by {name}"),
        None => format!("not corrected for {families}"),
    };
    let intervals = shown.iter().flat_map(|it| &it.standings);
    let intervals = caption::methods(intervals.filter_map(|it| it.interval));
    let left_out: Vec<&str> = rest.iter().map(|it| it.title()).collect();
    vec![
        n,
        intervals.map_or_else(String::new, |it| format!("Lines are {it} of the mean.")),
        format!(
            "Letters in brackets: two runs share one exactly if p of their pair is above {} ({}, {correction}).",
            percent(test.significance()),
            test.paired.method.name()
        ),
        if left_out.is_empty() {
            String::new()
        } else {
            format!("Not drawn: {}.", left_out.join(", "))
        },
    ]
}
