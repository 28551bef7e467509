//! The command `score` with several runs.

use std::fmt::Write as _;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Eight queries with a relevant document, and three runs that rank it first, second, and second or third.
fn ranked() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut qrels = String::new();
    for query in 0..8 {
        writeln!(qrels, "q{query} 0 d0 1").unwrap();
    }
    sandbox.write("qrels.trec", qrels);
    for (name, ranks) in [
        ("second", [2; 8]),
        ("first", [1; 8]),
        ("third", [2, 2, 2, 2, 2, 2, 2, 3]),
    ] {
        let mut run = String::new();
        for (query, rank) in ranks.into_iter().enumerate() {
            for place in 1..=3 {
                // Documents that are not relevant have no judgement.
                let document = if place == rank { 0 } else { place };
                let score = 10 - place;
                writeln!(run, "q{query} Q0 d{document} {place} {score} {name}").unwrap();
            }
        }
        sandbox.write(&format!("{name}.trec"), run);
    }
    sandbox
}

const THREE: &str =
    "score --qrels qrels.trec --run second.trec --run first.trec --run third.trec -m RR -m R@3";

fn row<'p>(page: &'p str, run: &str, measure: &str) -> Vec<&'p str> {
    let changes = page.split_once("Changes from").unwrap().1;
    let rows = changes
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut own = rows.filter(|cells| cells.len() > 1 && cells[0] == run && cells[1] == measure);
    own.next().unwrap()
}

#[test]
fn a_baseline_chosen_by_the_means_is_corrected_for_all_pairs_of_runs() {
    let sandbox = ranked();
    let named = sandbox.succeed(THREE);
    assert!(named.contains("Changes from second.trec"), "{named}");
    assert!(
        named.contains("corrected for the 2 tests of this table (Holm)"),
        "{named}"
    );
    // All eight queries rise: 2 of 2^8 swaps, times 2 tests.
    let first = row(&named, "first.trec", "RR");
    assert!(
        first.contains(&"0.016") && first.contains(&"higher"),
        "{first:?}"
    );
    assert!(
        row(&named, "first.trec", "R@3").contains(&"same"),
        "{named}"
    );

    let best = sandbox.succeed(&format!("{THREE} --baseline best"));
    assert!(best.contains("Changes from first.trec"), "{best}");
    assert!(
        best.contains("corrected for the 3 tests of all pairs of runs (Holm), because the means of these queries chose the baseline"),
        "{best}"
    );
    let second = row(&best, "second.trec", "RR");
    assert!(
        second.contains(&"0.023") && second.contains(&"lower"),
        "{second:?}"
    );
}

#[test]
fn json_counts_the_tests_and_has_no_p_value_where_no_query_changed() {
    let sandbox = ranked();
    let printed = sandbox.succeed(&format!("{THREE} --format json"));
    let found: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (&found["baseline"], &found["tests"]),
        (&"second.trec".into(), &2.into())
    );
    let changes = found["changes"].as_array().unwrap();
    let p_values: Vec<(&str, Option<f64>)> = changes
        .iter()
        .map(|it| (it["measure"].as_str().unwrap(), it["p_value_holm"].as_f64()))
        .collect();
    assert_eq!(
        p_values,
        [
            ("RR", Some(4.0 / 256.0)),
            ("R@3", None),
            ("RR", Some(1.0)),
            ("R@3", None)
        ]
    );
}
