//! The tables of a page.

use evals::render::tables::{self, Table};
use evals::{Comparison, Direction, Domain, Report, Standings, Summary, render};
use evals_html::page::{Listing, Texts};
use evals_messages::quantity;

use super::source::PageSource;

/// The most failures that a page lists before its cases.
const MOST_FAILURES: usize = 10;

/// The tables of a report: first the means. Without texts it lacks the analyses of report evaluators, which may hold any text, and
/// the failures.
pub(super) fn of_report<D: Domain>(
    report: &Report<D>,
    summary: &Summary,
    source: &PageSource,
) -> Vec<Listing> {
    let has_texts = source.texts == Texts::Kept;
    let (summary, hidden) = summary.without_usual::<D>();
    let tables = if has_texts {
        render::tables::report(report, &summary)
    } else {
        render::tables::summary(&summary)
    };
    let mut listings: Vec<Listing> = tables.into_iter().map(listing).collect();
    if let Some(means) = listings.first_mut() {
        let about = "Means over the cases.".to_owned();
        let hidden = hidden.map(|it| sentence(&it)).unwrap_or_default();
        means.caption = joined([about, means.caption.clone(), hidden]);
    }
    let corrections = source.corrections.iter().cloned().map(listing);
    // Below the means, which they correct.
    let place = listings.len().min(1);
    listings.splice(place..place, corrections);
    listings.extend(failures(report).filter(|_| has_texts));
    listings
}

/// A table with its notes as the caption.
pub(super) fn listing(table: Table) -> Listing {
    let notes = table.notes.iter().map(|note| sentence(note));
    let caption = joined(notes);
    let caption = if caption.is_empty() {
        table.heads.first().cloned().unwrap_or_default()
    } else {
        caption
    };
    Listing {
        caption,
        head: table.heads,
        rows: table.rows,
        shades: Vec::new(),
    }
}

/// Runs side by side, with the better cells of each row darker.
pub(super) fn matrix(comparison: &Comparison) -> Listing {
    let shades = comparison.rows.iter().map(|row| {
        let values: Vec<Option<f64>> = row.cells.iter().map(evals::Cell::value).collect();
        let defined = || values.iter().flatten().copied();
        let (low, high) = (
            defined().fold(f64::INFINITY, f64::min),
            defined().fold(f64::NEG_INFINITY, f64::max),
        );
        let shade = |value: &Option<f64>| {
            let share = (((*value)? - low) / (high - low)).clamp(0.0, 1.0);
            let share = match row.better {
                Direction::Higher => share,
                Direction::Lower => 1.0 - share,
                Direction::Unknown => return None,
            };
            // The first that the share does not exceed; a row of equal cells is plain.
            let step = [0.1, 0.35, 0.65, 0.9]
                .iter()
                .take_while(|end| share > **end)
                .count();
            share.is_finite().then(|| u8::try_from(step).ok()).flatten()
        };
        std::iter::once(None)
            .chain(values.iter().map(shade))
            .collect()
    });
    Listing {
        shades: shades.collect(),
        ..listing(tables::comparison(comparison))
    }
}

/// The tables of standings, each under its heading. Without texts, the cases on which runs disagree have no text.
pub(super) fn of_standings(standings: &Standings, texts: Texts) -> Vec<Listing> {
    let mut shown = standings.clone();
    if texts != Texts::Kept {
        let cases = shown.disagreements.iter_mut().flat_map(|it| &mut it.cases);
        cases.for_each(|case| case.text.clear());
        // The names of groups are metadata.
        shown.groups.clear();
    }
    let tables = render::tables::standings(&shown).into_iter();
    tables
        .map(|(heading, table)| {
            let listing = listing(table);
            Listing {
                caption: joined([sentence(&heading), listing.caption]),
                ..listing
            }
        })
        .collect()
}

/// The first failures, with their reasons; `None` if nothing failed.
fn failures<D: Domain>(report: &Report<D>) -> Option<Listing> {
    let tasks = report.cases.iter().filter_map(|case| {
        let failure = case.result.failure()?;
        Some((case.label(report.repeat), "task", &failure.message))
    });
    let evaluators = report.cases.iter().flat_map(|case| {
        let label = case.label(report.repeat);
        let failures = case.evaluator_failures.iter();
        failures.map(move |it| (label.clone(), it.evaluator.as_str(), &it.message))
    });
    let analyses = report.report_evaluator_failures.iter();
    let analyses =
        analyses.map(|failure| (String::new(), failure.evaluator.as_str(), &failure.message));
    let all: Vec<_> = tasks.chain(evaluators).chain(analyses).collect();
    if all.is_empty() {
        return None;
    }
    let shown = all.len().min(MOST_FAILURES);
    let caption = if shown < all.len() {
        format!(
            "The first {shown} of {}.",
            quantity::of(all.len(), "failure")
        )
    } else {
        format!("{}.", quantity::of(all.len(), "failure"))
    };
    let rows = all.iter().take(shown);
    let rows = rows.map(|(case, what, why)| vec![case.clone(), (*what).to_owned(), (*why).clone()]);
    Some(Listing {
        caption,
        head: ["Case", "Failed", "Reason"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        ..Listing::default()
    })
}

/// A note as a sentence. Symbols such as n and p stay small.
fn sentence(note: &str) -> String {
    let mut characters = note.chars();
    let first = characters.next().into_iter();
    let is_word = characters.clone().next().is_some_and(char::is_alphabetic);
    let first: String = if is_word {
        first.flat_map(char::to_uppercase).collect()
    } else {
        first.collect()
    };
    let end = if note.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}

fn joined(sentences: impl IntoIterator<Item = String>) -> String {
    let sentences = sentences.into_iter().filter(|it| !it.is_empty());
    sentences.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn a_note_becomes_a_sentence_and_its_symbols_stay() {
        assert_eq!(
            sentence("excluded: 3 × unanswerable"),
            "Excluded: 3 × unanswerable."
        );
        assert_eq!(sentence("n = 21 pairs: cited"), "n = 21 pairs: cited.");
        assert_eq!(sentence("p: how often"), "p: how often.");
        assert_eq!(sentence("Whole."), "Whole.");
    }
}
