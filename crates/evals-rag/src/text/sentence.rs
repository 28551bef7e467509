//! Splits a text into sentences.

/// Abbreviations after which a point does not end a sentence, in lower case and without their last point.
const ABBREVIATIONS: [&str; 24] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "e.g", "i.e", "cf", "approx", "ca",
    "gen", "col", "capt", "lt", "sgt", "rev", "hon", "gov", "sen", "u.s",
];

/// Abbreviations only before a digit.
const BEFORE_NUMBERS: [&str; 8] = ["no", "nos", "p", "pp", "fig", "figs", "vol", "ch"];

/// The sentences of a text in order, trimmed and not empty.
///
/// A sentence ends
///
/// - with `.`, `!`, `?` or `…` and the quotation marks and brackets that follow, where a blank comes next and then no
///   lower-case letter;
/// - with `。`, `！` or `？`, whatever follows;
/// - at an empty line, and before a line that begins like an item of a list, a heading or a row of a table.
///
/// A point after a usual English abbreviation or an initial (`Dr. A. Smith`) ends none; some, such as `No.`, are
/// abbreviations only before a digit.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut words = NextWord { text, at: 0 };
    for (at, letter) in text.char_indices() {
        if at >= start
            && let Some(end) = end(text, start, at, letter, &mut words)
        {
            found.push(&text[start..end]);
            start = end;
        }
    }
    found.push(&text[start..]);
    let found = found.into_iter().map(str::trim);
    found.filter(|sentence| !sentence.is_empty()).collect()
}

/// Finds the next letter or digit. Positions are queried in ascending order, so a text is scanned once and not again for
/// each of its points.
struct NextWord<'t> {
    text: &'t str,
    /// The position of the last one found, or the end.
    at: usize,
}

impl NextWord<'_> {
    /// The first letter or digit from `place` on.
    fn from(&mut self, place: usize) -> Option<char> {
        if self.at < place {
            self.at = place;
        }
        let rest = &self.text[self.at..];
        let found = rest.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        self.at = self.text.len() - found.len();
        found.chars().next()
    }
}

/// The end of the sentence from `start`, if the character at `at` ends it.
fn end(
    text: &str,
    start: usize,
    at: usize,
    letter: char,
    words: &mut NextWord<'_>,
) -> Option<usize> {
    let after = at + letter.len_utf8();
    let closed = || {
        let rest = text[after..].trim_start_matches(is_closing);
        text.len() - rest.len()
    };
    match letter {
        '\n' => begins_block(&text[after..]).then_some(after),
        '。' | '！' | '？' => Some(closed()),
        '.' | '!' | '?' | '…' => {
            let closed = closed();
            let (before, rest) = (&text[start..at], &text[closed..]);
            let abbreviates = || letter == '.' && is_abbreviated(before, rest);
            let mut goes_on = || words.from(closed).is_some_and(char::is_lowercase);
            let at_blank = rest.is_empty() || rest.starts_with(char::is_whitespace);
            (at_blank && !goes_on() && !abbreviates()).then_some(closed)
        }
        _ => None,
    }
}

fn is_closing(letter: char) -> bool {
    matches!(
        letter,
        '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '」' | '』' | '）'
    )
}

/// Whether a new paragraph, list item, heading or table row begins.
fn begins_block(rest: &str) -> bool {
    let line = rest.split('\n').next().unwrap_or_default().trim();
    let digits = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let numbered = digits.len() < line.len() && digits.starts_with([')', '.']);
    let item = line.starts_with("- ") || line.starts_with("* ");
    line.is_empty() || numbered || item || line.starts_with(['#', '|', '•'])
}

/// Whether a point between the two belongs to an abbreviation or an initial.
fn is_abbreviated(before: &str, rest: &str) -> bool {
    let word = before
        .rsplit(|letter: char| letter.is_whitespace() || letter == '(')
        .next();
    let word = word.unwrap_or_default();
    let mut letters = word.chars();
    let initial =
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_none() && word != "I";
    let word = word.to_lowercase();
    let digit_next = rest
        .trim_start()
        .starts_with(|letter: char| letter.is_ascii_digit());
    initial
        || ABBREVIATIONS.contains(&word.as_str())
        || digit_next && BEFORE_NUMBERS.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_with_terminators_and_closing_marks() {
        assert_eq!(
            sentences("It rains. “Why?” she asked. Look! (It stopped.) Then… Nothing"),
            [
                "It rains.",
                "“Why?” she asked.",
                "Look!",
                "(It stopped.)",
                "Then…",
                "Nothing"
            ]
        );
    }

    #[test]
    fn points_inside_numbers_names_and_abbreviations_end_no_sentence() {
        for text in [
            "It costs 3.50 at example.com today.",
            "Dr. A. B. Smith met Mr. Jones, e.g. in St. Louis.",
            "See no. 5 and fig. 3 on pp. 12 ff. of it.",
            "He asked … and went on.",
        ] {
            assert_eq!(sentences(text), [text]);
        }
    }

    #[test]
    fn short_words_still_end_sentences() {
        assert_eq!(
            sentences("Is it? No. It is I. Yes."),
            ["Is it?", "No.", "It is I.", "Yes."]
        );
    }

    #[test]
    fn paragraphs_lists_and_headings_end_sentences() {
        assert_eq!(
            sentences("# Title\n\nA wrapped\nline\n- one\n* two\n3. three\n| a |\r\n\r\nend"),
            [
                "# Title",
                "A wrapped\nline",
                "- one",
                "* two",
                "3. three",
                "| a |",
                "end"
            ]
        );
    }

    #[test]
    fn wide_terminators_need_no_space() {
        assert_eq!(
            sentences("今日は雨です。「本当？」はい！"),
            ["今日は雨です。", "「本当？」", "はい！"]
        );
    }

    #[test]
    fn a_megabyte_of_points_is_read_once() {
        for unit in [". ", "! ", ".\u{a0}", "Mr. ", "…\n", ".) ", ". a "] {
            let text = unit.repeat((1 << 20) / unit.len());
            let letters = |text: &str| text.split_whitespace().map(str::len).sum::<usize>();
            assert_eq!(
                letters(&sentences(&text).concat()),
                letters(&text),
                "{unit}"
            );
        }
    }

    #[test]
    fn other_scripts_are_cut_between_characters() {
        assert_eq!(
            sentences("Schön. Übel! Это дом. И сад."),
            ["Schön.", "Übel!", "Это дом.", "И сад."]
        );
        assert!(sentences("").is_empty());
        assert!(sentences(" \n\n ").is_empty());
        assert_eq!(sentences("..."), ["..."]);
    }
}
