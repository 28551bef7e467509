//! Numbers of things in messages.

/// How many of what `noun` names there are, for nouns that take an `s`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
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
