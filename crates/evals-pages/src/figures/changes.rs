//! The figure `changes`: the paired changes between two runs.

use evals::{Change, MeasureChange};
use evals_html::figure::{ChangeFigure, MeasuredChange, Width};
use evals_html::page::PageFigure;
use evals_messages::quantity;

use super::caption::{self, counted};

pub(super) fn figure(change: &Change) -> Option<PageFigure> {
    if change.measures.is_empty() {
        return None;
    }
    let figure = ChangeFigure {
        heading: caption::heading("Change of each measure".to_owned(), sentences(change)),
        changes: change.measures.iter().map(measured).collect(),
    };
    Some(PageFigure {
        name: "changes".to_owned(),
        scene: figure.draw(Width::Page),
    })
}

fn measured(change: &MeasureChange) -> MeasuredChange {
    let difference = change.difference.as_ref();
    let interval = difference.and_then(|it| it.interval);
    MeasuredChange {
        measure: change.title().to_owned(),
        unit: change.unit,
        difference: difference
            .map(|it| it.difference)
            .ok_or_else(|| "no case has both values".to_owned()),
        interval: interval.map(|interval| (interval.low, interval.high)),
        p_value: change.finding.adjusted_p_value,
        is_corrected: change.finding.adjusted_p_value != difference.and_then(|it| it.p_value),
        verdict: change.finding.verdict,
    }
}

fn sentences(change: &Change) -> Vec<String> {
    let compared = change
        .measures
        .iter()
        .filter_map(|it| it.difference.as_ref());
    let sizes = compared.clone().map(|difference| difference.n);
    let pairs = match (sizes.clone().min(), sizes.max()) {
        (Some(least), Some(most)) if least < most => {
            format!("n = {least} to {most} pairs.")
        }
        (Some(n), _) => format!("n = {}.", counted(n, "pair")),
        (None, _) => String::new(),
    };
    let unpaired = [
        (change.only_before, "only in the first run"),
        (change.only_after, "only in the second run"),
        (change.changed.len(), "different in the two runs"),
    ];
    let unpaired = unpaired.into_iter().filter(|(count, _)| *count > 0);
    let unpaired: Vec<String> = unpaired
        .map(|(count, why)| format!("{} {why}", quantity::of(count, "case")))
        .collect();
    let left_out = if unpaired.is_empty() {
        String::new()
    } else {
        format!("Not paired: {}.", unpaired.join(", "))
    };
    let one_sided = change
        .measures
        .iter()
        .map(|it| it.only_before + it.only_after)
        .max()
        .filter(|most| *most > 0);
    let one_sided = one_sided.map_or_else(String::new, |most| {
        format!(
            "Up to {} with a value in one run only left out.",
            quantity::of(most, "pair")
        )
    });
    let intervals = caption::methods(compared.clone().filter_map(|it| it.interval));
    let intervals = intervals.map(|it| format!("Lines are {it} of the mean difference."));
    let (before, after) = (&change.before.title, &change.after.title);
    vec![
        pairs,
        left_out,
        one_sided,
        intervals.unwrap_or_default(),
        tests(change),
        format!("First run: {before}; second run: {after}."),
    ]
}

/// How p values were computed and corrected.
fn tests(change: &Change) -> String {
    let tested = change.measures.iter();
    let tested = tested
        .filter(|it| it.finding.adjusted_p_value.is_some())
        .count();
    match tested {
        0 => String::new(),
        1 => format!("p: {}.", change.test_name()),
        _ => {
            let method = change.test_name();
            let tests = change.tests;
            match change.test.adjustment.adjective() {
                Some(adjective) if tests > 1 => format!(
                    "p: {method}; corrected: {adjective} for the {tests} measures beside the headline. The intervals are not corrected."
                ),
                _ => format!("p: {method}, not corrected."),
            }
        }
    }
}
