//! The results as tables on the terminal.

use std::fmt::Write as _;

use super::figures::{Figures, ModelFigures};
use crate::command::bench::number::{NONE, seconds, significant};
use crate::terminal::Printer;
use crate::terminal::listing;

/// Renders a table for each kind of measurement, with a row for each model.
pub(super) fn text(printer: &Printer, figures: &Figures) -> String {
    let mut text = format!("{}\n\n", measured(figures));
    let [models, others @ ..] = &tables(figures);
    text.push_str(&listing::render(printer, &models.header, &models.rows));
    for Table {
        title,
        header,
        rows,
    } in others.iter().filter(|it| !it.rows.is_empty())
    {
        let table = listing::render(printer, header, rows);
        write!(text, "\n{title}\n{table}").expect("a string takes any text");
    }
    let mut gap = "\n";
    for line in skipped(figures) {
        writeln!(text, "{gap}{line}").expect("a string takes any text");
        gap = "";
    }
    text
}

/// A table with its title.
pub(super) struct Table {
    pub(super) title: &'static str,
    pub(super) header: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// The tables: models, latency and throughput.
pub(super) fn tables(figures: &Figures) -> [Table; 3] {
    let models = &figures.models;
    [
        Table {
            title: "Models",
            header: vec![
                "model",
                "dimensions",
                "first vector",
                "USD per million tokens",
                "USD spent",
            ],
            rows: facts(models),
        },
        Table {
            title: "Latency",
            header: vec!["batch", "model", "calls", "mean", "p50", "p95", "p99"],
            rows: latencies(models),
        },
        Table {
            title: "Throughput",
            header: vec!["at once", "model", "batch", "texts/s", "tokens/s"],
            rows: throughputs(models),
        },
    ]
}

/// The texts that were embedded, in one line.
pub(super) fn measured(figures: &Figures) -> String {
    let [shortest, median, longest] = figures.texts.tokens;
    format!(
        "{} {}, {shortest} to {longest} tokens (median {median})",
        figures.texts.count, figures.texts.source
    )
}

/// A line for each measurement that was skipped.
pub(super) fn skipped(figures: &Figures) -> impl Iterator<Item = String> {
    figures.models.iter().flat_map(|model| {
        model.left_out.iter().map(|left_out| {
            format!(
                "{}: skipped batches of {}, {} at once: {}",
                model.label, left_out.batch, left_out.concurrency, left_out.reason
            )
        })
    })
}

fn facts(models: &[ModelFigures]) -> Vec<Vec<String>> {
    let rows = models.iter().map(|model| {
        vec![
            model.label.clone(),
            model.dimension.map_or_else(none, |it| it.to_string()),
            seconds(model.first_vector_seconds),
            model
                .usd_per_million_tokens
                .map_or_else(|| unknown(model), dollars),
            model.usd_spent.map_or_else(|| unknown(model), dollars),
        ]
    });
    rows.collect()
}

/// Rows by batch size, so that models of the same size stand together.
fn latencies(models: &[ModelFigures]) -> Vec<Vec<String>> {
    let mut rows: Vec<_> = models
        .iter()
        .flat_map(|model| model.latency.iter().map(move |latency| (model, latency)))
        .collect();
    rows.sort_by_key(|(_, latency)| latency.batch);
    let rows = rows.into_iter().map(|(model, latency)| {
        vec![
            latency.batch.to_string(),
            model.label.clone(),
            latency.seconds.n.to_string(),
            seconds(latency.seconds.mean),
            seconds(latency.seconds.p50),
            seconds(latency.seconds.p95),
            seconds(latency.seconds.p99),
        ]
    });
    rows.collect()
}

/// Rows by number of concurrent calls.
fn throughputs(models: &[ModelFigures]) -> Vec<Vec<String>> {
    let mut rows: Vec<_> = models
        .iter()
        .flat_map(|model| model.throughput.iter().map(move |round| (model, round)))
        .collect();
    rows.sort_by_key(|(_, round)| round.concurrency);
    let rows = rows.into_iter().map(|(model, round)| {
        vec![
            round.concurrency.to_string(),
            model.label.clone(),
            round.batch.to_string(),
            significant(round.texts_per_second),
            format!("{:.0}", round.tokens_per_second),
        ]
    });
    rows.collect()
}

fn none() -> String {
    NONE.to_owned()
}

/// Stands for a missing price: `unknown` for an opened model, a dash for one that could not be opened.
fn unknown(model: &ModelFigures) -> String {
    match model.identity {
        Some(_) => "unknown".to_owned(),
        None => none(),
    }
}

fn dollars(amount: f64) -> String {
    if amount == 0.0 {
        return "0".to_owned();
    }
    let amount = format!("{amount:.6}");
    amount
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_have_no_trailing_zeros() {
        assert_eq!(
            [0.0, 0.02, 2.0, 1.5e-5].map(dollars),
            ["0", "0.02", "2", "0.000015"]
        );
    }
}
