//! The passages that an answer cites.

use std::ops::{Range, RangeInclusive};

/// The largest passage number that a marker may hold: `[2024]` is a year, not a citation.
const LARGEST: usize = 999;

/// The citations of an answer: the passages that its markers cite, and the text without markers.
///
/// A marker is `[1]`, `[1, 3]`, `[1; 3]`, `[1-3]` (also with an en dash), `[passage 2]` or `【1】`, with or without spaces
/// inside. Anything else in brackets is text. A backward range cites its two ends.
///
/// Numbers without a passage are counted, but a marker with any such number stays in the text: `[404]` may be a part of the
/// answer that the judge must see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citations {
    /// Numbers of the cited passages, from 1, in the order of their first citation.
    pub passages: Vec<usize>,
    /// How often the text cites a number without a passage.
    pub unknown: usize,
    /// Positions of the markers that cite only existing passages.
    markers: Vec<Range<usize>>,
}

impl Citations {
    /// Finds the markers in `text`, an answer from `passages` passages.
    pub fn find(text: &str, passages: usize) -> Self {
        let mut citations = Self {
            passages: Vec::new(),
            unknown: 0,
            markers: Vec::new(),
        };
        let mut seen = [false; LARGEST + 1];
        for marker in brackets(text) {
            let Some(ranges) = cited(inside(&text[marker.clone()])) else {
                continue;
            };
            let unknown = citations.unknown;
            for number in ranges.into_iter().flatten() {
                if number == 0 || number > passages {
                    citations.unknown += 1;
                } else if !std::mem::replace(&mut seen[number], true) {
                    citations.passages.push(number);
                }
            }
            if citations.unknown == unknown {
                citations.markers.push(marker);
            }
        }
        citations
    }

    /// The text that judges and text measures read: without the markers that cite existing passages, and without the spaces
    /// before them.
    pub fn plain(text: &str, passages: usize) -> String {
        let mut plain = String::with_capacity(text.len());
        let mut rest = 0;
        for marker in Self::find(text, passages).markers {
            plain.push_str(&text[rest..marker.start]);
            plain.truncate(plain.trim_end_matches([' ', '\u{a0}']).len());
            rest = marker.end;
        }
        plain.push_str(&text[rest..]);
        plain.trim().to_owned()
    }
}

/// The innermost pairs of brackets.
fn brackets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '【' => open = Some((at, if letter == '[' { ']' } else { '】' })),
            ']' | '】' => {
                if let Some((start, close)) = open.take()
                    && close == letter
                {
                    found.push(start..at + letter.len_utf8());
                }
            }
            _ => {}
        }
    }
    found
}

fn inside(marker: &str) -> &str {
    marker.trim_matches(['[', ']', '【', '】'])
}

/// The numbers inside a marker, or `None` if it is no marker. Ranges stay ranges, because a short text of ranges can expand
/// to very many numbers.
fn cited(inside: &str) -> Option<Vec<RangeInclusive<usize>>> {
    let mut numbers = Vec::new();
    for part in inside.split([',', ';']) {
        let part = unlabelled(part.trim());
        match part.split_once(['-', '–']) {
            None => {
                let number = number(part)?;
                numbers.push(number..=number);
            }
            Some((first, last)) => {
                let (first, last) = (number(first.trim())?, number(last.trim())?);
                if first <= last {
                    numbers.push(first..=last);
                } else {
                    numbers.extend([first..=first, last..=last]);
                }
            }
        }
    }
    Some(numbers)
}

fn unlabelled(part: &str) -> &str {
    let labels = ["passages", "passage", "Passages", "Passage"];
    let unlabelled = labels.iter().find_map(|label| part.strip_prefix(label));
    unlabelled.map_or(part, str::trim_start)
}

fn number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten()?;
    (number <= LARGEST).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages(text: &str) -> (Vec<usize>, usize) {
        let citations = Citations::find(text, 5);
        (citations.passages, citations.unknown)
    }

    #[test]
    fn every_usual_notation_is_read() {
        assert_eq!(passages("It is so [2]."), (vec![2], 0));
        assert_eq!(passages("It is so [1, 3]."), (vec![1, 3], 0));
        assert_eq!(passages("It is so [3][1]."), (vec![3, 1], 0));
        assert_eq!(passages("It is so [1-3; 5]."), (vec![1, 2, 3, 5], 0));
        assert_eq!(passages("It is so [ 2–4 ]."), (vec![2, 3, 4], 0));
        assert_eq!(passages("そうです【1】。"), (vec![1], 0));
        assert_eq!(passages("It is so [Passage 2, 4]."), (vec![2, 4], 0));
    }

    #[test]
    fn citations_are_in_order_of_first_mention() {
        assert_eq!(passages("A [4]. B [1, 4]. C [2]."), (vec![4, 1, 2], 0));
    }

    #[test]
    fn numbers_without_a_passage_are_counted_and_left_out() {
        assert_eq!(passages("A [6]. B [0]. C [4-7]."), (vec![4, 5], 4));
    }

    #[test]
    fn other_brackets_are_text() {
        let text = "In [2024] he said [sic] [a1] [] [1.5] [1,] arr[i] [text](url) 【x】 [1】";
        assert_eq!(passages(text), (vec![], 0));
        assert_eq!(Citations::plain(text, 5), text);
    }

    #[test]
    fn the_innermost_bracket_counts() {
        assert_eq!(passages("[see [2]]"), (vec![2], 0));
    }

    #[test]
    fn plain_text_has_no_markers_and_no_gaps() {
        assert_eq!(
            Citations::plain("Paris [1], the capital [2][3]. It is old [4-5] .", 5),
            "Paris, the capital. It is old ."
        );
        assert_eq!(Citations::plain("[1] Paris", 1), "Paris");
    }

    #[test]
    fn brackets_that_cite_no_passage_stay_in_the_text() {
        for text in [
            "The code is [404]",
            "[404]",
            "[1, 2, 30]",
            "from [0-3]",
            "[4-7]",
        ] {
            assert_eq!(Citations::plain(text, 5), text);
        }
        assert_eq!(Citations::plain("[5] but not [6] [1]", 5), "but not [6]");
        assert_eq!(Citations::plain("[1]", 0), "[1]");
    }
}
