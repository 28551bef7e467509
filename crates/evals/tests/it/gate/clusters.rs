//! Gates of runs whose cases come in clusters: how often they fail without a reason, and what their self-test promises.

use std::num::NonZeroU32;

use evals::render::Console;
use evals::{
    ClusterKey, DropCheck, GateReport, GateTrial, GateVerdict, Noise, Snapshot, TrialShares,
};
use evals_metrics::{Bootstrap, IntervalMethod, Xoshiro256PlusPlus};
use serde_json::json;

use super::{Named, check, drop_numbers, gate, judged_snapshots, max_drop, min};
use crate::fakes::{finished, score};
use crate::topics::with_metadata;

/// The clusters of a run, and the cases of each.
const CLUSTERS: u32 = 20;
const CASES: u32 = 15;

/// The number of pairs of equally good runs.
const TRIES: u32 = 100;

/// The largest drop that the gates accept.
const TOLERANCE: f64 = 0.015;

/// A run whose cases differ from another run's by a standard deviation of 0.15, of which clusters share 30 % of the variance.
fn run(random: &mut Xoshiro256PlusPlus, key: &str) -> Snapshot {
    // The sum of three uniform numbers is close to normal, with a standard deviation of 0.5.
    let mut noise = |deviation: f64| {
        let sum: f64 = (0..3).map(|_| random.share() - 0.5).sum();
        2.0 * deviation * sum
    };
    let (shared, own) = ((0.3_f64 * 0.011_25).sqrt(), (0.7_f64 * 0.011_25).sqrt());
    let mut cases = Vec::new();
    for document in 0..CLUSTERS {
        let luck = noise(shared);
        for question in 0..CASES {
            let value = 0.5 + luck + noise(own);
            let id = format!("q{document:02}{question:02}");
            let case = finished(&id, vec![score("RR", value)]);
            cases.push((case, json!({"document": document})));
        }
    }
    let mut report = with_metadata(cases);
    report
        .cluster_by(&key.parse::<ClusterKey>().unwrap())
        .unwrap();
    let summary = report.summary(&Bootstrap::default());
    Snapshot::of("run", &report, &summary)
}

fn drop_of(report: &GateReport) -> &DropCheck {
    drop_numbers(check(report, "MRR drop <= 0.015"))
}

/// The share of pairs of equally good runs that fail.
fn false_alarms(key: &str) -> f64 {
    let mut random = Xoshiro256PlusPlus::seeded(11);
    let gate = gate([max_drop(TOLERANCE)]);
    let failed = (0..TRIES).filter(|_| {
        let [before, after] = [run(&mut random, key), run(&mut random, key)];
        let report = judged_snapshots(&gate, Some(&before), &after).unwrap();
        report.verdict == GateVerdict::Failed
    });
    f64::from(u32::try_from(failed.count()).unwrap()) / f64::from(TRIES)
}

/// What the self-test of the gate promises about equally good runs.
fn promised(key: &str) -> TrialShares {
    let mut random = Xoshiro256PlusPlus::seeded(5);
    let runs = [run(&mut random, key), run(&mut random, key)];
    let gate = gate([max_drop(TOLERANCE)]);
    let trial = GateTrial {
        gate: &gate,
        drops: &[TOLERANCE],
        simulations: NonZeroU32::new(400).unwrap(),
        seed: 7,
    };
    let found = trial.run(&Noise::Runs(&runs), &Named).unwrap();
    let text = found.assumptions.join("; ");
    assert_eq!(text.contains("cluster by cluster"), key != "none", "{text}");
    found.rows[0].shares.unwrap()
}

#[test]
fn a_gate_of_20_clusters_fails_as_seldom_as_its_level_and_its_self_test_say() {
    let alone = false_alarms("none");
    assert!(
        alone > 0.12,
        "cases that depend on each other raise alarms: {alone}"
    );
    let clustered = false_alarms("metadata:document");
    // One side of a test at 5 %, with three standard errors of the simulation.
    assert!(clustered < 0.025 + 0.047, "{clustered}");
    let promised = promised("metadata:document").failed.value;
    assert!(
        (promised - clustered).abs() < 0.05,
        "{promised} {clustered}"
    );
}

#[test]
fn a_self_test_by_exchange_is_of_equally_good_runs_whatever_the_sizes_of_clusters() {
    // Ten clusters of 20 cases at 0.9, and 100 cases alone at 0.3: a mean of 0.7.
    let mut cases = Vec::new();
    for number in 0..300 {
        let (document, value) = if number < 200 {
            (number / 20, 0.9)
        } else {
            (number, 0.3)
        };
        let case = finished(&format!("q{number}"), vec![score("RR", value)]);
        cases.push((case, json!({"document": document})));
    }
    let mut report = with_metadata(cases);
    report
        .cluster_by(&"metadata:document".parse::<ClusterKey>().unwrap())
        .unwrap();
    let run = Snapshot::of("run", &report, &report.summary(&Bootstrap::default()));
    let trial = GateTrial {
        gate: &gate([max_drop(0.0)]),
        drops: &[0.1],
        simulations: NonZeroU32::new(1_000).unwrap(),
        seed: 7,
    };
    let share = 0.2;
    let noise = Noise::Exchange { run: &run, share };
    let failed = trial.run(&noise, &Named).unwrap().rows[0].shares.unwrap();
    // One side of a test at 5 %, with three standard errors of the simulation.
    assert!(failed.failed.value < 0.025 + 0.015, "{failed:?}");
}

#[test]
fn the_numbers_of_a_gate_count_clusters() {
    let sides = |key: &str| {
        let mut random = Xoshiro256PlusPlus::seeded(3);
        [run(&mut random, key), run(&mut random, key)]
    };
    let judge = |key: &str| {
        let [before, after] = sides(key);
        judged_snapshots(
            &gate([max_drop(TOLERANCE), min("RR", 0.1)]),
            Some(&before),
            &after,
        )
        .unwrap()
    };
    let width = |key: &str| {
        let interval = drop_of(&judge(key)).interval.unwrap();
        (interval.high - interval.low, interval.method)
    };
    let (alone, together) = (width("none"), width("metadata:document"));
    assert!(together.0 > 1.5 * alone.0, "{alone:?} {together:?}");
    assert_eq!(together.1, IntervalMethod::ClusterCr2);
    // The baseline may be from before clusters were declared.
    let [before, _] = sides("none");
    let [_, after] = sides("metadata:document");
    let mixed = judged_snapshots(&gate([max_drop(TOLERANCE)]), Some(&before), &after).unwrap();
    assert_eq!(
        drop_of(&mixed).interval.unwrap().method,
        IntervalMethod::ClusterCr2
    );
    // A baseline without its clusters leaves them to the run.
    let [_, after] = sides("none");
    let [before, _] = sides("metadata:document");
    for (before, method) in [
        (before.clone(), IntervalMethod::ClusterCr2),
        (before.without_clusters(), IntervalMethod::StudentT),
    ] {
        let found = judged_snapshots(&gate([max_drop(TOLERANCE)]), Some(&before), &after).unwrap();
        assert_eq!(drop_of(&found).interval.unwrap().method, method);
    }

    let mut page = Vec::new();
    let report = judge("metadata:document");
    Console::default().gate(&mut page, &report).unwrap();
    let page = String::from_utf8(page).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "p: paired t test by clusters, two-sided;",
        "clusters: 20 clusters by `document`, the largest of 15 cases",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
}

#[test]
fn the_sentences_of_a_gate_count_clusters() {
    let same = run(&mut Xoshiro256PlusPlus::seeded(3), "metadata:document");
    let gate = gate([max_drop(TOLERANCE)]);
    let unchanged = judged_snapshots(&gate, Some(&same), &same).unwrap();
    let reason = &check(&unchanged, "MRR drop <= 0.015").reason;
    let expected = "20 clusters with a value are too few to exclude drops above 0.015";
    assert!(reason.contains(expected), "{reason}");

    let mut random = Xoshiro256PlusPlus::seeded(3);
    let mut side = || run(&mut random, "metadata:document");
    let [before, after] = [side(), side()];
    let report = judged_snapshots(&gate, Some(&before), &after).unwrap();
    let reason = &check(&report, "MRR drop <= 0.015").reason;
    let needed = drop_of(&report).cases_needed.unwrap();
    for expected in [
        "over 20 clusters, which are too few".to_owned(),
        format!("it needs about {needed} clusters"),
    ] {
        assert!(reason.contains(&expected), "{reason}");
    }
}
