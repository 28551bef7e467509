//! The classes of characters.

use std::sync::OnceLock;

use unicode_categories::UnicodeCategories;

/// The treatment of a character before the tokenizer looks for words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharacterClass {
    /// Part of a word.
    Text,
    /// Ends a word and is dropped.
    Space,
    /// A word of its own.
    Punctuation,
    /// A Chinese character. The tokenizer makes each one a word, because Chinese puts no spaces between words.
    Ideograph,
    /// An accent or another combining mark. It is dropped, and the word continues.
    Mark,
    /// A control, format, private-use or replacement character. It is dropped, and the word continues.
    Dropped,
}

/// How many characters a block of [`BLOCKS`] has.
const BLOCK: u32 = 256;

/// The classes of each block of characters, which are found out when the first character of the block is met.
static BLOCKS: [OnceLock<Box<[CharacterClass]>>; 0x11_0000 / BLOCK as usize] =
    [const { OnceLock::new() }; 0x11_0000 / BLOCK as usize];

impl CharacterClass {
    pub(super) fn of(character: char) -> Self {
        let code = u32::from(character);
        let block = BLOCKS[(code / BLOCK) as usize].get_or_init(|| classes(code / BLOCK * BLOCK));
        block[(code % BLOCK) as usize]
    }

    /// The class that BERT's normaliser and pre-tokenizer give a character in the reference implementation, `tokenizers`. It asks the
    /// same tables of Unicode, which are older than those of the standard library.
    fn in_reference(character: char) -> Self {
        match character {
            '\t' | '\n' | '\r' => Self::Space,
            '\0' | '\u{FFFD}' => Self::Dropped,
            _ if character.is_other() => Self::Dropped,
            _ if character.is_whitespace() => Self::Space,
            '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{2A6DF}'
            | '\u{2A700}'..='\u{2B81F}'
            | '\u{2B920}'..='\u{2CEAF}'
            | '\u{2F800}'..='\u{2FA1F}' => Self::Ideograph,
            _ if character.is_mark_nonspacing() => Self::Mark,
            _ if character.is_ascii_punctuation() || character.is_punctuation() => {
                Self::Punctuation
            }
            _ => Self::Text,
        }
    }
}

/// The classes of a block that begins with the character of this number.
fn classes(first: u32) -> Box<[CharacterClass]> {
    let characters = (first..first + BLOCK).map(char::from_u32);
    characters
        .map(|character| character.map_or(CharacterClass::Text, CharacterClass::in_reference))
        .collect()
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
}
