//! Tunings from start to end, with answers that are functions of settings and question.

mod bad_input;
mod course;
mod verdicts;

use evals_tune::{
    Answered, Candidate, Knob, Options, Outcome, Question, Setting, Space, Step, Trial, Tuning,
    Values,
};

/// A knob with so many values, `0`, `1` and so on.
fn listed(name: &str, count: usize) -> Knob {
    Knob {
        name: name.to_owned(),
        values: Values::Listed((0..count).map(|label| label.to_string()).collect()),
        rank: 0,
        idle_with: Vec::new(),
    }
}

fn range(name: &str, from: f64, to: f64, whole: bool) -> Knob {
    Knob {
        name: name.to_owned(),
        values: Values::Range { from, to, whole },
        rank: 0,
        idle_with: Vec::new(),
    }
}

fn space(knobs: Vec<Knob>) -> Space {
    Space::new(knobs).expect("a space")
}

/// The candidate with the first value of each of so many lists.
fn first(knobs: usize) -> Candidate {
    Candidate(vec![Some(Setting::Listed(0)); knobs])
}

/// The places in lists.
fn places(candidate: &Candidate) -> Vec<usize> {
    let place = |setting: &Option<Setting>| match setting {
        Some(Setting::Listed(place)) => *place,
        _ => panic!("{candidate:?} is not of lists"),
    };
    candidate.0.iter().map(place).collect()
}

/// A number around 0 that looks random, different for each key, and the same every time.
fn noise(keys: &[usize]) -> f64 {
    let mixed = keys.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |state, key| {
        let state = (state ^ *key as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (state ^ (state >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) ^ (state >> 29)
    });
    f64::from(u32::try_from(mixed >> 32).expect("32 bits")) / f64::from(u32::MAX) - 0.5
}

fn value(value: f64) -> Answered {
    Answered::of(value)
}

/// Options with fewer draws, so that tests are short.
fn options() -> Options {
    let defaults = Options::default();
    Options {
        draws: 999,
        test: evals_metrics::PairedTest {
            resamples: 999.try_into().expect("not 0"),
            ..defaults.test
        },
        ..defaults
    }
}

fn tuning(space: Space, own: Candidate, questions: usize, options: Options) -> Tuning {
    Tuning::new(space, own, &vec![Question::default(); questions], options).expect("a tuning")
}

/// Measures to the end; returns all steps, and the outcome.
fn finish(
    tuning: &mut Tuning,
    answer: impl Fn(&Candidate, usize) -> Answered,
) -> (Vec<Vec<Trial>>, Outcome) {
    let mut steps = Vec::new();
    while let Step::Measure(trials) = tuning.next_step() {
        for trial in &trials {
            for question in &trial.questions {
                let settings = tuning.candidate(trial.candidate).clone();
                tuning.record(trial.candidate, *question, answer(&settings, *question));
            }
        }
        steps.push(trials);
    }
    (steps, tuning.outcome().expect("it is at its end"))
}
