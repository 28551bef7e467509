//! What the terminal shows. Control characters of answers are visible escapes, so that no answer steers the terminal.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use console::{Style, Term, measure_text_width};
use evals_messages::visible;

use crate::annotations::JudgedAnswer;

/// The longest text that is shown at first, in characters.
const SHOWN: usize = 5_000;

/// Writes texts to stdout, which is a terminal.
pub(super) struct Screen {
    heading: Style,
}

impl Screen {
    pub(super) fn new(is_colored: bool) -> Self {
        Self {
            heading: Style::new().bold().force_styling(is_colored),
        }
    }

    fn width() -> usize {
        usize::from(Term::stdout().size().1).max(10)
    }

    /// Prints a text of this program, broken at spaces.
    pub(super) fn print(text: &str) -> io::Result<()> {
        Self::write(&wrapped(text, Self::width()))
    }

    /// Prints keys with their meanings, none of them broken across lines.
    pub(super) fn keys(keys: &[&str]) -> io::Result<()> {
        Self::write(&format!("{}\n", listed(keys, Self::width())))
    }

    /// Replaces the line of the cursor with the end of a text that fits beside its prompt.
    pub(super) fn line(prompt: &str, text: &str) -> io::Result<()> {
        let text = visible::line(text);
        let room = Self::width().saturating_sub(prompt.len() + 1);
        let mut start = text.len();
        for (place, _) in text.char_indices().rev() {
            if measure_text_width(&text[place..]) > room {
                break;
            }
            start = place;
        }
        Self::write(&format!("\r\x1b[K{prompt}{}", &text[start..]))
    }

    /// Prints an answer without what the judge said. Long texts are cut unless `is_whole`. Returns whether one was cut.
    pub(super) fn answer(
        &self,
        place: &str,
        answer: &JudgedAnswer,
        is_whole: bool,
    ) -> io::Result<bool> {
        let mut page = format!("\n{}\n", self.heading.apply_to(visible::line(place)));
        _ = writeln!(page, "{}", visible::text(&answer.criterion));
        let mut is_cut = false;
        let parts = [
            ("Question", Some(&answer.question)),
            ("Reference", answer.reference.as_ref()),
            ("Answer", Some(&answer.answer)),
        ];
        for (title, text) in parts {
            if let Some(text) = text {
                is_cut |= self.part(&mut page, title, text, is_whole);
            }
        }
        Self::write(&wrapped(&page, Self::width()))?;
        Ok(is_cut)
    }

    /// Prints the passages that the answer was written from, numbered as the answer cites them.
    pub(super) fn passages(&self, answer: &JudgedAnswer, is_whole: bool) -> io::Result<bool> {
        let mut page = String::new();
        let mut is_cut = false;
        for (passage, number) in answer.passages.iter().zip(1..) {
            let title = format!("[{number}] {}", visible::line(&passage.document));
            is_cut |= self.part(&mut page, &title, &passage.text, is_whole);
        }
        Self::write(&wrapped(&page, Self::width()))?;
        Ok(is_cut)
    }

    fn part(&self, page: &mut String, title: &str, text: &str, is_whole: bool) -> bool {
        _ = writeln!(page, "\n{}", self.heading.apply_to(title));
        let end = text.char_indices().nth(SHOWN).map(|(end, _)| end);
        let end = end.filter(|_| !is_whole);
        let shown = visible::text(&text[..end.unwrap_or(text.len())]).replace('\t', "    ");
        _ = writeln!(page, "{shown}");
        if let Some(end) = end {
            let rest = text[end..].chars().count();
            _ = writeln!(page, "({rest} more characters: press m)");
        }
        end.is_some()
    }

    fn write(text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// A text whose lines fit into a width. Lines break at spaces; the terminal breaks a word that is wider.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            lines.push('\n');
        }
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            let columns = measure_text_width(word.trim_end_matches(' '));
            if used > 0 && used + columns > width {
                // A space behind the last column would begin another line.
                lines.truncate(lines.trim_end_matches(' ').len());
                lines.push('\n');
                used = 0;
            }
            lines.push_str(word);
            used += measure_text_width(word);
        }
    }
    lines
}

/// Texts beside each other, in as many lines as they need.
fn listed(texts: &[&str], width: usize) -> String {
    let mut list = String::new();
    let mut used = 0;
    for text in texts {
        if used > 0 && used + 2 + text.len() > width {
            list.push('\n');
            used = 0;
        } else if used > 0 {
            list.push_str("  ");
            used += 2;
        }
        list.push_str(text);
        used += text.len();
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_beside_their_meanings() {
        let keys = ["1 pass", "2 fail", "q quit"];
        assert_eq!(listed(&keys, 80), "1 pass  2 fail  q quit");
        assert_eq!(listed(&keys, 14), "1 pass  2 fail\nq quit");
        assert_eq!(listed(&keys, 5), "1 pass\n2 fail\nq quit");
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_stay_whole() {
        assert_eq!(wrapped("one two three\nfour", 8), "one two\nthree\nfour");
        assert_eq!(wrapped("a abcdefghij b", 4), "a\nabcdefghij\nb");
        assert_eq!(wrapped("  kept\n\n", 10), "  kept\n\n");
        assert_eq!(
            wrapped("東京 東京", 5),
            "東京\n東京",
            "each character takes two columns"
        );
    }
}
