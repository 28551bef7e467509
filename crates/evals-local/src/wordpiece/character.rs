//! The class of a character, looked up in the ranges.

use super::character_ranges::{CharacterClass, RANGES};

/// Classes of the ASCII characters, which are most of most texts.
const ASCII: [CharacterClass; 128] = ascii_classes();

impl CharacterClass {
    pub(super) fn of_ascii(byte: u8) -> Self {
        ASCII[usize::from(byte)]
    }

    pub(super) fn of(character: char) -> Self {
        let code = u32::from(character);
        let after = RANGES.partition_point(|&(first, _, _)| first <= code);
        match after.checked_sub(1).map(|index| RANGES[index]) {
            Some((_, last, class)) if code <= last => class,
            _ => Self::Text,
        }
    }
}

const fn ascii_classes() -> [CharacterClass; 128] {
    let mut classes = [CharacterClass::Text; 128];
    let mut index = 0;
    while index < RANGES.len() {
        let (first, last, class) = RANGES[index];
        let mut code = first;
        while code <= last && code < 128 {
            classes[code as usize] = class;
            code += 1;
        }
        index += 1;
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::CharacterClass::{Dropped, Ideograph, Mark, Punctuation, Space, Text};
    use super::*;

    #[test]
    fn classes_of_familiar_characters() {
        let expected = [
            ('a', Text),
            ('7', Text),
            ('é', Text),
            ('ß', Text),
            ('か', Text),
            ('한', Text),
            ('€', Text),
            ('😀', Text),
            (' ', Space),
            ('\n', Space),
            ('\u{A0}', Space),
            ('\u{3000}', Space),
            ('-', Punctuation),
            ('$', Punctuation),
            ('~', Punctuation),
            ('。', Punctuation),
            ('“', Punctuation),
            ('中', Ideograph),
            ('\u{F900}', Ideograph),
            ('\u{20000}', Ideograph),
            ('\u{301}', Mark),
            ('\u{FE0F}', Mark),
            ('\0', Dropped),
            ('\u{7F}', Dropped),
            ('\u{200B}', Dropped),
            ('\u{FFFD}', Dropped),
            ('\u{10FFFD}', Dropped),
        ];
        for (character, class) in expected {
            assert_eq!(CharacterClass::of(character), class, "{character:?}");
        }
    }

    #[test]
    fn ranges_ascend_without_overlap() {
        assert!(RANGES.iter().all(|(first, last, _)| first <= last));
        assert!(RANGES.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn both_lookups_agree_on_ascii() {
        for byte in 0..128 {
            assert_eq!(
                CharacterClass::of_ascii(byte),
                CharacterClass::of(char::from(byte)),
                "{byte:#x}"
            );
        }
    }
}
