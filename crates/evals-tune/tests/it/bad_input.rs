//! Spaces and options that cannot be tuned.

use evals_tune::{Budget, Candidate, Figure, Options, Question, Setting, Space, TuneError, Tuning};

use crate::{first, listed, options, range, space};

#[test]
fn a_space_says_what_is_wrong_with_a_knob() {
    let mut twice = listed("k", 2);
    twice.values = evals_tune::Values::Listed(vec!["a".to_owned(), "b".to_owned(), "a".to_owned()]);
    let wrong = [
        (vec![listed("k", 0)], "`k` has no values"),
        (vec![twice], "`k` has the value `a` twice"),
        (
            vec![listed("k", 1), range("k", 0.0, 1.0, false)],
            "there are two knobs `k`",
        ),
        (
            vec![range("k", 0.9, 0.1, false)],
            "the range of `k` goes from 0.9 to 0.1; it has to go up, between finite numbers, and whole ones if it is of whole numbers",
        ),
        (
            vec![range("k", 2.0, 2.0, true)],
            "the range of `k` goes from 2 to 2; it has to go up, between finite numbers, and whole ones if it is of whole numbers",
        ),
        (
            vec![range("k", 0.0, f64::INFINITY, false)],
            "the range of `k` goes from 0 to inf; it has to go up, between finite numbers, and whole ones if it is of whole numbers",
        ),
        (
            vec![range("k", 0.5, 3.0, true)],
            "the range of `k` goes from 0.5 to 3; it has to go up, between finite numbers, and whole ones if it is of whole numbers",
        ),
    ];
    for (knobs, message) in wrong {
        assert_eq!(Space::new(knobs).unwrap_err().to_string(), message);
    }
    let nan = Space::new(vec![range("k", f64::NAN, 1.0, false)]);
    assert!(matches!(nan, Err(TuneError::Range { .. })));
}

#[test]
fn a_size_is_the_product_or_infinite() {
    let knobs = vec![listed("a", 3), range("b", 1.0, 5.0, true)];
    assert_eq!(space(knobs.clone()).size(), Some(15.0));
    let infinite = [knobs, vec![range("c", 0.0, 1.0, false)]].concat();
    assert_eq!(space(infinite).size(), None);
    assert_eq!(space(Vec::new()).size(), Some(1.0));
}

#[test]
fn options_out_of_range_are_named() {
    let wrong = [
        (
            "trials",
            Options {
                trials: 0,
                ..options()
            },
        ),
        (
            "holdout",
            Options {
                hold_out: 1.0,
                ..options()
            },
        ),
        (
            "holdout",
            Options {
                hold_out: f64::NAN,
                ..options()
            },
        ),
        (
            "significance",
            Options {
                significance: 0.0,
                ..options()
            },
        ),
        (
            "draws",
            Options {
                draws: 0,
                ..options()
            },
        ),
        (
            "limits",
            Options {
                limits: vec![(Figure::LatencyP95, f64::NAN)],
                ..options()
            },
        ),
        (
            "budget",
            Options {
                budget: Budget {
                    usd: Some(-1.0),
                    seconds: None,
                },
                ..options()
            },
        ),
    ];
    for (name, options) in wrong {
        let found = Tuning::new(
            space(vec![listed("k", 2)]),
            first(1),
            &[Question::default()],
            options,
        );
        assert_eq!(found.unwrap_err(), TuneError::Option(name));
    }
}

#[test]
fn own_settings_have_to_fit_and_questions_have_to_be_there() {
    let questions = vec![Question::default(); 3];
    let start = |own: Candidate, questions: &[Question]| {
        let space = space(vec![listed("k", 2), range("r", 0.0, 1.0, false)]);
        Tuning::new(space, own, questions, options()).map(|_| ())
    };
    let own = |settings: &[Option<Setting>]| Candidate(settings.to_vec());
    let number = |number| Some(Setting::Number(number));
    let place = |place| Some(Setting::Listed(place));
    assert_eq!(start(own(&[place(1), number(1.0)]), &questions), Ok(()));
    assert_eq!(start(own(&[None, None]), &questions), Ok(()));
    assert_eq!(
        start(own(&[place(1), number(1.0)]), &[]),
        Err(TuneError::NoQuestions)
    );
    for wrong in [
        own(&[place(1)]),
        own(&[place(2), number(1.0)]),
        own(&[place(1), number(1.1)]),
        own(&[number(0.0), number(1.0)]),
    ] {
        assert_eq!(start(wrong, &questions), Err(TuneError::Own));
    }
}
