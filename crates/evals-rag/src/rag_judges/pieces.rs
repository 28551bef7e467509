//! Passages as judges see them, in groups that fit into a request.

/// A passage, or a piece of a long one, with the number under which the answer cites it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedPassage<'a> {
    /// The number, from 1.
    pub number: usize,
    /// The title of its document.
    pub title: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
}

impl NumberedPassage<'_> {
    fn size(&self) -> usize {
        self.text.len() + self.title.map_or(0, str::len)
    }
}

/// The passages in groups of at most `budget` bytes, in order. A passage that is too long by itself is cut into pieces, which keep
/// its number and its title.
pub(super) fn groups<'a>(
    passages: &[NumberedPassage<'a>],
    budget: usize,
) -> Vec<Vec<NumberedPassage<'a>>> {
    let all = passages.iter().flat_map(|passage| {
        let title = passage.title.map_or(0, str::len);
        let texts = pieces(passage.text, budget.saturating_sub(title).max(1));
        texts
            .into_iter()
            .map(|text| NumberedPassage { text, ..*passage })
    });
    let mut groups: Vec<Vec<NumberedPassage<'a>>> = Vec::new();
    let mut bytes = 0_usize;
    for passage in all {
        let size = passage.size();
        if let Some(group) = groups.last_mut().filter(|_| bytes + size <= budget) {
            group.push(passage);
            bytes += size;
        } else {
            groups.push(vec![passage]);
            bytes = size;
        }
    }
    groups
}

/// A text in pieces of at most `budget` bytes, cut after a space where there is one in the second half of a piece. A text without
/// letters is one piece, and so is a character that is larger than the budget.
pub(super) fn pieces(text: &str, budget: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while rest.len() > budget {
        let mut end = rest.floor_char_boundary(budget);
        if end == 0 {
            end = rest.ceil_char_boundary(1);
        }
        let space = rest[..end].rfind(char::is_whitespace);
        if let Some(space) = space.filter(|space| *space > end / 2) {
            end = rest.ceil_char_boundary(space + 1);
        }
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    if !rest.is_empty() || found.is_empty() {
        found.push(rest);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(number: usize, text: &str) -> NumberedPassage<'_> {
        NumberedPassage {
            number,
            title: None,
            text,
        }
    }

    #[test]
    fn passages_are_grouped_up_to_the_budget_and_long_ones_are_cut() {
        let all = [
            passage(1, "abcd"),
            passage(2, "efgh"),
            passage(3, "one two three"),
        ];
        let numbers = |budget: usize| -> Vec<Vec<(usize, String)>> {
            let groups = groups(&all, budget).into_iter();
            let of = |group: Vec<NumberedPassage<'_>>| {
                let parts = group.into_iter();
                parts.map(|it| (it.number, it.text.to_owned())).collect()
            };
            groups.map(of).collect()
        };
        let part = |number: usize, text: &str| (number, text.to_owned());
        assert_eq!(numbers(100).len(), 1);
        assert_eq!(
            numbers(8),
            [
                vec![part(1, "abcd"), part(2, "efgh")],
                vec![part(3, "one two ")],
                vec![part(3, "three")],
            ]
        );
        assert!(groups(&[], 8).is_empty());
    }

    #[test]
    fn pieces_are_cut_between_characters_and_lose_nothing() {
        for text in ["", "äöüäöü", "a b c d e f", "東京都庁", "x"] {
            for budget in 1..8 {
                let cut = pieces(text, budget);
                assert_eq!(cut.concat(), text);
                assert!(!cut.is_empty());
                let small = |piece: &&str| piece.len() <= budget.max(3);
                assert!(cut.iter().all(small), "{cut:?}");
            }
        }
    }
}
