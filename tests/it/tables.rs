//! The command `runs table`: benchmark tables from stored runs.

use std::fs;

use crate::sandbox::{Sandbox, json};

const PAGE: &str = "# Figures\n\n<!-- evaluations table: retrieval sample -->\n<!-- evaluations end -->\n\nText.\n\n\
    <!-- evaluations table: qa -->\nstale\n<!-- evaluations end -->\n";

#[test]
fn the_regions_of_a_page_are_written_and_checked() {
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
    let header = "| embedding model | chunks | profile | reranker | n | left out | MRR@5 | R@1 | R@5 | nDCG@5 |";
    assert!(written.contains(header), "{written}");
    let row = "| embedded:static-minilm | 256 tokens | semantic | – | 16 | 4 unanswerable |";
    assert!(written.contains(row), "{written}");
    assert!(
        !written.contains("| semantic | – | 2 |"),
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
fn a_page_with_an_error_is_not_changed() {
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
        message.contains("line 2: the marker is not closed"),
        "{message}"
    );
    sandbox.write("plain.md", "nothing\n");
    assert!(
        sandbox
            .refuse("table --update plain.md")
            .contains("has no markers")
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
fn rows_with_equal_names_list_their_differences() {
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
        printed.matches("| bm25 | – | 2 |").count(),
        1,
        "nothing was reranked: {printed}"
    );
}

/// Writes a dataset of two documents about two towers.
fn towers(sandbox: &Sandbox, text: &str) {
    sandbox.write(
        "rows.csv",
        format!("id,text,question\na,{text},where is the tower\nb,a bridge,where is the bridge\n"),
    );
    sandbox.write(
        "towers.yaml",
        "name: towers\nsource: {path: rows.csv}\ndocuments: {uri: id, text: text}\n\
         questions: {text: question, relevant: id}\n",
    );
}

#[test]
fn runs_of_changed_dataset_files_are_excluded() {
    let sandbox = Sandbox::new();
    towers(&sandbox, "a tower");
    let profiles = "--profile bm25 --profile semantic";
    sandbox.succeed(&format!(
        "towers.yaml --skip-qa {profiles} --profile hybrid"
    ));
    towers(&sandbox, "another tower");
    sandbox.succeed(&format!("towers.yaml --skip-qa {profiles}"));
    let printed = sandbox.run("table");
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert_eq!(printed.stdout.lines().count(), 4, "{}", printed.stdout);
    assert!(printed.stdout.contains("| bm25 |"), "{}", printed.stdout);
    let names: Vec<String> = sandbox
        .runs()
        .iter()
        .map(|run| run.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let skipped = format!(
        "skipped `{}`: the files of the dataset have changed since\n",
        names[2]
    );
    assert!(printed.stderr.contains(&skipped), "{}", printed.stderr);
    assert_eq!(printed.stderr.matches("skipped").count(), 1);

    let both = sandbox.succeed(&format!("table --run {} --run {}", names[0], names[3]));
    assert_eq!(both.matches("dataset files as of 20").count(), 2, "{both}");
    let is_hexadecimal =
        |word: &str| word.len() > 12 && word.chars().all(|it| it.is_ascii_hexdigit());
    let words = |text: &str| {
        text.split(|it: char| !it.is_alphanumeric())
            .any(is_hexadecimal)
    };
    assert!(!words(&both), "{both}");
    let compared = sandbox.succeed(&format!("compare {} {}", names[0], names[3]));
    assert!(
        compared.contains("dataset files: other content") && !words(&compared),
        "{compared}"
    );
}

#[test]
fn runs_with_failures_and_unfinished_runs_are_excluded_unless_named() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 8 --skip-qa --profile bm25");
    sandbox.succeed("sample --limit 8 --skip-qa --profile bm25");
    sandbox.succeed("sample --limit 3 --skip-qa --profile semantic");
    let runs = sandbox.runs();
    let name = |place: usize| {
        runs[place]
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    };
    let path = runs[1].join("report.json");
    let mut report = json(&path);
    report["summary"]["failed"] = 2.into();
    report["cases"][0]["result"] =
        serde_json::json!({"failure": {"kind": "error", "message": "down"}});
    fs::write(&path, report.to_string()).unwrap();

    let printed = sandbox.run("table");
    assert_eq!(printed.stdout.lines().count(), 3, "{}", printed.stdout);
    for line in [
        format!("skipped `{}`: finished, 2 of 8 failed\n", name(1)),
        format!("skipped `{}`: it asked 3 of 8 questions\n", name(2)),
        "use `--run` to choose the runs of a table\n".to_owned(),
    ] {
        assert!(printed.stderr.contains(&line), "{line}\n{}", printed.stderr);
    }
    let named = sandbox.run(&format!(
        "table --run {} --run {} --run {}",
        name(0),
        name(1),
        name(2)
    ));
    assert_eq!(named.stdout.lines().count(), 5, "{}", named.stdout);
    assert_eq!(
        named.stdout.matches("| run of 20").count(),
        2,
        "{}",
        named.stdout
    );
    assert!(named.stderr.contains("2 of 8 failed"), "{}", named.stderr);

    fs::remove_file(&path).unwrap();
    let message = sandbox.refuse(&format!("table --run {}", name(1)));
    assert!(
        message.contains("(unfinished) as a row of a table"),
        "{message}"
    );
    let page = sandbox.write("page.md", PAGE.replace("table: qa", "table: retrieval"));
    sandbox.succeed(&format!("table --update page.md --run {}", name(2)));
    let written = fs::read_to_string(page).unwrap();
    assert_eq!(written.matches("| semantic |").count(), 2, "{written}");
    assert!(!written.contains("| bm25 |"), "{written}");
    let message = sandbox.refuse(&format!("table --dataset wix --run {}", name(2)));
    assert!(message.contains("among the named runs"), "{message}");
}
