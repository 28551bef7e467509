//! Quality against time or cost: which choices no other choice beats in both.

use evals::Unit;
use evals_metrics::{PricedChoice, pareto_front};

use crate::scale::Scale;
use crate::scene::{Ink, Mark, Point, Scene, Shape, Stroke, Weight, text_width};

use super::frame::{Frame, LABEL, numbers, plain, scene, spanning, title};
use super::labels::Placement;
use super::{Heading, Width};

const PLOT: f64 = 180.0;

/// One choice, such as a search profile or an index.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOffPoint {
    /// Its label.
    pub label: String,
    /// Its price, of which less is better; positive.
    pub price: f64,
    /// Its quality, of which more is better.
    pub quality: f64,
    /// The lower and upper end of the interval of its quality.
    pub interval: Option<(f64, f64)>,
}

/// A figure of quality against price, with a line through the choices that no other choice beats in both.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOff {
    /// Title and caption.
    pub heading: Heading,
    /// The name of the price, such as `Latency, p50`. Its axis is logarithmic.
    pub price: String,
    /// The unit of the price.
    pub unit: Unit,
    /// The name of the quality, such as `nDCG@10`.
    pub quality: String,
    /// The choices.
    pub points: Vec<TradeOffPoint>,
    /// Whether to label only the choices on the front: dozens of labels would hide each other. The description names every choice.
    pub is_crowded: bool,
}

impl TradeOff {
    /// The positions of the points that no other point beats: none has at most the price and at least the quality, and is better
    /// in one of them. Cheapest first.
    pub fn front(&self) -> Vec<usize> {
        let choices = self.points.iter().map(|point| PricedChoice {
            price: point.price,
            quality: point.quality,
        });
        pareto_front(&choices.collect::<Vec<_>>())
    }

    /// Draws the figure. Points without a positive price are left out: a logarithmic axis has no place for them.
    pub fn draw(&self, width: Width) -> Scene {
        let mut marks = vec![title(&self.heading, width)];
        let frame = Frame::named_plot(PLOT, width);
        let drawn: Vec<&TradeOffPoint> = self.points.iter().filter(|it| it.price > 0.0).collect();
        let ends = drawn.iter().flat_map(|it| {
            let (low, high) = it.interval.unwrap_or((it.quality, it.quality));
            [low, high, it.quality]
        });
        let qualities = spanning(ends, 5, frame.bottom, frame.top);
        frame.vertical_axis(&mut marks, &qualities.ticks(5), plain, &self.quality);
        let prices = drawn.iter().map(|it| it.price);
        if let Some((low, high)) = prices.clone().reduce(f64::min).zip(prices.reduce(f64::max)) {
            let prices = Scale::logarithmic(low..=high, frame.left, frame.right);
            let print = numbers(self.unit);
            frame.horizontal_axis(&mut marks, &prices.ticks(5), print, &self.price);
            let mut labels = Placement::within(frame);
            // The name of the axis is above its start.
            let name = Point::new(frame.left, frame.top - 8.0);
            let width = text_width(&self.quality, LABEL, Weight::Regular);
            labels.keep_line_free(name, Point::new(frame.left + width, name.y));
            for steps in self
                .draw_front(&mut marks, &prices, &qualities, frame)
                .windows(2)
            {
                if let [from, to] = steps {
                    labels.keep_line_free(*from, *to);
                }
            }
            self.draw_points(&mut marks, &drawn, &prices, &qualities, labels);
        }
        scene(&self.heading, width, frame.end(), self.description(), marks)
    }

    /// A line of steps: between two choices of the front, the cheaper one is the best that a price buys. Returns its corners.
    fn draw_front(
        &self,
        marks: &mut Vec<Mark>,
        prices: &Scale,
        qualities: &Scale,
        frame: Frame,
    ) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for position in self.front() {
            let choice = &self.points[position];
            if choice.price <= 0.0 {
                continue;
            }
            let at = Point::new(
                prices.position(choice.price),
                qualities.position(choice.quality),
            );
            if let Some(before) = points.last() {
                points.push(Point::new(at.x, before.y));
            }
            points.push(at);
        }
        if let Some(last) = points.last().copied() {
            points.push(Point::new(frame.right, last.y));
        }
        marks.push(Mark::Path {
            points: points.clone(),
            stroke: Stroke::solid(Ink::Muted, 1.0).dashed(4.0, 2.5),
        });
        points
    }

    fn draw_points(
        &self,
        marks: &mut Vec<Mark>,
        drawn: &[&TradeOffPoint],
        prices: &Scale,
        qualities: &Scale,
        mut labels: Placement,
    ) {
        let front: Vec<&TradeOffPoint> = self.front().iter().map(|it| &self.points[*it]).collect();
        for choice in drawn {
            let at = Point::new(
                prices.position(choice.price),
                qualities.position(choice.quality),
            );
            labels.keep_free(at);
            if let Some((low, high)) = choice.interval {
                let end = |value| Point::new(at.x, qualities.position(value));
                labels.keep_line_free(end(low), end(high));
            }
        }
        for choice in drawn {
            let is_front = front.contains(choice);
            let x = prices.position(choice.price);
            let stroke = Stroke::solid(Ink::Series(0), 1.0);
            if let Some((low, high)) = choice.interval {
                marks.push(Mark::Line {
                    from: Point::new(x, qualities.position(low)),
                    to: Point::new(x, qualities.position(high)),
                    stroke,
                });
            }
            marks.push(Mark::Symbol {
                at: Point::new(x, qualities.position(choice.quality)),
                shape: if is_front {
                    Shape::Circle
                } else {
                    Shape::Square
                },
                radius: 3.2,
                ink: Ink::Series(0),
                is_open: !is_front,
            });
            if is_front || !self.is_crowded {
                let at = Point::new(x, qualities.position(choice.quality));
                marks.push(labels.beside(at, &choice.label).into());
            }
        }
    }

    fn description(&self) -> String {
        let front = self.front();
        let points = self.points.iter().enumerate().map(|(position, it)| {
            let note = if front.contains(&position) {
                ", on the front"
            } else {
                ""
            };
            let (price, quality) = (self.unit.print(it.price), Unit::Score.print(it.quality));
            format!(
                "{}: {} {quality}, {} {price}{note}.",
                it.label, self.quality, self.price
            )
        });
        points.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_holds_the_points_that_none_beats() {
        let point = |label: &str, price, quality| TradeOffPoint {
            label: label.to_owned(),
            price,
            quality,
            interval: None,
        };
        let figure = TradeOff {
            heading: Heading::default(),
            price: String::new(),
            unit: Unit::Seconds,
            quality: String::new(),
            is_crowded: false,
            points: vec![
                point("slow and good", 0.9, 0.8),
                point("beaten", 0.5, 0.5),
                point("fast", 0.1, 0.6),
                point("as fast, worse", 0.1, 0.55),
                point("the same as fast", 0.1, 0.6),
            ],
        };
        assert_eq!(figure.front(), [2, 4, 0]);
    }
}
