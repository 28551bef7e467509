//! The first sentence of a page: the answer.

use evals::render::tables::{self, Table};
use evals::{Domain, PassRate, Report, Summary, Unit};
use evals_messages::quantity;
use evals_metrics::Mean;
use serde_json::Value;

/// The main measure of a run: `hybrid: MRR@5 0.7739 [0.7340, 0.8110] over 256 questions, 64 excluded`. Where a dataset pools its
/// assertions, it is their pass rate, as in lists of runs.
pub(super) fn of_run<D: Domain>(report: &Report<D>, summary: &Summary, case: &str) -> String {
    let profile = report.metadata.get("profile").and_then(Value::as_str);
    let subject = profile.unwrap_or(&report.name);
    let pooled = summary.pass_rate.as_ref();
    if let Some(passed) = pooled.and_then(|it| passed(it, &summary.assertions)) {
        return format!("{subject}: {passed}");
    }
    let tables = tables::summary(summary);
    match tables.first().and_then(Headline::of) {
        Some(headline) => format!("{subject}: {}", headline.shown(case)),
        None => format!(
            "{subject}: {}, and no measure",
            quantity::of(summary.finished, case)
        ),
    }
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

/// The first row of the table of means.
struct Headline<'t> {
    measure: &'t str,
    value: &'t str,
    n: &'t str,
    excluded: &'t str,
}

impl<'t> Headline<'t> {
    fn of(table: &'t Table) -> Option<Self> {
        let [measure, value, n, excluded, ..] = table.rows.first()?.as_slice() else {
            return None;
        };
        (table.heads.first()? == "Measure").then_some(Self {
            measure,
            value,
            n,
            excluded,
        })
    }

    fn shown(&self, case: &str) -> String {
        let Self {
            measure,
            value,
            n,
            excluded,
        } = self;
        if *n == "0" {
            return format!("{measure} is undefined, because no {case} has a value");
        }
        let cases = n.parse::<usize>().map(|n| quantity::of(n, case));
        let over = cases.unwrap_or_else(|_| (*n).to_owned());
        let excluded = match *excluded {
            "0" => String::new(),
            count => format!(", {count} excluded"),
        };
        format!("{measure} {value} over {over}{excluded}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(row: [&str; 4]) -> Table {
        Table {
            heads: ["Measure", "Value", "n", "Excluded"]
                .map(str::to_owned)
                .to_vec(),
            rows: vec![row.map(str::to_owned).to_vec()],
            notes: Vec::new(),
        }
    }

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

    #[test]
    fn the_sentence_has_the_numbers_of_the_table() {
        let shown = |row| Headline::of(&table(row)).unwrap().shown("question");
        assert_eq!(
            shown(["MRR@5", "0.7739 [0.7340, 0.8110]", "256", "64"]),
            "MRR@5 0.7739 [0.7340, 0.8110] over 256 questions, 64 excluded"
        );
        assert_eq!(
            shown(["MRR@5", "1.0000", "1", "0"]),
            "MRR@5 1.0000 over 1 question"
        );
        assert_eq!(
            shown(["MRR@5", "–", "0", "3"]),
            "MRR@5 is undefined, because no question has a value"
        );
    }
}
