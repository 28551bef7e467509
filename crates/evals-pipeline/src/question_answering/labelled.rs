//! A judge against the labels that a dataset holds: agreement, ROC, and by kind of error.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evals::render::Narrow;
use evals::render::tables::Table;
use evals::{Report, Value};
use evals_data::Labels;
use evals_messages::quantity;
use evals_metrics::{Agreement, Confusion, Estimate, as_f64, roc_area, wilson_of_effective};
use evals_rag::qa::Qa;
use evals_terminal::{Printer, confusion_table, statistics_table, table_text};

const LEVEL: f64 = 0.95;

/// The lowest scores that count as a pass, in the table of the ROC curve.
const THRESHOLDS: [f64; 4] = [1.0, 0.9, 0.75, 0.5];

/// An answer with the judge's score, from 0 to 1, and what people found wrong with it.
struct Labelled {
    score: f64,
    kinds: Vec<String>,
}

impl Labelled {
    /// Whether all that the answer says was judged right.
    fn passes(&self, least: f64) -> bool {
        self.score >= least
    }
}

/// How far the judge of a report agrees with the labels of its questions, as text for the terminal.
pub(crate) fn text(printer: &Printer, labels: &Labels, report: &Report<Qa>) -> String {
    let answers = labelled(labels, report);
    let unjudged = report.cases.len() - answers.len();
    let mut text = format!("`{}` against the labels of people\n", labels.measure);
    for name in &labels.errors {
        if report
            .cases
            .iter()
            .all(|case| !case.metadata.0.contains_key(name))
        {
            let _ = writeln!(text, "warning: no question has a label `{name}`");
        }
    }
    if unjudged > 0 {
        let answers = quantity::of(unjudged, "answer");
        let _ = writeln!(text, "{answers} without a verdict left out");
    }
    let counted = confusion(&answers, THRESHOLDS[0]);
    text.push('\n');
    text.push_str(&confusion_table(
        printer,
        ["people pass", "people fail"].map(str::to_owned),
        &counted,
    ));
    text.push('\n');
    text.push_str(&statistics_table(
        printer,
        &Agreement::of_sample(&counted, LEVEL),
    ));
    text.push('\n');
    text.push_str(&roc(printer, &answers));
    text.push('\n');
    text.push_str(&by_kind(printer, &answers));
    text
}

fn labelled(labels: &Labels, report: &Report<Qa>) -> Vec<Labelled> {
    let answers = report.cases.iter().filter_map(|case| {
        let outcome = case.outcomes.iter().find(|it| it.name == labels.measure)?;
        let score = match outcome.value {
            Value::Score(score) => score,
            Value::Assertion(passes) => f64::from(u8::from(passes)),
            _ => return None,
        };
        Some(Labelled {
            score,
            kinds: labels.kinds(&case.metadata.0),
        })
    });
    answers.collect()
}

fn confusion(answers: &[Labelled], least: f64) -> Confusion {
    let pairs = answers.iter();
    pairs
        .map(|it| (it.kinds.is_empty(), it.passes(least)))
        .collect()
}

/// The area under the ROC curve, and some of its points.
fn roc(printer: &Printer, answers: &[Labelled]) -> String {
    let scores = |wanted: bool| -> Vec<f64> {
        let wanted = answers.iter().filter(|it| it.kinds.is_empty() == wanted);
        wanted.map(|it| it.score).collect()
    };
    let area = match roc_area(&scores(true), &scores(false), LEVEL) {
        Some(area) => format!("ROC area: {}\n", with_interval(&area)),
        None => {
            "ROC area: undefined, because people gave all answers the same verdict\n".to_owned()
        }
    };
    let mut rows = Vec::new();
    let mut last = None;
    for least in THRESHOLDS {
        let counted = confusion(answers, least);
        if last.replace(counted) == Some(counted) {
            continue;
        }
        let found = Agreement::of_sample(&counted, LEVEL);
        let value =
            |it: Result<Estimate, _>| it.map_or("–".to_owned(), |it| format!("{:.4}", it.value));
        rows.push(vec![
            format!("≥ {least}"),
            value(found.true_pass_rate),
            value(found.true_fail_rate),
            value(found.kappa),
        ]);
    }
    let heads = ["judge passes", "TPR", "TNR", "kappa"];
    area + &table_text(printer, &table(&heads, rows), Narrow::Fold)
}

/// For each kind of error, and for answers without one, how often the judge failed the answer.
fn by_kind(printer: &Printer, answers: &[Labelled]) -> String {
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for answer in answers {
        let none = answer.kinds.is_empty().then_some("(none)");
        for kind in answer.kinds.iter().map(String::as_str).chain(none) {
            let (all, failed) = kinds.entry(kind).or_default();
            *all += 1;
            *failed += usize::from(!answer.passes(THRESHOLDS[0]));
        }
    }
    let rows = kinds.into_iter().map(|(kind, (all, failed))| {
        let share = as_f64(failed) / as_f64(all);
        let interval = wilson_of_effective(share, as_f64(all), LEVEL);
        let found = Estimate {
            value: share,
            n: all,
            interval: Some(interval),
        };
        vec![
            kind.to_owned(),
            all.to_string(),
            failed.to_string(),
            with_interval(&found),
        ]
    });
    let heads = ["error", "answers", "judge fails", "share"];
    table_text(printer, &table(&heads, rows.collect()), Narrow::Fold)
}

fn table(heads: &[&str], rows: Vec<Vec<String>>) -> Table {
    Table {
        heads: heads.iter().map(|&head| head.to_owned()).collect(),
        rows,
        notes: Vec::new(),
    }
}

fn with_interval(estimate: &Estimate) -> String {
    let value = format!("{:.4}", estimate.value);
    match estimate.interval {
        Some(it) => format!("{value} [{:.4}, {:.4}]", it.low, it.high),
        None => value,
    }
}
