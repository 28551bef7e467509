//! The random numbers of the golden files' generators.

/// xoshiro256++, seeded by splitmix64.
pub(crate) struct Random([u64; 4]);

impl Random {
    pub(crate) fn seeded(mut seed: u64) -> Self {
        Self(std::array::from_fn(|_| {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }))
    }

    /// A number between 0 and 1, with 53 random bits.
    pub(crate) fn uniform(&mut self) -> f64 {
        let [a, b, c, d] = self.0;
        let number = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.0 = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        let high = u32::try_from(number >> 43).expect("21 bits");
        let low = u32::try_from(number >> 11 & 0xffff_ffff).expect("32 bits");
        (f64::from(high) * 32_f64.exp2() + f64::from(low)) * (-53_f64).exp2()
    }
}
