//! The results as tables, for the terminal and in Markdown.

use std::fmt::Write as _;

use evals_messages::{quantity, visible};
use evals_metrics::{PairedDifference, Percentiles};

use super::figures::{Figures, SettingFigures};
use super::grid;
use crate::command::bench::number::{NONE, megabytes, seconds, significant};
use crate::terminal::Printer;
use crate::terminal::listing::Layout;

/// The columns of the table of all settings that a narrow terminal hides first.
const LEAST: [&str; 8] = [
    "peak memory",
    "cold p50",
    "p99",
    "index",
    "build",
    "searches/s",
    "p50",
    "nDCG@10 change",
];

/// A table with its title.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Renders the front, all settings, the load of the front, and the cheapest setting.
pub(super) fn text(printer: &Printer, figures: &Figures) -> String {
    let mut text = format!("{}\n", measured(figures));
    let on_front = figures.on_front();
    let all: Vec<&SettingFigures> = figures.settings.iter().collect();
    let mut tables = vec![front(figures, &on_front)];
    if on_front.len() < all.len() {
        tables.push(settings(figures, &all));
    }
    tables.push(load(&on_front));
    let layout = Layout::of(printer).dropping(&LEAST);
    for Table {
        title,
        header,
        rows,
    } in &tables
    {
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        write!(text, "\n{title}\n{}", layout.render(&header, rows)).expect(ANY_TEXT);
    }
    write!(text, "\n{}", conclusion(figures)).expect(ANY_TEXT);
    text
}

/// Why writing cannot fail.
const ANY_TEXT: &str = "a string takes any text";

/// The same in Markdown, with the load of all settings.
pub(super) fn markdown(figures: &Figures) -> String {
    let mut text = format!("{}\n", measured(figures));
    for table in tables(figures) {
        write!(text, "\n**{}**\n\n", table.title).expect(ANY_TEXT);
        let row = |cells: &[String]| {
            let cells = cells
                .iter()
                .map(|cell| visible::line(&cell.replace('|', "\\|")));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        text.push_str(&row(&table.header));
        let rules: Vec<String> = (0..table.header.len())
            .map(|column| if column == 0 { "---" } else { "--:" }.to_owned())
            .collect();
        text.push_str(&row(&rules));
        for cells in &table.rows {
            text.push_str(&row(cells));
        }
    }
    write!(text, "\n{}", conclusion(figures)).expect(ANY_TEXT);
    text
}

/// The tables of a page: the front, all settings, and the load of all settings.
pub(super) fn tables(figures: &Figures) -> [Table; 3] {
    let on_front = figures.on_front();
    let all: Vec<&SettingFigures> = figures.settings.iter().collect();
    [
        front(figures, &on_front),
        settings(figures, &all),
        load(&all),
    ]
}

/// The vectors and questions, in one line.
pub(super) fn measured(figures: &Figures) -> String {
    let vectors = &figures.vectors;
    format!(
        "{}: {} of {} dimensions ({}), {}",
        vectors.source,
        quantity::of(vectors.count, "vector"),
        vectors.dimension,
        megabytes(vectors.bytes),
        quantity::of(vectors.questions, "question")
    )
}

/// The cheapest setting with enough recall, and the lines that choose it.
pub(super) fn conclusion(figures: &Figures) -> String {
    let (k, least) = (figures.k, figures.least_recall);
    let callers = quantity::of(figures.concurrency, "caller");
    let Some(cheapest) = figures.cheapest() else {
        return format!("no setting was fast enough to measure its p95 with {callers}\n");
    };
    let recall = cheapest.recall_at(k).unwrap_or_default();
    let p95 = seconds(cheapest.compared().p95);
    let settings = if cheapest.settings.is_exact() {
        "{type: exact}".to_owned()
    } else {
        grid::line(&cheapest.settings)
    };
    format!(
        "cheapest setting with recall@{k} >= {least} (lowest p95, {callers}):\n  {}: recall {}, p95 {p95}\n\n\
         search:\n  index: {settings}\n",
        cheapest.label,
        share(Some(recall))
    )
}

fn front(figures: &Figures, settings: &[&SettingFigures]) -> Table {
    let header = [
        "setting",
        &recall_title(figures.k),
        "p50",
        "p95",
        "searches/s",
        "build",
        "index",
    ];
    let rows = settings.iter().map(|setting| {
        let Percentiles { p50, p95, .. } = setting.compared();
        vec![
            setting.label.clone(),
            share(setting.recall_at(figures.k)),
            seconds(p50),
            seconds(p95),
            rate(setting.most_per_second()),
            seconds(setting.build_seconds),
            index_size(setting),
        ]
    });
    Table {
        title: "No other setting is as fast and finds as much:".to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

fn settings(figures: &Figures, settings: &[&SettingFigures]) -> Table {
    let deeper: Vec<usize> = figures
        .settings
        .first()
        .into_iter()
        .flat_map(|exact| exact.recall.keys().copied())
        .filter(|k| *k != figures.k)
        .collect();
    let has_ndcg = settings.iter().any(|setting| setting.ndcg.is_some());
    let mut header = vec!["setting".to_owned(), recall_title(figures.k)];
    header.extend(deeper.iter().map(|k| recall_title(*k)));
    if has_ndcg {
        header.push("nDCG@10 change".to_owned());
    }
    let further = [
        "p50",
        "p95",
        "p99",
        "cold p50",
        "searches/s",
        "build",
        "index",
        "peak memory",
    ];
    header.extend(further.map(str::to_owned));
    let rows = settings.iter().map(|setting| {
        let Percentiles { p50, p95, p99, .. } = setting.compared();
        let mut row = vec![setting.label.clone(), share(setting.recall_at(figures.k))];
        row.extend(deeper.iter().map(|k| share(setting.recall_at(*k))));
        if has_ndcg {
            row.push(
                setting
                    .ndcg
                    .as_ref()
                    .map_or_else(|| NONE.to_owned(), change),
            );
        }
        row.extend([
            seconds(p50),
            seconds(p95),
            seconds(p99),
            seconds(setting.cold.p50),
            rate(setting.most_per_second()),
            seconds(setting.build_seconds),
            index_size(setting),
            setting
                .search_peak_bytes
                .map_or_else(|| NONE.to_owned(), megabytes),
        ]);
        row
    });
    Table {
        title: format!(
            "All settings, latency with {}:",
            quantity::of(figures.concurrency, "caller")
        ),
        header,
        rows: rows.collect(),
    }
}

fn load(settings: &[&SettingFigures]) -> Table {
    let header = ["setting", "load", "searches/s", "p50", "p95", "p99"];
    let mut rows = Vec::new();
    for setting in settings {
        let mut push = |load: String, per_second, times: Percentiles| {
            rows.push(vec![
                setting.label.clone(),
                load,
                rate(per_second),
                seconds(times.p50),
                seconds(times.p95),
                seconds(times.p99),
            ]);
        };
        for closed in &setting.closed {
            let load = quantity::of(closed.concurrency, "caller");
            push(load, closed.per_second, closed.seconds);
        }
        for open in &setting.open {
            let due = match open.share {
                Some(share) => format!("{:.0} % due", share * 100.0),
                None => format!("{}/s due", significant(open.rate)),
            };
            push(due, open.per_second, open.seconds);
        }
    }
    Table {
        title: "Load; at a fixed rate, latency counts from when a search was due:".to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows,
    }
}

fn recall_title(k: usize) -> String {
    format!("recall@{k}")
}

/// A share with four decimals, rounded down: 1.0000 means all.
fn share(share: Option<f64>) -> String {
    share.map_or_else(
        || NONE.to_owned(),
        |share| format!("{:.4}", (share * 1e4 + 1e-9).floor() / 1e4),
    )
}

fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(|| NONE.to_owned(), significant)
}

fn index_size(setting: &SettingFigures) -> String {
    match setting.build_seconds {
        Some(_) => megabytes(setting.index_bytes),
        None => NONE.to_owned(),
    }
}

/// `-0.0012 [-0.0034, 0.0008]`. The interval is missing if all questions changed by the same amount, or with one question.
fn change(change: &PairedDifference) -> String {
    let difference = signed(change.difference);
    match change.interval {
        Some(interval) => format!(
            "{difference} [{}, {}]",
            signed(interval.low),
            signed(interval.high)
        ),
        None => difference,
    }
}

fn signed(value: f64) -> String {
    let shown = format!("{value:+.4}");
    match shown.as_str() {
        "-0.0000" | "+0.0000" => "0.0000".to_owned(),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recall_is_not_rounded_up_to_all() {
        let shown = [1.0, 0.999_99, 0.99, 0.0].map(|it| share(Some(it)));
        assert_eq!(shown, ["1.0000", "0.9999", "0.9900", "0.0000"]);
        assert_eq!(share(None), "-");
    }

    #[test]
    fn a_change_has_a_sign_and_an_interval() {
        assert_eq!(
            [-0.00123, 0.000_01, 0.5].map(signed),
            ["-0.0012", "0.0000", "+0.5000"]
        );
    }
}
