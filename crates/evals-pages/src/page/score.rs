//! The card of a page: its main number with the uncertainty, and the names of runs.

use evals::{Domain, MeasureChange, Report, Summary, Unit, render};
use evals_html::page::{Score, ScoreAxis};
use evals_messages::quantity;
use evals_metrics::Interval;
use evals_runs::run_record::{RunRecord, is_default_name};
use evals_runs::stored_runs::Headline;
use serde_json::Value;

/// The name of a run for people: the one that they gave it, else its dataset and its profile or target.
pub fn shown_name(name: &str, dataset: &str, system: &str) -> String {
    let name = if is_default_name(name, dataset) {
        dataset
    } else {
        name
    };
    if system.is_empty() || name.contains(system) {
        name.to_owned()
    } else {
        format!("{name}, {system}")
    }
}

/// The name of a report's run.
pub(super) fn name_of<D: Domain>(report: &Report<D>) -> String {
    let profile = report.metadata.get("profile").and_then(Value::as_str);
    shown_name(&report.name, &report.dataset, profile.unwrap_or_default())
}

/// The main measure of a run; `None` if it has no value.
pub(super) fn of_run(summary: &Summary, record: Option<&RunRecord>, case: &str) -> Option<Score> {
    let headline = Headline::of(record, summary)?;
    let print = |value| Unit::Score.print(value);
    let is_share = (0.0..=1.0).contains(&headline.value);
    let excluded = match headline.excluded {
        0 => String::new(),
        count => format!(", {count} excluded"),
    };
    let noun = if headline.is_pooled {
        "assertion"
    } else {
        case
    };
    Some(Score {
        measure: headline.title,
        value: print(headline.value),
        interval: interval(headline.interval, print),
        about: format!("{}{excluded}", quantity::of(headline.n, noun)),
        axis: headline.interval.filter(|_| is_share).map(|it| {
            ScoreAxis::new(headline.value, (it.low, it.high), [0.0, 1.0], |end| {
                end.to_string()
            })
        }),
    })
}

/// The change of a measure, on an axis with zero in its middle.
pub(super) fn of_change(measure: &MeasureChange, level: f64) -> Option<Score> {
    let found = measure.difference.as_ref()?;
    let print = |value| measure.unit.print_signed(value);
    let p = measure.finding.adjusted_p_value;
    let p = p.map_or_else(String::new, |p| {
        format!(
            ", {} (tested at {})",
            render::p_value(p),
            render::percent(1.0 - level)
        )
    });
    let axis = found.interval.map(|it| {
        let far = [it.low, it.high, found.difference].map(f64::abs);
        let far = 1.1 * far.into_iter().fold(f64::MIN_POSITIVE, f64::max);
        ScoreAxis::new(found.difference, (it.low, it.high), [-far, far], print)
    });
    Some(Score {
        measure: format!("change of {}", measure.title()),
        value: print(found.difference),
        interval: interval(found.interval, print),
        about: format!("{}{p}", quantity::of(found.n, "pair")),
        axis,
    })
}

fn interval(interval: Option<Interval>, print: impl Fn(f64) -> String) -> String {
    interval.map_or_else(String::new, |it| {
        let [low, high] = [it.low, it.high].map(print);
        format!("{} interval {low} to {high}", render::percent(it.level))
    })
}

#[cfg(test)]
mod tests {
    use super::shown_name;

    #[test]
    fn a_run_without_a_name_is_called_after_its_dataset_and_profile() {
        assert_eq!(
            shown_name("sample_qa_evaluation (hybrid)", "sample", "hybrid"),
            "sample, hybrid"
        );
        assert_eq!(
            shown_name("rerank all", "sample", "hybrid"),
            "rerank all, hybrid"
        );
        assert_eq!(
            shown_name("nightly hybrid", "sample", "hybrid"),
            "nightly hybrid"
        );
        assert_eq!(shown_name("capitals_eval", "capitals", ""), "capitals");
        assert_eq!(
            shown_name("nightly_eval", "capitals", "http"),
            "nightly_eval, http"
        );
    }
}
