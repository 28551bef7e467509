//! The agreement of a judge with people as tables of a terminal.

use evals::render::tables::Table;
use evals::render::{Narrow, percent};
use evals_metrics::{Agreement, Confusion};

use crate::printer::Printer;
use crate::reports::table_text;
use evals_runs::annotations::{LEVEL, estimates};

/// How often the judge passed and failed what people passed and failed. `titles` are those of the rows.
pub fn confusion_table(
    printer: &Printer,
    [passed, failed]: [String; 2],
    counts: &Confusion,
) -> String {
    let row =
        |title, passes: usize, fails: usize| vec![title, passes.to_string(), fails.to_string()];
    let rows = [
        row(passed, counts.true_passes, counts.false_fails),
        row(failed, counts.false_passes, counts.true_fails),
    ];
    let table = Table {
        heads: ["answers", "judge passes", "judge fails"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.to_vec(),
        notes: Vec::new(),
    };
    table_text(printer, &table, Narrow::Fold)
}

/// The statistics of agreement, each with its interval and what it says.
pub fn statistics_table(printer: &Printer, agreement: &Agreement) -> String {
    let rows: Vec<Vec<String>> = estimates(agreement)
        .into_iter()
        .map(|it| {
            let (name, meaning) = (it.name.to_owned(), it.meaning.to_owned());
            vec![name, it.value, it.n, it.interval, meaning]
        })
        .collect();
    let interval = format!("{} interval", percent(LEVEL));
    let heads = ["statistic", "value", "labels", &interval, "meaning"];
    let table = Table {
        heads: heads.map(str::to_owned).to_vec(),
        rows,
        notes: Vec::new(),
    };
    table_text(printer, &table, Narrow::Drop(&["meaning", "labels"]))
}
