//! The file format of a static model. All numbers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `EVSTATIC` |
//! | 4 | version of the layout: 1 |
//! | 4 | tokens *n* |
//! | 4 | dimension *d* |
//! | 4 | length of the vocabulary *v* |
//! | 32 | SHA-256 of everything that follows |
//! | *v* | vocabulary: one token a line, UTF-8 |
//! | 4 *n* | scale of each token's vector, `f32` |
//! | *n d* | vectors, `i8`, token after token; times the scale they are the token's part in a sum |

use std::fmt;

use sha2::{Digest, Sha256};
use thiserror::Error;

const MAGIC: &[u8; 8] = b"EVSTATIC";
const VERSION: u32 = 1;

/// Why bytes are not a static model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AssetError {
    /// The first bytes are not those of a static model.
    #[error("not a static model: it does not begin with `EVSTATIC`")]
    Magic,
    /// The file has another version of the layout.
    #[error("static model has layout {found}, but this version reads layout {VERSION}")]
    Version {
        /// Version in the file.
        found: u32,
    },
    /// The file is shorter or longer than its header says.
    #[error("static model has {found} bytes, but its header states {expected}")]
    Length {
        /// Bytes that the header announces.
        expected: u64,
        /// Bytes in the file.
        found: usize,
    },
    /// The header announces no vector at all.
    #[error("static model has {tokens} tokens of {dimension} dimensions")]
    Empty {
        /// Tokens in the header.
        tokens: u32,
        /// Dimension in the header.
        dimension: u32,
    },
    /// The content is not what was written.
    #[error("static model is damaged: its SHA-256 is not the one in its header")]
    Digest,
    /// A vector would be infinite or no number.
    #[error("scale of token {token} of the static model is not a finite number")]
    Scale {
        /// The token's number, from 0.
        token: usize,
    },
    /// The vocabulary is not text.
    #[error("vocabulary of the static model is not UTF-8")]
    Vocabulary(#[source] std::str::Utf8Error),
}

/// A static model's parts, borrowed from the file.
pub(super) struct Asset {
    pub(super) dimension: usize,
    /// SHA-256 of all that follows the header, as hexadecimal digits.
    pub(super) digest: String,
    pub(super) vocabulary: &'static str,
    pub(super) scales: Vec<f32>,
    /// `i8` as bytes, one row of `dimension` for each token.
    pub(super) rows: &'static [u8],
}

impl Asset {
    /// Takes the file apart and checks it.
    pub(super) fn parse(bytes: &'static [u8]) -> Result<Self, AssetError> {
        let mut rest = Reader {
            bytes,
            total: bytes.len(),
        };
        if rest.take(MAGIC.len()).ok() != Some(MAGIC) {
            return Err(AssetError::Magic);
        }
        let version = rest.number()?;
        if version != VERSION {
            return Err(AssetError::Version { found: version });
        }
        let (tokens, dimension, vocabulary) = (rest.number()?, rest.number()?, rest.number()?);
        let stated = rest.take(32)?;
        if tokens == 0 || dimension == 0 {
            return Err(AssetError::Empty { tokens, dimension });
        }
        rest.expect_left(u64::from(vocabulary) + u64::from(tokens) * (4 + u64::from(dimension)))?;
        let digest = Sha256::digest(rest.bytes);
        if digest.as_slice() != stated {
            return Err(AssetError::Digest);
        }
        let vocabulary =
            std::str::from_utf8(rest.take(vocabulary as usize)?).map_err(AssetError::Vocabulary)?;
        let scales: Vec<f32> = rest
            .take(4 * tokens as usize)?
            .as_chunks()
            .0
            .iter()
            .map(|scale| f32::from_le_bytes(*scale))
            .collect();
        if let Some(token) = scales.iter().position(|scale| !scale.is_finite()) {
            return Err(AssetError::Scale { token });
        }
        Ok(Self {
            dimension: dimension as usize,
            digest: hex::encode(digest),
            vocabulary,
            scales,
            rows: rest.bytes,
        })
    }

    /// The first `dimension` values of a token's vector.
    pub(super) fn row(&self, token: u32, dimension: usize) -> &[u8] {
        let start = token as usize * self.dimension;
        &self.rows[start..start + dimension]
    }
}

impl fmt::Debug for Asset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = formatter.debug_struct("Asset");
        parts
            .field("dimension", &self.dimension)
            .field("tokens", &self.scales.len())
            .field("digest", &self.digest);
        parts.finish_non_exhaustive()
    }
}

/// The unread part of a file of `total` bytes.
struct Reader {
    bytes: &'static [u8],
    total: usize,
}

impl Reader {
    fn take(&mut self, length: usize) -> Result<&'static [u8], AssetError> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(length)
            .ok_or(AssetError::Length {
                expected: (self.total - self.bytes.len() + length) as u64,
                found: self.total,
            })?;
        self.bytes = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, AssetError> {
        let bytes = self.take(4)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn expect_left(&self, expected: u64) -> Result<(), AssetError> {
        if self.bytes.len() as u64 == expected {
            return Ok(());
        }
        let header = (self.total - self.bytes.len()) as u64;
        Err(AssetError::Length {
            expected: header + expected,
            found: self.total,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: std::ops::RangeFrom<usize> = 56..;

    /// Two tokens of three dimensions.
    fn file() -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        for number in [VERSION, 2, 3, 8] {
            file.extend(number.to_le_bytes());
        }
        file.extend([0; 32]);
        file.extend(b"[UNK]\nab");
        file.extend(0.5_f32.to_le_bytes());
        file.extend(2.0_f32.to_le_bytes());
        file.extend([1, 2, 3, 0xFF, 0x80, 0x7F]);
        sealed(file)
    }

    /// The file with the digest that its content has.
    fn sealed(mut file: Vec<u8>) -> Vec<u8> {
        let digest = Sha256::digest(&file[BODY]);
        file[24..56].copy_from_slice(&digest);
        file
    }

    fn refused(file: Vec<u8>) -> String {
        Asset::parse(file.leak()).unwrap_err().to_string()
    }

    #[test]
    fn parts_are_found() {
        let asset = Asset::parse(file().leak()).unwrap();
        assert_eq!((asset.dimension, asset.vocabulary), (3, "[UNK]\nab"));
        assert_eq!(asset.scales, [0.5, 2.0]);
        // Python 3.11: hashlib.sha256(b"[UNK]\nab" + struct.pack("<2f6B", .5, 2, 1, 2, 3, 255, 128, 127)).hexdigest()
        assert_eq!(
            asset.digest,
            "f8c530cb8c0a6f5d9f998715008b751a3b8c5122436c1f91d2cede2b911708d2"
        );
        assert_eq!(asset.row(1, 3), [0xFF, 0x80, 0x7F]);
        assert_eq!(asset.row(1, 2), [0xFF, 0x80]);
    }

    #[test]
    fn broken_files_are_refused() {
        assert_eq!(
            refused(b"EVST".to_vec()),
            "not a static model: it does not begin with `EVSTATIC`"
        );
        assert_eq!(
            refused(file()[..10].to_vec()),
            "static model has 10 bytes, but its header states 12"
        );
        let cut = file().len() - 1;
        assert_eq!(
            refused(file()[..cut].to_vec()),
            "static model has 77 bytes, but its header states 78"
        );
        assert_eq!(
            refused([file(), vec![0]].concat()),
            "static model has 79 bytes, but its header states 78"
        );

        let mut version = file();
        version[8] = 9;
        assert_eq!(
            refused(version),
            "static model has layout 9, but this version reads layout 1"
        );
        let mut flat = file();
        flat[16] = 0;
        assert_eq!(refused(flat), "static model has 2 tokens of 0 dimensions");
        let mut vocabulary = file();
        vocabulary[57] = 0xFF;
        assert_eq!(
            refused(sealed(vocabulary)),
            "vocabulary of the static model is not UTF-8"
        );
    }

    #[test]
    fn a_changed_bit_is_noticed() {
        for at in [30, 56, file().len() - 1] {
            let mut damaged = file();
            damaged[at] ^= 1;
            assert_eq!(
                refused(damaged),
                "static model is damaged: its SHA-256 is not the one in its header"
            );
        }
    }

    #[test]
    fn scales_are_finite() {
        for scale in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut file = file();
            file[68..72].copy_from_slice(&scale.to_le_bytes());
            assert_eq!(
                refused(sealed(file)),
                "scale of token 1 of the static model is not a finite number"
            );
        }
    }
}
