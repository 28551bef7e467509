//! The line that names the methods of a table's intervals.

use evals_messages::visible::single_line;
use evals_metrics::{Interval, IntervalMethod, Mean};

use crate::Summary;
use crate::naming::{gathered, pass_rate_name};

/// The methods of the means of a report.
pub(super) fn of_summary(summary: &Summary) -> Option<String> {
    let interval = |(title, mean): (String, &Mean)| Some((title, mean.interval?));
    let scores = summary.scores.iter();
    let scores = scores.map(|(name, mean)| (summary.mean_title(name).to_owned(), mean));
    let rates = summary.assertions.iter();
    let rates = rates.map(|(name, mean)| (pass_rate_name(name), mean));
    let metrics = summary.metrics.iter();
    let metrics = metrics.map(|(name, mean)| (name.clone(), mean));
    note(scores.chain(rates).chain(metrics).filter_map(interval))
}

/// `intervals: Wilson's score interval for R@1, R@5; percentile bootstrap for the others`. The first value of each is the measure.
/// `None` without intervals.
pub(super) fn note(intervals: impl IntoIterator<Item = (String, Interval)>) -> Option<String> {
    let mut measures: Vec<(String, Vec<IntervalMethod>)> = Vec::new();
    for (title, Interval { method, .. }) in intervals {
        let title = single_line(&title);
        match measures.iter_mut().find(|(known, _)| *known == title) {
            None => measures.push((title, vec![method])),
            Some((_, methods)) if !methods.contains(&method) => methods.push(method),
            Some(_) => {}
        }
    }
    let mut groups = gathered(measures.into_iter().map(|(title, methods)| {
        let methods: Vec<String> = methods.iter().map(ToString::to_string).collect();
        (methods.join(" or "), title)
    }));
    groups.sort_by_key(|(_, titles)| titles.len());
    let (most, few) = groups.split_last()?;
    let few = few
        .iter()
        .map(|(methods, titles)| format!("{methods} for {}", titles.join(", ")));
    let rest = match groups.len() {
        1 => most.0.clone(),
        _ => format!("{} for the others", most.0),
    };
    let parts: Vec<String> = few.chain([rest]).collect();
    Some(format!("intervals: {}", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(methods: &[(&str, IntervalMethod)]) -> Option<String> {
        note(methods.iter().map(|(title, method)| {
            let interval = Interval {
                low: 0.0,
                high: 1.0,
                level: 0.95,
                method: *method,
            };
            ((*title).to_owned(), interval)
        }))
    }

    #[test]
    fn the_method_of_few_measures_names_them() {
        use IntervalMethod::{Bootstrap, Wilson};
        assert_eq!(shown(&[]), None);
        assert_eq!(
            shown(&[("MRR", Bootstrap), ("nDCG", Bootstrap)]).unwrap(),
            "intervals: percentile bootstrap"
        );
        let some = [("MRR", Bootstrap), ("R@1", Wilson), ("nDCG", Bootstrap)];
        assert_eq!(
            shown(&some).unwrap(),
            "intervals: Wilson's score interval for R@1; percentile bootstrap for the others"
        );
        let steering = [("a\u{1b}[31m\nb", Wilson), some[0], some[2]];
        let line = shown(&steering).unwrap();
        assert!(!line.contains('\u{1b}') && !line.contains('\n'), "{line:?}");
    }

    #[test]
    fn a_measure_with_other_values_in_another_run_has_both_methods() {
        use IntervalMethod::{Bootstrap, Wilson};
        let both = [
            ("RR", Wilson),
            ("RR", Bootstrap),
            ("AP", Bootstrap),
            ("MRR", Bootstrap),
        ];
        assert_eq!(
            shown(&both).unwrap(),
            "intervals: Wilson's score interval or percentile bootstrap for RR; percentile bootstrap for the others"
        );
    }
}
