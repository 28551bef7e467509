//! Labels that are exported, filled in and imported.

use super::super::answers::RunAnswers;
use super::super::label::{Label, LabelVerdict};
use super::super::sample::{Method, Sample};
use super::super::table;
use super::{exported, import, label, run, sample, stored};

fn refused(run: &RunAnswers, csv: &str) -> String {
    import(run).read(csv.as_bytes()).unwrap_err().to_string()
}

/// A row of a file to import.
fn row(run: &RunAnswers, place: usize, verdict: &str) -> String {
    let answer = &run.answers[place];
    format!("{},{verdict},{}\n", answer.id, table::digest(answer))
}

const HEADER: &str = "case_id,verdict,digest\n";

#[test]
fn an_exported_file_comes_back_as_the_same_labels() {
    let run = run(9);
    let labels = stored(vec![
        Label {
            note: "=SUM(A1) said \"so\"\nand more".to_owned(),
            ..label(&run, 2, "ada", LabelVerdict::Pass)
        },
        label(&run, 4, "@ben", LabelVerdict::CannotSay),
    ]);
    let csv = exported(&run, &labels, sample(Method::Stratified, Some(8), 3));
    assert!(!csv.contains(",="), "no cell is a formula: {csv}");
    for told in ["because", "pass\r\n", "openai", "probability"] {
        assert!(!csv.contains(told), "`{told}` would not be blind: {csv}");
    }
    let import = import(&run);
    let imported = import.read(csv.as_bytes()).unwrap();
    assert_eq!((imported.given(), imported.empty), (2, 6));
    assert!(
        imported.new_labels(&labels.labels).is_empty(),
        "nothing is new"
    );

    let read = import.read(csv.as_bytes()).unwrap().new_labels(&[]);
    let mut read: Vec<_> = read.iter().collect();
    read.sort_by_key(|label| &label.labeller);
    assert_eq!(
        (read[0].labeller.as_str(), read[0].verdict),
        ("@ben", LabelVerdict::CannotSay)
    );
    assert_eq!(read[1].note, labels.labels[0].note);
    assert_eq!(read[1].sampling.method, Method::Stratified);
    assert_eq!(
        read[1].sampling.probability,
        Some(5.0 / 5.0),
        "four of five passes and three of three fails"
    );
}

#[test]
fn a_spreadsheet_may_change_the_separator_and_add_a_mark() {
    let run = run(9);
    let csv = format!("\u{feff}{HEADER}{}", row(&run, 2, "PASS ")).replace(',', ";");
    assert_eq!(import(&run).read(csv.as_bytes()).unwrap().given(), 1);
    let csv = csv.replace(';', "\t").replace('\n', "\r\n");
    assert_eq!(import(&run).read(csv.as_bytes()).unwrap().given(), 1);
}

#[test]
fn wrong_cells_are_named_and_nothing_is_taken() {
    let run = run(9);
    let good = row(&run, 2, "pass");
    let csv = format!(
        "{HEADER}{good}{}\"q4\",maybe,x\nq77,pass,x\nq5,fail,sha-00\n",
        row(&run, 3, "")
    );
    assert_eq!(
        refused(&run, &csv),
        "cannot import `labels.csv`, so no label was added:\n\
         line 4, column 2 (`verdict`): `maybe` is not a verdict; write `pass`, `fail` or `cannot say`, or nothing\n\
         line 5, column 1 (`case_id`): run `the-run` has no answer to case `q77`, repetition 1\n\
         line 6, column 3 (`digest`): it is not the digest of this answer in run `the-run`, so the question, the reference or the answer has changed since the export, or `--measure` is not that of the export"
    );
    let twice = format!("{HEADER}{good}{}", row(&run, 2, "fail"));
    assert!(refused(&run, &twice).contains(
        "line 3, column 2 (`verdict`): line 2 has the label `pass` of `ada` for the same answer, and this line `fail`"
    ));
    let noted = |note: &str| good.replace('\n', &format!(",{note}\n"));
    let with_notes =
        |notes: [&str; 2]| format!("case_id,verdict,digest,note\n{}", notes.map(noted).concat());
    assert!(refused(&run, &with_notes(["one", "two"])).contains(
        "line 3, column 4 (`note`): line 2 has a different note of `ada` for the same answer"
    ));
    let long = "x".repeat(10_001);
    assert!(
        refused(&run, &with_notes(["one", &long]))
            .contains("line 3, column 4 (`note`): the note is longer than 10,000 characters")
    );
    let named = format!(
        "case_id,verdict,digest,labeller\n{}",
        good.replace('\n', &format!(",{}\n", "x".repeat(101)))
    );
    assert!(refused(&run, &named).contains(
        "line 2, column 4 (`labeller`): the name of the labeller is longer than 100 characters"
    ));
    let repeated = with_notes(["one", "one"]);
    assert_eq!(import(&run).read(repeated.as_bytes()).unwrap().given(), 1);
    let numbers = format!("{HEADER}{}", row(&run, 2, "0"));
    assert!(refused(&run, &numbers).contains("`0` is not a verdict"));
    assert_eq!(
        refused(&run, &format!("{HEADER}q1,pass\n")),
        "`labels.csv`, line 2: 2 fields where the header has 3; a field that holds the separator, a quote or a line break needs quotes around it"
    );
    assert_eq!(
        refused(&run, &format!("{HEADER}{good}\"q3,pass,x\nq4,pass,x\n")),
        "`labels.csv`, line 3: the quote that opens a field here is never closed; a quote inside a quoted field is written twice (`\"\"`)"
    );
    assert!(refused(&run, "case_id,verdict\n").contains("there is no column `digest`"));
    assert!(
        refused(&run, "case_id,digest,verdict,digest\n")
            .contains("line 1, column 4: two columns are named `digest`")
    );
    assert!(refused(&run, "").contains("there is no column `case_id`"));
    let error = import(&run)
        .read(b"case_id,verdict,digest\nq1,pass,\xff\n")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`labels.csv`, line 2: the text is not UTF-8"
    );
}

#[test]
fn a_sample_by_other_verdicts_counts_as_picked() {
    let run = run(30);
    let mut rejudged = self::run(30);
    rejudged.answers[1].verdict = Some(false);
    let labels = stored(vec![label(&run, 2, "ada", LabelVerdict::Pass)]);
    let method = |run: &RunAnswers, sample: Sample| {
        let csv = exported(&self::run(30), &labels, sample);
        let read = import(run).read(csv.as_bytes()).unwrap().new_labels(&[]);
        read[0].sampling.method
    };
    let all = |method| sample(method, None, 0);
    assert_eq!(method(&run, all(Method::Stratified)), Method::Stratified);
    assert_eq!(method(&rejudged, all(Method::Stratified)), Method::Chosen);
    assert_eq!(method(&rejudged, all(Method::Random)), Method::Random);
}
