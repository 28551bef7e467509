//! The checksum at the end of a written report.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom, Write};

use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The last member of a written report, up to the digits of its value.
const START: &str = r#""checksum": "sha256:"#;
/// Where the value begins. The digest covers every byte before it.
const VALUE: usize = r#""checksum": "#.len();
const DIGITS: usize = 64;
/// The end of the file.
const END: &str = "\"\n}\n";

/// What the checksum of a written report says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportCheck {
    /// Its bytes are those that were written.
    Sound,
    /// It was edited or damaged.
    Changed,
    /// It has no checksum, because an earlier version wrote it.
    Unchecked,
}

impl ReportCheck {
    /// Checks a report that [`render::json::report`](crate::render::json::report) wrote. Reads all of it, and returns to its start.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn of(mut file: impl Read + Seek) -> io::Result<Self> {
        let size = (START.len() + DIGITS + END.len()) as u64;
        let length = file.seek(SeekFrom::End(0))?;
        let last = file.seek(SeekFrom::Start(length.saturating_sub(size)))?;
        let mut member = Vec::new();
        file.by_ref().take(size).read_to_end(&mut member)?;
        file.rewind()?;
        let member = String::from_utf8_lossy(&member);
        // A damaged byte leaves at least one of both.
        if !["checksum", "sha256:"].iter().any(|it| member.contains(it)) {
            return Ok(Self::Unchecked);
        }
        let digits = member.strip_prefix(START);
        let Some(digits) = digits.and_then(|rest| rest.strip_suffix(END)) else {
            return Ok(Self::Changed);
        };
        let digest = Digest::default();
        let mut before = file.by_ref().take(last + VALUE as u64);
        io::copy(&mut before, &mut digest.of(io::sink()))?;
        file.rewind()?;
        let is_same = digest.digits() == digits;
        Ok(if is_same { Self::Sound } else { Self::Changed })
    }
}

/// The digest of what was written so far.
#[derive(Debug, Default)]
pub(crate) struct Digest(RefCell<Sha256>);

impl Digest {
    /// A writer whose bytes are digested.
    pub(crate) fn of<W: Write>(&self, out: W) -> Digested<'_, W> {
        Digested { digest: self, out }
    }

    /// The digest in hexadecimal.
    fn digits(&self) -> String {
        hex::encode(self.0.borrow().clone().finalize())
    }
}

/// As the value of the last member, it is the checksum of all that is written before it.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("sha256:{}", self.digits()))
    }
}

/// Passes bytes on and digests them.
pub(crate) struct Digested<'d, W> {
    digest: &'d Digest,
    out: W,
}

impl<W: Write> Write for Digested<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.digest.0.borrow_mut().update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn written() -> Vec<u8> {
        #[derive(Serialize)]
        struct Document<'d> {
            score: f64,
            checksum: &'d Digest,
        }
        let digest = Digest::default();
        let mut bytes = Vec::new();
        let document = Document {
            score: 0.8187,
            checksum: &digest,
        };
        let mut out = digest.of(&mut bytes);
        serde_json::to_writer_pretty(&mut out, &document).unwrap();
        writeln!(out).unwrap();
        bytes
    }

    fn check(bytes: &[u8]) -> ReportCheck {
        ReportCheck::of(Cursor::new(bytes)).unwrap()
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let sound = written();
        assert_eq!(check(&sound), ReportCheck::Sound);
        for place in 0..sound.len() {
            for bit in 0..8 {
                let mut damaged = sound.clone();
                damaged[place] ^= 1 << bit;
                assert_eq!(check(&damaged), ReportCheck::Changed, "{place} {bit}");
            }
            assert_ne!(check(&sound[..place]), ReportCheck::Sound, "{place}");
        }
    }

    #[test]
    fn a_report_of_an_earlier_version_has_none() {
        for text in ["", "{", "{\n  \"score\": 0.8187\n}\n"] {
            assert_eq!(check(text.as_bytes()), ReportCheck::Unchecked, "{text}");
        }
    }

    #[test]
    fn the_file_is_read_from_its_start_afterwards() {
        let sound = written();
        let mut file = Cursor::new(sound.clone());
        ReportCheck::of(&mut file).unwrap();
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        assert_eq!(read, sound);
    }
}
