//! Phrases that messages about models share.

/// A number with its noun: `1 text`, `2 texts`. The plural of the noun ends in `s`.
///
/// ```
/// use evals_models::wording::counted;
///
/// assert_eq!(counted(1, "text"), "1 text");
/// assert_eq!(counted(2, "text"), "2 texts");
/// ```
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The first words of a text on one line, by which a message names it: at most 60 bytes, then `…`.
///
/// ```
/// use evals_models::wording::beginning;
///
/// assert_eq!(beginning("two\nlines"), "two lines");
/// assert_eq!(beginning(&"word ".repeat(20)), format!("{}…", "word ".repeat(12)));
/// ```
pub fn beginning(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut words = text.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_owned();
    for word in words {
        if line.len() > LONGEST {
            break;
        }
        line.push(' ');
        line.push_str(word);
    }
    if line.len() > LONGEST {
        line.truncate(line.floor_char_boundary(LONGEST));
        line.push('…');
    }
    line
}

/// A note for a report, if a model truncated any texts. `noun` is what it reads: `text`, or `pair` of query and text.
///
/// ```
/// use evals_models::wording::truncation_note;
///
/// assert_eq!(truncation_note(0, "text"), None);
/// assert_eq!(truncation_note(1, "pair").unwrap(), "1 pair is longer than the model reads and was truncated");
/// assert_eq!(truncation_note(2, "text").unwrap(), "2 texts are longer than the model reads and were truncated");
/// ```
pub fn truncation_note(truncated: u64, noun: &str) -> Option<String> {
    match truncated {
        0 => None,
        1 => Some(format!(
            "1 {noun} is longer than the model reads and was truncated"
        )),
        several => Some(format!(
            "{several} {noun}s are longer than the model reads and were truncated"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn only_one_is_singular() {
        let texts = [0, 1, 2].map(|count| counted(count, "text"));
        assert_eq!(texts, ["0 texts", "1 text", "2 texts"]);
    }
}
