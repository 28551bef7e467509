//! The random numbers of the bootstrap. Not from a crate: a seed in a report has to give the same
//! interval in every later version, and no random-number crate promises that for its samplers.

/// The generator xoshiro256++ 1.0 by Blackman and Vigna, "Scrambled Linear Pseudorandom Number
/// Generators", ACM TOMS 47 (2021). Equal seeds give equal numbers on every machine and in every later version.
#[derive(Clone, Debug)]
pub struct Xoshiro256PlusPlus([u64; 4]);

impl Xoshiro256PlusPlus {
    /// Fills the state from splitmix64, as the authors recommend.
    pub fn seeded(seed: u64) -> Self {
        let mut state = seed;
        Self(std::array::from_fn(|_| split_mix64(&mut state)))
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.0;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let c = c ^ a;
        let d = d ^ b;
        self.0 = [a ^ d, b ^ c, c ^ (self.0[1] << 17), d.rotate_left(45)];
        result
    }

    /// A uniform index below `length`, which is above 0 and below 2^32.
    #[inline]
    pub fn index(&mut self, length: usize) -> usize {
        let [index, _] = self.index_pair(length);
        index
    }

    /// A uniform number from 0 to 1, 1 excluded, with 53 random bits: the authors' conversion.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Splits off a stream of the next 2^128 numbers; this generator continues after them. Streams
    /// that are split off in turn never overlap.
    #[must_use]
    pub fn split_off(&mut self) -> Self {
        let stream = self.clone();
        self.jump();
        stream
    }

    /// Skips 2^128 numbers: the authors' `jump`.
    fn jump(&mut self) {
        const JUMP: [u64; 4] = [
            0x180e_c6d3_3cfd_0aba,
            0xd5a6_1266_f0c9_392c,
            0xa958_2618_e03f_c9aa,
            0x39ab_dc45_29b1_661c,
        ];
        let mut jumped = [0; 4];
        for bit in 0..256 {
            if JUMP[bit / 64] >> (bit % 64) & 1 == 1 {
                for (jumped, state) in jumped.iter_mut().zip(self.0) {
                    *jumped ^= state;
                }
            }
            self.next();
        }
        self.0 = jumped;
    }

    /// Two uniform indices below `length`, from the halves of one number, by Lemire's
    /// multiplication ("Fast Random Integer Generation in an Interval", ACM TOMACS 29 (2019)).
    /// Without his rejection step, the probabilities of indices may differ by a share of `length /
    /// 2^32`, far too little to show in 10,000 resamples.
    #[inline]
    pub(crate) fn index_pair(&mut self, length: usize) -> [usize; 2] {
        let number = self.next();
        [
            scale(number >> 32, length),
            scale(number & 0xffff_ffff, length),
        ]
    }
}

/// Maps a number of 32 bits to an index below `length`.
#[inline]
fn scale(number: u64, length: usize) -> usize {
    let product = u128::from(number) * length as u128;
    usize::try_from(product >> 32).expect("the product's upper part is below the length")
}

/// The generator splitmix64 by Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA (2014).
fn split_mix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the authors' `xoshiro256plusplus.c` from the state 1, 2, 3, 4.
    #[test]
    fn generates_the_reference_sequence() {
        let mut random = Xoshiro256PlusPlus([1, 2, 3, 4]);
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
            15_849_039_046_786_891_736,
            10_450_023_813_501_588_000,
        ];
        assert_eq!(expected.map(|_| random.next()), expected);
    }

    /// The first outputs of the reference `splitmix64.c` from the state 1234567.
    #[test]
    fn seeds_from_the_reference_sequence() {
        let mut state = 1_234_567;
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(expected.map(|_| split_mix64(&mut state)), expected);
    }

    /// Computed independently of the authors' `jump`: the transition as a matrix of bits, squared
    /// 128 times.
    #[test]
    fn streams_are_2_to_the_128_numbers_apart() {
        let mut random = Xoshiro256PlusPlus([1, 2, 3, 4]);
        assert_eq!(random.split_off().next(), 41_943_041);
        let expected = [
            10_122_426_448_480_695_249,
            8_079_205_330_032_121_950,
            7_289_065_458_748_526_725,
            9_477_464_255_293_849_680,
        ];
        assert_eq!(random.0, expected);
    }

    #[test]
    fn draws_every_index_about_equally_often() {
        let mut random = Xoshiro256PlusPlus::seeded(7);
        let mut drawn = [0_u32; 10];
        for index in (0..50_000).flat_map(|_| random.index_pair(10)) {
            drawn[index] += 1;
        }
        // Five standard deviations around 10,000.
        assert!(
            drawn.iter().all(|&times| (9_526..=10_474).contains(&times)),
            "{drawn:?}"
        );
    }
}
