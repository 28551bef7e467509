//! Scoring of whole files: forms, options, summaries, and input that is refused.

use std::error::Error as _;
use std::fmt::Write as _;

use evals_metrics::measures::MinimumGrade;
use evals_metrics::scoring::{
    Form, Judged, Options, Ranked, Request, Scores, ScoringError, Summary, Table, TableBuilder,
    TrecEvalLayout, score, trec_eval_layout,
};
use evals_metrics::{Queries, TrecEval, Undefined};

const QRELS: &str = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 1\n";
const RUN: &str =
    "q1 Q0 b 1 2 tag\nq1 Q0 a 2 1 tag\nq2 Q0 c 1 1 tag\nq4 Q0 d 1 1 last\n\n# no line\n";

fn scored(qrels: &str, run: &str, measures: &[&str], options: Options) -> Scores {
    try_scored(qrels, run, measures, options).unwrap()
}

fn try_scored(
    qrels: &str,
    run: &str,
    measures: &[&str],
    options: Options,
) -> Result<Scores, ScoringError> {
    let request = Request::parse(measures.iter().copied()).unwrap();
    let (qrels, run) = (Judged::read(qrels).unwrap(), Ranked::read(run).unwrap());
    score(&qrels, &run, &request, &options)
}

/// The whole chain of an error.
fn refused(qrels: &str, run: &str) -> String {
    let error = try_scored(qrels, run, &["RR"], Options::default()).unwrap_err();
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[test]
fn queries_in_both_files_count_and_others_are_named() {
    let scores = scored(QRELS, RUN, &["RR", "num_q"], Options::default());
    assert_eq!(scores.queries(), ["q1", "q2"]);
    assert_eq!(scores.unjudged(), ["q4"]);
    assert_eq!(scores.unranked(), ["q3"]);
    assert_eq!(scores.summary(0), Summary::Number(0.75));
    assert_eq!(scores.summary(1), Summary::Count(2.0));

    let complete = Options {
        queries: Queries::Judged,
        ..Options::default()
    };
    let scores = scored(QRELS, RUN, &["RR", "num_q", "num_ret"], complete);
    assert_eq!(scores.queries(), ["q1", "q2", "q3"]);
    assert_eq!(scores.values(2), [Ok(0.0), Ok(1.0), Ok(0.0)]);
    assert_eq!(scores.summary(0), Summary::Number(0.5));
}

#[test]
fn lines_that_end_with_carriage_returns_are_refused_and_not_one_line() {
    for old_mac in [
        "q1 Q0 a 1 2 t\rq1 Q0 b 2 1 t\rq2 Q0 c 1 1 t\r",
        "query-id,corpus-id,score\rq1,a,1\r",
    ] {
        let error = Ranked::read(old_mac).unwrap_err().to_string();
        assert!(
            error.starts_with("line 1: a carriage return (CR) stands without the line feed"),
            "{error}"
        );
    }
    assert!(Judged::read("q1 0 a 1\rq1 0 b 1\r").is_err());
    let json = Judged::read("{\"q1\":\r{\"a\": 1}}\r");
    assert!(json.is_ok(), "white space of JSON");
}

#[test]
fn every_form_gives_the_same_scores() {
    let forms = [
        (
            Form::Json,
            r#"{"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"d": 1}}"#,
        ),
        (
            Form::Delimited,
            "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\nq3\td\t1\n",
        ),
        (
            Form::Delimited,
            "\u{feff}docid,\"qid\",iteration,relevance\r\na,q1,0,1\r\n\r\n\"b\",q1,0,0\r\nc,q2,,2\r\nd,q3,0,1",
        ),
        (
            Form::Trec,
            "\u{feff}# judged in May\n\n q3\t0 d 1\r\nq1 0 a 1\r\nq2 0 c 2\nq1 0 b 0",
        ),
    ];
    let runs = [
        (
            Form::Json,
            r#"{"q2": {"c": 1}, "q1": {"a": 1, "b": 2.0}, "q4": {"d": -1e3}}"#,
        ),
        (
            Form::Delimited,
            "query_id,doc_id,score\nq2,c,1\nq1,a,1\nq1,b,2\nq4,d,1\n",
        ),
        (
            Form::Trec,
            "q2 Q0 c 9 1 x\nq1 Q0 a 1 1 x y z\nq4 Q0 d 1 1 x\nq1 Q0 b 1 2e0 x\n",
        ),
    ];
    let expected = scored(QRELS, RUN, &["all_trec"], Options::default());
    let layout = TrecEvalLayout {
        per_query: true,
        ..TrecEvalLayout::default()
    };
    let without_tag = |scores: &Scores| {
        let text = trec_eval_layout(scores, layout);
        let lines = text.lines().filter(|line| !line.starts_with("runid"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for (form, qrels) in forms {
        assert_eq!(Form::of(qrels), form, "{qrels}");
        for (form, run) in runs {
            assert_eq!(Form::of(run), form, "{run}");
            let scores = scored(qrels, run, &["all_trec"], Options::default());
            assert_eq!(
                without_tag(&scores),
                without_tag(&expected),
                "{qrels} {run}"
            );
        }
    }
}

fn table(rows: &[(&str, &str, f64)]) -> Table {
    let mut table = TableBuilder::default();
    for (query, document, value) in rows {
        table.query(query);
        table.document(document, *value);
    }
    table.finish()
}

#[test]
fn a_table_in_memory_has_the_scores_of_its_file() {
    let judged = table(&[
        ("q2", "c", 2.0),
        ("q1", "a", 1.0),
        ("q3", "d", 1.0),
        ("q1", "b", 0.0),
    ]);
    let ranked = [
        ("q1", "b", 2.0),
        ("q2", "c", 1.0),
        ("q1", "a", 1.0),
        ("q4", "d", 1.0),
    ];
    let ranked = table(&ranked);
    let request = Request::parse(["RR", "P.1", "nDCG"]).unwrap();
    let (judged, ranked) = (Judged::of(&judged), Ranked::of(&ranked));
    let scores = score(&judged, &ranked, &request, &Options::default()).unwrap();
    let expected = scored(QRELS, RUN, &["RR", "P.1", "nDCG"], Options::default());
    assert_eq!(scores.queries(), expected.queries());
    assert!((0..2).all(|query| scores.values(query) == expected.values(query)));
    assert_eq!(judged.queries().collect::<Vec<_>>(), ["q1", "q2", "q3"]);
    assert_eq!(ranked.documents(0), Ok(vec![("b", 2.0), ("a", 1.0)]));

    let twice = table(&[("q", "a", 1.0), ("r", "a", 1.0), ("q", "a", 2.0)]);
    let message = "document `a` is listed a second time for query `q`";
    let refused = Ranked::of(&twice).documents(0).unwrap_err();
    assert_eq!(refused.to_string(), message);
    let judged = Judged::read("q 0 a 1\n").unwrap();
    let refused = score(&judged, &Ranked::of(&twice), &request, &Options::default());
    assert_eq!(refused.unwrap_err().source().unwrap().to_string(), message);
}

#[test]
fn a_column_has_the_name_of_trec_eval() {
    let texts = [
        "nDCG@10",
        "AP",
        "P.5",
        "iprec_at_recall.0.1",
        "RBP(rel=1)",
        "R(rel=2)@5",
    ];
    let request = Request::parse(texts).unwrap();
    let names = |level: u32| -> Vec<String> {
        let level = MinimumGrade::new(level.try_into().unwrap());
        let columns = request.columns().iter();
        columns.map(|column| column.trec_eval_name(level)).collect()
    };
    let expected = [
        "ndcg_cut_10",
        "map",
        "P_5",
        "iprec_at_recall_0.10",
        "RBP(rel=1)",
        "R(rel=2)@5",
    ];
    assert_eq!(names(1), expected);
    assert_eq!(names(2)[5], "recall_5");
}

#[test]
fn the_tag_is_that_of_the_last_line() {
    let scores = scored(QRELS, RUN, &["runid"], Options::default());
    assert_eq!(scores.summary(0), Summary::Text("last".to_owned()));
    let json = scored(QRELS, r#"{"q1": {"a": 1}}"#, &["runid"], Options::default());
    assert_eq!(json.summary(0), Summary::None);
}

#[test]
fn quotes_of_csv_hold_delimiters_and_quotes() {
    let qrels = "query,doc,grade\n\"a, b\",\"say \"\"x\"\"\",1\n";
    let run = "query,doc,score\n\"a, b\",\"say \"\"x\"\"\",1\n\"a, b\",z,2\n";
    let scores = scored(qrels, run, &["RR"], Options::default());
    assert_eq!(scores.queries(), ["a, b"]);
    assert_eq!(scores.values(0), [Ok(0.5)]);
}

#[test]
fn invalid_input_is_refused_with_its_place() {
    for (qrels, run, message) in [
        (
            QRELS,
            "q1 Q0 a 1 1 t\nq2 Q0 c 1 1 t\nq1 Q0 a 2 0.5 t\n",
            "cannot read the rankings: line 3: document `a` is listed a second time for query `q1`, first on line 1; remove one of the \
             two lines",
        ),
        (
            "q1 0 a 1\nq1 0 a 1\n",
            RUN,
            "cannot read the judgements: line 2: document `a` is listed a second time for query `q1`, first on line 1; remove one of \
             the two lines",
        ),
        (
            QRELS,
            "q1 Q0 a 1 1 t\n\nq9 Q0 c 1 NaN t\n",
            "cannot read the rankings: line 3: `NaN` is not a score; expected a number such as `12.5`",
        ),
        (
            QRELS,
            "q1 Q0 a 1 1e999 t\n",
            "cannot read the rankings: line 1: `1e999` is not a score; expected a number such as `12.5`",
        ),
        (
            QRELS,
            "q1 Q0 a 1 1\n",
            "cannot read the rankings: line 1: expected 6 fields (query, Q0, document, rank, score, tag), found 5 fields",
        ),
        (
            QRELS,
            "q1 Q0 my doc 1 9.5 t\n",
            "cannot read the rankings: line 1: expected 6 fields (query, Q0, document, rank, score, tag), found 7 fields",
        ),
        (
            "q1 0 a high\n",
            RUN,
            "cannot read the judgements: line 1: `high` is not a grade; expected a whole number such as `1`",
        ),
        (
            "q1 0 a 1\nq1 0 b 1.5\nq1 0 c x\n",
            "q1 Q0 a 1\n",
            "cannot read the judgements: line 2: `1.5` is not a grade; expected a whole number such as `1`",
        ),
        (
            "x1 0 a 1\n",
            RUN,
            "no query has both judgements and rankings: the judgements have 1 queries such as `x1`, the rankings 3 such as `q1`; check \
             that both files belong to the same collection",
        ),
        (
            "",
            "",
            "no query has both judgements and rankings: the judgements have 0 queries, the rankings 0; check that both files belong \
             to the same collection",
        ),
    ] {
        assert_eq!(refused(qrels, run), message);
    }
}

#[test]
fn malformed_json_and_csv_are_refused_with_their_place() {
    for (text, message) in [
        (
            "{\"q\": {\"a\": 1,\n\"a\": 2}}",
            "`q`: `a` is listed a second time at line 2 column 3; the form is `{\"query\": {\"document\": number}}`",
        ),
        (
            "{\"q\": [\"a\"]}",
            "`q`: expected an object, found a list at line 1 column 6; the form is `{\"query\": {\"document\": number}}`",
        ),
        (
            "{\"q\": {\"a\": 1.5}}",
            "`q`: `a`: expected a whole number, found `1.5` at line 1 column 15; the form is `{\"query\": {\"document\": number}}`",
        ),
        (
            "query,doc,grade\nq,\"a,1\n",
            "line 2: a quoted field does not end in its line; close the quote, or write `\"\"` for a quote inside of it",
        ),
        (
            "query,doc,grade\nq,a\n",
            "line 2: expected a value in each column of the header, found 2 fields",
        ),
        (
            "query;doc;grade\nq;a;1,0\n",
            "line 2: `1,0` is not a grade; expected a whole number such as `1`; write a point before decimals, and nothing between thousands",
        ),
        (
            "query,doc,grade\nq,a,1,0\n",
            "line 2: expected as many fields as the header has, and numbers with a point before decimals, found 4 fields",
        ),
        (
            "query;doc;relevance;score\nq;a;1;0.5\n",
            "line 1: the columns `relevance` and `score` could both hold the value; rename the one that does not",
        ),
        (
            "\nq1;d1;1\nq1;d2;0\n",
            "line 2: `;` divides the fields, but no header names the columns; begin the file with a line such as \
             `query-id;corpus-id;score`",
        ),
        (
            "Anfrage,Dokument,Punkte\nq1,d1,1\n",
            "line 1: `,` divides the fields, but no header names the columns; begin the file with a line such as \
             `query-id,corpus-id,score`",
        ),
    ] {
        assert_eq!(Judged::read(text).unwrap_err().to_string(), message);
    }
}

/// Spreadsheets write semicolons in countries that write a comma before decimals, and some say so in a line of its own.
#[test]
fn files_with_semicolons_are_read() {
    let with_semicolons = |text: &str| text.replace(',', ";");
    let qrels = "query-id,corpus-id,score\nq1,a,1\nq1,\"b\"\"c\",0\nq2,d,2\n";
    let run = "query_id,query,doc_id,score\nq1,what,a,0.5\nq1,what,e,0.75\nq2,who,d,1.5,\n";
    let expected = scored(qrels, run, &["RR", "nDCG"], Options::default());
    assert_eq!(expected.summary(0).number(), Some(0.75));
    for (qrels, run) in [
        (with_semicolons(qrels), with_semicolons(run)),
        (
            format!("\u{feff}sep=;\r\n{}", with_semicolons(qrels)),
            run.to_owned(),
        ),
    ] {
        let found = scored(&qrels, &run, &["RR", "nDCG"], Options::default());
        for column in 0..2 {
            assert_eq!(found.summary(column), expected.summary(column));
        }
    }
    let error = Ranked::read("qid;docid;score\nq1;a;0,93\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: `0,93` is not a score; expected a number such as `12.5`; write a point before decimals, and nothing between thousands"
    );
    let error = Judged::read("sep=;\nqid;docid;score\nq1;a;x\n").unwrap_err();
    assert_eq!(error.line(), Some(3));
}

/// Spreadsheets that read such a file and write it again add quotes and delimiters.
#[test]
fn a_line_that_names_the_delimiter_is_read_in_each_form() {
    for line in ["sep=;", "SEP=;", "\"sep=;\"", "sep=;;;", "\"sep=;\";;\r"] {
        let run = format!("{line}\nqid;docid;score\nq1;a;1\nq1;b\n");
        let error = Ranked::read(&run).unwrap_err().to_string();
        assert_eq!(
            error,
            "line 4: expected a value in each column of the header, found 2 fields"
        );
    }
}

#[test]
fn a_column_of_texts_yields_to_one_of_ids_and_two_of_ids_are_an_error() {
    let qrels = "q1 0 d1 1\n";
    for header in [
        "query_id,query,docno,document,score",
        "topic,query,docno,doc,score",
    ] {
        let run = format!("{header}\nq1,what,d1,words,1.5\n");
        let scores = scored(qrels, &run, &["RR"], Options::default());
        assert_eq!(scores.summary(0).number(), Some(1.0), "{header}");
    }
    for (header, columns) in [
        ("query_id,docno,pid,score", "`docno` and `pid`"),
        ("topic,question_id,docno,score", "`topic` and `question_id`"),
    ] {
        let run = format!("{header}\nq1,d1,7,1.5\n");
        let error = Ranked::read(&run).unwrap_err().to_string();
        assert!(error.contains(columns), "{error}");
    }
}

#[test]
fn a_comma_before_decimals_is_no_further_column() {
    let run = "query-id,corpus-id,score,\nq1,d1,1.5,\nq1,d2,1,9\n";
    let error = Ranked::read(run).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 3: expected as many fields as the header has, and numbers with a point before decimals, found 4 fields"
    );
}

/// The first column of the tables of pandas has no title.
#[test]
fn a_header_may_begin_with_a_delimiter() {
    let qrels = "\tquery-id\tcorpus-id\tscore\n0\tq1\ta\t1\n";
    for delimiter in ["\t", ",", ";"] {
        let run = "\n\tquery_id\tdoc_id\tscore\n0\tq1\tb\t2.5\n1\tq1\ta\t1.5\n";
        let run = run.replace('\t', delimiter);
        let scores = scored(qrels, &run, &["RR"], Options::default());
        assert_eq!(scores.summary(0).number(), Some(0.5));
    }
    let error = Ranked::read("qid\tdocid\tscore\nq1\ta\t1\t2\n").unwrap_err();
    let expected = "line 2: expected as many fields as the header has, found 4 fields";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_run_of_other_queries_is_no_run_of_zeros_even_if_all_judged_queries_count() {
    let complete = Options {
        queries: Queries::Judged,
        ..Options::default()
    };
    let error = try_scored("x 0 a 1\n", RUN, &["RR"], complete).unwrap_err();
    assert!(matches!(
        error,
        ScoringError::NoCommonQuery {
            judged: 1,
            ranked: 3,
            ..
        }
    ));
}

#[test]
fn a_measure_keeps_its_own_level() {
    let options = Options {
        relevant_from: evals_metrics::measures::MinimumGrade::new(2.try_into().unwrap()),
        ..Options::default()
    };
    let scores = scored(QRELS, RUN, &["RR", "RR(rel=3)", "num_rel"], options);
    let undefined = Err(Undefined::NoRelevantDocuments);
    assert_eq!(scores.values(0), [undefined, undefined, Ok(0.0)]);
    assert_eq!(scores.values(1), [Ok(1.0), undefined, Ok(1.0)]);
    assert_eq!(scores.without_relevant_documents(), 2);
    let text = trec_eval_layout(&scores, TrecEvalLayout::default());
    let names: Vec<_> = text
        .lines()
        .map(|it| it.split('\t').next().unwrap().trim())
        .collect();
    assert_eq!(names, ["num_rel", "recip_rank", "RR(rel=3)"]);
}

#[test]
fn the_version_decides_which_scores_tie() {
    let qrels = "q 0 a 1\nq 0 b 0\n";
    let run = "q Q0 a 1 1.00000002 t\nq Q0 b 2 1.00000001 t\n";
    let value = |version| {
        let options = Options {
            version,
            ..Options::default()
        };
        scored(qrels, run, &["RR"], options).values(0)[0]
    };
    assert_eq!(value(TrecEval::V10), Ok(1.0));
    assert_eq!(value(TrecEval::V9), Ok(0.5));
}

#[test]
fn a_file_of_many_parts_is_the_same_as_one_part() {
    // More than the least that a thread gets, with lines of one query in many places.
    let mut run = String::new();
    for line in 0..60_000 {
        let (query, document) = (line % 7, line / 7);
        writeln!(
            run,
            "q{query} Q0 document-{document} 1 {} tag",
            (line * 7919) % 60_013
        )
        .unwrap();
    }
    let qrels: String = (0..7).fold(String::new(), |mut text, query| {
        writeln!(text, "q{query} 0 document-{} 1", query * 100).unwrap();
        text
    });
    let scores = scored(&qrels, &run, &["num_ret", "RR"], Options::default());
    assert_eq!(scores.summary(0), Summary::Count(60_000.0));
    for query in 0..7 {
        let best = query * 100;
        let score = |document: usize| ((document * 7 + query) * 7919) % 60_013;
        let documents = (0..60_000_usize).filter(|line| line % 7 == query).count();
        let above = (0..documents)
            .filter(|&other| score(other) > score(best))
            .count();
        let rank = u32::try_from(above + 1).unwrap();
        assert_eq!(scores.values(query)[1], Ok(1.0 / f64::from(rank)));
    }
    run.push_str("q3 Q0 document-0 1 1 tag\n");
    assert_eq!(
        refused(&qrels, &run),
        "cannot read the rankings: line 60001: document `document-0` is listed a second time for query `q3`, first on line 4; remove \
         one of the two lines"
    );
}

#[test]
fn groups_and_lists_are_those_of_trec_eval() {
    let names = |texts: &[&str]| -> Vec<String> {
        let request = Request::parse(texts.iter().copied()).unwrap();
        let columns = request.columns().iter();
        columns.map(|column| column.statistic.to_string()).collect()
    };
    assert_eq!(names(&["official"]).len(), 30);
    assert_eq!(names(&["all_trec"]).len(), 100);
    assert_eq!(names(&["set", "set"]).len(), 11);
    assert_eq!(
        names(&["P.10,5", "P@5", "success"]),
        ["P@5", "P@10", "Success@1", "Success@5", "Success@10"]
    );
    assert_eq!(
        names(&["utility.1,-1,0,0.5", "NumRet(rel=2)"]),
        ["utility.1,-1,0,0.5", "NumRet(rel=2)"]
    );
    for (text, message) in [
        (
            "utility.1,2",
            "measure `utility.1,2` has the coefficients `1,2`; expected 4 numbers, such as `1,-1,0,0`",
        ),
        (
            "P.5,x",
            "measure `P@x` has the cutoff `x`; expected a whole number from 1",
        ),
        ("map.5", "measure `map.5` has no parameter `5`"),
        ("ndcg.one=2", "measure `ndcg.one=2` has no parameter `one`"),
        (
            "iprec_at_recall.2",
            "measure `iprec_at_recall@2` has the recall `2`; expected a number from 0 to 1",
        ),
    ] {
        let error = Request::parse([text]).unwrap_err().to_string();
        assert_eq!(error, message);
    }
}
