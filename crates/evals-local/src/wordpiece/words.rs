//! The words of a text, normalised.

use std::ops::Range;

use unicode_normalization::char::decompose_canonical;

use super::character::CharacterClass;

/// A normalised word, which is looked up in the vocabulary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// Lower-case UTF-8 without accents.
    pub(super) normalized: &'a [u8],
    /// Its place in the text: from the first to the last byte that contributed to `normalized`.
    pub(super) source: Range<usize>,
}

/// Calls `visit` with each word of `text` in order.
///
/// Normalisation is that of BERT's uncased models: control characters are dropped, Chinese characters and punctuation stand alone,
/// the rest is decomposed (NFD), stripped of marks and set in lower case.
pub(super) fn for_each_word(text: &str, mut visit: impl FnMut(&Word<'_>)) {
    let mut open = OpenWord::default();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        if byte.is_ascii() {
            at += 1;
            match CharacterClass::of(char::from(byte)) {
                CharacterClass::Text => open.push(&[byte.to_ascii_lowercase()], start..at),
                CharacterClass::Space => open.close(&mut visit),
                CharacterClass::Dropped | CharacterClass::Mark => {}
                CharacterClass::Punctuation | CharacterClass::Ideograph => {
                    open.close(&mut visit);
                    visit(&Word {
                        normalized: &[byte],
                        source: start..at,
                    });
                }
            }
        } else if let Some(character) = text[at..].chars().next() {
            at += character.len_utf8();
            open.push_unicode(character, &(start..at), &mut visit);
        }
    }
    open.close(&mut visit);
}

/// The bytes of `text` behind each byte of `word.normalized`.
pub(super) fn origins(text: &str, word: &Word<'_>) -> Vec<Range<usize>> {
    let mut origins = Vec::with_capacity(word.normalized.len());
    for (offset, character) in text[word.source.clone()].char_indices() {
        let start = word.source.start + offset;
        let origin = start..start + character.len_utf8();
        if CharacterClass::of(character) != CharacterClass::Dropped {
            normalize(character, |normal| {
                origins.extend((0..normal.len_utf8()).map(|_| origin.clone()));
            });
        }
    }
    origins
}

/// Decomposes, strips marks and lowers one character that is neither blank nor dropped.
fn normalize(character: char, mut push: impl FnMut(char)) {
    decompose_canonical(character, |part| {
        if CharacterClass::of(part) != CharacterClass::Mark {
            part.to_lowercase().for_each(&mut push);
        }
    });
}

/// The word that is being read.
#[derive(Debug, Default)]
struct OpenWord {
    normalized: Vec<u8>,
    source: Range<usize>,
}

impl OpenWord {
    fn push(&mut self, normalized: &[u8], source: Range<usize>) {
        if self.normalized.is_empty() {
            self.source.start = source.start;
        }
        self.normalized.extend_from_slice(normalized);
        self.source.end = source.end;
    }

    fn push_unicode(
        &mut self,
        character: char,
        source: &Range<usize>,
        visit: &mut impl FnMut(&Word<'_>),
    ) {
        let class = CharacterClass::of(character);
        match class {
            CharacterClass::Space => return self.close(visit),
            CharacterClass::Dropped => return,
            CharacterClass::Ideograph => self.close(visit),
            CharacterClass::Text | CharacterClass::Mark | CharacterClass::Punctuation => {}
        }
        normalize(character, |part| {
            let mut buffer = [0; 4];
            let normalized = part.encode_utf8(&mut buffer).as_bytes();
            if CharacterClass::of(part) == CharacterClass::Punctuation {
                self.close(visit);
                visit(&Word {
                    normalized,
                    source: source.clone(),
                });
            } else {
                self.push(normalized, source.clone());
            }
        });
        if class == CharacterClass::Ideograph {
            self.close(visit);
        }
    }

    fn close(&mut self, visit: &mut impl FnMut(&Word<'_>)) {
        if !self.normalized.is_empty() {
            visit(&Word {
                normalized: &self.normalized,
                source: self.source.clone(),
            });
            self.normalized.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, &str)> {
        let mut words = Vec::new();
        for_each_word(text, |word| {
            words.push((
                String::from_utf8(word.normalized.to_vec()).unwrap(),
                &text[word.source.clone()],
            ));
        });
        words
    }

    fn word<'a>(normalized: &str, source: &'a str) -> (String, &'a str) {
        (normalized.to_owned(), source)
    }

    #[test]
    fn punctuation_stands_alone() {
        let expected = ["don", "'", "t", "stop", ".", ".", ".", "now"];
        assert_eq!(
            words("Don't STOP...now")
                .into_iter()
                .map(|(word, _)| word)
                .collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn accents_go_and_sources_stay() {
        assert_eq!(
            words("Café Ünï"),
            [word("cafe", "Café"), word("uni", "Ünï")]
        );
        assert_eq!(words("cafe\u{301}s"), [word("cafes", "cafe\u{301}s")]);
        assert_eq!(words("İstanbul"), [word("istanbul", "İstanbul")]);
    }

    #[test]
    fn chinese_characters_are_words() {
        assert_eq!(
            words("a中文b"),
            [
                word("a", "a"),
                word("中", "中"),
                word("文", "文"),
                word("b", "b")
            ]
        );
    }

    #[test]
    fn dropped_characters_do_not_end_a_word() {
        assert_eq!(
            words("\u{FEFF}zero\u{200B}width\0"),
            [word("zerowidth", "zero\u{200B}width")]
        );
    }

    #[test]
    fn a_character_that_becomes_punctuation_is_punctuation() {
        assert_eq!(
            words("a\u{37E}b"),
            [word("a", "a"), word(";", "\u{37E}"), word("b", "b")]
        );
    }

    #[test]
    fn origins_point_at_the_source_of_each_byte() {
        let text = "x é\u{200B}t한";
        let mut found = Vec::new();
        for_each_word(text, |word| found.push(origins(text, word)));
        let hangul = 8..11;
        assert_eq!(found[0], vec![0..1]);
        assert_eq!(found[1][..2], [2..4, 7..8]);
        assert_eq!(
            found[1][2..],
            vec![hangul; 9],
            "one syllable decomposes into three letters of three bytes"
        );
    }

    #[test]
    fn nothing_but_blanks_and_controls_has_no_words() {
        assert_eq!(words(" \t\r\n\u{200B}\u{301}"), []);
        assert_eq!(words(""), []);
    }
}
