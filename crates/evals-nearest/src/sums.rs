//! One pass over the lists of terms for all questions.

use std::cmp::Ordering;
use std::iter::Peekable;

use rayon::prelude::*;
use rten_simd::{Isa, SimdOp};

use crate::best::{Best, Hit};
use crate::scan::Scan;

/// Rows of a window, whose sums stay in the nearest cache of a core.
const WINDOW: usize = 1 << 13;
/// A list with so many rows of a window is added as a whole: every row without the term gets 0.
const DENSE: usize = WINDOW / 16;
/// Rows that are compared with the same bound.
const SCANNED: usize = 256;

/// The rows with the highest sums of weights, for many questions at once: a question is a list of terms, and each term gives weights to some rows.
///
/// The weights of a row are added in the order of the question's terms, so that the sum has the bits of one that is computed alone. Rows come in
/// parts. Memory is twice `k` hits of 8 bytes for each question, and a window of each list.
#[derive(Debug)]
pub struct Sums<O> {
    questions: Vec<Vec<usize>>,
    best: Vec<Best>,
    k: usize,
    order: O,
}

/// What a question found.
#[derive(Debug, Clone, PartialEq)]
pub struct Summed {
    /// The best rows, best first.
    pub hits: Vec<Hit>,
    /// Whether these are all rows with any of its terms.
    pub all: bool,
}

impl<O: Fn(u32, u32) -> Ordering + Sync> Sums<O> {
    /// Begins a pass. Each question is the numbers of its terms, in the order in which weights are added. `order` decides between equal sums.
    ///
    /// # Panics
    ///
    /// `k` is 0.
    pub fn new(questions: Vec<Vec<usize>>, k: usize, order: O) -> Self {
        assert!(k > 0, "a search finds at least one row");
        let best = std::iter::repeat_with(Best::default);
        Self {
            best: best.take(questions.len()).collect(),
            questions,
            k,
            order,
        }
    }

    /// Adds a part of the rows, on the threads of the current rayon pool. `numbers` names the rows of the part; one without a number is passed
    /// over. The list of each term has the places of its rows among them, ascending, and their weights, which are above 0.
    ///
    /// # Panics
    ///
    /// A question has a term without a list, or a list has a place that the part does not have.
    pub fn add<L>(&mut self, numbers: &[Option<u32>], lists: impl IntoIterator<Item = L>)
    where
        L: Iterator<Item = (u32, f32)> + Send,
    {
        let mut lists: Vec<_> = lists.into_iter().map(List::new).collect();
        for (window, numbers) in numbers.chunks(WINDOW).enumerate() {
            let start = window * WINDOW;
            lists
                .par_iter_mut()
                .for_each(|list| list.read(start, numbers.len()));
            let lists: Vec<&Weights> = lists.iter().map(|list| &list.weights).collect();
            let (k, order) = (self.k, &self.order);
            self.questions.par_iter().zip(&mut self.best).for_each_init(
                || vec![0.0; WINDOW],
                |sums, (terms, best)| {
                    let sums = sums.as_mut_slice();
                    let sums: &mut [f32; WINDOW] = sums.try_into().expect("it is a window");
                    let mut is_any = false;
                    for term in terms {
                        is_any |= lists[*term].add_to(sums);
                    }
                    if is_any {
                        keep(&sums[..numbers.len()], numbers, best, k, order);
                        sums.fill(0.0);
                    }
                },
            );
        }
        assert!(
            lists.iter_mut().all(|list| list.rows.peek().is_none()),
            "the places of a list are within the part"
        );
    }

    /// The best rows of each question: up to `k` of them.
    pub fn finish(self) -> Vec<Summed> {
        let Self { best, k, order, .. } = self;
        best.into_par_iter()
            .map(|best| Summed {
                all: best.floor().is_none(),
                hits: best.into_sorted(k, &order),
            })
            .collect()
    }
}

/// The rest of a term's rows, and the weights of those in the current window.
struct List<L: Iterator> {
    rows: Peekable<L>,
    weights: Weights,
}

/// The weights that a term gives to the rows of a window.
#[derive(Debug, Default)]
struct Weights {
    sparse: Vec<(u32, f32)>,
    /// Of every row of the window; empty if few rows have the term.
    dense: Vec<f32>,
}

impl<L: Iterator<Item = (u32, f32)>> List<L> {
    fn new(rows: L) -> Self {
        Self {
            rows: rows.peekable(),
            weights: Weights::default(),
        }
    }

    /// Reads the weights of a window of `count` rows.
    fn read(&mut self, start: usize, count: usize) {
        let Weights { sparse, dense } = &mut self.weights;
        sparse.clear();
        dense.clear();
        let within = |(place, _): &(u32, f32)| (*place as usize) < start + count;
        while let Some((place, weight)) = self.rows.next_if(within) {
            let place = (place as usize).checked_sub(start);
            let place = place.expect("the places of a list ascend");
            sparse.push((u32::try_from(place).expect("a window is small"), weight));
        }
        if sparse.len() >= DENSE {
            dense.resize(WINDOW, 0.0);
            for (place, weight) in sparse.iter() {
                dense[*place as usize] = *weight;
            }
        }
    }
}

impl Weights {
    /// Adds the weights to the sums. Returns whether there are any.
    fn add_to(&self, sums: &mut [f32; WINDOW]) -> bool {
        if self.dense.is_empty() {
            for (place, weight) in &self.sparse {
                // The remainder only tells the compiler that the place is within the window.
                sums[*place as usize % WINDOW] += weight;
            }
        } else {
            let (sums, weights) = (sums.as_mut_slice(), self.dense.as_slice());
            Addition { sums, weights }.dispatch();
        }
        !self.sparse.is_empty()
    }
}

/// Keeps the rows whose sums may be among the best.
fn keep(
    sums: &[f32],
    numbers: &[Option<u32>],
    best: &mut Best,
    k: usize,
    order: impl Fn(u32, u32) -> Ordering + Copy,
) {
    let mut reached = Vec::new();
    for (products, numbers) in sums.chunks(SCANNED).zip(numbers.chunks(SCANNED)) {
        // Above 0, as the sum of a row with any of the terms is.
        let bound = best.floor().unwrap_or(f32::from_bits(1));
        reached.clear();
        let scan = Scan {
            products,
            inverse: 1.0,
            bounds: &[bound; SCANNED],
            reached: &mut reached,
        };
        scan.dispatch();
        for place in &reached {
            if let Some(row) = numbers[*place] {
                let score = products[*place];
                best.push(Hit { row, score }, k, order);
            }
        }
    }
}

/// Adds to each sum its weight.
struct Addition<'a> {
    sums: &'a mut [f32],
    weights: &'a [f32],
}

impl SimdOp for Addition<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "only inlined code is compiled for the instructions of `isa`"
    )]
    #[inline(always)]
    fn eval<I: Isa>(self, _isa: I) {
        for (sum, weight) in self.sums.iter_mut().zip(self.weights) {
            *sum += weight;
        }
    }
}
