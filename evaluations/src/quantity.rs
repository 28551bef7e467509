//! Numbers of things, as people write them.

use std::fmt::Display;

/// How many of what `noun` names there are, for nouns that take an `s` in the plural.
pub(crate) fn of<N: Copy + Display + PartialEq + From<bool>>(count: N, noun: &str) -> String {
    let one = N::from(true);
    let plural = if count == one { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_one_is_singular() {
        assert_eq!(super::of(0_u64, "document"), "0 documents");
        assert_eq!(super::of(1_usize, "document"), "1 document");
        assert_eq!(super::of(2_u32, "document"), "2 documents");
    }
}
