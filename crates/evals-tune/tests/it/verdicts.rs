//! What a tuning concludes.

use evals_tune::{
    Answered, Candidate, Check, Fate, Figure, OWN, Options, Simulated, Simulation, TuneError,
    Verdict,
};

use crate::{finish, first, listed, noise, options, places, space, tuning, value};

#[test]
fn a_space_of_own_settings_alone_measures_nothing() {
    let mut tuning = tuning(space(vec![listed("k", 1)]), first(1), 90, options());
    let (steps, outcome) = finish(&mut tuning, |_, _| value(1.0));
    assert_eq!((steps.len(), outcome.verdict), (0, Verdict::OnlyOwn));
}

#[test]
fn a_knob_that_nothing_uses_is_named() {
    let mut tuning = tuning(
        space(vec![listed("used", 3), listed("dead", 3)]),
        first(2),
        90,
        options(),
    );
    let (_, outcome) = finish(&mut tuning, |candidate, question| {
        let place = places(candidate)[0];
        value(noise(&[place, question]))
    });
    assert_eq!(outcome.unused, ["dead"]);
    assert_ne!(outcome.verdict, Verdict::EveryTrialEqual);
}

#[test]
fn equal_trials_are_a_verdict_of_their_own() {
    let mut tuning = tuning(
        space(vec![listed("a", 2), listed("b", 2)]),
        first(2),
        90,
        options(),
    );
    let (_, outcome) = finish(&mut tuning, |_, question| value(noise(&[question])));
    assert_eq!(outcome.verdict, Verdict::EveryTrialEqual);
    assert_eq!(outcome.unused, ["a", "b"]);
    assert_eq!(outcome.chosen, Some(OWN));
}

#[test]
fn a_candidate_that_always_fails_is_dropped_with_its_error() {
    let mut tuning = tuning(space(vec![listed("k", 3)]), first(1), 90, options());
    let answer = |candidate: &Candidate, question: usize| match places(candidate)[0] {
        1 => Answered {
            value: Err("HTTP 500".to_owned()),
            latency: None,
            cost: None,
        },
        place => value(f64::from(u8::try_from(place).unwrap()) * 0.3 + noise(&[place, question])),
    };
    let (_, outcome) = finish(&mut tuning, answer);
    let standings = tuning.standings();
    assert_eq!(standings[1].fate, Fate::Failed("HTTP 500".to_owned()));
    assert_eq!(
        standings[1].without_value,
        Some((24, "HTTP 500".to_owned()))
    );
    assert_eq!(standings[1].gain, None);
    assert_eq!(outcome.chosen, Some(2));
}

#[test]
fn every_trial_may_fail_and_own_settings_may_be_undefined() {
    let fail = |reason: &str| Answered {
        value: Err(reason.to_owned()),
        latency: None,
        cost: None,
    };
    let mut all = tuning(space(vec![listed("k", 3)]), first(1), 90, options());
    let (_, outcome) = finish(&mut all, |candidate, _| match places(candidate)[0] {
        0 => value(1.0),
        _ => fail("refused"),
    });
    assert_eq!(outcome.verdict, Verdict::EveryTrialFailed);

    let mut own = tuning(space(vec![listed("k", 3)]), first(1), 90, options());
    let (steps, outcome) = finish(&mut own, |_, _| fail("no relevant documents"));
    assert_eq!(steps.len(), 1, "the first round shows it");
    assert_eq!(
        outcome.verdict,
        Verdict::Undefined("no relevant documents".to_owned())
    );
}

#[test]
fn undefined_questions_are_left_out_in_pairs_and_a_dropped_candidate_is_out() {
    let mut tuning = tuning(space(vec![listed("k", 3)]), first(1), 90, options());
    tuning.drop(OWN, "own settings stay");
    let Some(candidate) = (match tuning.next_step() {
        evals_tune::Step::Measure(trials) => {
            trials.iter().map(|it| it.candidate).find(|it| *it == 1)
        }
        evals_tune::Step::Done => None,
    }) else {
        panic!("candidate 1 is not in the first round")
    };
    tuning.drop(candidate, "refused");
    let (steps, outcome) = finish(&mut tuning, |candidate, question| {
        let place = places(candidate)[0];
        if question % 7 == 0 {
            return value(f64::NAN);
        }
        value(if place == 2 { 0.5 } else { 0.0 } + noise(&[place, question]))
    });
    assert!(steps.iter().flatten().all(|trial| trial.candidate != 1));
    let standing = &tuning.standings()[2];
    assert_eq!(
        standing.fate,
        Fate::Stayed,
        "own settings lack the same values"
    );
    assert_eq!(
        standing
            .without_value
            .as_ref()
            .map(|(_, reason)| reason.as_str()),
        Some("the value is not a finite number")
    );
    assert!(matches!(outcome.check, Check::HeldOut(found) if found.n < 30));
}

#[test]
fn limits_rule_out_the_best_and_may_rule_out_everybody() {
    let answer = |candidate: &Candidate, question: usize| {
        let place = places(candidate)[0];
        let rank = f64::from(u8::try_from(place).unwrap());
        Answered {
            value: Ok(0.3 * rank + 0.1 * noise(&[place, question])),
            latency: Some(0.1 + rank),
            cost: Some(0.001),
        }
    };
    let run = |most| {
        let options = Options {
            limits: vec![(Figure::LatencyP95, most)],
            ..options()
        };
        let mut tuning = tuning(space(vec![listed("k", 4)]), first(1), 300, options);
        let (_, outcome) = finish(&mut tuning, answer);
        let meets: Vec<bool> = tuning
            .standings()
            .iter()
            .map(|it| it.meets_limits)
            .collect();
        (outcome, meets)
    };
    let (outcome, meets) = run(2.5);
    assert_eq!(outcome.chosen, Some(2), "3 is better, and too slow");
    assert!(matches!(outcome.verdict, Verdict::Better { .. }));
    assert_eq!(meets, [true, true, true, false]);
    let (outcome, _) = run(0.01);
    assert_eq!(
        (outcome.verdict, outcome.chosen),
        (Verdict::NobodyWithinLimits, None)
    );
}

#[test]
fn ties_go_to_the_cheaper_and_then_to_the_simpler() {
    let run = |costs: [f64; 4]| {
        let mut tuning = tuning(
            space(vec![listed("a", 2), listed("b", 2)]),
            first(2),
            120,
            options(),
        );
        let (_, outcome) = finish(&mut tuning, |candidate, question| {
            let [a, b] = places(candidate)[..] else {
                panic!("two knobs")
            };
            // Own settings are far behind, and all others are alike.
            let gain = if a + b > 0 { 0.5 } else { 0.0 };
            Answered {
                value: Ok(gain + noise(&[question])),
                latency: None,
                cost: Some(costs[2 * a + b]),
            }
        });
        places(tuning.candidate(outcome.chosen.unwrap()))
    };
    assert_eq!(
        run([1.0, 2.0, 3.0, 1.5]),
        [1, 1],
        "the cheapest of the three"
    );
    let simple = run([1.0, 1.0, 1.0, 1.005]);
    assert_eq!(
        simple.iter().sum::<usize>(),
        1,
        "{simple:?} differs in one knob"
    );
}

#[test]
fn knobs_matter_as_much_as_they_add() {
    let options = Options {
        hold_out: 0.0,
        ..options()
    };
    let mut tuning = tuning(
        space(vec![listed("a", 3), listed("b", 2)]),
        first(2),
        60,
        options,
    );
    finish(&mut tuning, |candidate, question| {
        let [a, b] = places(candidate)[..] else {
            panic!("two knobs")
        };
        value([0.0, 0.1, 0.3][a] + [0.0, -0.05][b] + 0.01 * noise(&[a, b, question]))
    });
    let found = tuning.importance();
    let names: Vec<&str> = found.iter().map(|it| it.knob.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    for (knob, range) in found.iter().zip([0.3, 0.05]) {
        assert!((knob.range.unwrap() - range).abs() < 0.005, "{knob:?}");
        let interval = knob.interval.unwrap();
        assert!(interval.low < range && range < interval.high, "{knob:?}");
        assert!(interval.high - interval.low < 0.01, "{knob:?}");
    }
    let effects: Vec<f64> = found[0].effects.iter().map(|(_, effect)| *effect).collect();
    let expected = [-0.4 / 3.0, -0.1 / 3.0, 0.5 / 3.0];
    for (effect, expected) in effects.iter().zip(expected) {
        assert!((effect - expected).abs() < 0.005, "{effects:?}");
    }
}

#[test]
fn trade_offs_leave_out_what_is_beaten_in_everything() {
    let options = Options {
        hold_out: 0.0,
        ..options()
    };
    let mut tuning = tuning(space(vec![listed("k", 4)]), first(1), 60, options);
    finish(&mut tuning, |candidate, _| {
        let place = places(candidate)[0];
        Answered {
            value: Ok([0.5, 0.4, 0.6, 0.45][place]),
            latency: Some([1.0, 0.5, 2.0, 1.5][place]),
            cost: Some([0.1, 0.1, 0.3, 0.1][place]),
        }
    });
    assert_eq!(tuning.trade_offs(Figure::LatencyMean), [2, 0, 1]);
}

/// Five standard errors above and below what the bench prints for many more tunings.
#[test]
fn equal_candidates_are_rarely_called_better_and_a_large_gain_is_found() {
    let simulation = Simulation {
        questions: 90,
        clusters: 90,
        candidates: 16,
        ..Simulation::default()
    };
    let equal = simulation.repeat(0.0, 150).unwrap();
    let is_better = |one: &&Simulated| matches!(one.outcome.verdict, Verdict::Better { .. });
    let declared = equal.iter().filter(is_better).count();
    assert!(declared <= 20, "{declared} of 150 tunings without a gain");
    let power = simulation.power(&[0.2], 40).unwrap();
    assert!(
        power[0].declared > 0.8 && power[0].chosen >= power[0].declared,
        "{power:?}"
    );
    let none = Simulation {
        questions: 0,
        ..simulation
    };
    assert_eq!(none.power(&[0.1], 1), Err(TuneError::NoQuestions));
}
