//! The results as a page for browsers, and the figure of recall and latency.

use evals::Unit;
use evals_html::figure::{Heading, TradeOff, TradeOffPoint, Width};
use evals_html::page::{Fact, Listing, Opening, PageFigure};
use evals_messages::quantity;

use super::figures::Figures;
use super::tables;
use crate::command::bench::number::seconds;

/// The page, which has no cases.
pub(super) fn opening(figures: &Figures) -> Opening {
    let listings = tables::tables(figures).into_iter();
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value,
    };
    Opening {
        title: "Indexes of vectors".to_owned(),
        sentence: sentence(figures),
        notices: Vec::new(),
        facts: vec![
            fact("vectors", tables::measured(figures)),
            fact("seed", figures.seed.to_string()),
            fact("evaluations", env!("CARGO_PKG_VERSION").to_owned()),
        ],
        listings: listings
            .map(|table| Listing {
                caption: table.title,
                head: table.header,
                rows: table.rows,
            })
            .collect(),
        figures: figure(figures).into_iter().collect(),
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
            tables::measured(figures),
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
