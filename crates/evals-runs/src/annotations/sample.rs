//! Which answers people label: all of them, or some at random.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::texts::JudgedAnswer;

/// The smallest stratified sample: one answer of either verdict. A single answer would always be one that the judge failed.
pub const LEAST_STRATIFIED: usize = 2;

/// How many answers to label unless the labeller chooses another number: enough to know a share to about 0.1.
pub const USUAL_SAMPLE: usize = 100;

/// How to choose answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// How answers are drawn.
    pub method: Method,
    /// How many answers to choose; `None` for all.
    pub size: Option<usize>,
    /// Seeds the order of the answers.
    pub seed: u64,
}

/// A way of choosing answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Every answer has the same probability.
    Random,
    /// Half of the answers are among those that the judge passed, and half among those that it failed. If there are too few
    /// of one verdict, more of the other fill the sample.
    Stratified,
    /// Somebody picked the answer.
    Chosen,
}

/// How the answer of a label was chosen, as the label records it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    pub method: Method,
    /// How many answers were to be labelled; `None` for all, or if the answer was picked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The probability of the answer to be in the sample; `None` if it was picked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The seed of the sample; `None` if the answer was picked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// An answer of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// Its place among the answers of the run.
    pub place: usize,
    pub probability: f64,
}

impl Sampling {
    /// An answer that somebody picked.
    pub fn chosen() -> Self {
        Self {
            method: Method::Chosen,
            size: None,
            probability: None,
            seed: None,
        }
    }
}

impl Sample {
    /// Chooses answers, in a random order. A larger sample of the same seed contains the smaller one, so that no label is in
    /// vain.
    ///
    /// The order follows from the seed and the names of the cases alone, so that it is the same on every machine. If the judge has a
    /// verdict about any answer, those without one are left out: there is nothing to compare a label with.
    pub fn draw(&self, answers: &[JudgedAnswer]) -> Vec<Drawn> {
        let is_judged = answers.iter().any(|answer| answer.verdict.is_some());
        let mut places: Vec<usize> = (0..answers.len())
            .filter(|&place| !is_judged || answers[place].verdict.is_some())
            .collect();
        places.sort_by_cached_key(|&place| order(self.seed, &answers[place]));
        let size = self.size.unwrap_or(places.len()).min(places.len());
        if self.method != Method::Stratified {
            let probability = ratio(size, places.len());
            let drawn = places.into_iter().take(size);
            return drawn.map(|place| Drawn { place, probability }).collect();
        }
        let passed = |place: &usize| answers[*place].verdict == Some(true);
        let passes = places.iter().filter(|place| passed(place)).count();
        let fails = places.len() - passes;
        let of_passes = passes.min((size / 2).max(size.saturating_sub(fails)));
        let of_fails = size - of_passes;
        let mut left = [of_fails, of_passes];
        let probability = [ratio(of_fails, fails), ratio(of_passes, passes)];
        let drawn = places.into_iter().filter_map(|place| {
            let stratum = usize::from(passed(&place));
            left[stratum] = left[stratum].checked_sub(1)?;
            Some(Drawn {
                place,
                probability: probability[stratum],
            })
        });
        drawn.collect()
    }

    /// What a label of one of these answers records.
    pub fn sampling(&self, drawn: Drawn) -> Sampling {
        Sampling {
            method: self.method,
            size: self.size,
            probability: Some(drawn.probability),
            seed: Some(self.seed),
        }
    }
}

/// A random number that an answer always has.
fn order(seed: u64, answer: &JudgedAnswer) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(answer.repeat.to_le_bytes());
    hash.update(answer.id.as_str());
    hash.finalize().into()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a run has far fewer than 2^53 answers"
)]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}

impl fmt::Display for Sample {
    /// As a CSV file holds it: `random 50 seed 7`. It does not contain the probability of the single answer, which would show the judge's
    /// verdict.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = match self.method {
            Method::Random => "random",
            Method::Stratified => "stratified",
            Method::Chosen => "chosen",
        };
        let size = self.size.map_or("all".to_owned(), |size| size.to_string());
        write!(formatter, "{method} {size} seed {}", self.seed)
    }
}

impl FromStr for Sample {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [method, size, "seed", seed] = words[..] else {
            return Err(());
        };
        Ok(Self {
            method: match method {
                "random" => Method::Random,
                "stratified" => Method::Stratified,
                _ => return Err(()),
            },
            size: match size {
                "all" => None,
                size => Some(size.parse().map_err(drop)?),
            },
            seed: seed.parse().map_err(drop)?,
        })
    }
}
