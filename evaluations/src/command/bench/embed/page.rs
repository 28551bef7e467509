//! The results as a page for browsers.

use evals_html::page::{Fact, Listing, Notice, Opening, Severity};

use super::figures::Figures;
use super::tables;

/// The page, which has no cases.
pub(super) fn opening(figures: &Figures) -> Opening {
    let notice = |severity, text: String| Notice { severity, text };
    let failures = figures.models.iter().filter_map(|model| {
        let failure = model.failure.as_ref()?;
        Some(notice(
            Severity::Failure,
            format!("{}: {failure}", model.label),
        ))
    });
    let skipped = tables::skipped(figures).map(|line| notice(Severity::Note, line));
    let listings = tables::tables(figures).into_iter();
    Opening {
        title: "Speed of embedding models".to_owned(),
        sentence: sentence(figures),
        notices: failures.chain(skipped).collect(),
        facts: vec![
            Fact {
                name: "texts".to_owned(),
                value: tables::measured(figures),
            },
            Fact {
                name: "evaluations".to_owned(),
                value: env!("CARGO_PKG_VERSION").to_owned(),
            },
        ],
        listings: listings
            .filter(|table| !table.rows.is_empty())
            .map(|table| Listing {
                caption: table.title.to_owned(),
                head: table.header.into_iter().map(str::to_owned).collect(),
                rows: table.rows,
            })
            .collect(),
        figures: Vec::new(),
    }
}

/// The model with the highest throughput: `embedded:static-minilm is the fastest: 12345 texts/s`.
fn sentence(figures: &Figures) -> String {
    let rounds = figures.models.iter().flat_map(|model| {
        let rounds = model.throughput.iter();
        rounds.map(move |round| (model.label.as_str(), round.texts_per_second))
    });
    let best = rounds.max_by(|left, right| left.1.total_cmp(&right.1));
    match (best, figures.models.len()) {
        (Some((model, speed)), 1) => format!("{model} embeds up to {speed:.0} texts per second"),
        (Some((model, speed)), _) => {
            format!("{model} is the fastest of these models: up to {speed:.0} texts per second")
        }
        (None, _) => "No model could be measured".to_owned(),
    }
}
