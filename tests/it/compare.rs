//! The command `compare`: two runs, their differences and the significance of these.

use std::fs;

use crate::sandbox::{Sandbox, ended, json};

#[test]
fn the_latest_run_is_compared_with_the_one_before_it() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile hybrid");
    sandbox.succeed("sample --skip-qa --profile bm25");
    sandbox.succeed("sample --skip-qa --profile hybrid --set processing.chunk_size=16");
    let page = sandbox.succeed("compare --out change.json --out change.md");
    let change = json(&sandbox.work().join("change.json"));
    let name = |side: &str| change[side]["title"].as_str().unwrap().to_owned();
    for (side, run) in [("before", 0), ("after", 2)] {
        assert!(sandbox.runs()[run].ends_with(name(side)), "{side}: {page}");
    }
    assert!(
        page.contains("index.identity.chunking.tokens.size: 256 -> 16"),
        "{page}"
    );
    let rr = &change["measures"][0];
    assert_eq!(rr["measure"], "RR@5");
    let difference = &rr["difference"];
    assert_eq!(difference["n"], 256);
    assert_eq!(change["pairs"], 320);
    assert_eq!(rr["excluded"]["unanswerable"], 64);
    let notes = "\nn = 256 pairs\nexcluded: 64 × unanswerable (every measure)\n";
    assert!(page.contains(notes), "{page}");
    let reports = sandbox.runs();
    let mean = |run: usize| {
        let report = json(&reports[run].join("report.json"));
        report["summary"]["scores"]["RR@5"]["value"]
            .as_f64()
            .unwrap()
    };
    let close = |value: &serde_json::Value, expected: f64| {
        (value.as_f64().unwrap() - expected).abs() < 1e-12
    };
    assert!(close(&difference["before"], mean(0)));
    assert!(close(&difference["after"], mean(2)));
    assert!(close(&difference["difference"], mean(2) - mean(0)));
    let markdown = fs::read_to_string(sandbox.work().join("change.md")).unwrap();
    assert!(markdown.contains("| MRR@5 | "), "{markdown}");
}

#[test]
fn a_worse_run_fails_with_fail_if_worse() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25 --profile unranked");
    let names = sandbox.runs().into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.into_owned()
    });
    let names: Vec<String> = names.collect();
    let [bm25, unranked] = &names[..] else {
        panic!("{names:?}")
    };
    let worse = sandbox.run(&format!("compare {bm25} {unranked} --fail-if-worse"));
    assert_eq!(worse.code, Some(1), "{}", worse.stderr);
    assert!(worse.stdout.contains("worse"), "{}", worse.stdout);
    sandbox.succeed(&format!("compare {bm25} {unranked}"));
    sandbox.succeed(&format!("compare {unranked} {bm25} --fail-if-worse"));
    let one = sandbox.succeed(&format!("compare {unranked} {bm25} --measure R@5"));
    assert!(one.contains("R@5") && !one.contains("RR@5"), "{one}");
    let message = sandbox.refuse(&format!("compare {unranked} {bm25} --measure R@50"));
    assert!(
        message.contains("lacks `R@50`, which looks deeper than the 5 documents that it kept"),
        "{message}"
    );
}

#[test]
fn runs_without_a_case_in_common_are_refused() {
    let sandbox = Sandbox::new();
    let message = sandbox.refuse("compare");
    assert!(message.contains("there are no runs"), "{message}");
    sandbox.succeed("sample --limit 3 --profile bm25");
    let message = sandbox.refuse("compare");
    assert!(message.contains("no earlier finished run"), "{message}");
    let runs = sandbox.runs();
    let message = sandbox.refuse(&format!(
        "compare {} {}",
        runs[0].display(),
        runs[1].display()
    ));
    assert!(
        message.contains("(retrieval on sample) with") && message.contains("(qa on sample)"),
        "{message}"
    );
    let message = sandbox.refuse("compare latest latest");
    assert!(message.contains("with itself"), "{message}");
    let message = sandbox.refuse("compare latest");
    assert!(
        message.contains("use `evaluations compare RUN latest`"),
        "{message}"
    );
    let message = sandbox.refuse("compare latest --out rows.csv");
    assert!(
        message.contains("use a name that ends in .html, .json or .md"),
        "{message}"
    );
}

#[test]
fn the_best_of_several_profiles_is_tested_against_every_other() {
    let sandbox = Sandbox::new();
    let page =
        sandbox.succeed("sample --skip-qa --profile unranked --profile bm25 --profile hybrid");
    assert!(
        page.contains("\nMRR@5: hybrid leads bm25 by 0.0913 [")
            && page.contains("], p < 0.0001, the largest of 2 tests: significant\n  at 5 %\n"),
        "{page}"
    );
    let few = sandbox.succeed("sample --skip-qa --limit 20 --profile bm25 --profile hybrid");
    assert!(few.contains(": it may be chance\n"), "{few}");
}

#[test]
fn every_run_of_the_last_command_is_compared() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 40 --profile bm25 --profile hybrid");
    sandbox.succeed(
        "sample --limit 40 --profile bm25 --profile hybrid --set processing.chunk_size=64",
    );
    let page = sandbox.succeed("compare --out change.json");
    for run in [
        "retrieval_evaluation-bm25",
        "retrieval_evaluation-hybrid",
        "qa_evaluation",
    ] {
        assert_eq!(page.matches(run).count(), 2, "{run}: {page}");
    }
    for file in [
        "change.retrieval-bm25.json",
        "change.retrieval-hybrid.json",
        "change.qa-hybrid.json",
    ] {
        let change = json(&sandbox.work().join(file));
        assert_eq!(change["pairs"], 40, "{file}");
    }
    let mut of_one = sandbox.command("compare --measure");
    let one = ended(of_one.arg("equivalent (pass rate)"));
    let runs_before = one.stdout.lines().filter(|it| it.starts_with("before: "));
    assert_eq!(runs_before.count(), 1, "{}", one.stdout);
}

#[test]
fn a_changed_question_is_excluded_and_named() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "docs.csv",
        "id,body\na,the red fox\nb,a blue whale\nc,a green frog\nd,a yellow bird\n",
    );
    sandbox.write(
        "mine.yaml",
        "name: mine\ndocuments: {source: {path: docs.csv}, uri: id, text: body}\n\
         questions: {source: {path: questions.csv}, id: id, text: question, relevant: doc}\n\
         retrieval: {limit: 2, headline: RR@2, measures: [RR@2]}\n",
    );
    let header = "id,question,doc\n";
    let same = "same,what is blue?,b\n";
    let first = format!("{header}{same}text,what is red?,a\njudged,what is green?,c\ngone,red,a\n");
    sandbox.write("questions.csv", first);
    sandbox.succeed("run ./mine.yaml --skip-qa --profile bm25");
    let second =
        format!("{header}{same}text,what is nowhere?,a\njudged,what is green?,d\nnew,red,a\n");
    sandbox.write("questions.csv", second);
    sandbox.succeed("run ./mine.yaml --skip-qa --profile bm25");
    let page = sandbox.succeed("compare --fail-if-worse --out change.json");
    for note in [
        "\nn = 1 pair\n",
        "\nchanged cases, not paired (2): judged (expected output), text (input)\n",
        "\ncases only before (1): gone\n",
        "\ncases only after (1): new\n",
    ] {
        assert!(page.contains(note), "{note}{page}");
    }
    assert!(!page.contains("Worse by"), "{page}");
    let change = json(&sandbox.work().join("change.json"));
    assert_eq!(change["measures"][0]["verdict"], "same");
    assert_eq!(change["changed"][1]["id"], "text");

    let other = format!("{header}same,what is red?,a\n");
    sandbox.write("questions.csv", other);
    sandbox.succeed("run ./mine.yaml --skip-qa --profile bm25");
    let message = sandbox.refuse("compare");
    assert!(
        message.contains(
            "no case in common (3 only in the first, 0 only in the second, 1 changed between them)"
        ),
        "{message}"
    );
    sandbox.write("questions.csv", format!("{header}other,what is red?,a\n"));
    sandbox.succeed("run ./mine.yaml --skip-qa --profile bm25");
    let message = sandbox.refuse("compare");
    assert!(
        message.contains("the runs are of different data"),
        "{message}"
    );
}

#[test]
fn a_measure_is_named_as_the_table_names_it_or_in_any_notation() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 20 --profile bm25 --measure AP");
    sandbox.succeed(
        "sample --skip-qa --limit 20 --profile bm25 --measure AP --set processing.chunk_size=64",
    );
    for (name, title) in [
        ("MRR@5", "MRR@5"),
        ("rr@5", "MRR@5"),
        ("map", "MAP"),
        ("MAP", "MAP"),
    ] {
        let page = sandbox.succeed(&format!("compare --measure {name}"));
        assert!(page.contains(&format!("\n{title}  ")), "{name}: {page}");
        assert!(!page.contains("nDCG"), "{name}: {page}");
    }
    let message = sandbox.refuse("compare --measure MRR@50");
    assert!(
        message.contains("lacks `RR@50`, which looks deeper than the 5 documents that it kept"),
        "{message}"
    );
}

#[test]
fn equal_runs_have_no_differences_and_comparing_nothing_fails() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25");
    sandbox.succeed("sample --skip-qa --profile bm25 --repeat 7");
    let page = sandbox.succeed("compare --fail-if-worse");
    assert!(page.contains("same") && !page.contains("worse\n"), "{page}");
    assert!(
        !page.contains("largest change first"),
        "no case changed: {page}"
    );
    sandbox.succeed("sample --skip-qa --profile bm25 --limit 20 --k 3");
    let fewer = sandbox.succeed("compare");
    assert!(fewer.contains("questions: 320 -> 20"), "{fewer}");
    assert!(fewer.contains("measures only before: RR@5"), "{fewer}");
    let message = sandbox.refuse("compare --measure RR@5");
    assert!(
        message.contains("lacks `RR@5`, which looks deeper than the 3 documents that it kept"),
        "{message}"
    );
}

#[test]
fn a_setting_that_renames_the_profile_is_compared_with_the_run_before() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 40");
    sandbox.succeed("sample --skip-qa --limit 40 --set search.fusion.method=linear");
    let ended = sandbox.run("compare");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("comparing profile `hybrid-linear` with profile `hybrid`"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_full_run_is_not_compared_with_a_limited_one_in_between() {
    let sandbox = Sandbox::new();
    let whole = "sample --skip-qa --profile bm25 --limit 40";
    sandbox.succeed(whole);
    sandbox.succeed("sample --skip-qa --profile bm25 --limit 5");
    let ended = sandbox.run("compare");
    assert!(
        ended.stderr.contains("asked 40 questions")
            && ended.stderr.contains("only questions of both"),
        "{}",
        ended.stderr
    );
    sandbox.succeed(&format!("{whole} --set processing.chunk_size=64"));
    let ended = sandbox.run("compare");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("asked"), "{}", ended.stderr);
    assert!(ended.stdout.contains("256 -> 64"), "{}", ended.stdout);
}

#[test]
fn a_measure_computed_later_equals_that_of_a_run_with_it() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25 --name without");
    sandbox.succeed("sample --skip-qa --profile bm25 --name with --measure nDCG@3");
    sandbox.succeed("runs report without --measure ndcg_cut_3 --out later.csv");
    sandbox.succeed("runs report with --out at-once.csv");
    let values = |file: &str| {
        let mut rows = csv::Reader::from_path(sandbox.work().join(file)).unwrap();
        let heads = rows.headers().unwrap();
        let column = heads.iter().position(|it| it == "nDCG@3").unwrap();
        let rows = rows.records().map(|row| row.unwrap()[column].to_owned());
        rows.collect::<Vec<String>>()
    };
    assert_eq!(values("later.csv"), values("at-once.csv"));
    assert!(values("later.csv").iter().any(|it| it.starts_with("0.6")));

    let shown = sandbox.succeed("runs show without --measure nDCG@3");
    assert!(shown.contains("\nnDCG@3 "), "{shown}");
    let compared = sandbox.succeed("compare without with --measure nDCG@3");
    assert!(compared.contains("\nnDCG@3 "), "{compared}");
    let table = sandbox.succeed("runs table --run without --measure nDCG@3");
    assert!(table.contains("| nDCG@3 |"), "{table}");
    let report = sandbox.runs()[0].join("report.json");
    assert!(!std::fs::read_to_string(report).unwrap().contains("nDCG@3"));

    sandbox.succeed("sample --skip-retrieval --limit 3 --name answers");
    let message = sandbox.refuse("runs show answers --measure nDCG@3");
    assert!(
        message.contains("stores no rankings (qa)") && message.contains("name a retrieval run"),
        "{message}"
    );
}

#[test]
fn every_question_of_several_runs_is_in_one_table() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "docs.csv",
        "id,body\na,the red fox\nb,a blue whale\nc,a red frog\n",
    );
    let questions =
        "id,question,doc\nfound,what is the blue whale?,b\nlow,red,c\nnowhere,what is green?,a\n";
    sandbox.write("questions.csv", questions);
    sandbox.write(
        "mine.yaml",
        "name: mine\ndocuments: {source: {path: docs.csv}, uri: id, text: body}\n\
         questions: {source: {path: questions.csv}, id: id, text: question, relevant: doc}\n\
         retrieval: {limit: 2, headline: RR@2, measures: [RR@2, R@1]}\n",
    );
    let profiles = "--profile bm25 --profile semantic --profile unranked";
    sandbox.succeed(&format!("./mine.yaml --skip-qa {profiles}"));
    let names = sandbox.runs().into_iter();
    let names: Vec<String> = names.map(|path| path.display().to_string()).collect();
    let all = format!("compare {} --cases --out cases.csv", names.join(" "));
    let page = sandbox.succeed(&all);
    assert!(page.contains("\nfound  what is the blue whale?"), "{page}");
    assert!(
        page.contains("1.0000 (1)") && page.contains("0.0000 (none)"),
        "{page}"
    );
    let csv = std::fs::read_to_string(sandbox.work().join("cases.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "case,text,bm25: rank,bm25: RR@2,semantic: rank,semantic: RR@2,unranked: rank,unranked: RR@2"
    );
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("found,what is the blue whale?,1,1,"),
        "{csv}"
    );
    assert!(csv.contains("\nnowhere,what is green?,none,0,"), "{csv}");

    let two = format!("compare {} {}", names[1], names[2]);
    let page = sandbox.succeed(&format!("{two} --cases --out change.html --out two.csv"));
    assert!(page.contains("found: 1.0000 to "), "{page}");
    assert!(page.contains("    relevant: b\n    before: b*, "), "{page}");
    let csv = std::fs::read_to_string(sandbox.work().join("two.csv")).unwrap();
    assert!(
        csv.starts_with("case,text,before: rank,before: RR@2,after: rank,"),
        "{csv}"
    );
    let message = sandbox.refuse(&format!("{two} --out two.csv"));
    assert!(message.contains("add `--cases`"), "{message}");
}
