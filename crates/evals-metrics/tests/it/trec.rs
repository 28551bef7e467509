//! TREC files: accepted and refused input, and round trips.

use evals_metrics::scoring::Ranked;
use evals_metrics::trec::{
    is_plain_id, parse_qrels, parse_run, parse_run_of_doubles, write_qrels, write_run,
};
use evals_metrics::{Judgements, Qrels, Ranking, Run};

use crate::scored;

fn run_of(id: &str, score: f32) -> Run {
    Run::from([("q".to_owned(), Ranking::new([scored(id, score)]).unwrap())])
}

fn written(run: &Run) -> String {
    let mut out = Vec::new();
    write_run(&mut out, run, "tag").unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn tolerates_tabs_blanks_carriage_returns_empty_lines_and_a_byte_order_mark() {
    let qrels = parse_qrels("\u{feff}q1\t0\ta  1\r\n\r\n  q1 0   b\t-2  \r\nq2 0 a 0").unwrap();
    let grades: Vec<_> = qrels.get("q1").unwrap().iter().collect();
    assert_eq!(grades, [("a", 1), ("b", -2)]);
    assert_eq!(qrels.len(), 2);

    let run = parse_run("\u{feff}q1\tQ0\ta\t9\t1e-2\tt\r\n\n q1  Q0 b 1 .5 tag\r\n").unwrap();
    let ids: Vec<_> = run["q1"]
        .iter()
        .map(|document| document.id.as_str())
        .collect();
    assert_eq!(ids, ["b", "a"]);
}

#[test]
fn a_carriage_return_alone_is_refused() {
    let message = |line: usize| {
        format!(
            "line {line}: a carriage return (CR) stands without the line feed that ends a line, as in files of old Macs; end lines \
             with line feeds, for example with `tr '\\r' '\\n'`"
        )
    };
    let old_mac = "q Q0 a 1 2 t\rq Q0 b 2 1 t\r";
    assert_eq!(parse_run(old_mac).unwrap_err().to_string(), message(1));
    let mixed = parse_qrels("q 0 a 1\r\nq 0 b 0\r\rr 0 c 2\n").unwrap_err();
    assert_eq!(mixed.to_string(), message(2));
    let doubled = parse_qrels("q 0 a 1\r\r\nr 0 c 2\r\n").unwrap();
    assert_eq!(doubled.len(), 2, "a file that was converted twice");
}

#[test]
fn malformed_qrels_name_the_line() {
    for (text, message) in [
        (
            "q 0 a 1\n\nq 0 b\n",
            "line 3: expected 4 fields (query, iteration, document, grade), found 3 fields",
        ),
        (
            "q Q0 a 1 2.5 tag",
            "line 1: expected 4 fields (query, iteration, document, grade), found 6 fields",
        ),
        (
            "q 0 a 1\nq 0 b high",
            "line 2: `high` is not a grade; expected a whole number such as `1`",
        ),
        (
            "q 0 a 1.0",
            "line 1: `1.0` is not a grade; expected a whole number such as `1`",
        ),
        (
            "q 0 a 1\nr 0 a 1\nq 0 a 1",
            "line 3: document `a` is listed a second time for query `q`, first on line 1; remove one of the two lines",
        ),
    ] {
        assert_eq!(parse_qrels(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn malformed_runs_name_the_line() {
    for (text, message) in [
        (
            "q Q0 a 1 2.5",
            "line 1: expected 6 fields (query, Q0, document, rank, score, tag), found 5 fields",
        ),
        (
            "q Q0 a 1 2.5 t\nq Q0 b 2 2,5 t",
            "line 2: `2,5` is not a score; expected a number such as `12.5`; write a point before decimals, and nothing between \
             thousands",
        ),
        (
            "q Q0 a 1 NaN t",
            "line 1: `NaN` is not a score; expected a number such as `12.5`",
        ),
        (
            "q Q0 a 1 1e39 t",
            "line 1: score `1e39` is out of range; expected a number of at most 3.4028235e38 in size, \
             the greatest in single precision",
        ),
        (
            "q Q0 a 1 -1e999 t",
            "line 1: score `-1e999` is out of range; expected a number of at most 3.4028235e38 in \
             size, the greatest in single precision",
        ),
        (
            "q Q0 a 1 -inf t",
            "line 1: `-inf` is not a score; expected a number such as `12.5`",
        ),
        (
            "q Q0 a 1 2.5 my tag",
            "line 1: expected 6 fields (query, Q0, document, rank, score, tag), found 7 fields",
        ),
        (
            "q Q0 a 1 2 t\r\nr Q0 a 1 2 t\r\nq Q0 a 2 1 t\r\n",
            "line 3: document `a` is listed a second time for query `q`, first on line 1; remove one of the two lines",
        ),
    ] {
        assert_eq!(parse_run(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn scores_that_differ_in_double_precision_only_tie() {
    let run = parse_run("q Q0 a 1 1.000000001 t\nq Q0 b 2 1.0 t\n").unwrap();
    let ids: Vec<_> = run["q"]
        .iter()
        .map(|document| document.id.as_str())
        .collect();
    assert_eq!(ids, ["b", "a"]);
}

#[test]
fn scores_in_double_precision_keep_their_order_and_tie_only_if_equal() {
    let ids = |scores: [&str; 4]| {
        let lines = ["a", "b", "c", "d"].into_iter().zip(scores);
        let lines = lines.map(|(id, score)| format!("q Q0 {id} 1 {score} t"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let run = parse_run_of_doubles(&text).unwrap();
        // What is written reads back as the same ranking in either precision.
        assert_eq!(parse_run(&written(&run)).unwrap(), run);
        assert_eq!(Ranked::read(&text).unwrap().to_run().unwrap(), run);
        let ranking = run["q"].iter();
        ranking.map(|it| it.id.clone()).collect::<String>()
    };
    assert_eq!(
        ids(["1732363204", "1732363203", "1732363202", "1732363201"]),
        "abcd"
    );
    assert_eq!(
        ids(["99999999", "99999998", "99999998", "99999997"]),
        "acbd"
    );
    assert_eq!(ids(["0.99999999", "0.99999998", "1", "0.99999999"]), "cdab");
    assert_eq!(ids(["-0.0", "0", "1e-320", "-1e-320"]), "cbad");
}

#[test]
fn writes_ranks_and_short_scores() {
    let ranking = Ranking::new([scored("a", 0.1), scored("b", 12.0)]).unwrap();
    let run = Run::from([("q".to_owned(), ranking)]);
    assert_eq!(written(&run), "q Q0 b 1 12.0 tag\nq Q0 a 2 0.1 tag\n");
}

#[test]
fn writes_qrels_in_order() {
    let mut qrels = Qrels::new();
    qrels.judge("q2", "a", 1);
    qrels.judge("q1", "b", -1);
    qrels.judge("q1", "a", 3);
    let mut out = Vec::new();
    write_qrels(&mut out, &qrels).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "q1 0 a 3\nq1 0 b -1\nq2 0 a 1\n"
    );
}

/// 7.038531e-26 is the shortest text of its float, and the neighbouring float once C has rounded it
/// to a double first.
#[test]
fn scores_survive_rounding_by_way_of_a_double() {
    let score = 7.038_531e-26_f32;
    let text = written(&run_of("a", score));
    assert_ne!(text, "q Q0 a 1 7.038531e-26 tag\n");
    assert_eq!(parse_run(&text).unwrap(), run_of("a", score));
}

#[test]
fn refuses_ids_that_would_read_back_differently() {
    let refused = |field: &str| {
        format!(
            "`{field}` has no place in a TREC file: fields are not empty and have no white space, \
             NUL or leading byte order mark"
        )
    };
    let error = write_run(Vec::new(), &run_of("a b", 1.0), "tag").unwrap_err();
    assert_eq!(error.to_string(), refused("a b"));
    let error = write_run(Vec::new(), &run_of("a\u{a0}b", 1.0), "tag").unwrap_err();
    assert_eq!(error.to_string(), refused(r"a\u{a0}b"));
    let error = write_run(Vec::new(), &Run::new(), "a b").unwrap_err();
    assert_eq!(error.to_string(), refused("a b"));

    let judged = Judgements::from_iter([("a".to_owned(), 1)]);
    let error = write_qrels(Vec::new(), &Qrels::from_iter([(String::new(), judged)])).unwrap_err();
    assert_eq!(error.to_string(), refused(""));
}

/// The characters that split a text in Python 3.11: `[c for c in map(chr, range(0x110000)) if not
/// ("a"+c+"b").split() == ["a"+c+"b"]]`.
const PYTHON_SPACES: &str = "\t\n\u{b}\u{c}\r\u{1c}\u{1d}\u{1e}\u{1f} \u{85}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";

#[test]
fn plain_ids_have_no_character_that_any_tool_splits_at() {
    for space in PYTHON_SPACES.chars().chain(['\0']) {
        for id in [format!("a{space}b"), format!("{space}a"), space.to_string()] {
            assert!(!is_plain_id(&id), "{id:?}");
        }
    }
    assert!(!is_plain_id(""));
    assert!(!is_plain_id("\u{feff}a"));
    for id in ["a", "é", "a\u{feff}b", "\u{200b}", "100%", "\u{7f}", "😀"] {
        assert!(is_plain_id(id), "{id:?}");
    }
}
