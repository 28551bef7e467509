//! Suggestions for misspelled words: "did you mean …?".

use std::cmp::max;

/// The most suggestions that are still helpful.
const MOST: usize = 3;

/// Shorter texts are the beginning of too many words.
const SHORTEST_ABBREVIATION: usize = 3;

/// Longer texts are not misspelled words, and comparing two of them takes time that grows with the square of their length.
const LONGEST: usize = 200;

/// The candidate nearest to the misspelled `written`, or `None` if no candidate is near. Ties go to the first.
pub fn of<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    all(written, candidates).first().copied()
}

/// The nearest candidates, at most three that are equally near, in their own order.
///
/// A candidate is near if at most a third of its letters have to be inserted, removed, replaced or swapped with a neighbour,
/// or if `written` is its beginning. Case is ignored. Texts of more than 200 letters are near to nothing.
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

/// The end of a message about a measure that is not there. A measure that is there at other cutoffs is not misspelled: the text names
/// these cutoffs, such as `; `R` has the cutoffs 1 and 5`.
pub fn did_you_mean_measure<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let Some((name, wanted)) = with_cutoff(written) else {
        return did_you_mean(of(written, candidates));
    };
    let mut cutoffs: Vec<&str> = Vec::new();
    for (_, cutoff) in candidates
        .iter()
        .copied()
        .filter_map(with_cutoff)
        .filter(|it| it.0 == name)
    {
        if !cutoffs.contains(&cutoff) {
            cutoffs.push(cutoff);
        }
    }
    let shown = &written[..written.len() - wanted.len() - 1];
    match &cutoffs[..] {
        [] => did_you_mean(of(written, candidates)),
        [only] => format!("; `{shown}` has the cutoff {only}"),
        [others @ .., last] => {
            format!(
                "; `{shown}` has the cutoffs {} and {last}",
                others.join(", ")
            )
        }
    }
}

/// The name of a measure in lower case, without the M of its mean, and its cutoff: tables call the mean of `RR` `MRR`.
fn with_cutoff(measure: &str) -> Option<(String, &str)> {
    let (name, cutoff) = measure.rsplit_once('@')?;
    let is_cutoff = !cutoff.is_empty() && cutoff.bytes().all(|it| it.is_ascii_digit());
    let name = name.to_lowercase();
    let name = name.strip_prefix('m').map_or(name.clone(), str::to_owned);
    is_cutoff.then_some((name, cutoff))
}

/// The number of differing letters, if `candidate` is near.
fn distance(written: &str, candidate: &str) -> Option<usize> {
    let [letters, other_letters] = [written, candidate].map(|word| word.chars().count());
    let longest = max(letters, other_letters);
    if longest > LONGEST {
        return None;
    }
    if letters >= SHORTEST_ABBREVIATION && candidate.starts_with(written) {
        return Some(other_letters - letters);
    }
    // At least the missing letters differ, which rules most candidates out without a comparison.
    if letters.abs_diff(other_letters) * 3 > longest {
        return None;
    }
    let distance = strsim::osa_distance(written, candidate);
    (distance * 3 <= longest).then_some(distance)
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
    fn a_long_text_is_compared_with_nothing() {
        let long = "a".repeat(100_000);
        // Comparing two such texts would take minutes.
        let longer = "a".repeat(100_001);
        assert_eq!(of(&long, ["a", longer.as_str()]), None);
        let name = "a".repeat(200);
        assert_eq!(of(&name[1..], [name.as_str()]), Some(name.as_str()));
    }

    #[test]
    fn a_suggestion_quotes_every_name() {
        assert_eq!(did_you_mean(["a", "b"]), "; did you mean `a` or `b`?");
        assert_eq!(did_you_mean(Some("a")), "; did you mean `a`?");
        assert_eq!(did_you_mean(None::<&str>), "");
    }

    #[test]
    fn a_measure_with_another_cutoff_is_not_misspelled() {
        let known = ["R@1", "R@10", "nDCG@10", "MAP", "R@1"];
        let end = |written| did_you_mean_measure(written, known);
        assert_eq!(end("R@7"), "; `R` has the cutoffs 1 and 10");
        assert_eq!(end("ndcg@5"), "; `ndcg` has the cutoff 10");
        assert_eq!(
            did_you_mean_measure("MRR@10", ["RR@5", "R@10"]),
            "; `MRR` has the cutoff 5"
        );
        assert_eq!(end("MAPP"), "; did you mean `MAP`?");
        assert_eq!(end("nDGC@10"), "; did you mean `nDCG@10`?");
        assert_eq!(end("R@x"), "; did you mean `R@1`?");
        assert_eq!(end("Faithfulness"), "");
    }

    #[test]
    fn equally_near_words_are_all_suggested() {
        assert_eq!(
            all("R@50", ["nDCG@10", "R@5", "R@10", "MAP"]),
            ["R@5", "R@10"]
        );
    }
}
