//! The results as tables, as a page for browsers, and as the figure of recall and latency.

use evals::Unit;
use evals_html::figure::{Heading, TradeOff, TradeOffPoint, Width};
use evals_html::page::{Fact, Listing, Opening, PageFigure};
use evals_messages::quantity;
use evals_metrics::{PairedDifference, Percentiles};

use super::figures::{Figures, SettingFigures};
use super::grid;
use evals_pages::results::{NONE, Results, megabytes, seconds, significant, table};

impl Results for Figures {
    const LEAST: &'static [&'static str] = &[
        "peak memory",
        "cold p50",
        "p99",
        "index",
        "build",
        "searches/s",
        "p50",
        "nDCG@10 change",
    ];

    fn measured(&self) -> String {
        let vectors = &self.vectors;
        format!(
            "{}: {} of {} dimensions ({}), {}",
            vectors.source,
            quantity::of(vectors.count, "vector"),
            vectors.dimension,
            megabytes(vectors.bytes),
            quantity::of(vectors.questions, "question")
        )
    }

    fn tables(&self) -> Vec<Listing> {
        let all: Vec<&SettingFigures> = self.settings.iter().collect();
        vec![
            front(self, &self.on_front()),
            settings(self, &all),
            load(&all),
        ]
    }

    /// Without the settings that are on the front anyway, and with the load of the front alone.
    fn shown(&self) -> Vec<Listing> {
        let on_front = self.on_front();
        let mut tables = self.tables();
        if on_front.len() == self.settings.len() {
            tables.remove(1);
        }
        tables.pop();
        tables.push(load(&on_front));
        tables
    }

    /// The cheapest setting with enough recall, and the lines that choose it.
    fn closing(&self) -> String {
        let (k, least) = (self.k, self.least_recall);
        let callers = quantity::of(self.concurrency, "caller");
        let Some(cheapest) = self.cheapest() else {
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

    fn page(&self) -> Opening {
        let fact = |name: &str, value: String| Fact {
            name: name.to_owned(),
            value,
        };
        Opening {
            title: "Indexes of vectors".to_owned(),
            sentence: sentence(self),
            notices: Vec::new(),
            facts: vec![
                fact("vectors", self.measured()),
                fact("seed", self.seed.to_string()),
                fact("evaluations", env!("CARGO_PKG_VERSION").to_owned()),
            ],
            listings: self.tables(),
            figures: figure(self).into_iter().collect(),
            ..Opening::default()
        }
    }
}

fn sentence(figures: &Figures) -> String {
    let k = figures.k;
    match figures.cheapest() {
        Some(cheapest) => format!(
            "{} has the lowest p95 of the settings with recall@{k} of at least {}: {}",
            cheapest.label,
            figures.least_recall,
            seconds(cheapest.compared().p95)
        ),
        None => "No setting was fast enough to measure its p95".to_owned(),
    }
}

/// Recall against latency; `None` if fewer than two settings have both. Only the settings on the front have labels.
pub(super) fn figure(figures: &Figures) -> Option<PageFigure> {
    let k = figures.k;
    let settings = figures.settings.iter();
    let points: Vec<TradeOffPoint> = settings
        .filter_map(|setting| {
            Some(TradeOffPoint {
                label: setting.label.clone(),
                price: setting.compared().p95?,
                quality: setting.recall_at(k)?,
                interval: None,
            })
        })
        .collect();
    if points.len() < 2 {
        return None;
    }
    let heading = Heading {
        title: format!("Recall@{k} against latency: {}", figures.vectors.source),
        caption: format!(
            "{}. Latency is the 95th percentile with {}. Filled circles: no other setting is as fast and finds as much. Squares: the other \
             settings.",
            figures.measured(),
            quantity::of(figures.concurrency, "caller")
        ),
    };
    let figure = TradeOff {
        heading,
        price: "Latency, p95".to_owned(),
        unit: Unit::Seconds,
        quality: format!("recall@{k}"),
        points,
        is_crowded: true,
    };
    Some(PageFigure {
        name: "recall".to_owned(),
        scene: figure.draw(Width::Page),
    })
}

fn front(figures: &Figures, settings: &[&SettingFigures]) -> Listing {
    let recall = recall_title(figures.k);
    let head = [
        "setting",
        &recall,
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
    table(
        "No other setting is as fast and finds as much:",
        &head,
        rows,
    )
}

/// The last columns of the table of all settings.
const COSTS: [&str; 8] = [
    "p50",
    "p95",
    "p99",
    "cold p50",
    "searches/s",
    "build",
    "index",
    "peak memory",
];

fn settings(figures: &Figures, settings: &[&SettingFigures]) -> Listing {
    let deeper: Vec<usize> = figures
        .settings
        .first()
        .into_iter()
        .flat_map(|exact| exact.recall.keys().copied())
        .filter(|k| *k != figures.k)
        .collect();
    let has_ndcg = settings.iter().any(|setting| setting.ndcg.is_some());
    let mut head = vec!["setting".to_owned(), recall_title(figures.k)];
    head.extend(deeper.iter().map(|k| recall_title(*k)));
    if has_ndcg {
        head.push("nDCG@10 change".to_owned());
    }
    head.extend(COSTS.map(str::to_owned));
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
    Listing {
        caption: format!(
            "All settings, latency with {}:",
            quantity::of(figures.concurrency, "caller")
        ),
        head,
        rows: rows.collect(),
        ..Listing::default()
    }
}

fn load(settings: &[&SettingFigures]) -> Listing {
    let head = ["setting", "load", "searches/s", "p50", "p95", "p99"];
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
    table(
        "Load; at a fixed rate, latency counts from when a search was due:",
        &head,
        rows,
    )
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
