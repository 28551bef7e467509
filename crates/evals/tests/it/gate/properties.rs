//! Properties of gates.

use evals::{Gate, GateVerdict, Snapshot, Strictness};
use proptest::prelude::*;

use super::{gate, judged, judged_snapshots, max_drop, scored, snapshot};

fn values() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0], 1..40)
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let value = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    prop::collection::vec((value(), value()), 1..40)
}

fn of(strictness: Strictness, tolerance: f64) -> Gate {
    Gate {
        strictness,
        ..gate([max_drop(tolerance)])
    }
}

const BOTH: [Strictness; 2] = [Strictness::Default, Strictness::Strict];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_run_against_itself_passes_if_its_cases_exclude_the_tolerance(values in values(), tolerance in 0.0..0.5) {
        let report = scored(&values);
        let found = judged(&of(Strictness::Default, tolerance), &report, &report).unwrap();
        let n = f64::from(u32::try_from(values.len()).unwrap());
        let z_squared = 1.959_963_985_f64.powi(2);
        // Tango's interval of unchanged verdicts, and Clopper and Pearson's limit of changed cases among others.
        let reach = if values.iter().all(|value| [0.0, 1.0].contains(value)) {
            z_squared / (n + z_squared)
        } else {
            1.0 - 0.025_f64.powf(1.0 / n)
        };
        let expected = if reach <= tolerance { GateVerdict::Passed } else { GateVerdict::CannotTell };
        prop_assert_eq!(found.verdict, expected, "{} {}", reach, tolerance);
    }

    #[test]
    fn a_larger_tolerance_never_turns_a_pass_into_a_failure(pairs in pairs(), less in 0.0..0.5, more in 0.0..0.5) {
        let (before, after): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let sides = [snapshot(&scored(&before)), snapshot(&scored(&after))];
        for strictness in BOTH {
            let verdict = |tolerance: f64| {
                let gate = of(strictness, tolerance);
                judged_snapshots(&gate, Some(&sides[0]), &sides[1]).unwrap().verdict
            };
            prop_assert!(verdict(less + more) <= verdict(less).max(GateVerdict::CannotTell));
        }
    }

    #[test]
    fn strict_never_passes_what_the_default_fails(pairs in pairs(), tolerance in 0.0..0.5) {
        let (before, after): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let sides = [scored(&before), scored(&after)];
        let verdict = |strictness| judged(&of(strictness, tolerance), &sides[0], &sides[1]).unwrap().verdict;
        prop_assert!(verdict(Strictness::Strict) >= verdict(Strictness::Default));
    }

    #[test]
    fn the_order_of_cases_does_not_matter(pairs in pairs(), tolerance in 0.0..0.5) {
        let (before, after): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let (before, mut after) = (scored(&before), scored(&after));
        let found = judged(&of(Strictness::Default, tolerance), &before, &after).unwrap();
        after.cases.reverse();
        let turned = judged(&of(Strictness::Default, tolerance), &before, &after).unwrap();
        prop_assert_eq!(found, turned);
    }

    #[test]
    fn a_snapshot_survives_its_file(values in values()) {
        let written = snapshot(&scored(&values));
        let text = serde_json::to_string(&written).unwrap();
        let read: Snapshot = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.fault(), None);
        prop_assert_eq!(read, written);
    }
}
