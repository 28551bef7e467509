//! Groups of things that cannot be told apart, as letters.

use std::collections::BTreeSet;

/// The letters of each of `count` things, best first: two things share a letter exactly if they are not `distinct`.
///
/// "Not distinct" is not transitive: a thing between two distinct ones may be distinct from neither. It then has a letter of each:
/// `a`, `ab`, `b`. Letters go to groups in the order of their best members.
///
/// Source: the insert-and-absorb algorithm of Piepho, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons",
/// Journal of Computational and Graphical Statistics 13 (2004).
pub(super) fn letters(count: usize, distinct: impl Fn(usize, usize) -> bool) -> Vec<String> {
    let mut groups: Vec<BTreeSet<usize>> = vec![(0..count).collect()];
    for first in 0..count {
        for second in first + 1..count {
            if distinct(first, second) {
                groups = split(groups, first, second);
            }
        }
    }
    groups.sort();
    let letters_of = |thing: usize| {
        let own = groups.iter().enumerate();
        let own = own.filter(|(_, group)| group.contains(&thing));
        own.map(|(place, _)| letter(place)).collect()
    };
    (0..count).map(letters_of).collect()
}

/// Replaces each group that holds both things with one without the first and one without the second, and drops groups that are parts
/// of others.
fn split(groups: Vec<BTreeSet<usize>>, first: usize, second: usize) -> Vec<BTreeSet<usize>> {
    let mut inserted = Vec::new();
    for group in groups {
        if group.contains(&first) && group.contains(&second) {
            for absent in [second, first] {
                let mut part = group.clone();
                part.remove(&absent);
                inserted.push(part);
            }
        } else {
            inserted.push(group);
        }
    }
    let mut kept: Vec<BTreeSet<usize>> = Vec::new();
    for (place, group) in inserted.iter().enumerate() {
        let absorbs = |(other_place, other): (usize, &BTreeSet<usize>)| {
            let is_part = group.is_subset(other);
            is_part && (group.len() < other.len() || other_place < place)
        };
        if !inserted.iter().enumerate().any(absorbs) {
            kept.push(group.clone());
        }
    }
    kept
}

/// The letter of a group: a to z, A to Z, then numbers in brackets.
fn letter(place: usize) -> String {
    let letters = ('a'..='z').chain('A'..='Z');
    let mut letters = letters.map(|letter| letter.to_string());
    let beyond = || format!("({})", place + 1);
    letters.nth(place).unwrap_or_else(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(count: usize, distinct: &[(usize, usize)]) -> Vec<String> {
        letters(count, |first, second| distinct.contains(&(first, second)))
    }

    #[test]
    fn things_share_a_letter_exactly_if_they_are_not_distinct() {
        assert_eq!(shown(3, &[]), ["a", "a", "a"]);
        assert_eq!(shown(3, &[(0, 1), (0, 2), (1, 2)]), ["a", "b", "c"]);
        assert_eq!(shown(3, &[(0, 1), (0, 2)]), ["a", "b", "b"]);
    }

    #[test]
    fn the_middle_of_three_may_belong_to_both_ends() {
        assert_eq!(shown(3, &[(0, 2)]), ["a", "ab", "b"]);
    }

    #[test]
    fn every_relation_of_five_things_reads_back_from_its_letters() {
        let pairs: Vec<(usize, usize)> = (0..5)
            .flat_map(|first| (first + 1..5).map(move |second| (first, second)))
            .collect();
        for relation in 0..1_u32 << pairs.len() {
            let is_in = |place: usize| relation >> place & 1 == 1;
            let chosen = pairs.iter().enumerate().filter(|(place, _)| is_in(*place));
            let distinct: Vec<(usize, usize)> = chosen.map(|(_, pair)| *pair).collect();
            let letters = shown(5, &distinct);
            for (first, second) in &pairs {
                let shares = letters[*first]
                    .chars()
                    .any(|it| letters[*second].contains(it));
                assert_eq!(
                    shares,
                    !distinct.contains(&(*first, *second)),
                    "{distinct:?}: {letters:?}"
                );
            }
        }
    }
}
