//! Suggestions for misspelled words: "did you mean …?".

use std::cmp::max;

/// The most suggestions that are still helpful.
const MOST: usize = 3;

/// Shorter texts are the beginning of too many words.
const SHORTEST_ABBREVIATION: usize = 3;

/// The candidate nearest to the misspelled `written`, or `None` if no candidate is near. Ties go to the first.
pub fn of<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    all(written, candidates).first().copied()
}

/// The nearest candidates, at most three that are equally near, in their own order.
///
/// A candidate is near if at most a third of its letters have to be inserted, removed, replaced or swapped with a neighbour,
/// or if `written` is its beginning. Case is ignored.
pub fn all<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Vec<&'c str> {
    let written = written.to_lowercase();
    let near = candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&written, &candidate.to_lowercase())?, candidate)));
    let near: Vec<(usize, &str)> = near.collect();
    let least = near.iter().map(|(distance, _)| *distance).min();
    near.into_iter()
        .filter(|(distance, _)| Some(*distance) == least)
        .map(|(_, candidate)| candidate)
        .take(MOST)
        .collect()
}

/// The end of a message about a misspelled word: `; did you mean `a` or `b`?`, or nothing if nothing is near.
pub fn did_you_mean<S: AsRef<str>>(nearest: impl IntoIterator<Item = S>) -> String {
    let quoted = nearest
        .into_iter()
        .map(|name| format!("`{}`", name.as_ref()));
    let quoted: Vec<String> = quoted.collect();
    if quoted.is_empty() {
        return String::new();
    }
    format!("; did you mean {}?", quoted.join(" or "))
}

/// The number of differing letters, if `candidate` is near.
fn distance(written: &str, candidate: &str) -> Option<usize> {
    let distance = strsim::osa_distance(written, candidate);
    let [letters, other_letters] = [written, candidate].map(|word| word.chars().count());
    let is_misspelling = distance * 3 <= max(letters, other_letters);
    let is_abbreviation = letters >= SHORTEST_ABBREVIATION && candidate.starts_with(written);
    (is_misspelling || is_abbreviation).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_similar() {
        let known = ["repliqa", "wix", "wix-simulated", "hotpotqa"];
        assert_eq!(of("repliqua", known), Some("repliqa"));
        assert_eq!(of("WIX-simulate", known), Some("wix-simulated"));
        assert_eq!(of("zzz", known), None);
    }

    #[test]
    fn the_beginning_of_a_word_suggests_it() {
        let known = ["download", "datasets"];
        assert_eq!(of("data", known), Some("datasets"));
        assert_eq!(of("d", known), None, "too short");
    }

    #[test]
    fn a_suggestion_quotes_every_name() {
        assert_eq!(did_you_mean(["a", "b"]), "; did you mean `a` or `b`?");
        assert_eq!(did_you_mean(Some("a")), "; did you mean `a`?");
        assert_eq!(did_you_mean(None::<&str>), "");
    }

    #[test]
    fn equally_near_words_are_all_suggested() {
        assert_eq!(
            all("R@50", ["nDCG@10", "R@5", "R@10", "MAP"]),
            ["R@5", "R@10"]
        );
    }
}
