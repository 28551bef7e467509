//! Self-tests of gates: shares that can be computed, and settings that are refused.

use std::num::NonZeroU32;

use evals::render::{self, Console};
use evals::{
    Gate, GateBound, GateTrial, GateVerdict, MeasureNames, Noise, Snapshot, TrialError,
    TrialReport, TrialShares,
};

use insta::assert_snapshot;

use super::{gate, max, max_drop, min, scored, snapshot};
use crate::fakes::{finished, report, score};

/// Every measure has one name.
struct Shares;

impl MeasureNames for Shares {
    fn means(&self, written: &str, title: &str) -> bool {
        written == title
    }
}

fn trial(gate: &Gate, noise: &Noise<'_>, drops: &[f64]) -> Result<TrialReport, TrialError> {
    let trial = GateTrial {
        gate,
        drops,
        simulations: NonZeroU32::new(400).unwrap(),
        seed: 7,
    };
    trial.run(noise, &Shares)
}

fn all_passed(n: usize) -> Snapshot {
    snapshot(&scored(&vec![1.0; n]))
}

fn exchange(run: &Snapshot) -> Noise<'_> {
    Noise::Exchange { run, share: 0.2 }
}

fn shares(report: &TrialReport, drop: &str) -> TrialShares {
    let row = report.rows.iter().find(|row| row.drop == drop);
    let row = row.unwrap_or_else(|| panic!("no drop `{drop}` in {report:?}"));
    row.shares.unwrap()
}

#[test]
fn shares_of_a_run_without_noise_are_those_of_the_binomial_distribution() {
    let run = all_passed(200);
    let found = trial(&gate([max_drop(0.02)]), &exchange(&run), &[]).unwrap();
    let drops: Vec<&str> = found.rows.iter().map(|row| row.drop.as_str()).collect();
    assert_eq!(drops, ["none", "0.02", "0.04", "0.08"]);
    let none = shares(&found, "none");
    assert!(
        none.failed.value.abs() < 1e-12 && none.strict.value.abs() < 1e-12,
        "{none:?}"
    );
    // K of 200 cases break. The score test is significant from 4 on, z = √4, and 5 are above the tolerance of 4 in 200. Python:
    // 1 - sum(comb(200, i) * d**i * (1 - d)**(200 - i) for i in range(5))
    for (drop, expected) in [("0.02", 0.3712), ("0.04", 0.9050), ("0.08", 0.9997)] {
        let failed = shares(&found, drop).failed;
        // Three times the half width of a 95 % interval, because three shares are compared.
        let interval = failed.interval.unwrap();
        let slack = interval.high - interval.low;
        assert!(
            (failed.value - expected).abs() < slack,
            "{drop}: {failed:?}"
        );
    }
    let strict = shares(&found, "0.04").strict;
    assert!(
        strict.value >= shares(&found, "0.04").failed.value,
        "{strict:?}"
    );
}

#[test]
fn two_equal_runs_never_raise_an_alarm() {
    let runs = [all_passed(50), all_passed(50)];
    let found = trial(&gate([max_drop(0.02)]), &Noise::Runs(&runs), &[0.5]).unwrap();
    assert!(shares(&found, "none").failed.value.abs() < 1e-12);
    assert!((shares(&found, "0.5").failed.value - 1.0).abs() < 1e-12);
}

#[test]
fn noise_raises_few_alarms_by_default_and_many_when_strict() {
    // Two runs that differ in every fifth case, half of them in each direction.
    let side = |first: f64, second: f64| {
        let values = (0..100).map(|number| match number % 10 {
            0 => first,
            5 => second,
            _ => 0.5,
        });
        snapshot(&scored(&values.collect::<Vec<f64>>()))
    };
    let runs = [side(1.0, 0.0), side(0.0, 1.0)];
    let found = trial(&gate([max_drop(0.02)]), &Noise::Runs(&runs), &[]).unwrap();
    let none = shares(&found, "none");
    assert!(
        none.failed.value < 0.05,
        "one side of a test at 5 %: {none:?}"
    );
    assert!(none.failed.value > 0.0, "{none:?}");
    assert!(
        none.strict.value > 0.9,
        "the interval is wider than the tolerance: {none:?}"
    );
    assert!(none.cannot_tell.value > 0.5, "{none:?}");
}

#[test]
fn repetitions_are_split_into_halves() {
    let runs = [all_passed(40), snapshot(&scored(&[0.0; 40]))];
    let found = trial(&gate([max_drop(0.02)]), &Noise::Repetitions(&runs), &[]).unwrap();
    assert!(
        found.assumptions[0].contains("splits the 2 repetitions"),
        "{found:?}"
    );
    let none = shares(&found, "none");
    assert!(
        none.failed.value > 0.0 && none.failed.value < 0.05,
        "{none:?}"
    );
}

#[test]
fn equal_seeds_give_equal_results() {
    let run = all_passed(60);
    let gate = gate([max_drop(0.05), min("RR", 0.9)]);
    let found = || trial(&gate, &exchange(&run), &[]).unwrap();
    assert_eq!(found(), found());
    let rules: Vec<_> = found()
        .rows
        .iter()
        .take(3)
        .map(|row| row.rule.clone())
        .collect();
    assert_eq!(
        rules,
        [
            None,
            Some("RR drop <= 0.05".to_owned()),
            Some("RR >= 0.9".to_owned())
        ]
    );
}

#[test]
fn a_floor_that_the_run_breaks_is_no_false_alarm() {
    let run = all_passed(60);
    let broken = gate([max_drop(0.05), min("RR", 0.9), max("latency.p95", 1.0)]);
    let half: Vec<f64> = (0..60).map(|number| f64::from(number % 2)).collect();
    let half = snapshot(&scored(&half));
    let none = |run: &Snapshot| {
        let found = trial(&broken, &exchange(run), &[]).unwrap();
        let rows = found.rows.into_iter().filter(|row| row.drop == "none");
        rows.map(|row| (row.rule, row.is_limit, row.shares.unwrap().failed.value))
            .collect::<Vec<_>>()
    };
    let (fine, worse) = (none(&run), none(&half));
    assert_eq!((fine.len(), worse.len()), (3, 3));
    let [(None, false, alarms), _, (Some(floor), true, failed)] = &worse[..] else {
        panic!("{worse:?}");
    };
    assert_eq!(floor, "RR >= 0.9");
    assert!(*failed > 0.99 && *alarms < 0.05, "{worse:?}");
    assert!(fine[2].2 < 0.01, "{fine:?}");
}

#[test]
fn a_limit_is_simulated_on_the_scale_by_which_the_gate_judges_it() {
    // Student's interval of these scores begins below 0, where the interval of values from 0 to 1 is cut.
    let cases = (0..12).map(|number| {
        let value = if number == 0 { 0.5 } else { 0.0 };
        finished(&format!("q{number:02}"), vec![score("tone", value)])
    });
    let run = snapshot(&report(cases.collect()));
    let gate = Gate {
        bound: GateBound::Pessimistic,
        ..gate([min("tone", 0.0)])
    };
    let judged = super::judged_snapshots(&gate, None, &run).unwrap();
    assert_eq!(judged.verdict, GateVerdict::Passed, "{judged:?}");
    let found = trial(&gate, &exchange(&run), &[0.01]).unwrap();
    let failed = shares(&found, "none").failed.value;
    assert!(failed < 1e-12, "{found:?}");
}

#[test]
fn a_trial_of_many_drops_sees_a_large_one_at_their_level() {
    // Holm's first step of 60 drops is 0.05 / 60 = 0.0008.
    let cases = (0..40).map(|number| {
        let value = 0.5 + f64::from(number) / 100.0;
        let scores = (0..60).map(|measure| score(&format!("m{measure}"), value));
        finished(&format!("q{number:02}"), scores.collect())
    });
    let run = snapshot(&report(cases.collect()));
    let rules = (0..60).map(|measure| evals::Rule::MaxDrop {
        measure: format!("m{measure}"),
        tolerance: 0.05,
    });
    let trial = GateTrial {
        gate: &gate(rules),
        drops: &[0.6],
        simulations: NonZeroU32::new(20).unwrap(),
        seed: 7,
    };
    let found = trial.run(&exchange(&run), &super::Named).unwrap();
    let seen = shares(&found, "0.6").failed.value;
    assert!(seen > 0.99, "a drop of most of the value: {seen}");
}

#[test]
fn a_drop_below_the_worst_value_is_impossible() {
    let run = snapshot(&scored(&[0.1; 30]));
    let found = trial(&gate([max_drop(0.05)]), &exchange(&run), &[0.2]).unwrap();
    assert_eq!(found.rows[1].shares, None);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let run = all_passed(30);
    let refused = |rules: Vec<evals::Rule>, drops: &[f64]| {
        trial(&gate(rules), &exchange(&run), drops).unwrap_err()
    };
    assert_eq!(refused(vec![max("failed", 1.0)], &[]), TrialError::Nothing);
    assert_eq!(refused(vec![max_drop(0.0)], &[]), TrialError::NoSize);
    assert_eq!(
        refused(vec![max_drop(0.1)], &[-0.1]),
        TrialError::Size(-0.1)
    );
    let wrong = Noise::Exchange {
        run: &run,
        share: 1.5,
    };
    assert_eq!(
        trial(&gate([max_drop(0.1)]), &wrong, &[]).unwrap_err(),
        TrialError::Share(1.5)
    );
    let alone = [all_passed(30)];
    assert_eq!(
        trial(&gate([max_drop(0.1)]), &Noise::Runs(&alone), &[]).unwrap_err(),
        TrialError::Alone
    );
    let with_limit = gate([max_drop(0.1), max("latency.p95", 1.0)]);
    let found = trial(&with_limit, &exchange(&run), &[]).unwrap();
    assert_eq!(found.left_out, ["max of latency.p95"]);
}

#[test]
fn the_table_states_what_it_assumes() {
    let run = all_passed(200);
    let found = trial(
        &gate([max_drop(0.02), max("cost", 1.0)]),
        &exchange(&run),
        &[],
    )
    .unwrap();
    let mut page = Vec::new();
    let console = Console {
        width: 100,
        ..Console::default()
    };
    console.trial(&mut page, &found).unwrap();
    assert_snapshot!(String::from_utf8(page).unwrap());
    let mut page = Vec::new();
    render::markdown::trial(&mut page, &found).unwrap();
    assert_snapshot!("markdown", String::from_utf8(page).unwrap());
}
