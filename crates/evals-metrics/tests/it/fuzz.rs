//! Fuzz tests of the readers of TREC files and measure names: any input gives values or an error.

use evals_fuzz::Target;
use evals_metrics::scoring::{Form, Judged, Options, Ranked, Request, score};
use evals_metrics::trec::{
    ParseError, WriteError, is_plain_id, parse_qrels, parse_run, write_qrels, write_run,
};
use evals_metrics::{Measure, Queries, score_run};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");
const QRELS: &str = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n";

/// The output of a writer; `None` if it refuses an id because other tools would read it
/// differently.
fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<(), WriteError>) -> Option<String> {
    let mut bytes = Vec::new();
    match write(&mut bytes) {
        Ok(()) => Some(String::from_utf8(bytes).unwrap()),
        Err(WriteError::Field { field }) => {
            assert!(!is_plain_id(&field), "{field:?}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn runs_survive_a_round_trip() {
    let qrels = parse_qrels(QRELS).unwrap();
    let measures: Vec<Measure> = ["nDCG@10", "AP", "RR", "R@5", "Judged@3"]
        .iter()
        .map(|name| name.parse().unwrap())
        .collect();
    Target::new("trec-run", CORPUS)
        .seed("q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 1e-3 tag\r\n\nq2\tQ0\td3\t1\t-0\ttag")
        .seed("é Q0 d1 1 7.038531e-26 t\né Q0 d2 1 7.038531e-26 t\n")
        .dictionary([
            "nan",
            "inf",
            "-inf",
            "1e39",
            "1e-46",
            "0x1p3",
            "+1",
            "\r",
            "\u{feff}",
            "\u{a0}",
            "\u{85}",
            "\0",
            "\t",
            "q1 Q0 d1 1 1 t\n",
        ])
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let Ok(run) = parse_run(&text) else { return };
            if let Some(again) = written(|out| write_run(out, &run, "tag")) {
                assert_eq!(parse_run(&again).unwrap(), run);
            }
            for (query, scores) in score_run(&qrels, &run, &measures, Queries::Judged).iter() {
                for score in scores.iter().flatten() {
                    assert!((0.0..=1.0).contains(score), "{query}: {score}");
                }
            }
        });
}

#[test]
fn rankings_of_any_form_have_finite_scores_or_an_error_on_a_line_that_exists() {
    let request = Request::parse(["all_trec", "ERR", "RBP(rel=1)"]).unwrap();
    let options = Options {
        queries: Queries::Judged,
        ..Options::default()
    };
    let judged = Judged::read(QRELS).unwrap();
    Target::new("rankings", CORPUS)
        .seed("q1 Q0 d1 1 3.5 tag\n# comment\nq2 Q0 d3 1 -0 tag more\nq1 Q0 d2 2 1e-3 tag\r\n")
        .seed(r#"{"q1": {"d1": 3, "d2": 1e-3}, "q2": {}}"#)
        .seed("query-id,corpus-id,score\nq1,\"d \"\"1\",3\n\nq2,d3,-1\n")
        .seed("qid\tdocid\tscore\nq1\td1\t3\n")
        .dictionary([
            "nan", "1e999", "\"", "\t", "#", "\u{feff}", "\0", "\u{b}", "{", "score",
        ])
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let Ok(ranked) = Ranked::read(&text) else {
                return;
            };
            let run = ranked.to_run();
            if let Some(line) = run.as_ref().err().and_then(ParseError::line) {
                assert!(line <= text.split('\n').count(), "{line}");
            }
            // The other reader of TREC files ends fields at fewer characters.
            if let (Form::Trec, Ok(expected)) = (Form::of(&text), parse_run(&text))
                && !text.contains('\u{b}')
            {
                assert_eq!(run.as_ref(), Ok(&expected));
            }
            if let Ok(scores) = score(&judged, &ranked, &request, &options) {
                let columns = 0..scores.columns().len();
                let mut numbers = columns.filter_map(|column| scores.summary(column).number());
                assert!(numbers.all(f64::is_finite));
            }
        });
}

#[test]
fn qrels_survive_a_round_trip() {
    Target::new("trec-qrels", CORPUS)
        .seed(QRELS)
        .seed("q\t0\td\t-1\r\n")
        .dictionary([
            "2147483648",
            "-2147483649",
            "+1",
            "1.0",
            "\u{feff}",
            "\0",
            "\u{a0}",
        ])
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let Ok(qrels) = parse_qrels(&text) else {
                return;
            };
            if let Some(again) = written(|out| write_qrels(out, &qrels)) {
                assert_eq!(parse_qrels(&again).unwrap(), qrels);
            }
        });
}

#[test]
fn a_parsed_measure_parses_its_own_name() {
    Target::new("measure", CORPUS)
        .seed("nDCG@10")
        .seed("AP(rel=2)@100")
        .seed("map_cut_10")
        .dictionary([
            "@",
            "(rel=",
            ")",
            "18446744073709551616",
            "P",
            "Success",
            "_",
            "-1",
            "0",
            "RBP(p=0.5,rel=1)",
            "gains={1:2}",
            "levels={0.1,0.2}",
            "IPrec@0.1",
            "ndcg.1=3,2=9",
        ])
        .run(|input| {
            let Ok(text) = std::str::from_utf8(input) else {
                return;
            };
            let Ok(measure) = text.parse::<Measure>() else {
                return;
            };
            let name = measure.to_string();
            assert_eq!(name.parse::<Measure>().as_ref(), Ok(&measure), "{name}");
        });
}
