//! Benchmark tables from stored runs.

use std::fs;

use crate::sandbox::Sandbox;

const PAGE: &str = "# Figures\n\n<!-- evaluations table: retrieval sample -->\n<!-- evaluations end -->\n\nText.\n\n\
    <!-- evaluations table: qa -->\nstale\n<!-- evaluations end -->\n";

#[test]
fn regions_of_a_page_are_written_checked_and_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 20 --profile bm25");
    sandbox.succeed("sample --limit 20 --profile semantic --skip-qa");
    sandbox.succeed("sample --limit 3 --profile semantic --skip-qa");
    let page = sandbox.write("page.md", PAGE);

    let stale = sandbox.run("table --update page.md --check");
    assert_eq!(stale.code, Some(1), "{}", stale.stderr);
    assert_eq!(
        fs::read_to_string(&page).unwrap(),
        PAGE,
        "a check changes nothing"
    );

    sandbox.succeed("table --update page.md");
    let written = fs::read_to_string(&page).unwrap();
    assert!(written.starts_with("# Figures\n\n<!-- evaluations table: retrieval sample -->\n"));
    assert!(written.contains("\n\nText.\n\n"), "{written}");
    assert!(!written.contains("stale"), "{written}");
    let header =
        "| embedding model | chunks | profile | reranker | questions | RR@5 | R@1 | R@5 | nDCG@5 |";
    assert!(written.contains(header), "{written}");
    assert!(
        written.contains("| embedded:static-minilm | 256 tokens | semantic | – | 20 |"),
        "{written}"
    );
    assert!(
        !written.contains("| semantic | – | 3 |"),
        "the run of 20 questions says more: {written}"
    );
    assert!(
        written.contains("| embedded:extractive | embedded:overlap |"),
        "{written}"
    );

    assert_eq!(sandbox.run("table --update page.md --check").code, Some(0));
    sandbox.succeed("table --update page.md");
    assert_eq!(
        fs::read_to_string(&page).unwrap(),
        written,
        "writing again changes nothing"
    );
}

#[test]
fn a_page_that_cannot_be_written_is_left_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("page.md", PAGE);
    let message = sandbox.refuse("table --update page.md");
    assert!(message.contains("line 3"), "{message}");
    assert!(
        message.contains("no finished run of retrieval on sample"),
        "{message}"
    );
    sandbox.succeed("sample --limit 3 --profile bm25 --skip-qa");
    sandbox.refuse("table --update page.md");
    assert_eq!(
        fs::read_to_string(sandbox.work().join("page.md")).unwrap(),
        PAGE,
        "half a page is none"
    );

    sandbox.write("open.md", "\n<!-- evaluations table -->\n");
    let message = sandbox.refuse("table --update open.md");
    assert!(
        message.contains("line 2: the region is not closed"),
        "{message}"
    );
    sandbox.write("plain.md", "nothing\n");
    assert!(
        sandbox
            .refuse("table --update plain.md")
            .contains("has no region to write")
    );
    assert!(
        sandbox
            .refuse("table --update missing.md")
            .contains("cannot read `missing.md`")
    );
}

#[test]
fn without_a_file_the_tables_are_printed() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 3 --profile bm25 --skip-qa");
    let printed = sandbox.succeed("table --dataset sample");
    assert_eq!(printed.lines().count(), 3, "{printed}");
    let message = sandbox.refuse("table --dataset wix");
    assert!(message.contains("on wix"), "{message}");
}

#[test]
fn rows_that_would_look_alike_say_what_tells_them_apart() {
    let sandbox = Sandbox::new();
    for radius in [0, 1] {
        sandbox.succeed(&format!(
            "sample --limit 3 --skip-retrieval --set search.context_radius={radius}"
        ));
    }
    for candidates in [10, 20] {
        sandbox.succeed(&format!(
            "sample --limit 3 --profile bm25 --skip-qa --set reranking.candidates={candidates}"
        ));
    }
    let printed = sandbox.succeed("table --dataset sample");
    for radius in ["search.context_radius=0", "search.context_radius=1"] {
        let row = format!("| hybrid | – | {radius} | 5 | 3 |");
        assert!(printed.contains(&row), "{row}\n{printed}");
    }
    assert_eq!(
        printed.matches("| bm25 | – | 3 |").count(),
        1,
        "nothing was reranked: {printed}"
    );
}
