//! Compares the whole output with that of `trec_eval`, byte by byte, for every folder of `tests/trec_eval`.
//!
//! A folder is one case: `expected` is what `trec_eval` printed, `qrels` and `run` are its files, and `arguments` its options, `-q -m
//! all_trec` if the file is missing. The arguments can end with the paths of two files, relative to the folder, which stand in
//! the place of `qrels` and `run`. `tests/trec_eval/README.md` says where the files come from.

use std::fs;
use std::path::{Path, PathBuf};

use evals_metrics::Queries;
use evals_metrics::measures::MinimumGrade;
use evals_metrics::scoring::{
    Judged, Options, Ranked, Request, TrecEvalLayout, score, trec_eval_layout,
};

#[derive(Default)]
struct Arguments {
    measures: Vec<String>,
    options: Options,
    per_query: bool,
    without_summary: bool,
    files: Vec<String>,
}

impl Arguments {
    fn parse(text: &str) -> Self {
        let mut arguments = Self::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let mut value = || match &word[2..] {
                "" => words.next().unwrap(),
                attached => attached,
            };
            match word.get(..2) {
                Some("-m") => arguments.measures.push(value().to_owned()),
                Some("-l") => {
                    let level = value().parse().unwrap();
                    arguments.options.relevant_from = MinimumGrade::new(level);
                }
                Some("-M") => arguments.options.max_documents = Some(value().parse().unwrap()),
                Some("-N") => arguments.options.collection_size = value().parse().unwrap(),
                Some("-q") => arguments.per_query = true,
                Some("-c") => arguments.options.queries = Queries::Judged,
                Some("-J") => arguments.options.judged_only = true,
                Some("-n") => arguments.without_summary = true,
                _ => arguments.files.push(word.to_owned()),
            }
        }
        if arguments.measures.is_empty() {
            arguments.measures.push("official".to_owned());
        }
        arguments
    }
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trec_eval");
    let entries = fs::read_dir(folder).unwrap();
    let mut cases: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("expected").exists())
        .collect();
    cases.sort();
    cases
}

fn output(case: &Path) -> String {
    let arguments = fs::read_to_string(case.join("arguments"));
    let arguments = Arguments::parse(arguments.as_deref().unwrap_or("-q -m all_trec"));
    let file = |position: usize, name: &str| {
        let name = arguments.files.get(position).map_or(name, String::as_str);
        fs::read_to_string(case.join(name)).unwrap()
    };
    let (qrels, run) = (file(0, "qrels"), file(1, "run"));
    let request = Request::parse(arguments.measures.iter().map(String::as_str)).unwrap();
    let scores = score(
        &Judged::read(&qrels).unwrap(),
        &Ranked::read(&run).unwrap(),
        &request,
        &arguments.options,
    );
    let layout = TrecEvalLayout {
        per_query: arguments.per_query,
        summary: !arguments.without_summary,
        ..TrecEvalLayout::default()
    };
    trec_eval_layout(&scores.unwrap(), layout)
}

#[test]
fn prints_what_trec_eval_prints() {
    let cases = cases();
    assert!(cases.len() >= 8, "{cases:?}");
    for case in cases {
        let expected = fs::read_to_string(case.join("expected")).unwrap();
        let actual = output(&case);
        for (line, (actual, expected)) in actual.lines().zip(expected.lines()).enumerate() {
            assert_eq!(actual, expected, "{}, line {}", case.display(), line + 1);
        }
        assert_eq!(actual, expected, "{}", case.display());
    }
}
