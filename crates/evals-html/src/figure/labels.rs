//! Labels that give way to each other.

use crate::scene::{Point, Text, Weight, text_width};

use super::frame::{Frame, LABEL};

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

#[cfg(test)]
mod tests {
    use super::*;

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
