//! The sentences of captions: the number of cases, what was excluded, and the method of intervals.

use std::collections::BTreeMap;

use evals::render::percent;
use evals::{Direction, Domain, Report};
use evals_html::figure::Heading;
use evals_messages::quantity;
use evals_metrics::{Bootstrap, Interval, IntervalMethod, Mean};
use serde_json::Value;

/// What a report is about, for titles: the dataset, and the search profile if there is one.
pub(super) fn subject<D: Domain>(report: &Report<D>) -> String {
    let profile = report.metadata.get("profile").and_then(Value::as_str);
    match profile {
        Some(profile) => format!("{}, {profile}", report.dataset),
        None => report.dataset.clone(),
    }
}

/// The title of a figure. In a file it says what it is about; on a page, which says it already, the `subject` is empty.
pub(super) fn titled(what: &str, subject: &str) -> String {
    if subject.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {subject}")
    }
}

/// A title with its sentences; empty ones are left out.
pub(super) fn heading(title: String, sentences: impl IntoIterator<Item = String>) -> Heading {
    let sentences = sentences.into_iter().filter(|it| !it.is_empty());
    Heading {
        title,
        caption: sentences.collect::<Vec<_>>().join(" "),
    }
}

/// The number of cases in the means: `n = 256.`, or `n = 109 to 320 (those with a value).` if they differ.
pub(super) fn sizes<'m>(means: impl Iterator<Item = &'m Mean> + Clone) -> String {
    range(means.map(|mean| mean.n))
}

/// The number of cases, as a range if the counts differ.
pub(super) fn range(counts: impl Iterator<Item = usize> + Clone) -> String {
    match (counts.clone().min(), counts.max()) {
        (Some(least), Some(most)) if least < most => {
            format!("n = {least} to {most} (those with a value).")
        }
        (Some(n), _) => format!("n = {n}."),
        (None, _) => String::new(),
    }
}

/// What the means exclude, such as `Excluded: 64 × unanswerable. Excluded from some means: 147 × no numbers.` Of each reason, the largest
/// number that any mean excludes.
pub(super) fn excluded<'m>(means: impl Iterator<Item = &'m Mean> + Clone) -> String {
    let mut reasons: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (reason, count) in means.clone().flat_map(|mean| &mean.excluded) {
        let (most, times) = reasons.entry(reason).or_default();
        *most = (*most).max(*count);
        *times += 1;
    }
    let all = means.count();
    let sentence = |start: &str, is_of_all: bool| {
        let counts = reasons
            .iter()
            .filter(|(_, (_, times))| (*times == all) == is_of_all);
        let counts: Vec<String> = counts
            .map(|(reason, (most, _))| format!("{most} × {reason}"))
            .collect();
        (!counts.is_empty()).then(|| format!("{start}: {}.", counts.join(", ")))
    };
    let sentences = [
        sentence("Excluded", true),
        sentence("Excluded from some means", false),
    ];
    sentences
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The lines of a figure with the method of their intervals, if there are any.
pub(super) fn intervals<'m>(
    means: impl Iterator<Item = &'m Mean>,
    bootstrap: &Bootstrap,
) -> String {
    interval_methods(means, bootstrap).map_or_else(String::new, |it| format!("Lines are {it}."))
}

/// The level and the methods of the intervals: `95 % intervals: Wilson's score interval`. `None` if there are no intervals.
pub(crate) fn interval_methods<'m>(
    means: impl Iterator<Item = &'m Mean>,
    bootstrap: &Bootstrap,
) -> Option<String> {
    let methods = methods(means.filter_map(|mean| mean.interval))?;
    let bootstrap = methods
        .contains(&IntervalMethod::Bootstrap.to_string())
        .then(|| {
            let resamples = grouped(bootstrap.resamples.get());
            format!(" ({resamples} resamples, seed {})", bootstrap.seed)
        });
    Some(methods + &bootstrap.unwrap_or_default())
}

/// The level and the methods of these intervals: `95 % intervals: Wilson's score interval, and Student's t`.
pub(super) fn methods(intervals: impl Iterator<Item = Interval>) -> Option<String> {
    let mut level = None;
    let mut methods: Vec<String> = Vec::new();
    for interval in intervals {
        level = Some(interval.level);
        let method = interval.method.to_string();
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    Some(format!(
        "{} intervals: {}",
        percent(level?),
        methods.join(", and ")
    ))
}

/// A number with commas between its thousands.
pub(super) fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut printed = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            printed.push(',');
        }
        printed.push(digit);
    }
    printed
}

/// The name of a measure, with its direction where less is better.
pub(super) fn directed(title: &str, better: Direction) -> String {
    match better {
        Direction::Lower => format!("{title} (less is better)"),
        Direction::Higher | Direction::Unknown => title.to_owned(),
    }
}

/// That a value is a mean over repetitions, if cases ran more than once.
pub(super) fn repeats(repeat: u32) -> String {
    if repeat > 1 {
        format!("The value of a case is the mean over its {repeat} repetitions.")
    } else {
        String::new()
    }
}

/// A count with its noun, such as `1 case`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    quantity::of(count, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(n: usize, reasons: &[(&str, usize)]) -> Mean {
        let excluded = reasons.iter();
        Mean {
            value: Some(0.5),
            n,
            excluded: excluded.map(|(it, n)| ((*it).to_owned(), *n)).collect(),
            interval: None,
        }
    }

    #[test]
    fn a_caption_has_the_sizes_and_the_exclusions_of_all_means() {
        let means = [
            mean(109, &[("unanswerable", 64), ("no numbers", 147)]),
            mean(256, &[("unanswerable", 64)]),
        ];
        assert_eq!(sizes(means.iter()), "n = 109 to 256 (those with a value).");
        assert_eq!(sizes(means[..1].iter()), "n = 109.");
        assert_eq!(
            excluded(means.iter()),
            "Excluded: 64 × unanswerable. Excluded from some means: 147 × no numbers."
        );
        assert_eq!(excluded([mean(3, &[])].iter()), "");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [999, 10_000, 1_234_567].map(grouped),
            ["999", "10,000", "1,234,567"]
        );
    }
}
