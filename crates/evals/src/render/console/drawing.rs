//! Small drawings of numbers, one line high: bars, sparklines, and intervals around zero.

use super::Symbols;

/// Blocks that fill one to eight eighths of a character from the left.
const FROM_LEFT: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Blocks that fill one to eight eighths of a character from below.
const FROM_BELOW: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A difference on a common scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) value: f64,
    /// Low and high end of its interval.
    pub(super) interval: Option<(f64, f64)>,
}

impl Symbols {
    /// A bar for a share from 0 to 1, `width` columns wide.
    ///
    /// Only a share of 1 fills it, and a share of 0 still shows where it begins, because nothing at all stands for an undefined
    /// value.
    pub fn bar(self, share: f64, width: usize) -> String {
        let parts = match self {
            Self::Unicode => width * FROM_LEFT.len(),
            Self::Ascii => width,
        };
        let filled = floor(share.clamp(0.0, 1.0), parts);
        let text: String = match self {
            Self::Unicode => {
                let filled = filled.max(1);
                let whole = std::iter::repeat_n('█', filled / 8);
                let part = (filled % 8).checked_sub(1).map(|place| FROM_LEFT[place]);
                whole.chain(part).collect()
            }
            Self::Ascii => std::iter::repeat_n('#', filled)
                .chain(std::iter::repeat_n('.', width - filled))
                .collect(),
        };
        padded(text, width)
    }

    /// Values as blocks of different heights, from the least to the greatest; equal values have half the height. An undefined value is a
    /// gap. `None` without Unicode, or without a value.
    pub fn sparkline(self, values: &[Option<f64>]) -> Option<String> {
        let defined = || values.iter().flatten().copied();
        let least = defined().reduce(f64::min)?;
        let greatest = defined().reduce(f64::max)?;
        let height = |value: f64| match greatest - least {
            range if range > 0.0 => (value - least) / range,
            _ => 0.5,
        };
        let block = |value: f64| FROM_BELOW[floor(height(value), FROM_BELOW.len() - 1)];
        let blocks = values.iter().map(|value| value.map_or(' ', block));
        (self == Self::Unicode).then(|| blocks.collect())
    }

    /// Numbers of cases as blocks whose heights start at 0, as in a histogram. A number above 0 is visible however small it is. `None`
    /// without Unicode.
    pub(in crate::render) fn histogram(self, counts: &[usize]) -> Option<String> {
        let most = counts.iter().copied().max().filter(|most| *most > 0)?;
        let block = |count: usize| match count {
            0 => ' ',
            // Rounded up, to at most the last block.
            count => FROM_BELOW[(count * FROM_BELOW.len()).div_ceil(most) - 1],
        };
        (self == Self::Unicode).then(|| counts.iter().copied().map(block).collect())
    }

    /// A difference and its interval around a zero in the middle, where `end` is the value at both ends. `width` is odd.
    pub(super) fn spread(self, spread: Spread, end: f64, width: usize) -> String {
        let [line, value, zero, crossed] = match self {
            Self::Unicode => ['─', '●', '│', '┼'],
            Self::Ascii => ['-', 'o', '|', '+'],
        };
        let middle = width / 2;
        let column = |number: f64| {
            let share = if end > 0.0 { number / end } else { 0.0 };
            // The middle is for 0 alone, or an interval close to it would seem to contain it.
            let least = usize::from(share != 0.0).min(middle);
            let steps = rounded(share.abs().min(1.0), middle).max(least);
            if share < 0.0 {
                middle - steps
            } else {
                middle + steps
            }
        };
        let covered = spread
            .interval
            .map(|(low, high)| column(low)..=column(high));
        let is_covered = |place: usize| covered.as_ref().is_some_and(|it| it.contains(&place));
        let text = (0..width).map(|place| match is_covered(place) {
            _ if place == column(spread.value) => value,
            true if place == middle => crossed,
            true => line,
            false if place == middle => zero,
            false => ' ',
        });
        text.collect()
    }
}

/// How many of `parts` a share from 0 to 1 fills.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a few parts is a small number"
)]
fn floor(share: f64, parts: usize) -> usize {
    // The epsilon keeps 0.3 of 10 parts from being 2.
    ((share * parts as f64 + 1e-9) as usize).min(parts)
}

/// The nearest number of `parts` to a share from 0 to 1.
fn rounded(share: f64, parts: usize) -> usize {
    floor(share, 2 * parts).div_ceil(2)
}

fn padded(mut text: String, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::Symbols::{Ascii, Unicode};
    use super::*;

    #[test]
    fn a_bar_fills_in_eighths_and_shows_where_zero_is() {
        assert_eq!(Unicode.bar(0.0, 4), "▏   ");
        assert_eq!(Unicode.bar(0.3125, 4), "█▎  ");
        assert_eq!(Unicode.bar(0.999, 4), "███▉");
        assert_eq!(Unicode.bar(1.0, 4), "████");
        assert_eq!(Ascii.bar(0.0, 10), "..........");
        assert_eq!(Ascii.bar(0.3, 10), "###.......");
        assert_eq!(Ascii.bar(0.999, 10), "#########.");
    }

    #[test]
    fn every_bar_has_its_width() {
        for symbols in [Unicode, Ascii] {
            for thousandth in 0..=1000 {
                let bar = symbols.bar(f64::from(thousandth) / 1e3, 7);
                assert_eq!(bar.width(), 7, "{bar}");
            }
        }
    }

    #[test]
    fn a_sparkline_goes_from_the_least_to_the_greatest_value() {
        let drawn = |values: &[Option<f64>]| Unicode.sparkline(values);
        let values = [Some(0.5), None, Some(0.6), Some(0.55)];
        assert_eq!(drawn(&values).as_deref(), Some("▁ █▄"));
        assert_eq!(drawn(&[Some(0.7), Some(0.7)]).as_deref(), Some("▄▄"));
        assert_eq!(drawn(&[Some(0.0), None]).as_deref(), Some("▄ "));
        assert_eq!(drawn(&[None, None]), None);
        assert_eq!(Ascii.sparkline(&values), None);
    }

    #[test]
    fn a_histogram_starts_at_zero_and_shows_every_case() {
        let drawn = Unicode.histogram(&[0, 1, 500, 1000]);
        assert_eq!(drawn.as_deref(), Some(" ▁▄█"));
        assert_eq!(Unicode.histogram(&[0, 0]), None);
        assert_eq!(Ascii.histogram(&[1, 2]), None);
    }

    fn spread(value: f64, interval: Option<(f64, f64)>) -> String {
        Unicode.spread(Spread { value, interval }, 1.0, 9)
    }

    #[test]
    fn a_spread_shows_on_which_side_of_zero_it_is() {
        assert_eq!(spread(0.5, Some((0.25, 1.0))), "    │─●──");
        assert_eq!(spread(-0.5, Some((-1.0, -0.25))), "──●─│    ");
        assert_eq!(spread(0.25, Some((-0.25, 0.75))), "   ─┼●── ");
        assert_eq!(spread(0.0, None), "    ●    ");
        let ascii = Ascii.spread(
            Spread {
                value: 0.25,
                interval: Some((-0.25, 0.75)),
            },
            1.0,
            9,
        );
        assert_eq!(ascii, "   -+o-- ");
    }

    #[test]
    fn an_interval_that_excludes_zero_does_not_touch_it() {
        assert_eq!(spread(0.5, Some((0.01, 1.0))), "    │─●──");
        assert_eq!(spread(-0.02, Some((-0.5, -0.001))), "  ─●│    ");
        assert_eq!(spread(0.01, Some((-0.01, 0.5))), "   ─┼●─  ");
    }

    #[test]
    fn a_change_of_nothing_stands_at_zero() {
        let nothing = Spread {
            value: 0.0,
            interval: None,
        };
        assert_eq!(Unicode.spread(nothing, 0.0, 5), "  ●  ");
    }
}
