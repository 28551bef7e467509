//! One line of a journal: a JSON object whose first field checks the rest of the line.
//!
//! ```text
//! {"crc32":"89abcdef","journal":{"version":1,"identity":{…}}}
//! {"crc32":"01234567","elapsed_seconds":1.5,"case":{…}}
//! ```
//!
//! The check covers the bytes from after its comma to the end of the line. A reader checks those bytes as they are in the
//! file, because a value that is read and written again need not have the same bytes.

use std::time::Duration;

use crc32fast::hash as crc32;
use serde::{Deserialize, Serialize};

use crate::{CaseId, CaseReport, Domain};

/// The version of the journal's format that this build writes and reads.
pub(super) const VERSION: u32 = 1;

/// The start of every line.
pub(super) const START: &[u8] = br#"{"crc32":""#;

const DIGITS: usize = 8;
const END_OF_CHECK: &[u8] = br#"","#;

/// How many bytes of a line stand before those that its check covers.
pub(super) const CHECKED_FROM: usize = START.len() + DIGITS + END_OF_CHECK.len();

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HeaderLine<I> {
    pub(super) journal: Header<I>,
}

/// The identity of the journal's run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header<I> {
    pub(super) version: u32,
    pub(super) identity: I,
}

/// A finished case to write.
#[derive(Debug, Serialize)]
#[serde(bound = "")]
pub(super) struct WrittenEntry<'a, D: Domain> {
    #[serde(
        rename = "elapsed_seconds",
        serialize_with = "crate::json::seconds::serialize"
    )]
    pub(super) elapsed: Duration,
    pub(super) case: &'a CaseReport<D>,
}

/// The part of an entry that counting needs.
#[derive(Debug, Deserialize)]
pub(super) struct CountedEntry {
    pub(super) case: CountedCase,
}

/// The part of a case that [`CountedEntry`] reads.
#[derive(Debug, Deserialize)]
pub(super) struct CountedCase {
    pub(super) id: CaseId,
    pub(super) repeat: u32,
}

/// An object as a line with its check and a line feed.
pub(super) fn of(object: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = START.to_vec();
    let check = line.len();
    line.extend_from_slice(&[b'0'; DIGITS]);
    line.extend_from_slice(END_OF_CHECK);
    let checked = line.len();
    serde_json::to_writer(&mut line, object)?;
    // Removes the object's own brace: the line already begins with one, before the check.
    line.remove(checked);
    let digits = format!("{:08x}", crc32(&line[checked..]));
    line[check..check + DIGITS].copy_from_slice(digits.as_bytes());
    line.push(b'\n');
    Ok(line)
}

/// Reads a line without its line feed; `None` where it is damaged.
pub(super) fn read<T: for<'de> Deserialize<'de>>(line: &[u8]) -> Option<T> {
    let (digits, rest) = line.strip_prefix(START)?.split_at_checked(DIGITS)?;
    let checked = rest.strip_prefix(END_OF_CHECK)?;
    let intact = format!("{:08x}", crc32(checked)).as_bytes() == digits;
    intact.then(|| serde_json::from_slice(line).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn header() -> Vec<u8> {
        let journal = Header {
            version: VERSION,
            identity: json!({"seed": 7}),
        };
        of(&HeaderLine { journal }).unwrap()
    }

    /// The check value of CRC-32/ISO-HDLC in Greg Cook's catalogue; the others are from Python 3.11.7's `zlib.crc32`.
    #[test]
    fn known_remainders() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"\0"), 0xD202_EF8D);
        assert_eq!(crc32(&[0xFF; 4]), 0xFFFF_FFFF);
    }

    /// The check is Python 3.11.7's `zlib.crc32` of the bytes behind it.
    #[test]
    fn a_line_is_json_that_begins_with_its_check() {
        let expected =
            "{\"crc32\":\"8cdbaf7d\",\"journal\":{\"version\":1,\"identity\":{\"seed\":7}}}\n";
        assert_eq!(String::from_utf8(header()).unwrap(), expected);
    }

    #[test]
    fn no_changed_byte_and_no_shorter_line_passes_the_check() {
        let line = header();
        let line = line.strip_suffix(b"\n").unwrap();
        let read = |line: &[u8]| super::read::<HeaderLine<serde_json::Value>>(line);
        assert_eq!(read(line).unwrap().journal.identity["seed"], 7);
        for position in 0..line.len() {
            assert!(read(&line[..position]).is_none(), "{position} bytes");
            for bit in 0..8 {
                let mut damaged = line.to_vec();
                damaged[position] ^= 1 << bit;
                assert!(read(&damaged).is_none(), "bit {bit} of byte {position}");
            }
        }
    }
}
