//! Benjamini and Hochberg's correction for many tests.

use crate::arithmetic::as_f64;

/// Benjamini and Hochberg's correction for many tests: if every test with an adjusted p value below a level is reported, the
/// expected share of false reports among them is at most that level. Keeps the order of the input, whose values must be in
/// [0, 1].
///
/// It assumes that the tests are independent or positively dependent. Unlike [`holm`](crate::holm) it allows some false reports, so it
/// suits a search through many measures better than a decision.
///
/// Source: Benjamini and Hochberg, "Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57 (1995).
/// Equals `scipy.stats.false_discovery_control`.
///
/// ```
/// let adjusted = evals_metrics::benjamini_hochberg(&[0.01, 0.04, 0.03]);
/// assert_eq!(adjusted, [0.03, 0.04, 0.04]);
/// ```
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[right].total_cmp(&p_values[left]));
    let tests = as_f64(p_values.len());
    let mut adjusted = vec![0.0; p_values.len()];
    let mut most = 1.0_f64;
    for (larger, position) in order.into_iter().enumerate() {
        let rank = as_f64(p_values.len() - larger);
        most = most.min(tests / rank * p_values[position]);
        adjusted[position] = most;
    }
    adjusted
}
