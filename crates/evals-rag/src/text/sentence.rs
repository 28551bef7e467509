/// Abbreviations after which a point does not end a sentence, in lower case and without their last point.
const ABBREVIATIONS: [&str; 24] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "e.g", "i.e", "cf", "approx", "ca",
    "gen", "col", "capt", "lt", "sgt", "rev", "hon", "gov", "sen", "u.s",
];

/// Those after which it ends none where a digit follows.
const BEFORE_NUMBERS: [&str; 8] = ["no", "nos", "p", "pp", "fig", "figs", "vol", "ch"];

/// The sentences of a text in their order, trimmed, none of them empty.
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
    for (at, letter) in text.char_indices() {
        if at >= start
            && let Some(end) = end(text, start, at, letter)
        {
            found.push(&text[start..end]);
            start = end;
        }
    }
    found.push(&text[start..]);
    let found = found.into_iter().map(str::trim);
    found.filter(|sentence| !sentence.is_empty()).collect()
}

/// Where the sentence from `start` ends, if the letter at `at` ends it.
fn end(text: &str, start: usize, at: usize, letter: char) -> Option<usize> {
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
            (goes_on_elsewhere(rest) && !abbreviates()).then_some(closed)
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

/// Whether `rest` is empty, or a blank and something that can begin a sentence.
fn goes_on_elsewhere(rest: &str) -> bool {
    let trimmed = rest.trim_start();
    if trimmed.is_empty() || trimmed.len() == rest.len() {
        return trimmed.is_empty();
    }
    let next = trimmed.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    !next.starts_with(char::is_lowercase)
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
    fn sentences_end_with_terminators_and_what_closes_them() {
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
    fn points_inside_numbers_names_and_abbreviations_end_nothing() {
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
    fn wide_terminators_need_no_blank() {
        assert_eq!(
            sentences("今日は雨です。「本当？」はい！"),
            ["今日は雨です。", "「本当？」", "はい！"]
        );
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
