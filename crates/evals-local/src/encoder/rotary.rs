//! Rotary positions.

/// Rotates each pair of values of a head by an angle that grows with the position. The values `i` and `i + head size / 2` are a
/// pair.
#[derive(Debug)]
pub(crate) struct Rotary {
    cosines: Vec<f32>,
    sines: Vec<f32>,
    half: usize,
}

impl Rotary {
    /// Tables for `positions` positions of heads with `head_size` values. `base` sets the wave length of the slowest pair.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "positions and pairs are small, and angles end as 32-bit floats"
    )]
    pub(crate) fn new(base: f64, head_size: usize, positions: usize) -> Self {
        let half = head_size / 2;
        // Frequencies and angles are rounded to 32 bits where the reference implementation rounds them.
        let frequencies: Vec<f32> = (0..half)
            .map(|pair| (1.0 / base.powf(2.0 * pair as f64 / head_size as f64)) as f32)
            .collect();
        let angles = (0..positions).flat_map(|position| {
            frequencies
                .iter()
                .map(move |frequency| position as f32 * frequency)
        });
        let (sines, cosines) = angles
            .map(|angle| (f64::from(angle).sin() as f32, f64::from(angle).cos() as f32))
            .unzip();
        Self {
            cosines,
            sines,
            half,
        }
    }

    /// Rotates the values of one head at `position` in place.
    pub(crate) fn turn(&self, head: &mut [f32], position: usize) {
        let here = position * self.half..(position + 1) * self.half;
        let (first, second) = head.split_at_mut(self.half);
        let angles = self.cosines[here.clone()].iter().zip(&self.sines[here]);
        for ((first, second), (cosine, sine)) in first.iter_mut().zip(second).zip(angles) {
            (*first, *second) = (
                *first * cosine - *second * sine,
                *second * cosine + *first * sine,
            );
        }
    }
}
