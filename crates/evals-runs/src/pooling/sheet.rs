//! A spreadsheet in which people grade whole questions.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Result, bail};
use csv::{Terminator, WriterBuilder};
use evals::render::csv::guarded;

use super::judgement::{Assessor, Judgement, written_grade};
use super::pool::Pool;
use crate::filled_table;

/// The columns. People read those between the ids and the digest, and fill in the grade.
const COLUMNS: [&str; 6] = [
    "question_id",
    "document_id",
    "question",
    "text",
    "grade",
    "digest",
];

/// Writes a row for each passage that people [judge next](Pool::next_for_people), and returns how many. Neither the order of the passages
/// nor a column says what the model thinks.
///
/// # Errors
///
/// Writing fails.
pub fn write_sheet(
    pool: &Pool,
    (stored, seed): (&[Judgement], u64),
    questions: usize,
    out: impl Write,
) -> Result<usize> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    writer.write_record(COLUMNS)?;
    let pairs = pool.next_for_people(stored, seed, questions);
    for (question, pair) in &pairs {
        let row = [
            &question.id,
            &pair.document,
            &question.text,
            &*pair.text,
            "",
            &question.pair_name(pair),
        ];
        writer.write_record(row.map(|cell| guarded(cell.to_owned())))?;
    }
    writer.flush()?;
    Ok(pairs.len())
}

/// The grades of the sheet `file` that somebody filled in, given now. Any wrong cell is an error that names its line and column, so that
/// nothing of a file is taken before all of it is right.
///
/// # Errors
///
/// The file is no such sheet, a grade is not 0 to 3, no row has one, or a row is about a question or text that the pool does not have.
pub fn read_sheet(
    (file, bytes): (&str, &[u8]),
    pool: &Pool,
    assessor: &Assessor,
) -> Result<Vec<Judgement>> {
    let pairs = pool
        .pairs()
        .map(|(it, pair)| (it.pair_name(pair), (it, pair)));
    let pairs: BTreeMap<String, _> = pairs.collect();
    let given = filled_table::rows((file, bytes), ("grade", &NEEDED, ADVICE), |row| {
        let Some(written) = row.filled("grade") else {
            return Ok(None);
        };
        let grade = written_grade(&written).ok_or_else(|| {
            let what = format!("`{written}` is not a grade; write 0, 1, 2 or 3, or nothing");
            ("grade", what)
        })?;
        let pair = pairs.get(row.text("digest"));
        let (question, pair) = pair.ok_or_else(|| ("digest", OTHER_DIGEST.to_owned()))?;
        Ok(Some(question.judgement(pair, assessor.clone(), grade)))
    })?;
    if given.is_empty() {
        bail!("no row of `{file}` has a grade; fill in the column `grade`");
    }
    Ok(given)
}

/// The columns that are read.
const NEEDED: [&str; 2] = ["grade", "digest"];

/// Where to get them.
const ADVICE: &str =
    "export a sheet with `evaluations pool RUN… --export FILE`, and keep its columns";

/// What is wrong with a digest that the pool does not have.
const OTHER_DIGEST: &str = "it is not the digest of a question and passage of this pool: a text has changed since the export, or the sheet is of other runs; export again";
