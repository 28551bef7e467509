//! What a tuning can find, said beforehand: tunings of simulated answers, with the truth known.

use std::f64::consts::TAU;
use std::num::{NonZeroU32, NonZeroUsize};
use std::thread;

use evals_metrics::{Xoshiro256PlusPlus, arithmetic_mean, as_f64};
use serde::{Deserialize, Serialize};

use crate::race::OWN;
use crate::{
    Answered, Candidate, Knob, Options, Outcome, Question, Setting, Space, Step, TuneError, Tuning,
    Values, Verdict,
};

/// The true gains that a table of power has, in the unit of the objective.
pub const GAINS: [f64; 4] = [0.01, 0.02, 0.05, 0.1];

/// Random signs in a simulated tuning: enough for a p value of 0.05, and a hundredth of the time.
const DRAWS: NonZeroU32 = NonZeroU32::new(499).expect("499 is not 0");

/// A tuning of simulated answers: normal values, of candidates that are all as good as own settings but for those that share a gain.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// The number of questions.
    pub questions: usize,
    /// The number of clusters, which are of equal size. Default: as many as there are questions.
    pub clusters: usize,
    /// The number of candidates beside own settings. Default: 64.
    pub candidates: usize,
    /// How many of them have the gain. Default: 1.
    pub sharing: usize,
    /// The standard deviation of one candidate's values. Default: 0.4.
    pub deviation: f64,
    /// The correlation of two candidates' values of a question. Default: 0.8.
    pub correlation: f64,
    /// The standard deviation of the candidates' true means around own settings, gains aside. Default: 0.
    pub spread: f64,
    /// How alike differences of a cluster's questions are: their intraclass correlation. Default: 0.2.
    pub within_cluster: f64,
    /// The share of questions that is held out. Default: a third.
    pub hold_out: f64,
    /// Seeds the random numbers. Default: 0.
    pub seed: u64,
}

/// One simulated tuning.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// What the tuning found.
    pub outcome: Outcome,
    /// Whether it chose a candidate that has the gain.
    pub found: bool,
    /// The true gain of the chosen candidate over own settings.
    pub truth: f64,
    /// The gain that the best of all candidates shows on all questions: what a search without a held-out part reports.
    pub naive: f64,
    /// The answers that it asked for, as a share of the grid.
    pub work: f64,
}

/// How often a tuning finds a gain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// The true gain.
    pub gain: f64,
    /// The share of tunings that choose a candidate with it.
    pub chosen: f64,
    /// The share of tunings whose verdict is that such a candidate is better.
    pub declared: f64,
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            questions: 300,
            clusters: 300,
            candidates: 64,
            sharing: 1,
            deviation: 0.4,
            correlation: 0.8,
            spread: 0.0,
            within_cluster: 0.2,
            hold_out: 1.0 / 3.0,
            seed: 0,
        }
    }
}

impl Simulation {
    /// How often so many tunings find each of the gains, with one candidate that has it or as many as [`sharing`](Self::sharing) says.
    ///
    /// # Errors
    ///
    /// Fails where numbers are out of range.
    pub fn power(&self, gains: &[f64], repetitions: u32) -> Result<Vec<Power>, TuneError> {
        let power = |gain: &f64| {
            let mut found = self.repeat(*gain, repetitions)?;
            found.retain(|one| one.found);
            let chosen = as_f64(found.len()) / f64::from(repetitions.max(1));
            found.retain(|one| matches!(one.outcome.verdict, Verdict::Better { .. }));
            Ok(Power {
                gain: *gain,
                chosen,
                declared: as_f64(found.len()) / f64::from(repetitions.max(1)),
            })
        };
        gains.iter().map(power).collect()
    }

    /// So many tunings with this gain, on all cores.
    ///
    /// # Errors
    ///
    /// As [`power`](Self::power).
    pub fn repeat(&self, gain: f64, repetitions: u32) -> Result<Vec<Simulated>, TuneError> {
        if !(0.0..=1.0).contains(&self.correlation) || !(0.0..=1.0).contains(&self.within_cluster) {
            return Err(TuneError::Option("correlation"));
        }
        let mut random = Xoshiro256PlusPlus::seeded(self.seed);
        let mut streams: Vec<_> = (0..repetitions).map(|_| random.split_off()).collect();
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let share = streams.len().div_ceil(threads).max(1);
        let one = |random: &mut Xoshiro256PlusPlus| self.once(gain, random);
        thread::scope(|scope| {
            let parts: Vec<_> = streams
                .chunks_mut(share)
                .map(|part| scope.spawn(move || part.iter_mut().map(one).collect::<Vec<_>>()))
                .collect();
            let parts = parts
                .into_iter()
                .map(|part| part.join().expect("nothing panics"));
            parts.flatten().collect()
        })
    }

    fn once(&self, gain: f64, random: &mut Xoshiro256PlusPlus) -> Result<Simulated, TuneError> {
        let (means, values) = self.world(gain, random);
        let mut tuning = self.tuning(random.index(usize::from(u16::MAX)) as u64)?;
        while let Step::Measure(trials) = tuning.next_step() {
            for trial in trials {
                for question in trial.questions {
                    let answered = Answered::of(values[trial.candidate][question]);
                    tuning.record(trial.candidate, question, answered);
                }
            }
        }
        let outcome = tuning.outcome().expect("nothing is left to measure");
        let chosen = outcome.chosen.unwrap_or(OWN);
        let (answered, grid) = tuning.work();
        let mean = |values: &Vec<f64>| arithmetic_mean(values).unwrap_or_default();
        let best = values.iter().map(mean).fold(f64::MIN, f64::max);
        Ok(Simulated {
            outcome,
            found: (1..=self.sharing).contains(&chosen),
            truth: means[chosen] - means[OWN],
            naive: best - mean(&values[OWN]),
            work: as_f64(answered) / as_f64(grid),
        })
    }

    fn tuning(&self, seed: u64) -> Result<Tuning, TuneError> {
        let labels = (0..=self.candidates).map(|number| number.to_string());
        let space = Space::new(vec![Knob {
            idle_with: Vec::new(),
            name: "setting".to_owned(),
            values: Values::Listed(labels.collect()),
            rank: 0,
        }])?;
        let cluster = |question: usize| Some((question % self.clusters.max(1)).to_string());
        let questions = (0..self.questions).map(|question| Question {
            cluster: cluster(question),
            ..Question::default()
        });
        let mut options = Options {
            trials: self.candidates + 1,
            hold_out: self.hold_out,
            draws: DRAWS.get(),
            seed,
            ..Options::default()
        };
        options.test.resamples = DRAWS;
        let own = Candidate(vec![Some(Setting::Listed(OWN))]);
        Tuning::new(space, own, &questions.collect::<Vec<_>>(), options)
    }

    /// Draws the true mean of each candidate, own settings first, and its value for each question.
    fn world(&self, gain: f64, random: &mut Xoshiro256PlusPlus) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut spare = None;
        let mut normals =
            |count: usize| -> Vec<f64> { (0..count).map(|_| normal(random, &mut spare)).collect() };
        let scatter = normals(self.candidates + 1);
        let mean = |(candidate, scatter): (usize, &f64)| match candidate {
            OWN => 0.0,
            _ if candidate <= self.sharing => gain + self.spread * scatter,
            _ => self.spread * scatter,
        };
        let means: Vec<f64> = scatter.iter().enumerate().map(mean).collect();
        let difficulty = normals(self.questions);
        let parts = [self.correlation, 1.0 - self.correlation];
        let alike = [self.within_cluster, 1.0 - self.within_cluster].map(f64::sqrt);
        let [common, own] = parts.map(|part| self.deviation * part.sqrt());
        let of = |mean: &f64| {
            let clusters = normals(self.clusters.max(1));
            let noise = normals(self.questions);
            let value = |question: usize| {
                let of_cluster = alike[0] * clusters[question % clusters.len()];
                mean + common * difficulty[question]
                    + own * (of_cluster + alike[1] * noise[question])
            };
            (0..self.questions).map(value).collect()
        };
        let values = means.iter().map(of).collect();
        (means, values)
    }
}

/// A normal number, by Box and Muller's transformation, which makes two at once.
fn normal(random: &mut Xoshiro256PlusPlus, spare: &mut Option<f64>) -> f64 {
    spare.take().unwrap_or_else(|| {
        let radius = (-2.0 * (1.0 - random.share()).ln()).sqrt();
        let (sine, cosine) = (TAU * random.share()).sin_cos();
        *spare = Some(radius * sine);
        radius * cosine
    })
}
