//! Generated vectors that resemble embeddings.

use fastrand::Rng;

/// Vectors around centres, in clusters of about a hundred.
///
/// Like embeddings of texts, they have unit length, share a direction (their mean is not 0), lie in clusters, and vary more in some directions
/// than in others: the standard deviations of the directions are 1/√i, in random order. A vector is the sum of the common direction, the
/// centre of its cluster and a deviation, each drawn with these standard deviations. The deviation is scaled by 0.7. Questions come from the
/// same distribution, and no question is one of the vectors. The same seed gives the same vectors on every machine.
#[derive(Debug)]
pub(super) struct GeneratedModel {
    common: Vec<f32>,
    scales: Vec<f32>,
    clusters: usize,
    seed: u64,
}

/// Vectors of one cluster.
const CLUSTER: usize = 100;
/// The length of a vector's deviation from its centre, as a share of the centre's length.
const DEVIATION: f32 = 0.7;
/// The length of the common direction, as a share of a centre's length.
const COMMON: f32 = 0.5;

impl GeneratedModel {
    pub(super) fn new(count: usize, dimension: usize, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        #[expect(clippy::cast_precision_loss, reason = "a dimension")]
        let mut scales: Vec<f32> = (1..=dimension).map(|i| (i as f32).sqrt().recip()).collect();
        random.shuffle(&mut scales);
        let common = scales
            .iter()
            .map(|scale| normal(&mut random) * scale * COMMON);
        Self {
            common: common.collect(),
            scales,
            clusters: count.div_ceil(CLUSTER),
            seed,
        }
    }

    /// The vectors, in blocks of a few thousand.
    pub(super) fn vectors(&self, count: usize) -> impl Iterator<Item = Vec<f32>> {
        const BLOCK: usize = 4096;
        let mut random = Rng::with_seed(self.seed.wrapping_add(1));
        (0..count).step_by(BLOCK).map(move |start| {
            let mut block = Vec::with_capacity(BLOCK * self.scales.len());
            for _ in start..count.min(start + BLOCK) {
                self.push(&mut block, &mut random);
            }
            block
        })
    }

    /// The questions, one after the other.
    pub(super) fn questions(&self, count: usize) -> Vec<f32> {
        let mut random = Rng::with_seed(self.seed.wrapping_add(2));
        let mut questions = Vec::with_capacity(count * self.scales.len());
        for _ in 0..count {
            self.push(&mut questions, &mut random);
        }
        questions
    }

    /// Appends a vector of a random cluster.
    fn push(&self, into: &mut Vec<f32>, random: &mut Rng) {
        let start = into.len();
        // Each centre has a seed and is drawn again for each vector, to keep no centres in memory.
        let cluster = random.usize(..self.clusters) as u64;
        let mut centre = Rng::with_seed(self.seed ^ cluster.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for (common, scale) in self.common.iter().zip(&self.scales) {
            let own = normal(&mut centre) + normal(random) * DEVIATION;
            into.push(common + own * scale);
        }
        let length = into[start..].iter().map(|it| it * it).sum::<f32>().sqrt();
        for component in &mut into[start..] {
            *component /= length;
        }
    }
}

/// A number from about the standard normal distribution: the scaled sum of three uniform numbers. This avoids functions whose last bit
/// depends on the machine.
fn normal(random: &mut Rng) -> f32 {
    let sum = random.f32() + random.f32() + random.f32();
    (sum - 1.5) * 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(left: &[f32], right: &[f32]) -> f32 {
        left.iter().zip(right).map(|(l, r)| l * r).sum()
    }

    #[test]
    fn vectors_have_unit_length_a_common_direction_and_near_neighbours() {
        let dimension = 64;
        let model = GeneratedModel::new(2000, dimension, 7);
        let vectors: Vec<f32> = model.vectors(2000).flatten().collect();
        assert_eq!(vectors.len(), 2000 * dimension);
        let vectors: Vec<&[f32]> = vectors.chunks(dimension).collect();
        let question = model.questions(1);
        let mut cosines: Vec<f32> = vectors.iter().map(|it| cosine(it, &question)).collect();
        assert!(vectors.iter().all(|it| (cosine(it, it) - 1.0).abs() < 1e-4));
        cosines.sort_by(|left, right| right.total_cmp(left));
        assert!(cosines[9] > cosines[1000] + 0.3, "{cosines:?}");
        assert!(
            cosines[1000] > 0.02,
            "the common direction: {}",
            cosines[1000]
        );
        assert!(
            cosines[0] < 0.999,
            "no question is a vector: {}",
            cosines[0]
        );
    }

    #[test]
    fn the_seed_decides() {
        let first = |seed| {
            GeneratedModel::new(100, 8, seed)
                .vectors(100)
                .next()
                .unwrap()
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
