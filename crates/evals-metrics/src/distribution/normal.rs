//! The normal distribution.

use std::f64::consts::SQRT_2;

/// The probability that a standard normal variable is below z.
pub(crate) fn lower_tail(z: f64) -> f64 {
    libm::erfc(-z / SQRT_2) / 2.0
}

/// The probability that a standard normal variable is above z.
pub(crate) fn upper_tail(z: f64) -> f64 {
    lower_tail(-z)
}

/// The quantile of the standard normal distribution with a share of `tail` above it; `tail` is
/// above 0 and at most 0.5.
///
/// Accurate to about 15 digits. Source: Wichura, "Algorithm AS 241: The Percentage Points of the
/// Normal Distribution", Applied Statistics 37 (1988), routine PPND16.
pub(crate) fn upper_quantile(tail: f64) -> f64 {
    let from_center = 0.5 - tail;
    if from_center <= 0.425 {
        let r = 0.180_625 - from_center * from_center;
        return from_center * polynomial(&CENTER_NUMERATOR, r) / polynomial(&CENTER_DENOMINATOR, r);
    }
    let r = (-tail.ln()).sqrt();
    if r <= 5.0 {
        let r = r - 1.6;
        polynomial(&SHOULDER_NUMERATOR, r) / polynomial(&SHOULDER_DENOMINATOR, r)
    } else {
        let r = r - 5.0;
        polynomial(&TAIL_NUMERATOR, r) / polynomial(&TAIL_DENOMINATOR, r)
    }
}

/// Coefficients start with the highest power.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients
        .iter()
        .fold(0.0, |sum, coefficient| sum * x + coefficient)
}

const CENTER_NUMERATOR: [f64; 8] = [
    2_509.080_928_730_122_7,
    33_430.575_583_588_13,
    67_265.770_927_008_7,
    45_921.953_931_549_87,
    13_731.693_765_509_46,
    1_971.590_950_306_551_3,
    133.141_667_891_784_38,
    3.387_132_872_796_366_5,
];
const CENTER_DENOMINATOR: [f64; 8] = [
    5_226.495_278_852_854,
    28_729.085_735_721_943,
    39_307.895_800_092_71,
    21_213.794_301_586_597,
    5_394.196_021_424_751,
    687.187_007_492_057_9,
    42.313_330_701_600_91,
    1.0,
];
const SHOULDER_NUMERATOR: [f64; 8] = [
    0.000_774_545_014_278_341_4,
    0.022_723_844_989_269_184,
    0.241_780_725_177_450_6,
    1.270_458_252_452_368_4,
    3.647_848_324_763_204_5,
    5.769_497_221_460_691,
    4.630_337_846_156_546,
    1.423_437_110_749_683_5,
];
const SHOULDER_DENOMINATOR: [f64; 8] = [
    1.050_750_071_644_416_9e-9,
    0.000_547_593_808_499_534_5,
    0.015_198_666_563_616_457,
    0.148_103_976_427_480_08,
    0.689_767_334_985_1,
    1.676_384_830_183_803_8,
    2.053_191_626_637_759,
    1.0,
];
const TAIL_NUMERATOR: [f64; 8] = [
    2.010_334_399_292_288_1e-7,
    2.711_555_568_743_487_6e-5,
    0.001_242_660_947_388_078_4,
    0.026_532_189_526_576_124,
    0.296_560_571_828_504_87,
    1.784_826_539_917_291_3,
    5.463_784_911_164_114,
    6.657_904_643_501_103,
];
const TAIL_DENOMINATOR: [f64; 8] = [
    2.044_263_103_389_939_7e-15,
    1.421_511_758_316_446e-7,
    1.846_318_317_510_054_8e-5,
    0.000_786_869_131_145_613_3,
    0.014_875_361_290_850_615,
    0.136_929_880_922_735_8,
    0.599_832_206_555_888,
    1.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_scipy() {
        // scipy 1.17.1: scipy.stats.norm.isf(tail)
        let golden = [
            (0.5, 0.0),
            (0.4, 0.253_347_103_135_799_7),
            (0.25, 0.674_489_750_196_081_7),
            (0.1, 1.281_551_565_544_600_4),
            (0.08, 1.405_071_560_309_632_9),
            (0.07, 1.475_791_028_179_170_6),
            (0.05, 1.644_853_626_951_472_9),
            (0.025, 1.959_963_984_540_054_5),
            (0.01, 2.326_347_874_040_840_8),
            (0.005, 2.575_829_303_548_901),
            (0.0005, 3.290_526_731_491_894_5),
            (1e-08, 5.612_001_244_174_789),
            (1e-11, 6.706_023_155_495_137),
            (1e-12, 7.034_483_825_301_131),
            (1e-100, 21.273_453_560_965_322),
        ];
        for (tail, expected) in golden {
            let actual = upper_quantile(tail);
            assert!(
                (actual - expected).abs() <= 1e-15 * expected.max(1.0),
                "{tail}: {actual} instead of {expected}"
            );
        }
    }
}
