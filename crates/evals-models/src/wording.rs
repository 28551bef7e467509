//! Phrases that messages about models share.

/// A number with its noun: `1 text`, `2 texts`. The noun takes an `s` in the plural.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The first words of a text on one line, by which a message names it: at most 60 bytes, then `…`.
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

/// The note of an embedder that truncated `cut` texts, if it truncated any.
pub fn cut_note(cut: u64) -> Option<String> {
    match cut {
        0 => None,
        1 => Some("1 text is longer than the model reads; its end was left out".to_owned()),
        cut => Some(format!(
            "{cut} texts are longer than the model reads; their ends were left out"
        )),
    }
}

/// The note of a reranker that truncated `cut` pairs of question and text, if it truncated any.
pub fn cut_pairs_note(cut: u64) -> Option<String> {
    match cut {
        0 => None,
        1 => Some("1 pair is longer than the model reads; its end was left out".to_owned()),
        cut => Some(format!(
            "{cut} pairs are longer than the model reads; their ends were left out"
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
