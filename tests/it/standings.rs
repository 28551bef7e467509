//! The command `compare` with more than two runs.

use std::fs;

use crate::sandbox::{Sandbox, json, unwrapped};

/// The names of the stored runs, oldest first.
fn names(sandbox: &Sandbox) -> Vec<String> {
    let runs = sandbox.runs().into_iter();
    runs.map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn three_profiles_have_letters_and_every_pair_a_p_value() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25 --profile hybrid --profile unranked");
    let runs = names(&sandbox).join(" ");
    let page = sandbox.succeed(&format!(
        "compare {runs} --out all.json --out all.md --out all.csv --out all.html --figures figures --group-by question_length"
    ));
    let page = unwrapped(&page);
    for line in [
        "Pairs of runs by MRR@5",
        "Holm-corrected for the 3 tests of RR@5, and for the 9 tests of the other measures",
        "MRR@5 by question_length",
        "latency not compared, fewer than 20 timed cases: unranked",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    let all = json(&sandbox.work().join("all.json"));
    assert_eq!(all["reports"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&all["headline_tests"], &all["tests"]),
        (&3.into(), &9.into())
    );
    let main = &all["measures"][0];
    assert_eq!(
        (main["measure"].as_str(), &main["n"]),
        (Some("RR@5"), &256.into())
    );
    let last = &main["standings"][2];
    assert_eq!(last["report"], 2, "the list without a search is last");
    // What compare says about two of them alone, before the correction.
    let two = format!("{} {}", names(&sandbox)[0], names(&sandbox)[2]);
    sandbox.succeed(&format!("compare {two} --out two.json"));
    let two = json(&sandbox.work().join("two.json"));
    let pair = &main["pairs"][1];
    assert_eq!((&pair["first"], &pair["second"]), (&0.into(), &2.into()));
    assert_eq!(pair["difference"], two["measures"][0]["difference"]);
    assert_eq!(pair["effect"], two["measures"][0]["effect"]);
    let csv = fs::read_to_string(sandbox.work().join("all.csv")).unwrap();
    assert!(csv.lines().count() > 12, "{csv}");
    let markdown = fs::read_to_string(sandbox.work().join("all.md")).unwrap();
    assert!(markdown.contains("| Run | MRR@5 |"), "{markdown}");
    let html = fs::read_to_string(sandbox.work().join("all.html")).unwrap();
    assert!(html.contains("Pairs of runs by MRR@5"));
    assert!(sandbox.work().join("figures/standings.svg").exists());
}

#[test]
fn the_test_its_correction_and_clusters_can_be_chosen() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25 --profile hybrid --profile semantic");
    let runs = names(&sandbox).join(" ");
    for (options, expected) in [
        (
            "--cluster none --test wilcoxon --adjust bh --measure MRR@5",
            "Wilcoxon signed rank test; corrected p: Benjamini-Hochberg-corrected for the 3 tests of RR@5",
        ),
        (
            "--cluster none --test sign --adjust none --measure R@5",
            "sign test; not corrected, although there are 3 tests of RR@5",
        ),
        (
            "--cluster metadata:question_length --test t",
            "paired t test by clusters of one `question_length`",
        ),
        (
            "--cluster metadata:question_length",
            "intervals: Student's t with cluster-robust standard error (CR2)",
        ),
        (
            "--measure MRR@5",
            "intervals: Student's t with cluster-robust standard error (CR2)",
        ),
        ("--cluster none --measure MRR@5", "intervals: Student's t"),
        (
            "--cluster none --measure R@5",
            "intervals: Wilson's score interval for means; Tango's score interval for the others",
        ),
        // Every question of the sample has one relevant document.
        (
            "--cluster metadata:relevant_documents --measure MRR@5",
            "no p value for 3 differences: ",
        ),
        (
            "--cluster metadata:relevant_documents --measure MRR@5",
            "without a p value (all values are in one cluster): it may be\n  chance",
        ),
    ] {
        let page = sandbox.succeed(&format!("compare {runs} {options}"));
        assert!(page.contains(expected), "{options}: {page}");
    }
    for (options, expected) in [
        (
            "--test sign",
            "and the sign test does not support clusters; choose another `--test`, or test single cases with `--cluster none`",
        ),
        (
            "--cluster metadata:relevant_document",
            "did you mean `relevant_documents`?",
        ),
        (
            "--measure R@55",
            "lacks `R@55`, which looks deeper than the",
        ),
        (
            "--fail-if-worse",
            "`--fail-if-worse` compares one run with a baseline",
        ),
    ] {
        let message = sandbox.refuse(&format!("compare {runs} {options}"));
        assert!(message.contains(expected), "{options}: {message}");
    }
}

#[test]
fn runs_that_cannot_be_compared_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25 --profile hybrid");
    sandbox.succeed("sample --skip-qa --profile bm25 --limit 3");
    let all = names(&sandbox);
    let message = sandbox.refuse(&format!("compare {} {} {}", all[0], all[1], all[0]));
    assert!(message.contains("with itself"), "{message}");
    let message = sandbox.refuse(&format!("compare {} {} no-such-run", all[0], all[1]));
    assert!(message.contains("no run `no-such-run`"), "{message}");
    let few = sandbox.run(&format!("compare {}", all.join(" ")));
    assert_eq!(few.code, Some(0), "{}", few.stderr);
    assert!(few.stderr.contains("asked 3 questions"), "{}", few.stderr);
    assert!(few.stdout.contains("below 30"), "{}", few.stdout);
    sandbox.succeed("sample --limit 3 --profile bm25 --skip-retrieval");
    let qa = names(&sandbox).pop().unwrap();
    let message = sandbox.refuse(&format!("compare {} {} {qa}", all[0], all[1]));
    assert!(
        message.contains("both need the same dataset and benchmark"),
        "{message}"
    );
}
