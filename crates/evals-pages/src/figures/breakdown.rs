//! The figure `breakdown`: at which stage cases broke.

use std::collections::BTreeMap;

use evals::Report;
use evals_html::figure::{Breakdown, Part};
use evals_html::page::{ColumnKind, PageFigure};
use evals_html::view::segment;
use evals_rag::Ending;

use super::caption::{self, counted};
use super::domain::HasFigures;
use super::place::FigurePlace;

pub(super) fn figure<D: HasFigures>(
    subject: &str,
    report: &Report<D>,
    place: FigurePlace<'_>,
) -> Option<PageFigure> {
    let mut counts: BTreeMap<Ending, usize> = BTreeMap::new();
    for ending in report.cases.iter().filter_map(D::ending) {
        *counts.entry(ending).or_default() += 1;
    }
    let runs: usize = counts.values().sum();
    if runs == 0 {
        return None;
    }
    let counted_of = |ending: &Ending| counts.get(ending).copied().unwrap_or(0);
    let shown = |ending: &&Ending| counted_of(ending) > 0 || is_always_shown(**ending);
    let filter = place.filter(COLUMN, ColumnKind::Label);
    let parts = D::ENDINGS.iter().filter(shown).map(|ending| Part {
        name: ending.name().to_owned(),
        count: counted_of(ending),
        series: series(*ending),
        link: filter
            .as_ref()
            .map(|start| format!("{start}{}", segment(ending.name()))),
    });
    let n = if report.repeat > 1 {
        format!(
            "n = {}, repetitions counted one by one.",
            counted(runs, "run")
        )
    } else {
        format!("n = {}.", counted(runs, "case"))
    };
    let explained = D::ENDINGS.iter().filter(|it| counted_of(it) > 0);
    let explained = explained.filter_map(|ending| explanation(*ending));
    let open = std::iter::once(D::about_endings(report).to_owned());
    let sentences = std::iter::once(n)
        .chain(explained.map(str::to_owned))
        .chain(open);
    let figure = Breakdown {
        heading: caption::heading(caption::titled("Where it broke", subject), sentences),
        parts: parts.collect(),
    };
    Some(PageFigure {
        name: "breakdown".to_owned(),
        scene: figure.draw(place.width()),
    })
}

/// The title of a page's column that says where a case broke.
pub const COLUMN: &str = "where";

/// Whether a stage is worth a row that says 0.
fn is_always_shown(ending: Ending) -> bool {
    match ending {
        Ending::NotRetrieved
        | Ending::NotShown
        | Ending::AnsweredWrongly
        | Ending::RefusedWrongly
        | Ending::JudgeFailed
        | Ending::Retrieved
        | Ending::Right => true,
        Ending::TaskFailed | Ending::NotRefused | Ending::NotJudged => false,
    }
}

/// The colour: one for the search, one for the answer, one for cases without a verdict, one for cases that are right.
fn series(ending: Ending) -> usize {
    match ending {
        Ending::NotRetrieved | Ending::NotShown => 1,
        Ending::AnsweredWrongly | Ending::RefusedWrongly | Ending::NotRefused => 4,
        Ending::TaskFailed | Ending::JudgeFailed | Ending::NotJudged => 3,
        Ending::Retrieved | Ending::Right => 2,
    }
}

/// What the name does not say.
fn explanation(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::NotRetrieved => Some("Not retrieved: no relevant document was found."),
        Ending::NotShown => {
            Some("Not shown: a relevant document was found, but the answerer was shown none.")
        }
        Ending::AnsweredWrongly => Some(
            "Answered wrongly: although a relevant document was shown, or where it is not known what was shown.",
        ),
        Ending::NotRefused => Some("Should have refused: an unanswerable question was answered."),
        Ending::NotJudged => Some(
            "Not judged: unanswerable, or without the reference, answer or relevant document that a judgement needs.",
        ),
        Ending::Retrieved => Some(
            "Retrieved: at least one relevant document is in the ranking, at any rank; measures with a cutoff can still be 0.",
        ),
        Ending::TaskFailed | Ending::RefusedWrongly | Ending::JudgeFailed | Ending::Right => None,
    }
}
