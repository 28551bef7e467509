//! The first sentence of a page: the answer.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use evals::{PassRate, Report, Summary, Unit};
use evals_messages::quantity;
use evals_metrics::Mean;
use evals_rag::Ending;

use super::paged::HasPage;
use super::source::PageSource;

/// What a run's number means in words: how many cases are right, and where the others broke. Where a report does not say that, the assertions
/// that passed.
pub(super) fn of_run<D: HasPage>(
    report: &Report<D>,
    summary: &Summary,
    source: &PageSource,
) -> String {
    let pooled = summary.pass_rate.as_ref();
    let passed = || pooled.and_then(|it| passed(it, &summary.assertions));
    let words = ended(report, source).or_else(passed);
    words.unwrap_or_else(|| quantity::of(summary.finished, D::CASE))
}

/// `225 of 256 questions found a relevant document; 31 not retrieved`, or `46 of 320 answers are right; 163 answered wrongly, 64 …`.
fn ended<D: HasPage>(report: &Report<D>, source: &PageSource) -> Option<String> {
    let mut counts: BTreeMap<Ending, usize> = BTreeMap::new();
    for ending in report.cases.iter().filter_map(D::ending) {
        *counts.entry(ending).or_default() += 1;
    }
    counts.remove(&Ending::NotJudged);
    let total: usize = counts.values().sum();
    let [found, right] = [Ending::Retrieved, Ending::Right].map(|it| counts.remove(&it));
    let right = found.unwrap_or(0) + right.unwrap_or(0);
    let subject = if D::ENDINGS.contains(&Ending::Retrieved) {
        let searches = quantity::of(total, "search");
        format!("{right} of {searches} found a relevant document")
    } else {
        let judge = source.record.as_ref().and_then(|it| it.models.get("judge"));
        let by = match judge {
            Some(judge) if judge.provider == "embedded" => {
                ", by the words that they share with the reference"
            }
            _ => "",
        };
        format!("{right} of {} are right{by}", quantity::of(total, "answer"))
    };
    let mut others: Vec<(Ending, usize)> = counts.into_iter().collect();
    others.sort_by_key(|(_, count)| Reverse(*count));
    let others = others
        .iter()
        .map(|(ending, count)| format!("{count} {}", ending.name()));
    let others = others.collect::<Vec<_>>().join(", ");
    let end = if others.is_empty() {
        String::new()
    } else {
        format!("; {others}")
    };
    (total > 0).then(|| format!("{subject}{end}"))
}

/// The pass rate of all assertions together, and the assertion that passed least: `0.7500 of 8 assertions passed; least: Contains
/// 0.5000`.
fn passed(pooled: &PassRate, assertions: &[(String, Mean)]) -> Option<String> {
    let value = pooled.value?;
    let of = quantity::of(pooled.n, "assertion");
    let all = format!("{} of {of} passed", Unit::PassRate.print(value));
    let rates = assertions
        .iter()
        .filter_map(|(name, mean)| Some((name, mean.value?)));
    let least = rates.min_by(|(_, a), (_, b)| a.total_cmp(b));
    Some(match least {
        Some((name, least)) if least < value => {
            format!("{all}; least: {name} {}", Unit::PassRate.print(least))
        }
        _ => all,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_that_pools_its_assertions_has_their_pass_rate_first() {
        let mean = |value| Mean {
            value: Some(value),
            n: 4,
            ..Mean::default()
        };
        let pooled = PassRate {
            value: Some(0.75),
            passed: 6,
            n: 8,
            ..PassRate::default()
        };
        let shown = |assertions: &[(String, Mean)]| passed(&pooled, assertions).unwrap();
        assert_eq!(
            shown(&[("Equals".into(), mean(1.0)), ("Contains".into(), mean(0.5))]),
            "0.7500 of 8 assertions passed; least: Contains 0.5000"
        );
        assert_eq!(
            shown(&[("Equals".into(), mean(0.75))]),
            "0.7500 of 8 assertions passed"
        );
        assert_eq!(passed(&PassRate::default(), &[]), None);
    }
}
