//! The FNV-1a hash.

/// FNV-1a with 64 bits. It hashes byte by byte, so one pass over a word gives the hash of each of its prefixes.
///
/// Source: Fowler, Noll and Vo, <http://www.isthe.com/chongo/tech/comp/fnv/>.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fnv(u64);

impl Fnv {
    pub(super) const EMPTY: Self = Self(0xCBF2_9CE4_8422_2325);

    pub(super) fn of(bytes: &[u8]) -> Self {
        bytes
            .iter()
            .fold(Self::EMPTY, |hash, &byte| hash.push(byte))
    }

    pub(super) const fn push(self, byte: u8) -> Self {
        Self((self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01B3))
    }

    pub(super) const fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from the authors' test vectors.
    #[test]
    fn published_vectors() {
        assert_eq!(Fnv::of(b"").value(), 0xCBF2_9CE4_8422_2325);
        assert_eq!(Fnv::of(b"a").value(), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(Fnv::of(b"foobar").value(), 0x8594_4171_F739_67E8);
    }
}
