//! Spreadsheets in which people grade.

use anyhow::Result;

use super::*;

fn exported(pool: &Pool, stored: &[Judgement], questions: usize) -> String {
    let mut text = Vec::new();
    let rows = write_sheet(pool, (stored, 1), questions, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(rows + 1, text.matches("\r\n").count());
    text
}

/// What a filled sheet adds to the judgements so far.
fn read(pool: &Pool, csv: &str, stored: &[Judgement], by: &Assessor) -> Result<Vec<Judgement>> {
    let given = read_sheet(("grades.csv", csv.as_bytes()), pool, by)?;
    let folder = tempfile::tempdir()?;
    let file = JudgementFile::at(&folder.path().join("set.jsonl"));
    file.open()?.add_changed(stored)?;
    let added = file.open()?.add_changed(&given)?;
    let now = file.read()?;
    assert_eq!(now.len(), stored.len() + added);
    Ok(now[stored.len()..].to_vec())
}

/// The sheet with a grade in every row.
fn with_grades(sheet: &str, grade: &str) -> String {
    sheet.replace(",,sha-", &format!(",{grade},sha-"))
}

#[test]
fn grades_come_back_from_a_spreadsheet() {
    let runs = runs();
    let pool = pool(&runs);
    let sheet = exported(&pool, &[], 2);
    assert_eq!(
        sheet.matches("\r\n").count(),
        9,
        "two questions of four documents\n{sheet}"
    );
    let csv = with_grades(&sheet, "2");
    let stored = read(&pool, &csv, &[], &ann()).unwrap();
    assert_eq!(stored.len(), 8);
    let is_right = |it: &Judgement| it.assessor == ann() && it.grade == 2;
    assert!(stored.iter().all(is_right), "{stored:?}");
    let again = read(&pool, &csv, &stored, &ann()).unwrap();
    assert_eq!(again, []);
    let report = PoolReport::of(&pool, &runs, &stored, None, 1, bootstrap());
    assert_eq!(report.drawn, 2);
    // The next export goes on with the next question.
    let next = exported(&pool, &stored, 1);
    let (id, _, _) = report.next.unwrap();
    assert!(
        next.split("\r\n")
            .skip(1)
            .all(|row| row.is_empty() || row.starts_with(&id)),
        "{next}"
    );
    let changed = csv.replacen(",2,sha", ",3,sha", 1);
    let changed = read(&pool, &changed, &stored, &ann()).unwrap();
    assert_eq!((changed.len(), changed[0].grade), (1, 3));
    let bo = Assessor::Person("Bo".to_owned());
    let of_bo = read(&pool, &csv, &stored, &bo).unwrap();
    assert_eq!((of_bo.len(), &of_bo[0].assessor), (8, &bo));
}

#[test]
fn a_question_with_a_hole_is_not_drawn() {
    let runs = runs();
    let pool = pool(&runs);
    let csv = with_grades(&exported(&pool, &[], 2), "1");
    let csv = csv.replacen(",1,sha", ",,sha", 1);
    let stored = read(&pool, &csv, &[], &ann()).unwrap();
    assert_eq!(stored.len(), 7);
    let report = PoolReport::of(&pool, &runs, &stored, None, 1, bootstrap());
    let (_, _, open) = report.next.clone().unwrap();
    assert_eq!((report.drawn, open, report.not_counted), (0, 1, 2));
    let notes = report.tables(0.1).remove(0).notes;
    assert!(
        notes.iter().any(|it| it.contains("correct nothing yet")),
        "{notes:?}"
    );
    assert_eq!(
        exported(&pool, &stored, 1).matches("\r\n").count(),
        2,
        "the hole alone"
    );
}

#[test]
fn wrong_cells_are_named_and_nothing_is_taken() {
    let runs = runs();
    let pool = pool(&runs);
    let sheet = exported(&pool, &[], 1);
    let refused = |csv: &str| format!("{:#}", read(&pool, csv, &[], &ann()).unwrap_err());
    let message = refused(&with_grades(&sheet, "4"));
    assert!(
        message.starts_with("cannot import `grades.csv`, so no grade was added:\nline 2, column 5 (`grade`): `4` is not a grade; write 0, 1, 2 or 3, or nothing"),
        "{message}"
    );
    let right = with_grades(&sheet, "0");
    let message = refused(&right.replace("sha-", "sha-0"));
    assert!(
        message.contains("line 2, column 6 (`digest`): it is not the digest"),
        "{message}"
    );
    let message = refused(&sheet);
    assert!(
        message.contains("no row of `grades.csv` has a grade"),
        "{message}"
    );
    let message = refused("question_id,document_id,digest\r\n");
    assert!(
        message.contains("line 1: there is no column `grade`"),
        "{message}"
    );
}

#[test]
fn texts_are_no_formulas_and_equal_texts_are_graded_once() {
    let runs = [run("one", vec![case("=q1", &["=a", "=b", "c"])])];
    let mut documents = corpus(["=a", "=b", "c"]);
    for document in documents.values_mut() {
        document.title = None;
        document.text = "=1+1".to_owned();
    }
    let pool = Pool::of(&runs, depth(3), &documents).unwrap();
    let sheet = exported(&pool, &[], 1);
    assert!(sheet.contains("'=q1,"), "{sheet}");
    assert!(sheet.contains(",'=1+1,"), "{sheet}");
    assert_eq!(Grades::default().open(&pool.questions[0]).len(), 1);
    let csv = with_grades(&sheet, "3");
    let stored = read(&pool, &csv, &[], &ann()).unwrap();
    assert_eq!(stored.len(), 1);
    let report = PoolReport::of(&pool, &runs, &stored, None, 1, bootstrap());
    assert_eq!((report.drawn, report.by_people), (1, 3));
}
