//! Questions that the corpus does not answer: excluded from rank measures.

use std::fs;

use serde_json::{Value, json as value};

use crate::sandbox::{Sandbox, json};

#[test]
fn unanswerable_questions_are_searched_and_not_measured() {
    let sandbox = Sandbox::new();
    let page = sandbox.succeed("sample --skip-qa --profile bm25 --profile hybrid --measure P@1");
    assert!(
        page.contains("\nn = 256\nexcluded: 64 × unanswerable (every measure)\n"),
        "{page}"
    );
    for run in sandbox.runs() {
        let manifest = json(&run.join("manifest.json"));
        assert_eq!(manifest["dataset"]["questions"], 320);
        assert_eq!(manifest["dataset"]["unanswerable"], 64);
        let report = json(&run.join("report.json"));
        let summary = &report["summary"];
        for measure in ["RR@5", "R@5", "nDCG@5", "P@1"] {
            let mean = &summary["scores"][measure];
            assert_eq!(mean["n"], 256, "{measure}");
            assert_eq!(mean["excluded"]["unanswerable"], 64, "{measure}");
        }
        let timings = [&summary["timings"], &summary["cached_timings"]];
        let searches = timings.map(|stages| stages["bm25"]["n"].as_u64().unwrap_or_default());
        // A sample is timed.
        assert_eq!(searches.iter().sum::<u64>(), 100);

        let judged = fs::read_to_string(run.join("qrels.trec")).unwrap();
        let ranked = fs::read_to_string(run.join("run.trec")).unwrap();
        let cases = report["cases"].as_array().unwrap();
        let unanswerable = cases
            .iter()
            .filter(|case| case["metadata"]["answerable"] == false);
        for case in unanswerable {
            let id = case["id"].as_str().unwrap();
            assert!(!judged.contains(&format!("{id} ")), "{id} is judged");
            assert!(ranked.contains(&format!("{id} ")), "{id} is not searched");
        }
        assert_eq!(judged.lines().count(), 256);
        let scored = sandbox.run(&format!(
            "score --qrels {0}/qrels.trec --run {0}/run.trec --measure MRR@5 --measure P@1 --format trec_eval",
            run.display()
        ));
        for (line, measure) in scored.stdout.lines().zip(["P@1", "RR@5"]) {
            let value = summary["scores"][measure]["value"].as_f64().unwrap();
            assert!(line.ends_with(&format!("\tall\t{value:.4}")), "{line}");
        }
        assert!(
            scored
                .stderr
                .contains("64 queries of the run have no judgements and are skipped"),
            "{}",
            scored.stderr
        );
    }
    let shown = sandbox.succeed("runs show latest");
    assert!(
        shown.contains("excluded: 64 × unanswerable (every measure)"),
        "{shown}"
    );
}

#[test]
fn a_table_has_no_row_that_measures_other_questions() {
    let sandbox = Sandbox::new();
    let command = "sample --skip-qa --profile bm25 --measure P@1";
    sandbox.succeed(command);
    let earlier = sandbox.runs().remove(0);
    // The report of an earlier version, which measured every question.
    let mut manifest = json(&earlier.join("manifest.json"));
    let dataset = manifest["dataset"].as_object_mut().unwrap();
    dataset.remove("unanswerable").unwrap();
    fs::write(earlier.join("manifest.json"), manifest.to_string()).unwrap();
    sandbox.succeed(&format!("{command} --profile hybrid"));
    fs::remove_dir_all(sandbox.runs().remove(1)).unwrap();
    let table = sandbox.run("table");
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    assert!(!table.stdout.contains("bm25"), "{}", table.stdout);
    let why = "it measures unanswerable questions, which the newest run leaves out";
    assert!(table.stderr.contains(why), "{}", table.stderr);
}

#[test]
fn questions_without_judgements_are_excluded_for_another_reason() {
    let sandbox = Sandbox::new();
    sandbox.write("docs.csv", "id,body\na,the red fox\nb,a blue whale\n");
    sandbox.write(
        "questions.csv",
        "id,question,answer,doc\n1,what is blue?,whale,b\n2,what is green?,NONE,gone\n3,what is red?,fox,\n",
    );
    sandbox.write(
        "mine.yaml",
        "name: mine\ndocuments: {source: {path: docs.csv}, uri: id, text: body}\n\
         questions: {source: {path: questions.csv}, id: id, text: question, answer: answer, relevant: doc}\n\
         unanswerable: {answer: NONE}\n\
         retrieval: {limit: 2, headline: MRR@2, measures: [recip_rank, map_cut_2, RR@2]}\n",
    );
    let ended = sandbox.run("run ./mine.yaml --skip-qa --profile bm25");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("warning: 1 question without a relevant document;"),
        "{}",
        ended.stderr
    );
    let report = json(&sandbox.runs()[0].join("report.json"));
    let reasons: Vec<&Value> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| &case["outcomes"][0]["reason"])
        .collect();
    assert_eq!(
        reasons,
        [
            &Value::Null,
            &"unanswerable".into(),
            &"no relevant documents".into()
        ]
    );
    let scores = report["summary"]["scores"].as_object().unwrap();
    let names: Vec<&String> = scores.keys().collect();
    assert_eq!(names, ["RR@2", "RR", "AP@2"], "the headline is first");
    assert_eq!(scores["RR"]["n"], 1);
}

#[test]
fn citations_of_unanswerable_questions_are_not_measured() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --out report.json");
    let report = json(&sandbox.work().join("report.json"));
    let summary = &report["summary"];
    for mean in [
        &summary["scores"]["citation AP"],
        &summary["assertions"]["cited"],
    ] {
        assert_eq!(mean["excluded"]["unanswerable"], 64, "{mean}");
    }
    let cases = report["cases"].as_array().unwrap();
    let expected = cases.iter().map(|case| &case["expected"]);
    let judged = expected.filter(|it| it["answerable"] == false && it["relevant"] != value!({}));
    assert_eq!(judged.count(), 0);

    // Stored answers with documents judged for such a question.
    let stored = sandbox.runs().remove(0).join("report.json");
    let mut earlier = report.clone();
    for case in earlier["cases"].as_array_mut().unwrap() {
        case["expected"]["relevant"] = value!({"news-001": 1});
    }
    fs::write(stored, earlier.to_string()).unwrap();
    sandbox.succeed("rejudge latest --out again.json");
    let again = json(&sandbox.work().join("again.json"));
    let excluded = &again["summary"]["scores"]["citation AP"]["excluded"];
    assert_eq!(excluded["unanswerable"], 64, "{excluded}");
    let manifest = sandbox.runs().pop().unwrap().join("manifest.json");
    assert_eq!(json(&manifest)["dataset"]["unanswerable"], 64);
}

#[test]
fn a_run_that_measured_unanswerable_questions_is_not_continued() {
    let sandbox = Sandbox::new();
    let line = "sample --skip-retrieval --limit 10";
    sandbox.succeed(line);
    let run = sandbox.runs().remove(0);
    fs::remove_file(run.join("report.json")).unwrap();
    let same = sandbox.run(line);
    assert!(same.stderr.contains("resuming `"), "{}", same.stderr);

    fs::remove_file(run.join("report.json")).unwrap();
    let mut manifest = json(&run.join("manifest.json"));
    let dataset = manifest["dataset"].as_object_mut().unwrap();
    assert_eq!(dataset.remove("unanswerable"), Some(2.into()));
    fs::write(run.join("manifest.json"), manifest.to_string()).unwrap();
    let other = sandbox.run(line);
    assert!(
        other
            .stderr
            .contains("unanswerable questions: none left out -> 2"),
        "{}",
        other.stderr
    );
    assert_eq!(sandbox.runs().len(), 2);
}
