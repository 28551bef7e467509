//! Labels that give way to each other.

use crate::scene::{Point, Text, Weight, text_width};

use super::frame::{Frame, LABEL, cut};

/// Finds room for the labels of points.
#[derive(Debug)]
pub(super) struct Placement {
    frame: Frame,
    taken: Vec<Area>,
}

#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Placement {
    /// Labels that stay inside a frame where they can.
    pub(super) fn within(frame: Frame) -> Self {
        let taken = Vec::new();
        Self { frame, taken }
    }

    /// Keeps labels away from a point's symbol.
    pub(super) fn keep_free(&mut self, at: Point) {
        self.taken.push(Area {
            left: at.x - 3.0,
            right: at.x + 3.0,
            top: at.y - 3.0,
            bottom: at.y + 3.0,
        });
    }

    /// Keeps labels away from a horizontal or vertical line.
    pub(super) fn keep_line_free(&mut self, from: Point, to: Point) {
        self.taken.push(Area {
            left: from.x.min(to.x) - 1.0,
            right: from.x.max(to.x) + 1.0,
            top: from.y.min(to.y) - 1.0,
            bottom: from.y.max(to.y) + 1.0,
        });
    }

    /// The label of a point: above it on the right if there is room, else on the left, else below, else farther away.
    pub(super) fn beside(&mut self, at: Point, label: &str) -> Text {
        // A longer one would cover the points of half a figure.
        let label = &cut(label, (self.frame.right - self.frame.left) * 0.45);
        let width = text_width(label, LABEL, Weight::Regular);
        let lines = (0_u8..6).map(|line| f64::from(line) * (LABEL + 1.0));
        let heights = lines.flat_map(|line| [-5.0 - line, LABEL + 3.0 + line]);
        let places = heights.flat_map(|height| [(6.0, height), (-6.0 - width, height)]);
        let areas = places.map(|(x, y)| Area {
            left: at.x + x,
            right: at.x + x + width,
            top: at.y + y - LABEL,
            bottom: at.y + y + 1.0,
        });
        let is_free = |area: &Area| {
            let is_inside = area.left >= self.frame.left && area.right <= self.frame.right;
            is_inside && !self.taken.iter().any(|other| area.overlaps(*other))
        };
        let mut areas = areas.peekable();
        let first = areas.peek().copied();
        let area = areas.find(is_free).or(first).unwrap_or(Area {
            left: at.x,
            right: at.x + width,
            top: at.y - LABEL,
            bottom: at.y + 1.0,
        });
        self.taken.push(area);
        Text::new(Point::new(area.left, area.bottom - 1.0), label, LABEL)
    }
}

impl Area {
    fn overlaps(self, other: Self) -> bool {
        let beside = self.right <= other.left || other.right <= self.left;
        let apart = self.bottom <= other.top || other.bottom <= self.top;
        !beside && !apart
    }
}

/// The shortest labels that tell series apart: what all begin with and what all end with is left out, word by word. A single label stays, and
/// so do all if one would be empty.
pub fn distinct(labels: &[String]) -> Vec<String> {
    // A full stop may be part of a number.
    let is_break = |it: char| !it.is_alphanumeric() && it != '.';
    let [first, others @ ..] = labels else {
        return Vec::new();
    };
    let heads = first.match_indices(is_break).map(|(at, it)| at + it.len());
    let head = |at: &usize| others.iter().all(|it| it.starts_with(&first[..*at]));
    let start = heads.take_while(head).last().unwrap_or(0);
    let tails = first.rmatch_indices(is_break).map(|(at, _)| at);
    let tail = |at: &usize| *at >= start && others.iter().all(|it| it.ends_with(&first[*at..]));
    let end = first.len() - tails.take_while(tail).last().unwrap_or(first.len());
    let short = |label: &String| {
        label
            .get(start..label.len().checked_sub(end)?)
            .map(str::to_owned)
    };
    let short: Option<Vec<String>> = labels.iter().map(short).collect();
    let is_whole = |short: &Vec<String>| short.iter().all(|it| it.contains(char::is_alphanumeric));
    let several = !others.is_empty();
    short
        .filter(|it| several && is_whole(it))
        .unwrap_or_else(|| labels.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_lose_what_all_have_and_stay_whole_where_nothing_is_left() {
        let short = |labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(|&it| it.to_owned()).collect();
            distinct(&labels).join("|")
        };
        let services = ["http://localhost:8101/ask", "http://localhost:8102/ask"];
        assert_eq!(short(&services), "8101|8102");
        assert_eq!(short(&["hybrid", "hybrid-linear"]), "hybrid|hybrid-linear");
        assert_eq!(short(&["bm25", "bm25"]), "bm25|bm25");
        assert_eq!(short(&["gpt-5-mini", "gpt-5-nano"]), "mini|nano");
        assert_eq!(short(&["a/one"]), "a/one");
        assert_eq!(short(&["één x", "één y"]), "x|y");
    }

    const FRAME: Frame = Frame {
        left: 0.0,
        top: 0.0,
        right: 100.0,
        bottom: 100.0,
    };

    #[test]
    fn a_label_stands_on_the_right_where_there_is_room() {
        let mut labels = Placement::within(FRAME);
        assert!(labels.beside(Point::new(10.0, 50.0), "bm25").at.x > 10.0);
        let width = text_width("bm25", LABEL, Weight::Regular);
        let left = labels.beside(Point::new(95.0, 50.0), "bm25").at.x;
        assert!(left + width < 95.0);
    }

    #[test]
    fn labels_of_one_point_do_not_cover_each_other() {
        let mut labels = Placement::within(FRAME);
        let at = Point::new(50.0, 50.0);
        let places =
            ["one", "two", "three", "four", "five"].map(|label| labels.beside(at, label).at);
        for (position, place) in places.iter().enumerate() {
            assert!(!places[..position].contains(place), "{places:?}");
        }
    }
}
