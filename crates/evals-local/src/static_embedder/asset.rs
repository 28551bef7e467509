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

use super::StaticModelError;

const MAGIC: &[u8] = b"EVSTATIC";
const VERSION: u32 = 1;

/// Bytes before the vocabulary.
const HEADER: usize = 56;

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
    pub(super) fn parse(bytes: &'static [u8]) -> Result<Self, StaticModelError> {
        let damaged = |fault| Err(StaticModelError(fault));
        let Some((header, body)) = bytes.split_first_chunk::<HEADER>() else {
            return damaged("it is cut off");
        };
        if !header.starts_with(MAGIC) {
            return damaged("it does not begin with `EVSTATIC`");
        }
        let number = |at: usize| {
            let bytes = header[at..].first_chunk().expect("the header is longer");
            u32::from_le_bytes(*bytes)
        };
        let (version, tokens, dimension, vocabulary) =
            (number(8), number(12), number(16), number(20));
        if version != VERSION {
            return damaged("it has a different version of the layout");
        }
        if tokens == 0 || dimension == 0 {
            return damaged("it has no vectors");
        }
        let vectors = u64::from(tokens) * (4 + u64::from(dimension));
        if body.len() as u64 != u64::from(vocabulary) + vectors {
            return damaged("its length is not the one in its header");
        }
        let digest = Sha256::digest(body);
        if digest.as_slice() != &header[24..] {
            return damaged("its SHA-256 is not the one in its header");
        }
        let (vocabulary, vectors) = body.split_at(vocabulary as usize);
        let Ok(vocabulary) = std::str::from_utf8(vocabulary) else {
            return damaged("its vocabulary is not UTF-8");
        };
        let (scales, rows) = vectors.split_at(4 * tokens as usize);
        let (scales, _) = scales.as_chunks();
        let scales: Vec<f32> = scales.iter().copied().map(f32::from_le_bytes).collect();
        if !scales.iter().all(|scale| scale.is_finite()) {
            return damaged("a scale is not a finite number");
        }
        Ok(Self {
            dimension: dimension as usize,
            digest: hex::encode(digest),
            vocabulary,
            scales,
            rows,
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
            "static model is damaged: it is cut off"
        );
        assert_eq!(
            refused(vec![b'x'; 99]),
            "static model is damaged: it does not begin with `EVSTATIC`"
        );
        let cut = file().len() - 1;
        for other in [file()[..cut].to_vec(), [file(), vec![0]].concat()] {
            assert_eq!(
                refused(other),
                "static model is damaged: its length is not the one in its header"
            );
        }

        let mut version = file();
        version[8] = 9;
        assert_eq!(
            refused(version),
            "static model is damaged: it has a different version of the layout"
        );
        let mut flat = file();
        flat[16] = 0;
        assert_eq!(refused(flat), "static model is damaged: it has no vectors");
        let mut vocabulary = file();
        vocabulary[57] = 0xFF;
        assert_eq!(
            refused(sealed(vocabulary)),
            "static model is damaged: its vocabulary is not UTF-8"
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
                "static model is damaged: a scale is not a finite number"
            );
        }
    }
}
