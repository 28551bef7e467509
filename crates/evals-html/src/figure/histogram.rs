//! How often values occur: bars over equal bins, and a bar of its own for undefined values.

use evals_messages::quantity;
use evals_metrics::as_f64;

use crate::scale::Scale;
use crate::scene::{Anchor, Fill, Ink, Mark, Point, Scene, Text};

use super::frame::{Frame, LABEL, MARGIN, TICK, TITLE_HEIGHT, plain, scene, title};
use super::{Heading, Width};

const PLOT: f64 = 110.0;
const LEFT: f64 = 34.0;
/// The width of the bar of undefined values with the gap before it, in points.
const UNDEFINED: f64 = 58.0;
const BINS: usize = 20;
/// The name of the bar of undefined values, and what its link adds.
const UNDEFINED_NAME: &str = "undefined";

/// A figure of how often values occur.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Title and caption.
    pub heading: Heading,
    /// The name of the horizontal axis.
    pub axis: String,
    /// The least and the greatest value of the axis. Values outside of it widen it.
    pub span: (f64, f64),
    /// The values.
    pub values: Vec<f64>,
    /// How many cases have no value.
    pub undefined: usize,
    /// How the links of the bars begin, such as `#f.score=`. A bin adds `LOW..HIGH`, the last one `LOW..=HIGH`, because it holds its
    /// upper end too, and the bar of undefined values adds `undefined`.
    pub link: Option<String>,
}

impl Histogram {
    /// Draws the figure.
    pub fn draw(&self, width: Width) -> Scene {
        let mut marks = vec![title(&self.heading, width)];
        let top = MARGIN + TITLE_HEIGHT + LABEL + 4.0;
        let undefined = if self.undefined > 0 { UNDEFINED } else { 0.0 };
        let frame = Frame {
            left: MARGIN + LEFT,
            top,
            right: width.points() - MARGIN - 8.0 - undefined,
            bottom: top + PLOT,
        };
        let bins = self.bins();
        let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0);
        let most = most.max(self.undefined).max(1);
        let counts = Scale::rounded(0.0..=as_f64(most), 4, frame.bottom, frame.top);
        // With no more ticks than cases, all of them are whole numbers.
        frame.vertical_axis(&mut marks, &counts.ticks(most.min(4)), plain, "Cases");
        let (low, high) = self.ends();
        let values = Scale::linear(low..=high, frame.left, frame.right);
        frame.horizontal_axis(&mut marks, &values.ticks(5), plain, &self.axis);
        for bin in bins.iter().filter(|bin| bin.count > 0) {
            let bar = bar(
                [values.position(bin.low), values.position(bin.high)],
                counts.position(as_f64(bin.count)),
                frame.bottom,
                Ink::Series(0),
            );
            marks.push(Mark::Group {
                title: Some(format!(
                    "{:.2} to {:.2}: {}",
                    bin.low,
                    bin.high,
                    quantity::of(bin.count, "case")
                )),
                link: self.linked(&bin.range()),
                marks: vec![bar],
            });
        }
        if self.undefined > 0 {
            self.draw_undefined(&mut marks, frame, &counts);
        }
        scene(&self.heading, width, frame.end(), self.description(), marks)
    }

    fn draw_undefined(&self, marks: &mut Vec<Mark>, frame: Frame, counts: &Scale) {
        let middle = frame.right + UNDEFINED * 0.55;
        let top = counts.position(as_f64(self.undefined));
        let ends = [middle - 12.0, middle + 12.0];
        let number = Text::new(
            Point::new(middle, top - 3.0),
            self.undefined.to_string(),
            TICK,
        );
        let at = Point::new(middle, frame.bottom + TICK + 3.0);
        let name = Text::new(at, UNDEFINED_NAME, TICK).ink(Ink::Muted);
        marks.push(Mark::Group {
            title: None,
            link: self.linked(UNDEFINED_NAME),
            marks: vec![
                bar(ends, top, frame.bottom, Ink::Muted),
                number.anchored(Anchor::Middle).into(),
                name.anchored(Anchor::Middle).into(),
            ],
        });
    }

    fn linked(&self, filter: &str) -> Option<String> {
        self.link.as_ref().map(|start| format!("{start}{filter}"))
    }

    fn ends(&self) -> (f64, f64) {
        let finite = self.values.iter().filter(|value| value.is_finite());
        let ends = finite.fold(self.span, |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
        if ends.0 < ends.1 {
            ends
        } else {
            (ends.0, ends.0 + 1.0)
        }
    }

    /// The bins. Each holds its lower end, and the last one its upper end too.
    fn bins(&self) -> Vec<Bin> {
        let (low, high) = self.ends();
        // One division, which rounds 3 / 20 to the same number as the text 0.15: links hold these ends, and find the same cases.
        let end = |it: usize| match it {
            BINS => high,
            _ => (low * as_f64(BINS - it) + high * as_f64(it)) / as_f64(BINS),
        };
        let mut bins: Vec<Bin> = (0..BINS)
            .map(|it| Bin {
                low: end(it),
                high: end(it + 1),
                is_last: it + 1 == BINS,
                count: 0,
            })
            .collect();
        for value in self.values.iter().filter(|value| value.is_finite()) {
            let position = bins.partition_point(|bin| bin.low <= *value);
            bins[position.saturating_sub(1)].count += 1;
        }
        bins
    }

    fn description(&self) -> String {
        let filled = self.bins().into_iter().filter(|bin| bin.count > 0);
        let bins = filled.map(|bin| format!("{:.2} to {:.2}: {}", bin.low, bin.high, bin.count));
        let bins = bins.collect::<Vec<_>>().join("; ");
        let undefined = match self.undefined {
            0 => String::new(),
            count => format!(" Undefined: {count}."),
        };
        format!("Number of cases by value. {bins}.{undefined}")
    }
}

#[derive(Debug)]
struct Bin {
    low: f64,
    high: f64,
    is_last: bool,
    count: usize,
}

impl Bin {
    /// The bin as a filter of a page. Rust prints as many digits as tell the number apart from all others.
    fn range(&self) -> String {
        let sign = if self.is_last { "=" } else { "" };
        format!("{}..{sign}{}", self.low, self.high)
    }
}

fn bar([left, right]: [f64; 2], top: f64, bottom: f64, ink: Ink) -> Mark {
    Mark::Rectangle {
        corner: Point::new(left + 0.4, top),
        width: (right - left - 0.8).max(0.4),
        height: bottom - top,
        fill: Fill::opaque(ink),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[f64]) -> Vec<usize> {
        let histogram = Histogram {
            heading: Heading::default(),
            axis: String::new(),
            span: (0.0, 1.0),
            values: values.to_vec(),
            undefined: 0,
            link: None,
        };
        histogram.bins().iter().map(|bin| bin.count).collect()
    }

    #[test]
    fn a_value_at_the_end_of_a_bin_belongs_to_the_next_one() {
        for twentieth in 0..20_u8 {
            let bins = counts(&[f64::from(twentieth) / 20.0]);
            assert_eq!(bins[usize::from(twentieth)], 1, "{twentieth}: {bins:?}");
        }
    }

    #[test]
    fn the_greatest_value_belongs_to_the_last_bin_and_no_value_is_lost() {
        assert_eq!(counts(&[1.0])[19], 1);
        let bins = counts(&[0.1, 0.5, 0.33, 1.0, -2.0, 7.5]);
        assert_eq!(bins.iter().sum::<usize>(), 6);
    }

    #[test]
    fn bars_lead_to_the_cases_that_they_count() {
        let histogram = Histogram {
            heading: Heading::default(),
            axis: String::new(),
            span: (0.0, 1.0),
            values: vec![0.0, 0.15, 0.3, 1.0],
            undefined: 2,
            link: Some("#f.score=".to_owned()),
        };
        let marks = histogram.draw(Width::Page).marks;
        let links = marks.iter().filter_map(|mark| match mark {
            Mark::Group { link, .. } => link.as_deref(),
            _ => None,
        });
        assert_eq!(
            links.collect::<Vec<_>>(),
            [
                "#f.score=0..0.05",
                "#f.score=0.15..0.2",
                "#f.score=0.3..0.35",
                "#f.score=0.95..=1",
                "#f.score=undefined"
            ]
        );
    }
}
