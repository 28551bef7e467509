//! A small line of the last values of a measure.

use std::fmt::Write as _;

use evals_metrics::as_f64;
use serde::Serialize;

/// Most values drawn.
const NEWEST: usize = 12;
const WIDTH: f64 = 72.0;
const HEIGHT: f64 = 18.0;
/// Room for the dot at the end.
const MARGIN: f64 = 3.0;

/// A line through the last values of a measure, the newest marked with a dot. It has no axis, so it shows only the direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sparkline {
    /// Points of each unbroken piece, for `<polyline>`.
    pub pieces: Vec<String>,
    /// The place of the newest value.
    pub end: (String, String),
    /// What it shows, in words.
    pub description: String,
}

impl Sparkline {
    /// Draws the newest of `values`, oldest first. `None` breaks the line, where a value is undefined or the data changed. There is no
    /// drawing of fewer than two values, and none if the newest is undefined.
    pub fn of(measure: &str, values: &[Option<f64>]) -> Option<Self> {
        let newest = &values[values.len().saturating_sub(NEWEST)..];
        let end = (*newest.last()?)?;
        let defined: Vec<f64> = newest.iter().flatten().copied().collect();
        if defined.len() < 2 {
            return None;
        }
        let low = defined.iter().copied().fold(f64::INFINITY, f64::min);
        let high = defined.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let step = (WIDTH - 2.0 * MARGIN) / as_f64(newest.len() - 1);
        let x = |place: usize| MARGIN + step * as_f64(place);
        let y = |value: f64| {
            let share = if high > low {
                (value - low) / (high - low)
            } else {
                0.5
            };
            HEIGHT - MARGIN - share * (HEIGHT - 2.0 * MARGIN)
        };
        let mut pieces = Vec::new();
        let mut piece = String::new();
        for (place, value) in newest.iter().enumerate() {
            if let Some(value) = value {
                _ = write!(piece, "{:.1},{:.1} ", x(place), y(*value));
            } else if !piece.is_empty() {
                pieces.push(std::mem::take(&mut piece));
            }
        }
        pieces.push(piece);
        let pieces = pieces.iter().map(|it| it.trim_end().to_owned());
        Some(Self {
            pieces: pieces.collect(),
            end: (
                format!("{:.1}", x(newest.len() - 1)),
                format!("{:.1}", y(end)),
            ),
            description: format!(
                "{measure} of the last {} runs, from {low:.4} to {high:.4}",
                defined.len()
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undefined_value_breaks_the_line() {
        let values = [Some(0.0), Some(1.0), None, Some(0.5)];
        let line = Sparkline::of("MRR", &values).unwrap();
        assert_eq!(line.pieces, ["3.0,15.0 25.0,3.0", "69.0,9.0"]);
        assert_eq!(line.end, ("69.0".to_owned(), "9.0".to_owned()));
        assert!(line.description.contains("last 3 runs"));
    }

    #[test]
    fn one_value_has_no_direction() {
        assert_eq!(Sparkline::of("MRR", &[]), None);
        assert_eq!(Sparkline::of("MRR", &[Some(1.0)]), None);
        assert_eq!(Sparkline::of("MRR", &[Some(1.0), Some(1.0), None]), None);
    }
}
