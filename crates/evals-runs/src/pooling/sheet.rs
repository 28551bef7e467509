//! A spreadsheet in which people grade whole questions.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Result, bail};
use csv::{Terminator, WriterBuilder};
use evals::render::csv::{guarded, unguarded};
use evals_guard::csv::{Table, separator, without_mark};
use evals_rag::judging::RelevanceJudge;
use sha2::{Digest as _, Sha256};

use super::grades::{Graders, Grades, pair};
use super::judgement::{Assessor, Judgement};
use super::pool::{Pool, PooledPair, PooledQuestion};
use super::store::StoredJudgements;
use crate::annotations::checked_labeller;
use crate::filled_table::{holds, refuse, titles, torn};

/// The columns. People read and fill in those between the ones that name the pair.
const COLUMNS: [&str; 7] = [
    "question_id",
    "document_id",
    "question",
    "text",
    "grade",
    "labeller",
    "digest",
];
const QUESTION: usize = 0;
const DOCUMENT: usize = 1;
const GRADE: usize = 4;
const LABELLER: usize = 5;
const DIGEST: usize = 6;

/// Passages of a pool for people to grade.
#[derive(Debug)]
pub struct Sheet<'p> {
    /// The pool.
    pub pool: &'p Pool,
    /// The judgements so far.
    pub stored: &'p StoredJudgements,
    /// The seed of the drawn order.
    pub seed: u64,
}

/// The grades of a sheet, every row of which is right.
#[derive(Debug, Default)]
pub struct GivenGrades {
    /// The grades that say something else than the last ones of the same people.
    pub judgements: Vec<Judgement>,
    /// Rows that repeat what the pool has.
    pub known: usize,
    /// Rows without a grade.
    pub empty: usize,
}

/// What a file says of the rows that do not say it themselves.
#[derive(Debug)]
pub struct SheetFile<'f> {
    /// The name of the file, for messages.
    pub file: String,
    /// Who graded.
    pub labeller: Option<&'f str>,
    /// When the grades are added, as judgements record it.
    pub time: String,
}

/// The pairs by their digests: several documents may have one text.
type Pairs<'p> = BTreeMap<String, Vec<(&'p PooledQuestion, &'p PooledPair)>>;

/// What is wrong in which column.
type Wrong = (usize, String);

/// Names question and passage. It begins with a letter, so that no spreadsheet takes it for a number.
fn digest(question: &PooledQuestion, pair: &PooledPair) -> String {
    let mut hash = Sha256::new();
    hash.update(&question.digest);
    hash.update(&*pair.digest);
    format!("sha-{}", &hex::encode(hash.finalize())[..16])
}

impl Sheet<'_> {
    /// Writes a row for each passage of the next questions of the drawn order that people have not graded, and returns how many.
    ///
    /// A question counts only if all of its pairs are graded. If a later run brought new documents to a question that was complete,
    /// they come first. Neither the order of the passages nor a column says what the model thinks.
    ///
    /// # Errors
    ///
    /// Writing fails.
    pub fn write(&self, questions: usize, out: impl Write) -> Result<usize> {
        let mut writer = WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .from_writer(out);
        writer.write_record(COLUMNS)?;
        let grades = Grades::of(self.stored, None);
        let drawing = self.pool.drawing(self.seed)?;
        let open = drawing.order().iter().map(|&place| {
            let question = &self.pool.questions[place];
            let pairs = question.pairs.iter();
            let open = pairs.filter(|pair| grades.by(Graders::People, question, pair).is_none());
            // Documents with one text need one grade.
            let open: BTreeMap<_, _> = open.map(|pair| (digest(question, pair), pair)).collect();
            (question, open)
        });
        let mut rows = 0;
        let open = open.filter(|(_, open)| !open.is_empty());
        for (question, open) in open.take(questions) {
            for (digest, pair) in open {
                let row = [
                    &question.id,
                    &pair.document,
                    &question.text,
                    &*pair.text,
                    "",
                    "",
                    &digest,
                ];
                writer.write_record(row.map(|cell| guarded(cell.to_owned())))?;
                rows += 1;
            }
        }
        writer.flush()?;
        Ok(rows)
    }

    /// Reads the rows with a grade. Any wrong cell is an error that names its line and column, so that nothing of a file is taken before all
    /// of it is right.
    ///
    /// # Errors
    ///
    /// The file is no such sheet, a grade is not 0 to 3, or a row is about a question, document or text that the pool does not have.
    pub fn read(&self, file: &SheetFile<'_>, bytes: &[u8]) -> Result<GivenGrades> {
        let text = without_mark(bytes)?;
        let fault = |error| torn(&file.file, error);
        let mut table = Table::open(text, separator(bytes)).map_err(fault)?;
        let header = table.header().to_vec();
        let titles = titles(&file.file, &header)?;
        if titles.get(..COLUMNS.len()) != Some(&COLUMNS[..]) {
            bail!(
                "`{}`, line 1: it is no sheet of passages; export one with `evaluations pool RUN… --export FILE`, and keep its columns",
                file.file
            );
        }
        let mut pairs = Pairs::new();
        for (question, pair) in self.pool.pairs() {
            let of_text = pairs.entry(digest(question, pair)).or_default();
            of_text.push((question, pair));
        }
        let (mut wrong, mut given) = (Vec::new(), GivenGrades::default());
        let people = self.stored.all().iter();
        let people = people.filter(|it| it.assessor.is_person());
        let last: BTreeMap<_, u8> = people
            .map(|it| ((pair(it), &it.assessor), it.grade))
            .collect();
        while let Some(record) = table.row().map_err(fault)? {
            let line = record.line();
            let cells = record.texts().map_err(fault)?;
            match judgement(file, &cells, &pairs) {
                Ok(None) => given.empty += 1,
                Ok(Some(it)) if last.get(&(pair(&it), &it.assessor)) == Some(&it.grade) => {
                    given.known += 1;
                }
                Ok(Some(it)) => given.judgements.push(it),
                Err((column, what)) => wrong.push((line, column, what)),
            }
        }
        let cells = wrong
            .iter()
            .map(|(line, column, what)| (*line, *column, what.as_str()));
        refuse(&file.file, "grade", &titles, cells)?;
        Ok(given)
    }
}

/// The judgement of a row; `None` for one without a grade.
fn judgement(
    file: &SheetFile<'_>,
    cells: &[&str],
    pairs: &Pairs<'_>,
) -> Result<Option<Judgement>, Wrong> {
    let cell = |column: usize| cells.get(column).copied().unwrap_or_default();
    let written = cell(GRADE).trim();
    if written.is_empty() {
        return Ok(None);
    }
    let grade = written.parse().ok();
    let grade = grade.filter(|grade: &u8| *grade <= RelevanceJudge::HIGHEST);
    let grade = grade.ok_or_else(|| {
        let what = format!("`{written}` is not a grade; write 0, 1, 2 or 3, or nothing");
        (GRADE, what)
    })?;
    let wrong = |column: usize, what: &str| (column, what.to_owned());
    let of_text = pairs.get(cell(DIGEST).trim()).ok_or_else(|| {
            wrong(DIGEST, "it is not the digest of a question and passage of this pool: a text has changed since the export, or the sheet is of other runs; export again")
        })?;
    let is_named = |(_, pair): &&(_, &PooledPair)| holds(cell(DOCUMENT), &pair.document);
    let &(question, pair) = of_text.iter().find(is_named).ok_or_else(|| {
        wrong(
            DOCUMENT,
            "it is not the document with this digest; leave the column as it was exported",
        )
    })?;
    if !holds(cell(QUESTION), &question.id) {
        return Err(wrong(
            QUESTION,
            "it is not the question with this digest; leave the column as it was exported",
        ));
    }
    let named = cell(LABELLER).trim();
    let named = Some(unguarded(named)).filter(|name| !name.is_empty());
    let name = checked_labeller(named.or(file.labeller).unwrap_or_default())
        .map_err(|error| (LABELLER, error.to_string()))?;
    Ok(Some(Judgement {
        time: file.time.clone(),
        ..question.judgement(pair, Assessor::Person(name.to_owned()), grade)
    }))
}
