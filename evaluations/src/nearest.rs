//! What somebody meant who made a typing error.

/// The candidate that is a typing error away from `written`: at most every third letter differs.
pub(crate) fn of<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(written, candidate), candidate))
        .filter(|(distance, candidate)| distance * 3 <= written.len().max(candidate.len()))
        .min()
        .map(|(_, candidate)| candidate)
}
