//! How well two sequences align: their longest common subsequence, and their edit distance.
//!
//! Both functions fill the usual table of dynamic programming, 64 cells at a time: a bit says by how much two neighbours in a column
//! differ. The longer sequence is cut into blocks of 64 items. One block at a time runs along the other sequence, and hands on what
//! crosses its lower edge.
//!
//! Sources: Hyyrö, "Bit-Parallel LCS-length Computation Revisited" (2004); Myers, "A Fast Bit-Vector Algorithm for Approximate
//! String Matching Based on Dynamic Programming" (1999), in the form of Hyyrö (2003).

use std::collections::HashMap;
use std::hash::Hash;

/// The items of a block.
const BLOCK: usize = u64::BITS as usize;

/// The length of the longest sequence of items that both have in this order, with gaps.
///
/// ```
/// use evals_rag::text::alignment::longest_common_subsequence;
///
/// assert_eq!(longest_common_subsequence(b"to be or not", b"not to be"), 5);
/// ```
pub fn longest_common_subsequence<T: Eq + Hash>(left: &[T], right: &[T]) -> usize {
    let pair = Sequences::new(left, right);
    let mut common = pair.at_ends;
    // What crosses the lower edge of the block above: a carry for each item of `across`.
    let mut carries = vec![false; pair.across.len()];
    pair.for_each_block(|masks, rows| {
        // A 0 stands for a row that is longer by one than the row above it.
        let mut same = u64::MAX;
        for (item, carry) in pair.across.iter().zip(&mut carries) {
            let matches = same & masks[*item as usize];
            let (sum, first) = same.overflowing_add(matches);
            let (sum, second) = sum.overflowing_add(u64::from(*carry));
            *carry = first || second;
            same = sum | (same & !matches);
        }
        common += (!same & rows).count_ones() as usize;
    });
    common
}

/// The least number of items to insert, delete or replace that makes one sequence of the other: the distance of Levenshtein.
///
/// ```
/// use evals_rag::text::alignment::edit_distance;
///
/// assert_eq!(edit_distance(b"kitten", b"sitting"), 3);
/// ```
pub fn edit_distance<T: Eq + Hash>(left: &[T], right: &[T]) -> usize {
    let pair = Sequences::new(left, right);
    // The differences along the lower edge of the block above, for each item of `across`: more by one, or less by one. Above the first
    // block each item is one more to insert.
    let mut edge = vec![(true, false); pair.across.len()];
    pair.for_each_block(|masks, rows| {
        let last = rows ^ (rows >> 1);
        let (mut down_more, mut down_less) = (u64::MAX, 0_u64);
        for (item, (more, less)) in pair.across.iter().zip(&mut edge) {
            let equal = masks[*item as usize];
            let vertical = equal | down_less;
            let equal = equal | u64::from(*less);
            let horizontal = ((equal & down_more).wrapping_add(down_more) ^ down_more) | equal;
            let across_more = down_less | !(horizontal | down_more);
            let across_less = down_more & horizontal;
            let above_more = (across_more << 1) | u64::from(*more);
            let above_less = (across_less << 1) | u64::from(*less);
            (*more, *less) = (across_more & last != 0, across_less & last != 0);
            down_more = above_less | !(vertical | above_more);
            down_less = above_more & vertical;
        }
    });
    let more = edge.iter().filter(|(more, _)| *more).count();
    let less = edge.iter().filter(|(_, less)| *less).count();
    // Down the left side of the table each row is one more to delete.
    pair.down.len() + more - less
}

/// Two sequences without the items that they have in common at both ends, as numbers of their items.
struct Sequences {
    at_ends: usize,
    /// The longer one.
    down: Vec<u32>,
    across: Vec<u32>,
    /// How many different items both have.
    different: usize,
}

impl Sequences {
    fn new<T: Eq + Hash>(left: &[T], right: &[T]) -> Self {
        let equal = |(one, other): &(&T, &T)| one == other;
        let prefix = left.iter().zip(right).take_while(equal).count();
        let (left, right) = (&left[prefix..], &right[prefix..]);
        let ends = left.iter().rev().zip(right.iter().rev());
        let suffix = ends.take_while(equal).count();
        let [left, right] = [left, right].map(|items| &items[..items.len() - suffix]);
        let mut numbers = HashMap::new();
        let [left, right] = [left, right].map(|items| numbered(items, &mut numbers));
        let (down, across) = if left.len() < right.len() {
            (right, left)
        } else {
            (left, right)
        };
        Self {
            at_ends: prefix + suffix,
            down,
            across,
            different: numbers.len(),
        }
    }

    /// Calls `run` with each block of `down`, from the top: for every item the rows of the block that have it, and all rows.
    fn for_each_block(&self, mut run: impl FnMut(&[u64], u64)) {
        let mut masks = vec![0; self.different];
        for block in self.down.chunks(BLOCK) {
            for (row, item) in block.iter().enumerate() {
                masks[*item as usize] |= 1 << row;
            }
            run(&masks, u64::MAX >> (BLOCK - block.len()));
            for item in block {
                masks[*item as usize] = 0;
            }
        }
    }
}

/// The items as numbers, equal ones as the same.
fn numbered<'i, T: Eq + Hash>(items: &'i [T], numbers: &mut HashMap<&'i T, u32>) -> Vec<u32> {
    let number = |item| {
        let next = u32::try_from(numbers.len()).expect("no text has 2^32 items");
        *numbers.entry(item).or_insert(next)
    };
    items.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The table itself, row by row.
    fn table(
        left: &[u8],
        right: &[u8],
        cell: impl Fn(bool, [usize; 3]) -> usize,
        is_distance: bool,
    ) -> usize {
        let edge = |index: usize| if is_distance { index } else { 0 };
        let mut row: Vec<usize> = (0..=right.len()).map(edge).collect();
        for (down, item) in left.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], edge(down + 1));
            for (across, other) in right.iter().enumerate() {
                let above = row[across + 1];
                row[across + 1] = cell(item == other, [diagonal, above, row[across]]);
                diagonal = above;
            }
        }
        row[right.len()]
    }

    fn subsequence_by_table(left: &[u8], right: &[u8]) -> usize {
        let cell = |equal, [diagonal, above, beside]: [usize; 3]| {
            if equal {
                diagonal + 1
            } else {
                above.max(beside)
            }
        };
        table(left, right, cell, false)
    }

    fn distance_by_table(left: &[u8], right: &[u8]) -> usize {
        let cell = |equal: bool, [diagonal, above, beside]: [usize; 3]| {
            let replaced = diagonal + usize::from(!equal);
            replaced.min(above + 1).min(beside + 1)
        };
        table(left, right, cell, true)
    }

    #[test]
    fn known_alignments_are_found() {
        for (left, right, common, distance) in [
            ("", "", 0, 0),
            ("", "abc", 0, 3),
            ("abc", "abc", 3, 0),
            ("kitten", "sitting", 4, 3),
            ("saturday", "sunday", 5, 3),
            ("abcbdab", "bdcaba", 4, 5),
            ("flaw", "lawn", 3, 2),
        ] {
            let [one, other] = [left, right].map(|text| text.chars().collect::<Vec<_>>());
            for (one, other) in [(&one, &other), (&other, &one)] {
                assert_eq!(longest_common_subsequence(one, other), common, "{left}");
                assert_eq!(edit_distance(one, other), distance, "{left}");
            }
        }
    }

    proptest! {
        /// Few different items, so that many match, and lengths around whole blocks.
        #[test]
        fn both_equal_the_table_filled_cell_by_cell(
            left in prop::collection::vec(0_u8..4, 0..200),
            right in prop::collection::vec(0_u8..5, 0..200),
        ) {
            prop_assert_eq!(longest_common_subsequence(&left, &right), subsequence_by_table(&left, &right));
            prop_assert_eq!(edit_distance(&left, &right), distance_by_table(&left, &right));
        }
    }
}
