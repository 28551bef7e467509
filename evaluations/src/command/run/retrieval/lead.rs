//! Tests whether chance explains the lead of the best profile.

use evals::{Change, Comparison, Direction, Row, Titled, Verdict};
use evals_metrics::PairedTest;

use super::benchmark::Finished;

/// Describes the lead of the best profile over the next in the first measure that has a winner, and whether chance explains it. `None`
/// if no measure has a winner.
pub(super) fn of_best(comparison: &Comparison, finished: &[Finished], seed: u64) -> Option<String> {
    let row = comparison.rows.iter().find(|row| row.winner.is_some())?;
    let best = row.winner?;
    let next = next_best(row, best)?;
    let titles = [next, best].map(|place| finished[place].label.clone());
    let side = |place: usize, title| Titled {
        title,
        report: &finished[place].report,
        summary: &finished[place].summary,
    };
    let test = PairedTest {
        seed,
        ..PairedTest::default()
    };
    let change = Change::between(
        &side(next, &titles[0]),
        &side(best, &titles[1]),
        test,
        |title| title == row.measure,
    );
    let measure = change.measures.first()?;
    let found = measure.difference.as_ref()?;
    let interval = found.interval.map_or_else(String::new, |interval| {
        format!(" [{:.4}, {:.4}]", interval.low, interval.high)
    });
    let verdict = match measure.verdict {
        Verdict::Better => "more than chance",
        Verdict::Worse | Verdict::Unclear | Verdict::Same | Verdict::None => "it may be chance",
    };
    let p_value = if found.p_value < 0.0001 {
        "p < 0.0001".to_owned()
    } else {
        format!("p = {:.4}", found.p_value)
    };
    Some(format!(
        "{}: {} leads {} by {:.4}{interval}, {p_value}: {verdict}",
        row.title(),
        titles[1],
        titles[0],
        found.difference
    ))
}

/// The column of the second best value.
fn next_best(row: &Row, best: usize) -> Option<usize> {
    let others = row.cells.iter().enumerate();
    let others = others.filter(|(place, _)| *place != best);
    let mut values: Vec<(usize, f64)> = others
        .filter_map(|(place, cell)| Some((place, cell.value()?)))
        .collect();
    values.sort_by(|(_, left), (_, right)| match row.better {
        Direction::Lower => left.total_cmp(right),
        Direction::Higher | Direction::Unknown => right.total_cmp(left),
    });
    values.first().map(|(place, _)| *place)
}
