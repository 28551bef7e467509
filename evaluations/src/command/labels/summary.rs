//! The labels of a run as text: who labelled how much, and how far each agrees with the judge.

use std::fmt::Write as _;

use evals::render::Narrow;
use evals::render::tables::Table;
use evals_runs::annotations::{
    CurrentLabels, PersonAgreement, RunAnswers, WEIGHTED, caveats, estimates_of_people, left_out,
    pairs, people, verdict_counts,
};
use evals_terminal::{Printer, confusion_table, statistics_table, table_text};

pub(super) fn text(printer: &Printer, run: &RunAnswers, current: &CurrentLabels<'_>) -> String {
    let mut text = opening(run);
    let people = people(run, current);
    if people.is_empty() {
        text.push_str("\nno labels yet; give some in the browser with `evaluations view`, or export answers with `--export FILE.csv`\n");
    } else {
        text.push('\n');
        text.push_str(&labellers(printer, &people));
    }
    for line in left_out(run, current) {
        let _ = writeln!(text, "labels: {line}");
    }
    if run.measure.is_none() {
        text.push_str("\nthe run has no judge, so agreement with one is undefined\n");
    } else {
        for person in &people {
            text.push('\n');
            text.push_str(&agreement(printer, person));
        }
    }
    let pairs = pairs(run, current);
    if !pairs.is_empty() {
        text.push('\n');
        let rows: Vec<Vec<String>> = pairs
            .iter()
            .map(|pair| {
                let mut row = pair.labellers.to_vec();
                row.push(pair.agreement.n.to_string());
                for estimate in estimates_of_people(&pair.agreement) {
                    row.push(format!("{} {}", estimate.value, estimate.interval));
                }
                row
            })
            .collect();
        let heads = ["labeller", "and", "answers", "agreement", "kappa"];
        let table = Table {
            heads: heads.map(str::to_owned).to_vec(),
            rows,
            notes: Vec::new(),
        };
        let narrow = Narrow::Drop(&["answers"]);
        text.push_str(&table_text(printer, &table, narrow));
        if pairs.iter().any(|pair| pair.is_weighted) {
            let _ = writeln!(text, "note: {WEIGHTED}");
        }
    }
    text
}

fn opening(run: &RunAnswers) -> String {
    let counts = verdict_counts(run);
    let answers = run.answers.len();
    let judged = match (&run.measure, &run.judge) {
        (None, _) => String::new(),
        (Some(measure), judge) => {
            let judge = judge.as_deref().unwrap_or("the judge");
            let without = answers - counts.passes - counts.fails;
            let without = match without {
                0 => String::new(),
                n => format!(", {n} without a verdict"),
            };
            format!(
                "; `{measure}` by {judge}: {} passed, {} failed{without}",
                counts.passes, counts.fails
            )
        }
    };
    let failed = match run.failed {
        0 => String::new(),
        n => format!(" ({n} more cases failed)"),
    };
    format!("run {}: {answers} answers{failed}{judged}\n", run.run)
}

fn labellers(printer: &Printer, people: &[PersonAgreement]) -> String {
    let rows: Vec<Vec<String>> = people
        .iter()
        .map(|person| {
            let counts = [
                person.passes,
                person.fails,
                person.undecided,
                person.missing,
            ];
            let counts = counts.map(|n| n.to_string());
            std::iter::once(person.labeller.clone())
                .chain(counts)
                .collect()
        })
        .collect();
    let heads = ["labeller", "pass", "fail", "cannot say", "not labelled"];
    let table = Table {
        heads: heads.map(str::to_owned).to_vec(),
        rows,
        notes: Vec::new(),
    };
    table_text(printer, &table, Narrow::Fold)
}

/// The confusion table and the statistics of one labeller.
fn agreement(printer: &Printer, person: &PersonAgreement) -> String {
    let titles = ["passes", "fails"].map(|verdict| format!("{} {verdict}", person.labeller));
    let mut text = confusion_table(printer, titles, &person.confusion);
    text.push('\n');
    text.push_str(&statistics_table(printer, &person.agreement));
    for caveat in caveats(person) {
        let _ = writeln!(text, "note: {caveat}");
    }
    text
}
