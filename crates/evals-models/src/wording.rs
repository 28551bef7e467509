//! Phrases that messages about models share.

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
