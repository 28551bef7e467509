//! Finds the questions for which a row's approximate cosine reaches the bound.

use rten_simd::ops::{BitOps as _, MaskOps as _, NumOps as _};
use rten_simd::{Isa, SimdOp};

/// Compares the products of one row with the bounds of all questions.
pub(crate) struct Scan<'a> {
    /// The row's product with each normalised question.
    pub(crate) products: &'a [f32],
    /// 1 / the row's length. Not a number for a row that is not compared, which then reaches no bound.
    pub(crate) inverse: f32,
    /// For each question, the least cosine that may still be among the best.
    pub(crate) bounds: &'a [f32],
    /// Receives the questions whose bound the row reaches.
    pub(crate) reached: &'a mut Vec<usize>,
}

impl SimdOp for Scan<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "only inlined code is compiled for the instructions of `isa`"
    )]
    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (float, mask) = (isa.f32(), isa.m32());
        let lanes = float.len();
        let inverse = float.splat(self.inverse);
        let questions = self.products.len().min(self.bounds.len());
        let mut at = 0;
        while at + lanes <= questions {
            let cosines = float.mul(float.load(&self.products[at..]), inverse);
            let bounds = float.load(&self.bounds[at..]);
            if mask.any(float.ge(cosines, bounds)) {
                for question in at..at + lanes {
                    if self.products[question] * self.inverse >= self.bounds[question] {
                        self.reached.push(question);
                    }
                }
            }
            at += lanes;
        }
        for question in at..questions {
            if self.products[question] * self.inverse >= self.bounds[question] {
                self.reached.push(question);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(products: &[f32], inverse: f32, bounds: &[f32]) -> Vec<usize> {
        let mut reached = Vec::new();
        let scan = Scan {
            products,
            inverse,
            bounds,
            reached: &mut reached,
        };
        scan.dispatch();
        reached
    }

    #[test]
    fn every_place_of_a_row_is_compared() {
        for at in 0..41 {
            let mut products = [0.0; 41];
            products[at] = 2.0;
            assert_eq!(reached(&products, 0.5, &[1.0; 41]), [at]);
            assert_eq!(reached(&products, 0.49, &[1.0; 41]), [0_usize; 0]);
        }
    }

    #[test]
    fn a_row_without_a_length_reaches_nothing() {
        let any = [f32::NEG_INFINITY; 20];
        assert_eq!(reached(&[1.0; 20], f32::NAN, &any), [0_usize; 0]);
        assert_eq!(reached(&[1.0; 20], 1.0, &any).len(), 20);
    }
}
