//! Suggestions for misspelled names.

/// The known names similar to `name`, most similar first, at most three; those that are much less similar than the first
/// are left out. Equally similar ones keep their order.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    const SIMILAR: f64 = 0.8;
    const MUCH_LESS: f64 = 0.05;
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let Some(&(best, _)) = scored.first() else {
        return Vec::new();
    };
    scored
        .into_iter()
        .take_while(|(similarity, _)| *similarity > best - MUCH_LESS)
        .take(3)
        .map(|(_, candidate)| candidate.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_only_what_is_similar() {
        let known = ["repliqa", "wix", "wix-simulated", "hotpotqa"];
        assert_eq!(nearest("repliqua", known)[0], "repliqa");
        assert_eq!(nearest("WIX-simulate", known)[0], "wix-simulated");
        assert!(nearest("zzz", known).is_empty());
    }
}
