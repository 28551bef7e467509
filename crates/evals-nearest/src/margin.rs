//! How far a cosine in 32-bit floats can be from another computation of it.

/// The unit roundoff of 32-bit floats, 2^-24.
const ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;

/// Squared lengths of vectors within which no intermediate result of a cosine overflows, and underflow is far below rounding.
pub(crate) const PLAIN_SQUARES: std::ops::RangeInclusive<f32> = 1e-20..=1e20;

/// The most by which two computations of one cosine in 32-bit floats can differ: the caller's, and the product's.
///
/// With `u` = 2^-24 and `g` = n u / (1 - n u), a sum of n products in any order, with fused multiplications or without them, is off by at
/// most `g |x| |y|` (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, section 3.1). Of a squared length that is a
/// relative error of `g`, and of the length half of it. The caller's cosine x·y / |x| / |y| is thus off by at most `2 g` and some
/// roundings, of which 1 - (1 - cosine) adds two. The product's question is normalised in 64 bits, so its cosine is off by at most `1.5 g`
/// and some roundings. `4 (n + 8) u` covers the sum, `3.5 g + 16 u`, for up to a million dimensions.
///
/// # Panics
///
/// There are more than a million dimensions, for which nothing is proven.
pub fn margin(dimension: usize) -> f64 {
    assert!(
        dimension <= 1 << 20,
        "no embedding has a million dimensions"
    );
    let dimension = u32::try_from(dimension).expect("it was compared with a million");
    4.0 * (f64::from(dimension) + 8.0) * ROUNDOFF
}
