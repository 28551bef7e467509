//! A judge against the labels that a dataset holds: agreement, ROC, and by kind of error.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use evals::render::Narrow;
use evals::render::tables::Table;
use evals::{CaseId, CaseReport, Report, Value};
use evals_data::Labels;
use evals_messages::quantity;
use evals_metrics::{
    Agreement, Bootstrap, Confusion, Estimate, Scale, as_f64, mean_interval, roc_area,
};
use evals_rag::Question;
use evals_rag::qa::Qa;
use evals_terminal::{Printer, confusion_table, statistics_table, table_text};

const LEVEL: f64 = 0.95;

/// The lowest scores that count as a pass, in the table of the ROC curve.
const THRESHOLDS: [f64; 4] = [1.0, 0.9, 0.75, 0.5];

/// A case with the judge's score, from 0 to 1, and what people found wrong with its answer.
struct Labelled {
    score: f64,
    kinds: Vec<String>,
    /// The number of its cluster.
    cluster: usize,
}

impl Labelled {
    /// Whether all that the answer says was judged right.
    fn passes(&self, least: f64) -> bool {
        self.score >= least
    }
}

/// Refuses labels that cannot be read, before anything is judged.
pub(crate) fn check(labels: &Labels, questions: &[Question]) -> Result<()> {
    for question in questions {
        let read = labels.kinds(&question.metadata);
        read.with_context(|| format!("question `{}`", question.id))?;
    }
    Ok(())
}

/// How far the judge of a report agrees with the labels of its questions, as text for the terminal.
pub(crate) fn text(printer: &Printer, labels: &Labels, report: &Report<Qa>) -> String {
    let (answers, left_out) = labelled(labels, report);
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
    for (count, lack) in left_out.into_iter().zip(["a verdict", "a label"]) {
        if count > 0 {
            let answers = quantity::of(count, "answer");
            let _ = writeln!(text, "{answers} without {lack} left out");
        }
    }
    let counted = confusion(&answers, THRESHOLDS[0]);
    text.push('\n');
    text.push_str(&confusion_table(
        printer,
        ["people pass", "people fail"].map(str::to_owned),
        &counted,
    ));
    text.push('\n');
    text.push_str(&statistics_table(printer, &agreement(&answers, &counted)));
    text.push_str(&found(&counted));
    text.push('\n');
    text.push_str(&roc(printer, &answers));
    text.push('\n');
    text.push_str(&by_kind(printer, &answers));
    let clusters: BTreeSet<usize> = answers.iter().map(|it| it.cluster).collect();
    if clusters.len() < answers.len() {
        let clusters = quantity::of(clusters.len(), "cluster");
        let _ = writeln!(
            text,
            "\nwarning: the answers come in {clusters}; the intervals of kappa and of the ROC area ignore that, and are too narrow"
        );
    }
    text
}

/// The labelled cases, each once: of its repetitions, the score that more than half reach. And how many cases have no verdict, and how many
/// others no label.
fn labelled(labels: &Labels, report: &Report<Qa>) -> (Vec<Labelled>, [usize; 2]) {
    let mut cases = BTreeMap::<&CaseId, (&CaseReport<Qa>, Vec<f64>)>::new();
    for case in &report.cases {
        let (_, scores) = cases.entry(&case.id).or_insert((case, Vec::new()));
        scores.extend(score(case, &labels.measure));
    }
    let mut answers = Vec::new();
    let [mut unjudged, mut unlabelled] = [0, 0];
    let mut clusters = BTreeMap::new();
    for (case, mut scores) in cases.into_values() {
        // A case without a cluster is alone.
        let id = (case.cluster.is_none()).then_some(&case.id);
        let next = clusters.len();
        let cluster = *clusters
            .entry((case.cluster.as_deref(), id))
            .or_insert(next);
        scores.sort_by(f64::total_cmp);
        let Some(&score) = scores.get(scores.len().saturating_sub(1) / 2) else {
            unjudged += 1;
            continue;
        };
        match labels.kinds(&case.metadata.0) {
            Ok(Some(kinds)) => answers.push(Labelled {
                score,
                kinds,
                cluster,
            }),
            // Labels that cannot be read were refused before.
            Ok(None) | Err(_) => unlabelled += 1,
        }
    }
    (answers, [unjudged, unlabelled])
}

fn score(case: &CaseReport<Qa>, measure: &str) -> Option<f64> {
    let outcome = case.outcomes.iter().find(|it| it.name == measure)?;
    match outcome.value {
        Value::Score(score) => Some(score),
        Value::Assertion(passes) => Some(f64::from(u8::from(passes))),
        _ => None,
    }
}

/// The agreement, whose shares have intervals that know clusters.
fn agreement(answers: &[Labelled], counted: &Confusion) -> Agreement {
    let mut agreement = Agreement::of_sample(counted, LEVEL);
    let shares = [
        (&mut agreement.agreement, None),
        (&mut agreement.true_pass_rate, Some(true)),
        (&mut agreement.true_fail_rate, Some(false)),
    ];
    for (estimate, people_pass) in shares {
        if let Ok(estimate) = estimate {
            let of = answers.iter();
            let of = of.filter(|it| people_pass.is_none_or(|pass| pass == it.kinds.is_empty()));
            let agreeing = of.map(|it| (it, it.kinds.is_empty() == it.passes(THRESHOLDS[0])));
            estimate.interval = share(agreeing).interval;
        }
    }
    agreement
}

/// The share of answers of which something holds, with its interval.
fn share<'l>(answers: impl Iterator<Item = (&'l Labelled, bool)>) -> Estimate {
    let values = answers.map(|(it, holds)| (it.cluster, f64::from(holds)));
    let (clusters, values): (Vec<usize>, Vec<f64>) = values.unzip();
    let settings = Bootstrap::default();
    let interval = mean_interval(&values, Some(&clusters), Scale::Share, &settings);
    Estimate {
        value: values.iter().sum::<f64>() / as_f64(values.len().max(1)),
        n: values.len(),
        interval: interval.ok(),
    }
}

/// How well the judge finds the answers that people failed.
fn found(counted: &Confusion) -> String {
    let of = |number: usize| {
        let share = as_f64(counted.true_fails) / as_f64(number);
        if number == 0 {
            "–".to_owned()
        } else {
            format!("{share:.4}")
        }
    };
    let (fails, wrong) = (counted.judge_fails(), counted.people_fail());
    // 2 · found / (failed by the judge + failed by people), the harmonic mean of precision and recall.
    let f1 = match fails + wrong {
        0 => "–".to_owned(),
        both => format!("{:.4}", 2.0 * as_f64(counted.true_fails) / as_f64(both)),
    };
    format!(
        "wrong answers found: precision {}, recall {}, F1 {f1}\n",
        of(fails),
        of(wrong)
    )
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
    let mut kinds = BTreeMap::<&str, Vec<(&Labelled, bool)>>::new();
    for answer in answers {
        let none = answer.kinds.is_empty().then_some("(none)");
        for kind in answer.kinds.iter().map(String::as_str).chain(none) {
            let failed = !answer.passes(THRESHOLDS[0]);
            kinds.entry(kind).or_default().push((answer, failed));
        }
    }
    let rows = kinds.into_iter().map(|(kind, answers)| {
        let failed = answers.iter().filter(|(_, failed)| *failed).count();
        vec![
            kind.to_owned(),
            answers.len().to_string(),
            failed.to_string(),
            with_interval(&share(answers.into_iter())),
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
