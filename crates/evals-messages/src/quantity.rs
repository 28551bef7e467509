//! Counted things, as people write them: "1 reply", "2 replies".

use std::fmt::Display;

/// A count with its noun, which must have a regular plural.
pub fn of<N: Copy + Display + PartialEq + From<bool>>(count: N, noun: &str) -> String {
    if count == N::from(true) {
        format!("{count} {noun}")
    } else {
        format!("{count} {}", plural(noun))
    }
}

/// The plural of a regular noun.
pub fn plural(noun: &str) -> String {
    let before_y = noun.strip_suffix('y');
    match before_y.filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with("ch") || noun.ends_with(['s', 'x']) => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_one_is_singular() {
        assert_eq!(super::of(0_u64, "document"), "0 documents");
        assert_eq!(super::of(1_usize, "document"), "1 document");
        assert_eq!(super::of(2_u32, "document"), "2 documents");
    }

    #[test]
    fn the_end_of_a_noun_makes_its_plural() {
        let two = |noun| super::of(2_u32, noun);
        assert_eq!(
            ["reply", "key", "search", "index"].map(two),
            ["2 replies", "2 keys", "2 searches", "2 indexes"]
        );
    }
}
