use evals_questions::Kind;
use evals_questions::review::sample;

use super::*;

/// Questions of some kinds, numbered.
fn items(kinds: &[(Kind, usize)]) -> Vec<Item> {
    let kinds = kinds.iter();
    let kinds = kinds.flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count));
    let items = kinds.enumerate().map(|(number, kind)| {
        let mut item = Item::new(format!("q{number}"), format!("=What is {number}?"), kind);
        if kind != Kind::Unanswerable {
            item.answer = "a \"number\"".to_owned();
        }
        item
    });
    items.collect()
}

fn review(id: &str, verdict: ReviewVerdict, seed: Option<u64>) -> Review {
    Review {
        id: id.to_owned(),
        verdict,
        defect: None,
        question: (verdict == ReviewVerdict::Edit).then(|| "What else?".to_owned()),
        answer: None,
        author: "Ada".to_owned(),
        time: "2026-05-01T12:00:00Z".to_owned(),
        seed,
    }
}

fn exported(set: &[Item], reviews: &[Review]) -> Vec<u8> {
    export(&sample(set, set.len(), 7), set, reviews, Some(7)).unwrap()
}

fn import(set: &[Item]) -> Import<'_> {
    Import {
        set,
        history: &[],
        known: &[],
        author: "Ada".to_owned(),
        time: "2026-05-01T12:00:00Z".to_owned(),
    }
}

fn read(import: &Import<'_>, file: impl AsRef<[u8]>) -> Result<Vec<Review>> {
    let imported = import.read(("review.csv", file.as_ref()))?;
    assert!(imported.left_out.is_empty());
    Ok(imported.reviews)
}

/// Fills cells of an exported file, as a spreadsheet does.
fn filled(set: &[Item], reviews: &[Review], cells: &[(usize, &str, &str)]) -> String {
    let exported = exported(set, reviews);
    let mut reader = csv::Reader::from_reader(&*exported);
    let header = reader.headers().unwrap().clone();
    let mut writer = csv::WriterBuilder::new()
        .delimiter(b';')
        .from_writer(Vec::new());
    writer.write_record(&header).unwrap();
    for (row, record) in reader.records().enumerate() {
        let mut record: Vec<String> = record.unwrap().iter().map(str::to_owned).collect();
        for (_, column, text) in cells.iter().filter(|(at, ..)| *at == row) {
            let column = header.iter().position(|it| it == *column).unwrap();
            (*text).clone_into(&mut record[column]);
        }
        writer.write_record(&record).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn a_filled_file_is_read() {
    let set = items(&[(Kind::SingleFact, 4)]);
    let file = filled(
        &set,
        &[],
        &[
            (0, "verdict", "Keep"),
            (1, "verdict", "edit"),
            (1, "new_question", "What else?"),
            (1, "author", "Bo"),
            (1, "time", "2026-01-01T00:00:00Z"),
            (3, "verdict", "drop "),
            (3, "defect", "not unique"),
        ],
    );
    assert!(file.contains("'=What is 0?"), "{file}");
    let keep = review("q0", ReviewVerdict::Keep, Some(7));
    let edit = Review {
        author: "Bo".to_owned(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        ..review("q1", ReviewVerdict::Edit, Some(7))
    };
    let gone = Review {
        defect: Some("not unique".to_owned()),
        ..review("q3", ReviewVerdict::Drop, Some(7))
    };
    let reviews = [keep, edit, gone];
    assert_eq!(read(&import(&set), &file).unwrap(), reviews);
    // What was exported again says the same.
    let again = exported(&set, &reviews);
    assert_eq!(read(&import(&set), &again).unwrap(), reviews);
}

#[test]
fn wrong_rows_are_named_and_nothing_is_imported() {
    let mut set = items(&[(Kind::SingleFact, 5), (Kind::Unanswerable, 1)]);
    let file = filled(
        &set,
        &[],
        &[
            (0, "verdict", "good"),
            (1, "verdict", "edit"),
            (2, "verdict", "keep"),
            (2, "new_answer", "5"),
            (3, "verdict", "drop"),
            (3, "id", "q33"),
            (4, "verdict", "keep"),
            (4, "seed", "seven"),
            (5, "verdict", "edit"),
            (5, "new_answer", "5"),
        ],
    );
    let error = read(&import(&set), &file).unwrap_err().to_string();
    let expected = "cannot import `review.csv`, so no review was added:\n\
        line 2, column 7 (`verdict`): `good` is not a verdict; write keep, edit or drop, or nothing\n\
        line 3, column 7 (`verdict`): nothing is edited: change the question or the answer, or keep or drop the question\n\
        line 4, column 7 (`verdict`): the question or the answer is changed: say edit, or take the change back\n\
        line 5, column 1 (`id`): there is no question `q33`\n\
        line 6, column 14 (`seed`): leave it as it was exported, or empty\n\
        line 7, column 7 (`verdict`): the question is unanswerable, so it has no answer: drop it if documents answer it";
    assert_eq!(error, expected);

    let file = filled(&set, &[], &[(0, "verdict", "keep")]);
    set[5].question.push('!');
    let error = read(&import(&set), &file).unwrap_err().to_string();
    assert!(
        error.contains("line 2, column 13 (`set`): the row is not of this set"),
        "{error}"
    );
    let error = read(&import(&set), b"id,verdict\nq0,keep\n")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "`review.csv`, line 1: there is no column `set`; export the sample again, and fill in that file"
    );
    for torn in [&b"id,verdict,set\nq0\n"[..], b"\xff\xfe"] {
        assert!(read(&import(&set), torn).is_err());
    }
}

/// A verdict that is changed in an exported file is not one that its author gave.
#[test]
fn a_changed_row_is_said_by_who_imports_it() {
    let set = items(&[(Kind::SingleFact, 2)]);
    // Neither was drawn before.
    let known = [
        review("q0", ReviewVerdict::Keep, None),
        review("q1", ReviewVerdict::Keep, None),
    ];
    let file = filled(&set, &known, &[(1, "verdict", "drop")]);
    let import = Import {
        known: &known,
        author: "Bo".to_owned(),
        time: "2027-01-01T00:00:00Z".to_owned(),
        ..import(&set)
    };
    let changed = Review {
        author: "Bo".to_owned(),
        time: "2027-01-01T00:00:00Z".to_owned(),
        ..review("q1", ReviewVerdict::Drop, Some(7))
    };
    let same = review("q0", ReviewVerdict::Keep, Some(7));
    assert_eq!(read(&import, &file).unwrap(), [same, changed]);
}

#[test]
fn a_text_that_is_changed_in_place_is_an_error_whatever_the_verdict() {
    let set = items(&[(Kind::SingleFact, 3)]);
    let file = filled(
        &set,
        &[],
        &[
            (0, "verdict", "keep"),
            (0, "question", "What is zero?"),
            (1, "verdict", "edit"),
            (1, "new_question", "What else?"),
            (1, "answer", "another number"),
            // White space and the apostrophe before a formula are the spreadsheet's.
            (2, "verdict", "keep"),
            (2, "question", "=What\r\nis 2? "),
        ],
    );
    let error = read(&import(&set), &file).unwrap_err().to_string();
    let expected = "cannot import `review.csv`, so no review was added:\n\
        line 2, column 3 (`question`): it is not the question of `q0`; to change that, write it into `new_question`, with the verdict edit\n\
        line 3, column 4 (`answer`): it is not the answer of `q1`; to change that, write it into `new_answer`, with the verdict edit";
    assert_eq!(error, expected);
}

#[test]
fn a_file_of_an_earlier_version_counts_for_the_questions_that_are_the_same() {
    let mut set = items(&[(Kind::SingleFact, 4)]);
    let verdicts = [0, 1, 2, 3].map(|row| (row, "verdict", "keep"));
    let file = filled(&set, &[], &verdicts);
    let from = set_folder::digest(&set);
    set.remove(0);
    set[1].answer.push('!');
    let import = Import {
        history: &[Update {
            time: "2026-05-01T12:00:00Z".to_owned(),
            from,
            to: set_folder::digest(&set),
            moved: Vec::new(),
            stale: Vec::new(),
        }],
        ..import(&set)
    };
    let read = import.read(("review.csv", file.as_bytes())).unwrap();
    let ids: Vec<&str> = read.reviews.iter().map(|it| &*it.id).collect();
    assert_eq!(ids, ["q1", "q3"]);
    assert_eq!(read.left_out, ["q0", "q2"]);
}
