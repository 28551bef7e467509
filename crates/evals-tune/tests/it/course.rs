//! What is measured, in which order, and when it ends.

use std::collections::BTreeSet;

use evals_tune::{
    Answered, Budget, Check, Fate, Goal, NoHoldOut, OWN, Options, Question, Race, Resampled,
    Setting, Step, Strategy, Tuning, Verdict,
};

use crate::{finish, first, listed, noise, options, places, range, space, tuning, value};

/// Noise in which the value 2 is better by 0.2, and the value 3 worse by 0.5.
fn answer(candidate: &evals_tune::Candidate, question: usize) -> Answered {
    let place = places(candidate)[0];
    let gain = [0.0, 0.0, 0.2, -0.5][place.min(3)];
    value(0.5 + gain + 0.3 * noise(&[place, question]))
}

#[test]
fn the_search_never_asks_the_held_out_part() {
    let mut tuning = tuning(space(vec![listed("k", 4)]), first(1), 90, options());
    let held_out: BTreeSet<usize> = tuning.split().held_out.iter().copied().collect();
    assert_eq!(held_out.len(), 30);
    let (steps, outcome) = finish(&mut tuning, answer);
    let (last, search) = steps.split_last().unwrap();
    let searched = search.iter().flatten().flat_map(|trial| &trial.questions);
    assert!(
        searched
            .into_iter()
            .all(|question| !held_out.contains(question))
    );
    assert_eq!(outcome.chosen, Some(2));
    let met: Vec<usize> = last.iter().map(|trial| trial.candidate).collect();
    assert_eq!(
        met,
        [OWN, 2],
        "only own and the chosen settings meet the held-out part"
    );
    assert!(last.iter().all(|trial| trial.questions.len() == 30));
}

#[test]
fn worse_candidates_leave_and_own_settings_stay() {
    let mut tuning = tuning(space(vec![listed("k", 4)]), first(1), 300, options());
    let (_, outcome) = finish(&mut tuning, answer);
    let standings = tuning.standings();
    let asked: Vec<usize> = standings.iter().map(|it| it.questions).collect();
    assert_eq!((asked[0], asked[2]), (200, 200));
    assert_eq!(
        asked[3], 29,
        "a candidate far behind leaves after the first round"
    );
    assert_eq!(standings[3].fate, Fate::Left);
    assert_eq!(standings[0].fate, Fate::Stayed);
    assert!((standings[2].gain.unwrap() - 0.2).abs() < 0.05);
    let Verdict::Better { at_least } = outcome.verdict else {
        panic!("{:?}", outcome.verdict)
    };
    assert!((0.1..0.2).contains(&at_least), "{at_least}");
}

#[test]
fn the_same_answers_in_another_order_give_the_same_outcome() {
    let knobs = || vec![listed("a", 5), range("b", 1.0, 1000.0, false)];
    let own = evals_tune::Candidate(vec![Some(Setting::Listed(0)), None]);
    let answer = |candidate: &evals_tune::Candidate, question: usize| {
        let number = match candidate.0[1] {
            Some(Setting::Number(number)) => number,
            _ => 10.0,
        };
        let place = match candidate.0[0] {
            Some(Setting::Listed(place)) => place,
            _ => 0,
        };
        value(0.1 * number.ln().sin() + 0.2 * noise(&[place, question]))
    };
    let mut straight = tuning(space(knobs()), own.clone(), 120, options());
    let (_, outcome) = finish(&mut straight, answer);
    let mut turned = tuning(space(knobs()), own, 120, options());
    // Half of each step at a time, from the end, as after a kill.
    while let Step::Measure(trials) = turned.next_step() {
        for trial in trials.iter().rev().take(trials.len().div_ceil(2)) {
            let settings = turned.candidate(trial.candidate).clone();
            for question in trial.questions.iter().rev() {
                turned.record(trial.candidate, *question, answer(&settings, *question));
            }
        }
    }
    assert_eq!(turned.outcome(), Some(outcome));
    assert_eq!(turned.standings(), straight.standings());
}

#[test]
fn a_large_space_gets_random_candidates_and_then_neighbours() {
    let knobs = vec![listed("a", 1000), range("b", 0.0, 1.0, false)];
    let own = evals_tune::Candidate(vec![None, None]);
    let options = Options {
        trials: 16,
        ..options()
    };
    let mut tuning = tuning(space(knobs), own, 90, options);
    let answer = |candidate: &evals_tune::Candidate, question| {
        let number = match candidate.0[1] {
            Some(Setting::Number(number)) => number,
            _ => 0.0,
        };
        value(number + 0.1 * noise(&[question]))
    };
    let (_, outcome) = finish(&mut tuning, answer);
    let standings = tuning.standings();
    assert_eq!(
        standings.len(),
        17,
        "own settings, and as many trials as allowed"
    );
    let settings: Vec<_> = standings.iter().map(|it| it.candidate.clone()).collect();
    for (place, one) in settings.iter().enumerate() {
        assert!(!settings[..place].contains(one), "{one:?} twice");
    }
    let number = |at: usize| match settings[at].0[1] {
        Some(Setting::Number(number)) => number,
        _ => 0.0,
    };
    let drawn = (1..=12).map(number).fold(0.0, f64::max);
    let best = number(outcome.chosen.unwrap());
    assert!(
        best > drawn,
        "steps around the best draw, {drawn}, go up to {best}"
    );
}

#[test]
fn candidates_that_share_what_is_expensive_are_neighbours() {
    let mut cheap = listed("cheap", 3);
    cheap.rank = 9;
    let knobs = vec![cheap, listed("expensive", 3)];
    let mut tuning = tuning(space(knobs), first(2), 60, options());
    let Step::Measure(trials) = tuning.next_step() else {
        panic!("nothing to measure")
    };
    let order: Vec<Vec<usize>> = trials
        .iter()
        .map(|it| places(tuning.candidate(it.candidate)))
        .collect();
    let mut expected = Vec::new();
    for expensive in 0..3 {
        expected.extend((0..3).map(|cheap| vec![cheap, expensive]));
    }
    assert_eq!(order, expected);
}

#[test]
fn the_search_ends_where_the_budget_does_and_leaves_enough_for_the_check() {
    let budget = Budget {
        usd: Some(1.0),
        seconds: None,
    };
    let options = Options {
        budget,
        ..options()
    };
    let mut tuning = tuning(space(vec![listed("k", 4)]), first(1), 300, options);
    let mut answers = 0;
    while let Step::Measure(trials) = tuning.next_step() {
        for trial in trials {
            for question in trial.questions {
                let settings = tuning.candidate(trial.candidate).clone();
                tuning.record(trial.candidate, question, answer(&settings, question));
                tuning.spend(0.002, 0.0);
                answers += 1;
            }
        }
    }
    assert!(tuning.ended_early());
    assert!(answers <= 500, "{answers} answers at 0.002 USD");
    let outcome = tuning.outcome().unwrap();
    assert_eq!(outcome.chosen, Some(2));
    assert!(matches!(outcome.check, Check::HeldOut(found) if found.n == 100));
}

#[test]
fn a_spent_budget_leaves_the_choice_unchecked() {
    let budget = Budget {
        usd: None,
        seconds: Some(100.0),
    };
    let options = Options {
        budget,
        ..options()
    };
    let mut tuning = tuning(space(vec![listed("k", 4)]), first(1), 90, options);
    let Step::Measure(trials) = tuning.next_step() else {
        panic!("nothing to measure")
    };
    for trial in trials {
        let settings = tuning.candidate(trial.candidate).clone();
        for question in trial.questions {
            tuning.record(trial.candidate, question, answer(&settings, question));
        }
    }
    tuning.spend(0.0, 101.0);
    assert_eq!(tuning.outcome(), None, "it is not at its end");
    assert_eq!(tuning.next_step(), Step::Done);
    let outcome = tuning.outcome().unwrap();
    assert_eq!(
        (outcome.verdict, outcome.check),
        (Verdict::Unchecked, Check::None)
    );
    assert_eq!((outcome.p_value, outcome.optimism), (None, None));
}

#[test]
fn few_questions_and_one_document_are_resampled() {
    let reason = |clusters: &dyn Fn(usize) -> Option<String>, questions: usize, hold_out| {
        let questions: Vec<Question> = (0..questions)
            .map(|place| Question {
                cluster: clusters(place),
                ..Question::default()
            })
            .collect();
        let options = Options {
            hold_out,
            ..options()
        };
        let mut tuning =
            Tuning::new(space(vec![listed("k", 4)]), first(1), &questions, options).unwrap();
        let (_, outcome) = finish(&mut tuning, answer);
        let (answered, grid) = tuning.work();
        assert_eq!(answered, grid, "resampling takes all answers");
        // A cluster that has most questions says too little by itself.
        let is_better = matches!(outcome.verdict, Verdict::Better { .. });
        let has_large = tuning.split().no_hold_out == Some(NoHoldOut::LargeClusters);
        assert_eq!(is_better, !has_large, "{outcome:?}");
        match outcome.check {
            Check::Resampled(Resampled { gain, low, high }) => {
                assert!(
                    low < gain && gain < high && (gain - 0.2).abs() < 0.08,
                    "{gain}"
                );
                tuning.split().no_hold_out.expect("a reason")
            }
            other => panic!("{other:?}"),
        }
    };
    let third = 1.0 / 3.0;
    assert_eq!(reason(&|_| None, 59, third), NoHoldOut::FewQuestions);
    assert_eq!(reason(&|_| None, 19, third), NoHoldOut::FewQuestions);
    assert_eq!(reason(&|_| None, 90, 0.0), NoHoldOut::NotWanted);
    let one = |_| Some("a".to_owned());
    assert_eq!(reason(&one, 90, third), NoHoldOut::OneCluster);
    let few = |place: usize| Some((place % 19).to_string());
    assert_eq!(reason(&few, 95, third), NoHoldOut::FewClusters);
    let one_large = |place: usize| Some(place.saturating_sub(80).to_string());
    assert_eq!(reason(&one_large, 110, third), NoHoldOut::LargeClusters);
}

/// Measures everything, once.
#[derive(Debug)]
struct WholeGrid {
    asked: bool,
}

impl Strategy for WholeGrid {
    fn next(&mut self, race: &mut Race) -> Vec<Goal> {
        if std::mem::replace(&mut self.asked, true) {
            return Vec::new();
        }
        let candidates =
            (0..3).map(|place| evals_tune::Candidate(vec![Some(Setting::Listed(place))]));
        let numbers = race.admit(candidates);
        let questions = race.questions();
        numbers
            .into_iter()
            .map(|candidate| Goal {
                candidate,
                questions,
            })
            .collect()
    }
}

#[test]
fn another_strategy_decides_what_is_measured() {
    let questions = vec![Question::default(); 90];
    let strategy = Box::new(WholeGrid { asked: false });
    let space = space(vec![listed("k", 4)]);
    let mut tuning = Tuning::new(space, first(1), &questions, options())
        .unwrap()
        .with_strategy(strategy);
    let (steps, outcome) = finish(&mut tuning, answer);
    assert_eq!(steps.len(), 2, "the search in one step, and the check");
    assert_eq!(
        tuning.standings().len(),
        3,
        "own settings are not admitted twice"
    );
    assert_eq!(outcome.chosen, Some(2));
}

#[test]
fn no_round_cuts_a_conversation() {
    let questions: Vec<Question> = (0..200)
        .map(|turn| Question {
            cluster: Some((turn / 4).to_string()),
            conversation: Some((turn / 4).to_string()),
        })
        .collect();
    let mut tuning = Tuning::new(space(vec![listed("k", 8)]), first(1), &questions, options())
        .expect("a tuning");
    let (steps, _) = finish(&mut tuning, answer);
    assert!(steps.len() > 2, "{} rounds", steps.len());
    for trial in steps.concat() {
        let conversations: Vec<usize> = trial.questions.iter().map(|it| it / 4).collect();
        let mut turns = conversations.chunks(4);
        assert!(turns.all(|it| it == [it[0]; 4]), "{conversations:?}");
    }
}
