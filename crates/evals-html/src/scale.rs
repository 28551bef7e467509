//! Maps values to positions, and chooses where an axis has ticks.

use std::ops::RangeInclusive;

use evals_metrics::as_f64;

/// An axis: the values it spans, and the positions of its ends in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    kind: ScaleKind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScaleKind {
    Linear,
    Logarithmic,
}

/// One tick of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// Its value.
    pub value: f64,
    /// Its position in points.
    pub position: f64,
    /// How many decimals tell it from its neighbours.
    pub decimals: usize,
}

impl Scale {
    /// A linear axis. A span of one value is widened, so that the value stands in the middle.
    pub fn linear(values: RangeInclusive<f64>, from: f64, to: f64) -> Self {
        let (mut low, mut high) = values.into_inner();
        if low >= high {
            let room = if low == 0.0 { 0.5 } else { low.abs() * 0.1 };
            (low, high) = (low - room, low + room);
        }
        Self {
            kind: ScaleKind::Linear,
            low,
            high,
            from,
            to,
        }
    }

    /// A linear axis that begins and ends at a tick. It has at most about `ticks` of them.
    pub fn rounded(values: RangeInclusive<f64>, ticks: usize, from: f64, to: f64) -> Self {
        let exact = Self::linear(values, from, to);
        let step = exact.step(ticks);
        Self {
            low: (exact.low / step + 1e-9).floor() * step,
            high: (exact.high / step - 1e-9).ceil() * step,
            ..exact
        }
    }

    /// A logarithmic axis of positive values. It begins and ends at a whole power of ten, or at twice or five times one.
    ///
    /// # Panics
    ///
    /// The lower value is not positive.
    pub fn logarithmic(values: RangeInclusive<f64>, from: f64, to: f64) -> Self {
        let (low, high) = values.into_inner();
        assert!(low > 0.0, "a logarithmic axis from {low}");
        let below = |value: f64| {
            let power = 10_f64.powf((value.log10() + 1e-9).floor());
            let digit = value / power;
            power
                * if digit >= 5.0 {
                    5.0
                } else if digit >= 2.0 {
                    2.0
                } else {
                    1.0
                }
        };
        let above = |value: f64| {
            let power = 10_f64.powf((value.log10() + 1e-9).floor());
            let digit = value / power;
            let mut steps = [1.0, 2.0, 5.0, 10.0].into_iter();
            let step = steps.find(|step| *step >= digit * (1.0 - 1e-9));
            power * step.unwrap_or(10.0)
        };
        let (low, high) = (below(low), above(high.max(low)));
        let high = if high > low { high } else { above(low * 1.5) };
        Self {
            kind: ScaleKind::Logarithmic,
            low,
            high,
            from,
            to,
        }
    }

    /// The position of a value in points. Values outside of the axis have positions outside of its ends.
    pub fn position(&self, value: f64) -> f64 {
        let share = match self.kind {
            ScaleKind::Linear => (value - self.low) / (self.high - self.low),
            ScaleKind::Logarithmic => {
                (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
            }
        };
        self.from + share * (self.to - self.from)
    }

    /// The lowest value of the axis.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The highest value of the axis.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// The ticks, lowest first: at most about `most` of them on a linear axis.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        match self.kind {
            ScaleKind::Linear => self.linear_ticks(most),
            ScaleKind::Logarithmic => self.logarithmic_ticks(),
        }
    }

    fn linear_ticks(&self, most: usize) -> Vec<Tick> {
        let step = self.step(most);
        let decimals = decimals(step);
        let first = (self.low / step - 1e-9).ceil();
        let last = (self.high / step + 1e-9).floor();
        let mut ticks = Vec::new();
        let mut number = first;
        while number <= last {
            ticks.push(self.tick(number * step, decimals));
            number += 1.0;
        }
        ticks
    }

    /// Powers of ten, with their doubles and fivefolds where the axis spans at most two powers.
    fn logarithmic_ticks(&self) -> Vec<Tick> {
        let digits: &[f64] = if self.high / self.low <= 100.0 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let mut ticks = Vec::new();
        let mut exponent = self.low.log10().floor();
        while exponent <= self.high.log10() + 1e-9 {
            let power = 10_f64.powf(exponent);
            for digit in digits {
                let value = digit * power;
                let is_inside =
                    value >= self.low * (1.0 - 1e-9) && value <= self.high * (1.0 + 1e-9);
                if is_inside {
                    ticks.push(self.tick(value, decimals(power)));
                }
            }
            exponent += 1.0;
        }
        ticks
    }

    fn tick(&self, value: f64, decimals: usize) -> Tick {
        Tick {
            // Adding zero removes the sign of a negative zero.
            value: value + 0.0,
            position: self.position(value),
            decimals,
        }
    }

    /// The distance of ticks: 1, 2 or 5 times a power of ten.
    fn step(&self, most: usize) -> f64 {
        let rough = (self.high - self.low) / as_f64(most.max(1));
        let power = 10_f64.powf(rough.log10().floor());
        let digit = rough / power;
        let rounded = [1.0, 2.0, 5.0]
            .into_iter()
            .find(|it| digit <= it * (1.0 + 1e-9));
        power * rounded.unwrap_or(10.0)
    }
}

/// The decimals that a multiple of this step needs.
fn decimals(step: f64) -> usize {
    let exponent = (step.log10() + 1e-9).floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive whole number"
    )]
    let decimals = if exponent < 0.0 {
        -exponent as usize
    } else {
        0
    };
    decimals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(ticks: &[Tick]) -> Vec<String> {
        let printed = ticks
            .iter()
            .map(|tick| format!("{:.*}", tick.decimals, tick.value));
        printed.collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let scale = Scale::linear(0.63..=0.87, 0.0, 100.0);
        assert_eq!(
            values(&scale.ticks(5)),
            ["0.65", "0.70", "0.75", "0.80", "0.85"]
        );
        let scale = Scale::linear(0.0..=1.0, 0.0, 100.0);
        assert_eq!(
            values(&scale.ticks(5)),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        let scale = Scale::linear(-120.0..=430.0, 0.0, 100.0);
        assert_eq!(
            values(&scale.ticks(6)),
            ["-100", "0", "100", "200", "300", "400"]
        );
    }

    #[test]
    fn a_rounded_axis_ends_at_ticks() {
        let scale = Scale::rounded(0.63..=0.87, 5, 0.0, 100.0);
        assert_eq!(values(&scale.ticks(5)).first().unwrap(), "0.6");
        assert!((scale.low() - 0.6).abs() < 1e-9 && (scale.high() - 0.9).abs() < 1e-9);
        let already_round = Scale::rounded(0.0..=1.0, 5, 0.0, 100.0);
        assert!((already_round.high() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_value_stands_in_the_middle() {
        for value in [0.0, 0.7, -3.0] {
            let scale = Scale::linear(value..=value, 0.0, 100.0);
            assert!((scale.position(value) - 50.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_logarithmic_axis_spaces_powers_evenly() {
        let scale = Scale::logarithmic(0.003..=40.0, 0.0, 300.0);
        assert_eq!(values(&scale.ticks(5)), ["0.01", "0.1", "1", "10"]);
        let positions: Vec<f64> = scale.ticks(5).iter().map(|tick| tick.position).collect();
        let gaps: Vec<f64> = positions.windows(2).map(|it| it[1] - it[0]).collect();
        assert!(
            gaps.iter().all(|gap| (gap - gaps[0]).abs() < 1e-9),
            "{gaps:?}"
        );
        let narrow = Scale::logarithmic(3.0..=18.0, 0.0, 100.0);
        assert_eq!(values(&narrow.ticks(5)), ["2", "5", "10", "20"]);
    }

    #[test]
    fn an_axis_may_run_backwards() {
        let scale = Scale::linear(0.0..=1.0, 100.0, 0.0);
        assert!((scale.position(0.25) - 75.0).abs() < 1e-9);
    }
}
