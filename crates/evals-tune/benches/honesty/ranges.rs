//! Tunings of two ranges, which settings close to each other are alike in: the search adds neighbours of what did well, so that chance could
//! breed its own confirmation.

use std::f64::consts::TAU;

use evals_metrics::{Xoshiro256PlusPlus, as_f64};
use evals_tune::{
    Answered, Candidate, Knob, OWN, Options, Question, Setting, Simulated, Space, Step, TuneError,
    Tuning, Values,
};

const QUESTIONS: usize = 300;

/// Waves that the noise of a question is made of.
const WAVES: usize = 8;

/// The standard deviation of a value's noise that settings do not share with each other: √0.2 of 0.4.
const NOISE: f64 = 0.179;

/// The best settings.
const BEST: [f64; 2] = [0.7, 0.6];

/// So many tunings, where the best settings are better than own ones by `gain`, and those around them by less.
pub(crate) fn repeat(gain: f64, trials: u32) -> Result<Vec<Simulated>, TuneError> {
    let mut random = Xoshiro256PlusPlus::seeded(11);
    (0..trials)
        .map(|seed| once(gain, u64::from(seed), &mut random))
        .collect()
}

/// The true gain over own settings.
fn truth(gain: f64, at: [f64; 2]) -> f64 {
    let bump = |at: [f64; 2]| {
        let square: f64 = at
            .iter()
            .zip(BEST)
            .map(|(at, best)| (at - best).powi(2))
            .sum();
        gain * (-square / 0.08).exp()
    };
    bump(at) - bump([0.1, 0.1])
}

fn once(gain: f64, seed: u64, random: &mut Xoshiro256PlusPlus) -> Result<Simulated, TuneError> {
    let knob = |name: &str| Knob {
        name: name.to_owned(),
        values: Values::Range {
            from: 0.0,
            to: 1.0,
            whole: false,
        },
        rank: 0,
        idle_with: Vec::new(),
    };
    let space = Space::new(vec![knob("left"), knob("right")])?;
    let own = Candidate(vec![Some(Setting::Number(0.1)); 2]);
    let defaults = Options::default();
    let test = evals_metrics::PairedTest {
        resamples: 499.try_into().expect("not 0"),
        ..defaults.test
    };
    let options = Options {
        draws: 499,
        seed,
        test,
        ..defaults
    };
    let mut tuning = Tuning::new(space, own, &vec![Question::default(); QUESTIONS], options)?;
    // Waves in random directions, with about one bend across the square.
    let waves: Vec<[f64; 4]> = (0..QUESTIONS * WAVES)
        .map(|_| std::array::from_fn(|_| random.share()))
        .collect();
    let value = |at: [f64; 2], question: usize| {
        let waves = &waves[question * WAVES..][..WAVES];
        let noise = waves.iter().map(|[across, up, phase, size]| {
            let angle = TAU * (phase + (across - 0.5) * 2.0 * at[0] + (up - 0.5) * 2.0 * at[1]);
            let size = (-2.0 * (1.0 - size).ln()).sqrt();
            size * angle.cos()
        });
        let noise: f64 = noise.sum();
        0.5 + truth(gain, at) + NOISE * noise / as_f64(WAVES).sqrt()
    };
    let place = |candidate: &Candidate| {
        let number = |setting: &Option<Setting>| match setting {
            Some(Setting::Number(number)) => *number,
            _ => 0.0,
        };
        [number(&candidate.0[0]), number(&candidate.0[1])]
    };
    while let Step::Measure(trials) = tuning.next_step() {
        for trial in trials {
            let at = place(tuning.candidate(trial.candidate));
            for question in trial.questions {
                let answered = Answered::of(value(at, question));
                tuning.record(trial.candidate, question, answered);
            }
        }
    }
    let outcome = tuning.outcome().expect("nothing is left to measure");
    let standings = tuning.standings();
    let mean = |candidate: &Candidate| {
        let sum: f64 = (0..QUESTIONS)
            .map(|question| value(place(candidate), question))
            .sum();
        sum / as_f64(QUESTIONS)
    };
    let best = standings
        .iter()
        .map(|it| mean(&it.candidate))
        .fold(f64::MIN, f64::max);
    let (answered, grid) = tuning.work();
    let truth = truth(
        gain,
        place(&standings[outcome.chosen.unwrap_or(OWN)].candidate),
    );
    Ok(Simulated {
        outcome,
        found: truth > 0.8 * gain,
        truth,
        naive: best - mean(&standings[OWN].candidate),
        work: as_f64(answered) / as_f64(grid),
    })
}
