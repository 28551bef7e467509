//! A spreadsheet in which people grade whole questions.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Result, bail};
use csv::{Terminator, WriterBuilder};
use evals::render::csv::guarded;
use evals_guard::csv::{Table, separator, without_mark};
use evals_rag::judging::RelevanceJudge;
use sha2::{Digest as _, Sha256};

use super::grades::Grades;
use super::judgement::{Assessor, Judgement};
use super::pool::{Pool, PooledPair, PooledQuestion};
use crate::filled_table::{refuse, titles, torn};

/// The columns. People read those between the ids and the digest, and fill in the grade.
const COLUMNS: [&str; 6] = [
    "question_id",
    "document_id",
    "question",
    "text",
    "grade",
    "digest",
];
const GRADE: usize = 4;
const DIGEST: usize = 5;

/// A sheet that somebody filled in.
#[derive(Debug)]
pub struct FilledSheet<'f> {
    /// The name of the file, for messages.
    pub file: String,
    /// Its content.
    pub bytes: &'f [u8],
    /// Who graded.
    pub assessor: Assessor,
    /// When the grades are added, as judgements record it.
    pub time: String,
}

/// Names question and passage. It begins with a letter, so that no spreadsheet takes it for a number.
fn digest(question: &PooledQuestion, pair: &PooledPair) -> String {
    let mut hash = Sha256::new();
    hash.update(&question.digest);
    hash.update(&*pair.digest);
    format!("sha-{}", &hex::encode(hash.finalize())[..16])
}

/// Writes a row for each passage of the next questions of the drawn order that people have not graded, and returns how many.
///
/// A question counts only if all of its pairs are graded. If a later run brought new documents to a question that was complete,
/// they come first. Neither the order of the passages nor a column says what the model thinks.
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
    let people = Grades::of_people(stored);
    let open = pool.drawn(seed).map(|it| (it, people.open(it)));
    let open = open.filter(|(_, open)| !open.is_empty());
    let mut rows = 0;
    for (question, open) in open.take(questions) {
        for pair in open {
            let row = [
                &question.id,
                &pair.document,
                &question.text,
                &*pair.text,
                "",
                &digest(question, pair),
            ];
            writer.write_record(row.map(|cell| guarded(cell.to_owned())))?;
            rows += 1;
        }
    }
    writer.flush()?;
    Ok(rows)
}

impl FilledSheet<'_> {
    /// The grades of the sheet that say something else than the last ones of the same person. Any wrong cell is an error that names its line and
    /// column, so that nothing of a file is taken before all of it is right.
    ///
    /// # Errors
    ///
    /// The file is no such sheet, a grade is not 0 to 3, no row has one, or a row is about a question or text that the pool does not have.
    pub fn read(&self, pool: &Pool, stored: &[Judgement]) -> Result<Vec<Judgement>> {
        let text = without_mark(self.bytes)?;
        let fault = |error| torn(&self.file, error);
        let mut table = Table::open(text, separator(self.bytes)).map_err(fault)?;
        let header = table.header().to_vec();
        let titles = titles(&self.file, &header)?;
        if titles.get(..COLUMNS.len()) != Some(&COLUMNS[..]) {
            bail!(
                "`{}`, line 1: it is no sheet of passages; export one with `evaluations pool RUN… --export FILE`, and keep its columns",
                self.file
            );
        }
        let questions = pool.questions.iter();
        let pairs = questions.flat_map(|it| it.pairs.iter().map(move |pair| (it, pair)));
        let pairs: BTreeMap<String, (&PooledQuestion, &PooledPair)> = pairs
            .map(|(question, pair)| (digest(question, pair), (question, pair)))
            .collect();
        let known = stored.iter().filter(|it| it.assessor == self.assessor);
        let known = Grades::of_people(known);
        let (mut wrong, mut given, mut added) = (Vec::new(), 0, Vec::new());
        while let Some(record) = table.row().map_err(fault)? {
            let line = record.line();
            let cells = record.texts().map_err(fault)?;
            let written = cells[GRADE].trim();
            let grade = written.parse().ok();
            let grade = grade.filter(|grade: &u8| *grade <= RelevanceJudge::HIGHEST);
            match (grade, pairs.get(cells[DIGEST].trim())) {
                _ if written.is_empty() => continue,
                (None, _) => wrong.push((
                    line,
                    GRADE,
                    format!("`{written}` is not a grade; write 0, 1, 2 or 3, or nothing"),
                )),
                (_, None) => wrong.push((line, DIGEST, OTHER_DIGEST.to_owned())),
                (Some(grade), Some((question, pair)))
                    if known.get(question, pair) != Some(grade) =>
                {
                    added.push(Judgement {
                        time: self.time.clone(),
                        ..question.judgement(pair, self.assessor.clone(), grade)
                    });
                }
                _ => {}
            }
            given += 1;
        }
        let cells = wrong
            .iter()
            .map(|(line, column, what)| (*line, *column, what.as_str()));
        refuse(&self.file, "grade", &titles, cells)?;
        if given == 0 {
            bail!(
                "no row of `{}` has a grade; fill in the column `grade`",
                self.file
            );
        }
        Ok(added)
    }
}

/// What is wrong with a digest that the pool does not have.
const OTHER_DIGEST: &str = "it is not the digest of a question and passage of this pool: a text has changed since the export, or the sheet is of other runs; export again";
