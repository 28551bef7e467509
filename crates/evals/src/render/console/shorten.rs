//! Shortens labels by what they have in common, so that the part that tells them apart stays.

use std::collections::{BTreeMap, BTreeSet};

use super::wrap::{columns, cut};

/// A label with this many words reads as a sentence, whose beginning says most.
const SENTENCE: usize = 5;

/// Shortens the labels that are wider than `width`, and marks what is left out. Sentences lose their end, unless two would become equal. Other
/// labels first lose words that the long ones share, and those farthest from the others first.
pub(super) fn shortened(labels: &[&str], width: usize, mark: &str) -> Vec<String> {
    let labels = without_shared_ends(labels, width, mark);
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let long: BTreeSet<&str> = labels.iter().copied().collect();
    let long: Vec<&str> = long.into_iter().filter(|it| columns(it) > width).collect();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let mut shares: BTreeMap<&str, usize> = BTreeMap::new();
    for label in &long {
        *ends.entry(cut(label, width, mark)).or_default() += 1;
        let words: BTreeSet<&str> = words(label, width).into_iter().collect();
        for word in words {
            *shares.entry(word).or_default() += 1;
        }
    }
    let shorten = |label: &&str| {
        let end = cut(label, width, mark);
        if end == *label || (label.split(' ').count() >= SENTENCE && ends[&end] == 1) {
            return end;
        }
        let words = words(label, width);
        let shares: Vec<usize> = words.iter().map(|word| shares[word]).collect();
        let kept = kept(&shares, long.len(), |kept| {
            columns(&joined(&words, kept, mark)) <= width
        });
        joined(&words, &kept, mark)
    };
    labels.iter().map(shorten).collect()
}

/// The labels without the remark in brackets that several end with, such as ` (pass rate)`, where they are too wide with it and fit
/// without.
fn without_shared_ends(labels: &[&str], width: usize, mark: &str) -> Vec<String> {
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for label in labels.iter().collect::<BTreeSet<_>>() {
        *ends.entry(end(label)).or_default() += 1;
    }
    let shorten = |label: &&str| {
        let end = end(label);
        let rest = label.strip_suffix(end).unwrap_or(label);
        let without = format!("{rest}{mark}");
        let is_shared = !end.is_empty() && ends[end] > 1;
        if is_shared && columns(label) > width && columns(&without) <= width {
            without
        } else {
            (*label).to_owned()
        }
    };
    labels.iter().map(shorten).collect()
}

/// The remark in brackets that a label ends with; empty without one.
fn end(label: &str) -> &str {
    let start = label.rfind(" (").filter(|_| label.ends_with(')'));
    start.map_or("", |start| &label[start..])
}

/// The width of the widest label with a remark in brackets, without that remark; 0 if none is at most `most` wide then.
pub(super) fn width_without_ends(labels: &[&str], most: usize, mark: &str) -> usize {
    let rests = labels.iter().filter_map(|label| {
        let rest = label.strip_suffix(end(label)).filter(|it| it != label)?;
        Some(columns(rest) + columns(mark))
    });
    rests.filter(|it| *it <= most).max().unwrap_or(0)
}

/// The least width at which no two labels become equal, from `least` on.
pub(super) fn least_width(labels: &[&str], least: usize, mark: &str) -> usize {
    let widest = labels.iter().map(|it| columns(it)).max().unwrap_or(0);
    let all: BTreeSet<&str> = labels.iter().copied().collect();
    let is_enough = |width: &usize| {
        let shown: BTreeSet<String> = shortened(labels, *width, mark).into_iter().collect();
        shown.len() == all.len()
    };
    let mut widths = (least..widest).step_by(4);
    widths.find(is_enough).unwrap_or(widest)
}

/// Which words fit: the rarest first, those near an end before others, and then what surrounds them. Without rare words, both ends and what
/// precedes the second: the end of a path says more than its middle.
fn kept(shares: &[usize], labels: usize, fits: impl Fn(&[bool]) -> bool) -> Vec<bool> {
    let count = shares.len();
    let mut kept = vec![false; count];
    let keep = |kept: &mut Vec<bool>, word: usize| {
        kept[word] = true;
        kept[word] = fits(kept);
        kept[word]
    };
    let mut first: Vec<usize> = (0..count).filter(|it| shares[*it] < labels).collect();
    first.sort_by_key(|it| (shares[*it], (*it).min(count - 1 - it)));
    if first.is_empty() {
        first.extend([count - 1, 0]);
    }
    for word in first {
        keep(&mut kept, word);
    }
    let is_beside = |kept: &[bool], word: usize| {
        kept.get(word + 1) == Some(&true) || (word > 0 && kept[word - 1])
    };
    let grow = |kept: &mut Vec<bool>| {
        let mut words = (0..count).rev();
        words.any(|word| !kept[word] && is_beside(kept, word) && keep(kept, word))
    };
    while grow(&mut kept) {}
    kept
}

/// The kept words, with a mark for each gap.
fn joined(words: &[&str], kept: &[bool], mark: &str) -> String {
    let mut text = String::new();
    for (place, word) in words.iter().enumerate() {
        if kept[place] {
            text.push_str(word);
        } else if place == 0 || kept[place - 1] {
            text.push_str(mark);
        }
    }
    text
}

/// Words and the characters between them. A word that leaves too little room for others is divided.
fn words(text: &str, width: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut length) = (0, 0);
    for (place, character) in text.char_indices() {
        let is_part = character.is_alphanumeric() && length > 0 && length < (width * 3 / 4).max(4);
        if place > start && !is_part {
            words.push(&text[start..place]);
            (start, length) = (place, 0);
        }
        length = if character.is_alphanumeric() {
            length + 1
        } else {
            0
        };
    }
    words.extend((start < text.len()).then(|| &text[start..]));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_the_part_in_which_they_differ() {
        let targets = [
            "http://localhost:8101/ask",
            "http://localhost:8102/ask",
            "http://localhost:8103/ask",
        ];
        assert_eq!(
            shortened(&targets, 16, "…"),
            ["…:8101/ask", "…:8102/ask", "…:8103/ask"]
        );
        let settings = ["fusion.weight=0.3,limit=5", "fusion.weight=0.7,limit=5"];
        assert_eq!(
            shortened(&settings, 16, "..."),
            ["...=0.3,limit=5", "...=0.7,limit=5"]
        );
        let crossed = ["first/of/three/x", "first/of/three/y", "other/of/three/x"];
        assert_eq!(
            shortened(&crossed, 12, "…"),
            ["first/of/…/x", "first/of/…/y", "other/of/…/x"]
        );
    }

    #[test]
    fn names_lose_the_remark_that_they_share_before_the_part_in_which_they_differ() {
        let names = [
            "MRR@5",
            "refusal precision (pass rate)",
            "refusal recall (pass rate)",
        ];
        let precision = "refusal precision…";
        assert_eq!(
            shortened(&names, 26, "…"),
            ["MRR@5", precision, "refusal recall (pass rate)"]
        );
        assert_eq!(width_without_ends(&names, 24, "…"), columns(precision));
        assert_eq!(
            shortened(&names, columns(precision), "…"),
            ["MRR@5", precision, "refusal recall…"]
        );
    }

    #[test]
    fn a_label_alone_keeps_both_ends_and_a_sentence_its_beginning() {
        assert_eq!(
            shortened(
                &[
                    "local:/models/sentence-transformers/all-MiniLM-L6-v2",
                    "bm25"
                ],
                24,
                "…"
            ),
            ["local:…/all-MiniLM-L6-v2", "bm25"]
        );
        assert_eq!(
            shortened(&["what is the oldest of all towers"], 16, "…"),
            ["what is the old…"]
        );
    }

    #[test]
    fn the_least_width_keeps_labels_apart() {
        let [one, other] = ["a", "b"].map(|it| format!("{}{it}{}", "0".repeat(30), "0".repeat(30)));
        for labels in [
            [one.as_str(), &other],
            ["日本東京都庁の塔の高さ一", "日本東京都庁の塔の高さ二"],
        ] {
            let least = least_width(&labels, 8, "…");
            let [one, other] = &shortened(&labels, least, "…")[..] else {
                panic!("two labels")
            };
            assert!(one != other && columns(one) <= least && columns(other) <= least);
        }
    }
}
