//! Spreadsheets in which people grade.

use anyhow::Result;

use super::*;

fn exported(pool: &Pool, stored: &StoredJudgements, questions: usize) -> String {
    let mut text = Vec::new();
    let sheet = Sheet {
        pool,
        stored,
        seed: 1,
    };
    let rows = sheet.write(questions, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(rows + 1, text.matches("\r\n").count());
    text
}

fn read(pool: &Pool, csv: &str, stored: &StoredJudgements) -> Result<GivenGrades> {
    let file = SheetFile {
        file: "grades.csv".to_owned(),
        labeller: Some("Ann"),
        time: TIME.to_owned(),
    };
    Sheet {
        pool,
        stored,
        seed: 1,
    }
    .read(&file, csv.as_bytes())
}

/// The sheet with a grade in every row.
fn with_grades(sheet: &str, grade: &str) -> String {
    sheet.replace(",,,sha-", &format!(",{grade},,sha-"))
}

#[test]
fn grades_come_back_from_a_spreadsheet() {
    let runs = runs();
    let pool = pool(&runs);
    let none = StoredJudgements::default();
    let sheet = exported(&pool, &none, 2);
    assert_eq!(
        sheet.matches("\r\n").count(),
        9,
        "two questions of four documents\n{sheet}"
    );
    let csv = with_grades(&sheet, "2");
    let given = read(&pool, &csv, &none).unwrap();
    assert_eq!(
        (given.judgements.len(), given.known, given.empty),
        (8, 0, 0)
    );
    assert!(
        given
            .judgements
            .iter()
            .all(|it| it.assessor == ann() && it.grade == 2)
    );
    let stored = StoredJudgements::of(given.judgements);
    let again = read(&pool, &csv, &stored).unwrap();
    assert_eq!((again.judgements.len(), again.known), (0, 8));
    let report = PoolReport::of(&pool, &runs, &stored, None, &settings(1)).unwrap();
    assert_eq!(report.drawn.questions, 2);
    // The next export goes on with the next question.
    let next = exported(&pool, &stored, 1);
    let (id, _) = report.drawn.next.unwrap();
    assert!(
        next.split("\r\n")
            .skip(1)
            .all(|row| row.is_empty() || row.starts_with(&id)),
        "{next}"
    );
    let corrected = csv.replacen(",2,,", ",3,Bo,", 1);
    let given = read(&pool, &corrected, &stored).unwrap();
    let bo = Assessor::Person("Bo".to_owned());
    assert_eq!(
        (given.judgements[0].grade, &given.judgements[0].assessor),
        (3, &bo)
    );
    assert_eq!(given.known, 7);
}

#[test]
fn a_question_with_a_hole_is_not_drawn() {
    let runs = runs();
    let pool = pool(&runs);
    let none = StoredJudgements::default();
    let csv = with_grades(&exported(&pool, &none, 2), "1");
    let csv = csv.replacen(",1,,", ",,,", 1);
    let given = read(&pool, &csv, &none).unwrap();
    assert_eq!((given.judgements.len(), given.empty), (7, 1));
    let stored = StoredJudgements::of(given.judgements);
    let report = PoolReport::of(&pool, &runs, &stored, None, &settings(1)).unwrap();
    let drawn = &report.drawn;
    assert_eq!(
        (drawn.questions, drawn.next_pairs, drawn.not_counted),
        (0, 1, 2)
    );
    let notes = report.tables().remove(0).notes;
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
    let none = StoredJudgements::default();
    let sheet = exported(&pool, &none, 1);
    let refused = |csv: &str| format!("{:#}", read(&pool, csv, &none).unwrap_err());
    let message = refused(&with_grades(&sheet, "4"));
    assert!(
        message.starts_with("cannot import `grades.csv`, so no grade was added:\nline 2, column 5 (`grade`): `4` is not a grade; write 0, 1, 2 or 3, or nothing"),
        "{message}"
    );
    let right = with_grades(&sheet, "0");
    let message = refused(&right.replace("sha-", "sha-0"));
    assert!(
        message.contains("line 2, column 7 (`digest`): it is not the digest"),
        "{message}"
    );
    let row = right.lines().nth(1).unwrap();
    let document = row.split(',').nth(1).unwrap();
    let message = refused(&right.replacen(document, "other", 1));
    assert!(
        message.contains("column 2 (`document_id`): it is not the document"),
        "{message}"
    );
    let message = refused("question_id,document_id,digest\r\n");
    assert!(
        message.contains("line 1: it is no sheet of passages"),
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
    let none = StoredJudgements::default();
    let sheet = exported(&pool, &none, 1);
    assert!(sheet.contains("'=q1,"), "{sheet}");
    assert!(sheet.contains(",'=1+1,"), "{sheet}");
    let grades = Grades::of(&none, None);
    assert_eq!(pool.unjudged(&grades, Graders::People).len(), 1);
    let csv = with_grades(&sheet, "3");
    let given = read(&pool, &csv, &none).unwrap();
    assert_eq!(given.judgements.len(), 1);
    let stored = StoredJudgements::of(given.judgements);
    let report = PoolReport::of(&pool, &runs, &stored, None, &settings(1)).unwrap();
    assert_eq!((report.drawn.questions, report.by_people), (1, 3));
}
