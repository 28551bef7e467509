//! A key, decoded from the bytes that a terminal sends for it.

use anyhow::Result;

use crate::interruption::Interrupted;

/// The longest text that may be pasted, in bytes. The rest is dropped.
const LONGEST_PASTE: usize = 1 << 20;
/// What a terminal sends at the end of a pasted text.
const PASTED: &[u8] = b"\x1b[201~";
/// The longest sequence of a function key that is read, in bytes.
const LONGEST_SEQUENCE: usize = 16;

/// A key, or a text that was pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Character(char),
    Enter,
    Escape,
    Backspace,
    /// Ctrl-U: erase what was typed.
    Erase,
    Left,
    Right,
    Pasted(String),
}

impl Key {
    /// The key that begins with the byte `first`; `None` for a key without a meaning here. `next` returns the following byte, or `None`
    /// if none came for a while. Fails with [`Interrupted`] on Ctrl-C and Ctrl-D.
    pub(super) fn decode(
        first: u8,
        next: &mut impl FnMut() -> Result<Option<u8>>,
    ) -> Result<Option<Self>> {
        Ok(match first {
            3 | 4 => return Err(Interrupted.into()),
            b'\r' | b'\n' => Some(Self::Enter),
            8 | 0x7f => Some(Self::Backspace),
            0x15 => Some(Self::Erase),
            0x1b => Self::escaped(next)?,
            first if first < b' ' => None,
            first => Self::character(first, next)?,
        })
    }

    fn character(first: u8, next: &mut impl FnMut() -> Result<Option<u8>>) -> Result<Option<Self>> {
        let length = match first {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        let mut bytes = vec![first];
        while bytes.len() < length {
            let Some(byte) = next()? else {
                return Ok(None);
            };
            bytes.push(byte);
        }
        let text = str::from_utf8(&bytes).ok();
        Ok(text
            .and_then(|text| text.chars().next())
            .map(Self::Character))
    }

    /// The key after an escape character, which is the key Escape if nothing follows.
    fn escaped(next: &mut impl FnMut() -> Result<Option<u8>>) -> Result<Option<Self>> {
        match next()? {
            None => return Ok(Some(Self::Escape)),
            Some(b'[' | b'O') => {}
            // Alt with another key.
            Some(_) => return Ok(None),
        }
        let mut sequence = Vec::new();
        while let Some(byte) = next()? {
            sequence.push(byte);
            if (0x40..=0x7e).contains(&byte) || sequence.len() == LONGEST_SEQUENCE {
                break;
            }
        }
        Ok(match &*sequence {
            b"D" => Some(Self::Left),
            b"C" => Some(Self::Right),
            b"200~" => Some(Self::Pasted(pasted(next)?)),
            _ => None,
        })
    }
}

/// A pasted text up to its end, or up to a pause.
fn pasted(next: &mut impl FnMut() -> Result<Option<u8>>) -> Result<String> {
    let mut bytes = Vec::new();
    while let Some(byte) = next()? {
        bytes.push(byte);
        if bytes.ends_with(PASTED) {
            bytes.truncate(bytes.len() - PASTED.len());
            break;
        }
        if bytes.len() == LONGEST_PASTE + PASTED.len() {
            bytes.remove(LONGEST_PASTE);
        }
    }
    Ok(String::from_utf8_lossy(&bytes).replace('\r', "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of bytes that come at once.
    fn keys(bytes: &[u8]) -> Vec<Option<Key>> {
        let mut rest = bytes.iter().copied();
        let mut keys = Vec::new();
        while let Some(first) = rest.next() {
            keys.push(Key::decode(first, &mut || Ok(rest.next())).unwrap());
        }
        keys
    }

    #[test]
    fn bytes_are_keys() {
        let typed = keys("1é東😀\r\u{7f}\u{15}".as_bytes());
        let characters = ['1', 'é', '東', '😀'].map(|it| Some(Key::Character(it)));
        assert_eq!(typed[..4], characters);
        let others = [Key::Enter, Key::Backspace, Key::Erase].map(Some);
        assert_eq!(typed[4..], others);
        assert_eq!(keys(b"\x1b"), [Some(Key::Escape)]);
        assert_eq!(keys(b"\x1b[D\x1bOC"), [Some(Key::Left), Some(Key::Right)]);
    }

    #[test]
    fn keys_without_a_meaning_are_not_taken_for_others() {
        // F5, Delete, Alt-1, Ctrl-A, half a character.
        for bytes in [&b"\x1b[15~"[..], b"\x1b[3~", b"\x1b1", b"\x01", b"\xe6\x9d"] {
            assert_eq!(keys(bytes), [None], "{bytes:?}");
        }
    }

    #[test]
    fn the_lines_of_a_pasted_text_are_no_keys() {
        let pasted = keys(b"\x1b[200~one\r1\r2\x1b[201~1");
        let text = Key::Pasted("one\n1\n2".to_owned());
        assert_eq!(pasted, [Some(text), Some(Key::Character('1'))]);
    }

    #[test]
    fn ctrl_c_and_ctrl_d_interrupt() {
        for byte in [3, 4] {
            let error = Key::decode(byte, &mut || Ok(None)).unwrap_err();
            assert!(error.is::<Interrupted>());
        }
    }
}
