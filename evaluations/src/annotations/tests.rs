//! Labels of a small run: which count, how they are written and read, and what a damaged file keeps.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use evals::CaseId;
use evals_metrics::Confusion;

use super::agreement::{pairs, people};
use super::answers::{JudgedAnswer, RunAnswers, ShownPassage};
use super::export::Export;
use super::file::{LabelFile, StoredLabels};
use super::import::Import;
use super::label::{Digests, Label, LabelVerdict};
use super::sample::{Method, Sample, Sampling};
use super::standing::{Stale, Standing};
use super::table;

fn answer(id: &str, verdict: Option<bool>) -> JudgedAnswer {
    JudgedAnswer {
        id: CaseId::from(id),
        repeat: 1,
        criterion: "Is it right?".to_owned(),
        question: format!("=question \"{id}\""),
        reference: Some("one,\r\ntwo".to_owned()),
        answer: format!("answer to {id}"),
        passages: vec![ShownPassage {
            document: "d1".to_owned(),
            text: "text".to_owned(),
        }],
        verdict,
        reason: Some("because".to_owned()),
        digests: Digests {
            case: format!("case {id}"),
            answer: format!("answer {id}"),
            prompt: Some("prompt".to_owned()),
            judge: Some("judge".to_owned()),
        },
    }
}

/// A run of `n` answers, of which the judge failed every third and has no verdict about the last.
pub(super) fn run(n: usize) -> RunAnswers {
    let verdict = |number: usize| (number + 1 < n).then(|| !number.is_multiple_of(3));
    RunAnswers {
        run: "the-run".to_owned(),
        measure: Some("equivalent".to_owned()),
        judges: Vec::new(),
        judge: Some("openai:m".to_owned()),
        answers: (0..n)
            .map(|number| answer(&format!("q{number}"), verdict(number)))
            .collect(),
        failed: 0,
    }
}

fn label(run: &RunAnswers, place: usize, labeller: &str, verdict: LabelVerdict) -> Label {
    let answer = &run.answers[place];
    Label {
        case: answer.id.clone(),
        repeat: answer.repeat,
        measure: run.measure.clone(),
        verdict,
        note: String::new(),
        labeller: labeller.to_owned(),
        time: "2026-05-01T12:00:00.000Z".to_owned(),
        blind: true,
        revealed: false,
        sampling: Sampling {
            method: Method::Random,
            size: None,
            probability: Some(1.0),
            seed: Some(0),
        },
        digests: answer.digests.clone(),
    }
}

fn stored(labels: Vec<Label>) -> StoredLabels {
    StoredLabels { labels, damaged: 0 }
}

fn sample(method: Method, size: Option<usize>, seed: u64) -> Sample {
    Sample { method, size, seed }
}

fn ids(run: &RunAnswers, sample: Sample) -> Vec<&str> {
    let drawn = sample.draw(&run.answers).into_iter();
    drawn.map(|it| run.answers[it.place].id.as_str()).collect()
}

pub(super) fn exported(run: &RunAnswers, labels: &StoredLabels, sample: Sample) -> String {
    let standing = Standing::of(run, labels);
    let export = Export {
        run,
        standing: &standing,
        sample,
        with_labels: true,
        with_verdicts: false,
    };
    let mut csv = Vec::new();
    export.write(&mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

pub(super) fn import(run: &RunAnswers) -> Import<'_> {
    Import {
        run,
        file: "labels.csv".to_owned(),
        labeller: Some("ada".to_owned()),
        time: "2026-05-02T12:00:00.000Z".to_owned(),
    }
}

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
fn a_larger_sample_holds_the_smaller_one() {
    let run = run(60);
    for method in [Method::Random, Method::Stratified] {
        let mut before = BTreeSet::new();
        for size in 1..=59 {
            let drawn = ids(&run, sample(method, Some(size), 7));
            assert_eq!(drawn.len(), size);
            let drawn: BTreeSet<&str> = drawn.into_iter().collect();
            assert!(drawn.is_superset(&before), "{method:?} {size}");
            before = drawn;
        }
    }
    let ten = ids(&run, sample(Method::Random, Some(10), 7));
    assert_eq!(ids(&run, sample(Method::Random, None, 7))[..10], ten[..]);
    assert_ne!(ids(&run, sample(Method::Random, Some(10), 8)), ten);
}

/// 20 of 59 answers with a verdict failed.
#[test]
fn a_stratified_sample_is_half_and_half_and_knows_its_probabilities() {
    let run = run(60);
    let drawn = sample(Method::Stratified, Some(20), 1).draw(&run.answers);
    let of = |verdict: bool| {
        let of_verdict = |place: usize| run.answers[place].verdict == Some(verdict);
        drawn
            .iter()
            .filter(|it| of_verdict(it.place))
            .copied()
            .collect::<Vec<_>>()
    };
    assert_eq!((of(true).len(), of(false).len()), (10, 10));
    assert!(
        of(true)
            .iter()
            .all(|it| (it.probability - 10.0 / 39.0).abs() < 1e-15)
    );
    assert!(
        of(false)
            .iter()
            .all(|it| (it.probability - 0.5).abs() < 1e-15)
    );

    let more = sample(Method::Stratified, Some(50), 1).draw(&run.answers);
    let fails = more
        .iter()
        .filter(|it| run.answers[it.place].verdict == Some(false));
    assert_eq!(fails.count(), 20, "all there are");
}

#[test]
fn answers_without_a_verdict_are_drawn_only_if_there_is_no_judge() {
    let mut run = run(10);
    assert!(!ids(&run, sample(Method::Random, None, 0)).contains(&"q9"));
    run.answers.iter_mut().for_each(|it| it.verdict = None);
    assert_eq!(ids(&run, sample(Method::Random, None, 0)).len(), 10);
}

#[test]
fn the_last_label_of_a_person_counts() {
    let run = run(9);
    let labels = stored(vec![
        label(&run, 2, "ada", LabelVerdict::Fail),
        label(&run, 1, "ada", LabelVerdict::Pass),
        label(&run, 2, "ben", LabelVerdict::Fail),
        label(&run, 2, "ada", LabelVerdict::Pass),
        label(&run, 3, "ada", LabelVerdict::Fail),
        label(&run, 4, "ada", LabelVerdict::CannotSay),
        label(&run, 8, "ada", LabelVerdict::Pass),
    ]);
    let standing = Standing::of(&run, &labels);
    let found = people(&run, &standing);
    let ada = &found[0];
    assert_eq!(
        ada.confusion,
        Confusion {
            true_passes: 2,
            true_fails: 1,
            ..Confusion::default()
        }
    );
    let counts = [
        ada.passes,
        ada.fails,
        ada.undecided,
        ada.unjudged,
        ada.missing,
    ];
    assert_eq!(counts, [3, 1, 1, 1, 4]);
    assert_eq!(found[1].labeller, "ben");
    assert_eq!(
        found[1].confusion.false_passes, 1,
        "ben fails what the judge passed"
    );
    let pairs = pairs(&run, &standing);
    assert_eq!(pairs.len(), 1);
    assert_eq!(pairs[0].agreement.n, 1);
}

/// A judge that passed 39 and failed 20 answers. Ben says the same as Ada of the passes, and the opposite of the fails.
#[test]
fn the_agreement_of_people_is_that_of_the_run_and_not_of_a_stratified_sample() {
    let run = run(60);
    let sample = sample(Method::Stratified, Some(20), 1);
    let labels = |is_weighted: bool| {
        let drawn = sample.draw(&run.answers).into_iter().enumerate();
        let labels = drawn.flat_map(|(number, it)| {
            let verdicts = [LabelVerdict::Pass, LabelVerdict::Fail];
            let of_ada = verdicts[number % 2];
            let is_passed = run.answers[it.place].verdict == Some(true);
            let of_ben = verdicts[(number + usize::from(!is_passed)) % 2];
            [("ada", of_ada), ("ben", of_ben)].map(|(labeller, verdict)| {
                let mut label = label(&run, it.place, labeller, verdict);
                if is_weighted {
                    label.sampling = sample.sampling(it);
                }
                label
            })
        });
        stored(labels.collect())
    };
    for (is_weighted, expected) in [(true, 39.0 / 59.0), (false, 0.5)] {
        let labels = labels(is_weighted);
        let found = pairs(&run, &Standing::of(&run, &labels));
        assert_eq!(
            (found[0].is_weighted, found[0].agreement.n),
            (is_weighted, 20)
        );
        let agreement = found[0].agreement.agreement.unwrap().value;
        assert!((agreement - expected).abs() < 1e-12, "{agreement}");
    }
}

#[test]
fn a_label_about_something_else_is_stale_until_it_is_given_again() {
    let run = run(9);
    let changed = |change: &dyn Fn(&mut Digests)| {
        let mut label = label(&run, 2, "ada", LabelVerdict::Pass);
        change(&mut label.digests);
        label
    };
    let mut gone = label(&run, 2, "ada", LabelVerdict::Pass);
    gone.case = CaseId::from("gone");
    let reasons = [
        (changed(&|it| it.case.push('x')), Stale::Case),
        (changed(&|it| it.answer.push('x')), Stale::Answer),
        (changed(&|it| it.judge = None), Stale::Judge),
        (changed(&|it| it.prompt = None), Stale::Prompt),
        (gone, Stale::NoAnswer),
    ];
    for (stale, reason) in reasons {
        let labels = stored(vec![stale.clone()]);
        let standing = Standing::of(&run, &labels);
        assert!(standing.people.is_empty());
        assert_eq!(
            standing.stale.into_iter().collect::<Vec<_>>(),
            [(reason, 1)]
        );

        let again = stored(vec![stale, label(&run, 2, "ada", LabelVerdict::Fail)]);
        let standing = Standing::of(&run, &again);
        let is_replaced = reason != Stale::NoAnswer;
        assert_eq!(standing.stale.is_empty(), is_replaced);
        assert_eq!(standing.people["ada"].len(), 1);
    }
}

#[test]
fn labels_of_another_measure_are_apart() {
    let run = run(9);
    let mut other = label(&run, 2, "ada", LabelVerdict::Pass);
    other.measure = Some("polite".to_owned());
    let labels = stored(vec![other, label(&run, 2, "ada", LabelVerdict::Fail)]);
    let standing = Standing::of(&run, &labels);
    assert_eq!(standing.of_other_measures, 1);
    assert_eq!(people(&run, &standing)[0].fails, 1);
}

#[test]
fn a_label_after_the_judges_verdict_was_shown_is_not_blind() {
    let run = run(9);
    let mut seen = label(&run, 2, "ada", LabelVerdict::Pass);
    seen.revealed = true;
    let known = [seen];
    let blind = |place, labeller| {
        label(&run, place, labeller, LabelVerdict::Fail)
            .after(&known)
            .blind
    };
    assert!(!blind(2, "ada"));
    assert!(blind(2, "ben") && blind(3, "ada"));

    let noted = Label {
        note: "an afterthought".to_owned(),
        ..label(&run, 2, "ada", LabelVerdict::Pass)
    };
    assert!(
        noted.after(&known).blind,
        "the verdict is still the one given blind"
    );
    let changed = label(&run, 2, "ada", LabelVerdict::Fail).after(&known);
    let [seen] = known;
    let back = label(&run, 2, "ada", LabelVerdict::Pass).after(&[seen, changed]);
    assert!(!back.blind);
}

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
         line 6, column 3 (`digest`): it is not the digest of this answer in run `the-run`, so the question, the reference or the answer has changed since the export"
    );
    let twice = format!("{HEADER}{good}{}", row(&run, 2, "fail"));
    assert!(refused(&run, &twice).contains(
        "line 3, column 2 (`verdict`): line 2 has the label `pass` of `ada` for the same answer, and this line `fail`"
    ));
    let noted = |note: &str| good.replace('\n', &format!(",{note}\n"));
    let with_notes =
        |notes: [&str; 2]| format!("case_id,verdict,digest,note\n{}", notes.map(noted).concat());
    assert!(refused(&run, &with_notes(["one", "two"])).contains(
        "line 3, column 4 (`note`): line 2 has another note of `ada` for the same answer"
    ));
    let repeated = with_notes(["one", "one"]);
    assert_eq!(import(&run).read(repeated.as_bytes()).unwrap().given(), 1);
    let numbers = format!("{HEADER}{}", row(&run, 2, "0"));
    assert!(refused(&run, &numbers).contains("`0` is not a verdict"));
    assert_eq!(
        refused(&run, &format!("{HEADER}q1,pass\n")),
        "`labels.csv`, line 2: it has 2 cells, and the header has 3"
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
        "`labels.csv`, line 2: it is not UTF-8 text"
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

#[test]
fn a_killed_process_loses_only_the_line_that_it_was_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("annotations.jsonl");
    let run = run(9);
    let file = LabelFile::at(&path);
    assert!(file.read().unwrap().labels.is_empty());
    let add = |place: usize| {
        let new = vec![label(&run, place, "ada", LabelVerdict::Pass)];
        file.add(|_| Ok(new)).unwrap();
    };
    add(0);
    add(1);
    let before = fs::read(&path).unwrap();
    add(2);
    let whole = fs::read(&path).unwrap();
    for cut in before.len()..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        // Without its line feed the line is whole.
        let kept = if cut + 1 == whole.len() { 3 } else { 2 };
        let read = file.read().unwrap();
        assert_eq!((read.labels.len(), read.damaged), (kept, 0), "cut at {cut}");
        add(3);
        let read = file.read().unwrap();
        assert_eq!(
            (read.labels.len(), read.damaged),
            (kept + 1, 0),
            "cut at {cut}"
        );
    }
    let mut damaged = whole.clone();
    damaged[before.len() - 20] ^= 1;
    fs::write(&path, damaged).unwrap();
    let read = file.read().unwrap();
    assert_eq!((read.labels.len(), read.damaged), (2, 1));
}

#[test]
fn writers_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = LabelFile::at(&folder.path().join("annotations.jsonl"));
    let run = run(9);
    thread::scope(|scope| {
        for labeller in ["ada", "ben", "cleo", "dan"] {
            let (file, run) = (&file, &run);
            scope.spawn(move || {
                for place in 0..8 {
                    let new = vec![label(run, place, labeller, LabelVerdict::Fail)];
                    file.add(|_| Ok(new)).unwrap();
                }
            });
        }
    });
    let labels = file.read().unwrap();
    let standing = Standing::of(&run, &labels);
    let counts: Vec<usize> = standing.people.values().map(Vec::len).collect();
    assert_eq!(counts, [8; 4]);
}

#[test]
fn a_file_of_another_kind_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("annotations.jsonl");
    let file = LabelFile::at(&path);
    fs::write(&path, "case,verdict\n").unwrap();
    for error in [
        file.read().unwrap_err(),
        file.add(|_| Ok(Vec::new())).unwrap_err(),
    ] {
        assert!(error.to_string().contains("holds no labels"), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"case,verdict\n");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = file.read().unwrap_err().to_string();
    assert!(error.contains("is a folder, not a regular file"), "{error}");
}
