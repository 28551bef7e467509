//! The command `score` with several runs.

use std::fmt::Write as _;

use serde_json::Value;

use crate::sandbox::{Sandbox, ended};

/// 16 queries with a relevant document, and three runs that rank it first, second, and second or third.
fn ranked() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut qrels = String::new();
    for query in 0..16 {
        writeln!(qrels, "q{query} 0 d0 1").unwrap();
    }
    sandbox.write("qrels.trec", qrels);
    let mut third = [2; 16];
    third[15] = 3;
    for (name, ranks) in [("second", [2; 16]), ("first", [1; 16]), ("third", third)] {
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

#[test]
fn runs_of_different_queries_have_no_best_one() {
    let sandbox = Sandbox::new();
    sandbox.write("few.qrels", "q1 0 d 1\nq2 0 d 1\nq3 0 d 1\n");
    sandbox.write("all.run", "q1 Q0 d 1 2 a\nq2 Q0 d 1 2 a\nq3 Q0 x 1 2 a\n");
    sandbox.write("one.run", "q1 Q0 d 1 2 a\n");
    sandbox.write("other.run", "q2 Q0 d 1 2 a\n");
    let line = "score --qrels few.qrels --measure RR --run one.run --run all.run";
    let text = sandbox.succeed(line);
    assert!(
        !text.contains('★') && text.contains("different queries, so no run is best"),
        "{text}"
    );
    let refused = sandbox.refuse(&format!("{line} --baseline best"));
    assert!(refused.contains("add `--complete`"), "{refused}");
    let complete = sandbox.succeed(&format!("{line} --baseline best --complete"));
    assert!(complete.contains("Changes from all.run"), "{complete}");
    let line = "score --qrels few.qrels --measure RR --run one.run --run other.run";
    let apart = sandbox.succeed(line);
    let said = "no run ranks a query that one.run ranks, so there are no changes";
    assert!(apart.contains(said), "{apart}");
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
        named.contains("corrected for the 2 tests of the first measure"),
        "{named}"
    );
    // All queries rise by 0.5: 2 / 1.5^16, times 2 tests.
    let first = row(&named, "first.trec", "RR");
    assert!(
        first.contains(&"0.006") && first.contains(&"higher"),
        "{first:?}"
    );
    assert!(
        row(&named, "first.trec", "R@3").contains(&"same"),
        "{named}"
    );

    let best = sandbox.succeed(&format!("{THREE} --baseline best"));
    assert!(best.contains("Changes from first.trec"), "{best}");
    assert!(
        best.contains("corrected for the 3 tests of the first measure, of all pairs of runs, because the means of these queries chose the baseline"),
        "{best}"
    );
    let second = row(&best, "second.trec", "RR");
    assert!(
        second.contains(&"0.006") && second.contains(&"lower"),
        "{second:?}"
    );
}

#[test]
fn json_counts_the_tests_and_has_no_p_value_where_no_query_changed() {
    let sandbox = ranked();
    let printed = sandbox.succeed(&format!("{THREE} --format json"));
    let found: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (&found["baseline"], &found["headline_tests"]),
        (&"second.trec".into(), &2.into())
    );
    let changes = found["changes"].as_array().unwrap();
    let tested: Vec<(&str, bool)> = changes
        .iter()
        .map(|it| (it["measure"].as_str().unwrap(), it["p_value_holm"].is_f64()))
        .collect();
    assert_eq!(
        tested,
        [("RR", true), ("R@3", false), ("RR", true), ("R@3", false)]
    );
    let rise = changes[0]["p_value_holm"].as_f64().unwrap();
    assert!((rise - 4.0 * 1.5_f64.powi(-16)).abs() < 1e-12, "{rise}");
}

#[test]
fn a_narrow_terminal_shows_what_fits_and_names_the_rest() {
    let sandbox = ranked();
    for folder in ["2026-05-01_1_bm25", "2026-05-01_2_hybrid"] {
        std::fs::create_dir_all(sandbox.work().join("runs").join(folder)).unwrap();
        let run = std::fs::read(sandbox.work().join(match folder {
            "2026-05-01_1_bm25" => "first.trec",
            _ => "third.trec",
        }));
        sandbox.write(&format!("runs/{folder}/run.trec"), run.unwrap());
    }
    let measures = "-m RR -m R@3 -m nDCG@10 -m P@1 -m P@3 -m AP -m Rprec -m Success@1";
    let line = format!(
        "score --qrels qrels.trec --run runs/2026-05-01_1_bm25/run.trec --run runs/2026-05-01_2_hybrid/run.trec --per-query {measures}"
    );
    let wide = sandbox.succeed(&line);
    assert!(
        wide.contains("2026-05-01_1_bm25/run.trec ") && !wide.contains("runs/2026"),
        "{wide}"
    );
    assert!(!wide.contains("no room"), "a file has lines of any length");
    for (columns, left_out) in [(60, "95 % interval, p"), (80, "p")] {
        let done = ended(sandbox.command(&line).env("COLUMNS", columns.to_string()));
        let page = done.stdout;
        assert!(
            page.lines().all(|it| it.chars().count() <= columns),
            "{columns}: {page}"
        );
        for measure in [
            "RR",
            "R@3",
            "nDCG@10",
            "P@1",
            "P@3",
            "AP",
            "Rprec",
            "Success@1",
        ] {
            assert!(page.contains(&format!(" {measure}")), "{measure}: {page}");
        }
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(&format!(
                "no room for {left_out}; widen the terminal or set COLUMNS"
            )),
            "{page}"
        );
    }
}

#[test]
fn two_equal_runs_are_not_tested() {
    let sandbox = ranked();
    let line = "score --qrels qrels.trec --run first.trec --run first.trec -m RR";
    let page = sandbox.succeed(line);
    assert!(!page.contains("0 tests"), "{page}");
    assert!(
        page.ends_with("No query changed in any measure, so there is nothing to test.\n"),
        "{page}"
    );
    let counted = sandbox.succeed(&line.replace("RR", "num_ret"));
    assert!(!counted.contains("Changes from"), "{counted}");
}

#[test]
fn a_value_of_the_wrong_type_is_named_with_its_file_place_and_keys() {
    let sandbox = ranked();
    sandbox.write("run.json", "{\"q0\":\n {\"d0\": \"high\"}}");
    let message = sandbox.refuse("score --qrels qrels.trec --run run.json");
    assert!(
        message.contains("cannot read `run.json`")
            && message.contains(
                "`q0`: `d0`: expected a number, found the text \"high\" at line 2 column 14; the form is"
            ),
        "{message}"
    );
    // A report is read by another reader.
    sandbox.succeed("sample --skip-qa --limit 1 --profile bm25");
    let path = sandbox.runs()[0].join("report.json");
    let mut report: Value = crate::sandbox::json(&path);
    report["cases"] = 7.into();
    sandbox.write("report.json", report.to_string());
    let message = sandbox.refuse("runs show report.json");
    assert!(message.contains("expected a list, found `7`"), "{message}");
    for rust in ["sequence", "invalid type", "usize", "f64"] {
        assert!(!message.contains(rust), "{message}");
    }
}
