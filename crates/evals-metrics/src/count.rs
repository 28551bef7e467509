/// A count as a floating-point number, to divide by.
#[expect(
    clippy::cast_precision_loss,
    reason = "a count of documents, queries or samples stays below 2^53, up to which f64 is exact"
)]
#[inline]
pub(crate) fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The share that `part` is of `whole`, which is not 0.
#[inline]
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    as_f64(part) / as_f64(whole)
}
