//! CRC-32 as in zip, gzip and PNG: it tells a damaged line from a whole one.

/// The polynomial of IEEE 802.3, lowest bit first.
const POLYNOMIAL: u32 = 0xEDB8_8320;

const TABLE: [u32; 256] = table();

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        let [low, ..] = crc.to_le_bytes();
        TABLE[usize::from(low ^ byte)] ^ (crc >> 8)
    });
    !crc
}

/// The remainder of every byte.
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte: u32 = 0;
    while byte < 256 {
        let mut remainder = byte;
        let mut bit = 0;
        while bit < 8 {
            let odd = remainder & 1 == 1;
            remainder >>= 1;
            if odd {
                remainder ^= POLYNOMIAL;
            }
            bit += 1;
        }
        table[byte as usize] = remainder;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32/ISO-HDLC in Greg Cook's catalogue; the others are from Python 3.11.7's `zlib.crc32`.
    #[test]
    fn known_remainders() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"\0"), 0xD202_EF8D);
        assert_eq!(crc32(&[0xFF; 4]), 0xFFFF_FFFF);
    }
}
