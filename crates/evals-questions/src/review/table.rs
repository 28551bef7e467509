//! The CSV file that people fill in.

use std::collections::BTreeMap;
use std::fmt::Display;

use evals::render::csv::{guarded, unguarded};
use evals_guard::csv::{CsvError, Record, Table, separator, without_mark};
use evals_messages::nearest;
use thiserror::Error;

use super::{Review, ReviewVerdict};
use crate::{Item, set_folder};

/// The columns: what a person reads, what the person fills in, and what names the set.
const COLUMNS: [&str; 14] = [
    "id",
    "kind",
    "question",
    "answer",
    "evidence",
    "document",
    "verdict",
    "defect",
    "new_question",
    "new_answer",
    "author",
    "time",
    "set",
    "seed",
];

/// Most problems that one message lists.
const LISTED: usize = 10;

/// Precedes the digest of a set, so that no spreadsheet takes it for a number.
const DIGEST: &str = "sha-";

/// Why a file of reviews cannot be imported. Nothing of it is then imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// The file is not a table.
    #[error("`{file}` is not a CSV table")]
    Csv {
        /// The file.
        file: String,
        /// What is wrong.
        source: CsvError,
    },
    /// A column is missing.
    #[error("`{file}` has no column `{column}`; export the sample again, and fill in that file")]
    NoColumn {
        /// The file.
        file: String,
        /// The column.
        column: &'static str,
    },
    /// Rows are wrong.
    #[error("`{file}` has wrong rows, so nothing was imported:\n{problems}")]
    Rows {
        /// The file.
        file: String,
        /// A line for each problem.
        problems: String,
    },
}

/// The CSV file in which people review the questions of `sample`, with the reviews so far. `seed` is that of the
/// [drawing](super::sample()); `None` if nothing was drawn, because `sample` is the whole `set`. A cell that a spreadsheet would run as a formula
/// begins with an apostrophe.
pub fn export(sample: &[&Item], set: &[Item], reviews: &[Review], seed: Option<u64>) -> String {
    let current = super::current(reviews);
    let digest = short_digest(set);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |row: Vec<String>| {
        let written = writer.write_record(row.into_iter().map(guarded));
        written.expect("a list takes all rows, which have equally many cells");
    };
    write(COLUMNS.map(str::to_owned).to_vec());
    for item in sample {
        let review = current.get(item.id.as_str());
        let said = |of: fn(&Review) -> Option<String>| {
            let said = review.and_then(|review| of(review));
            said.unwrap_or_default()
        };
        let evidence = item.evidence.iter();
        let quotes: Vec<&str> = evidence.clone().map(|span| span.quote.as_str()).collect();
        let documents: Vec<&str> = evidence.map(|span| span.document.as_str()).collect();
        write(vec![
            item.id.clone(),
            item.kind.to_string(),
            item.question.clone(),
            item.answer.clone().unwrap_or_default(),
            quotes.join("\n…\n"),
            documents.join("\n"),
            said(|it| Some(it.verdict.to_string())),
            said(|it| it.defect.clone()),
            said(|it| it.question.clone()),
            said(|it| it.answer.clone()),
            said(|it| Some(it.author.clone())),
            said(|it| Some(it.time.clone())),
            digest.clone(),
            seed.map(|seed| seed.to_string()).unwrap_or_default(),
        ]);
    }
    let bytes = writer.into_inner().expect("a list takes all bytes");
    String::from_utf8(bytes).expect("texts are UTF-8")
}

fn short_digest(set: &[Item]) -> String {
    format!("{DIGEST}{}", &set_folder::digest(set)[..16])
}

/// How to read a filled file.
#[derive(Debug)]
pub struct Import<'i> {
    /// The name of the file, for messages.
    pub file: String,
    /// The set that it has to be about.
    pub set: &'i [Item],
    /// Who reviewed the rows that do not say it.
    pub author: Option<String>,
    /// The time of rows that do not have one, in RFC 3339.
    pub time: String,
}

impl Import<'_> {
    /// The reviews of a file, in its order. Rows without a verdict are left out, and columns that it does not know are ignored.
    ///
    /// # Errors
    ///
    /// Names the line of each of the first ten rows that are wrong.
    pub fn read(&self, bytes: &[u8]) -> Result<Vec<Review>, ReviewError> {
        let torn = |source| ReviewError::Csv {
            file: self.file.clone(),
            source,
        };
        let text = without_mark(bytes).map_err(|error| torn(error.into()))?;
        let mut table = Table::open(text, separator(bytes)).map_err(torn)?;
        let columns = self.columns(table.header())?;
        let context = Rows {
            import: self,
            columns,
            items: self.set.iter().map(|it| (it.id.as_str(), it)).collect(),
            digest: short_digest(self.set),
        };
        let (mut reviews, mut problems) = (Vec::new(), Vec::new());
        while let Some(row) = table.row().map_err(torn)? {
            match context.review(row) {
                Ok(review) => reviews.extend(review),
                Err(what) => problems.push(format!("line {}: {what}", row.line())),
            }
        }
        if problems.is_empty() {
            return Ok(reviews);
        }
        let more = problems.len().saturating_sub(LISTED);
        problems.truncate(LISTED);
        if more > 0 {
            problems.push(format!("and {more} more"));
        }
        Err(ReviewError::Rows {
            file: self.file.clone(),
            problems: problems.join("\n"),
        })
    }

    /// The places of the columns that are read.
    fn columns(&self, header: &[String]) -> Result<BTreeMap<&'static str, usize>, ReviewError> {
        let mut columns = BTreeMap::new();
        for column in COLUMNS {
            let is_column = |cell: &String| cell.trim().eq_ignore_ascii_case(column);
            match header.iter().position(is_column) {
                Some(place) => {
                    columns.insert(column, place);
                }
                None if ["id", "verdict", "set"].contains(&column) => {
                    let file = self.file.clone();
                    return Err(ReviewError::NoColumn { file, column });
                }
                None => {}
            }
        }
        Ok(columns)
    }
}

struct Rows<'i> {
    import: &'i Import<'i>,
    columns: BTreeMap<&'static str, usize>,
    items: BTreeMap<&'i str, &'i Item>,
    digest: String,
}

impl Rows<'_> {
    /// The review of a row, `None` for one without a verdict, or what is wrong with it.
    fn review(&self, row: &Record) -> Result<Option<Review>, String> {
        let cell = |column: &str| match self.columns.get(column) {
            Some(place) => row.text(*place).map(|it| unguarded(it.trim()).to_owned()),
            None => Ok(String::new()),
        };
        let cell = |column: &str| cell(column).map_err(|error| error.to_string());
        let filled = |column: &str| cell(column).map(|it| (!it.is_empty()).then_some(it));
        let Some(verdict) = filled("verdict")? else {
            return Ok(None);
        };
        let (id, set) = (cell("id")?, cell("set")?);
        if set != self.digest {
            return Err(format!(
                "the row is of the set `{set}`, but this is `{}`; review the file's own set, or export a new file from this one",
                self.digest
            ));
        }
        let item = self.items.get(id.as_str()).ok_or_else(|| {
            let near = nearest::did_you_mean(nearest::of(&id, self.items.keys().copied()));
            format!("there is no question `{id}`{near}")
        })?;
        let verdict = ReviewVerdict::named(&verdict).ok_or_else(|| {
            format!("`{verdict}` is not a verdict; write keep, edit or drop, or nothing")
        })?;
        let (question, answer) = (filled("new_question")?, filled("new_answer")?);
        check_edit(verdict, question.is_some() || answer.is_some())?;
        if answer.is_some() && !item.is_answerable() {
            return Err("the question is unanswerable, so it has no `new_answer`; drop it if documents answer it".to_owned());
        }
        let author = filled("author")?.or_else(|| self.import.author.clone());
        Ok(Some(Review {
            id,
            verdict,
            defect: filled("defect")?,
            question,
            answer,
            author: author
                .ok_or("the column `author` is empty, and nobody is named for such rows")?,
            time: filled("time")?.unwrap_or_else(|| self.import.time.clone()),
            seed: filled("seed")?.map(|it| seed(&it)).transpose()?,
        }))
    }
}

fn check_edit(verdict: ReviewVerdict, is_filled: bool) -> Result<(), String> {
    let wrong: &dyn Display = match (verdict, is_filled) {
        (ReviewVerdict::Edit, false) => {
            &"the verdict is edit, but `new_question` and `new_answer` are empty; fill in one, or write drop"
        }
        (ReviewVerdict::Keep | ReviewVerdict::Drop, true) => {
            &"`new_question` or `new_answer` is filled in, but the verdict is not edit; write edit, or empty them"
        }
        _ => return Ok(()),
    };
    Err(wrong.to_string())
}

fn seed(cell: &str) -> Result<u64, String> {
    cell.parse().map_err(|_| {
        format!("`{cell}` is not a seed; leave the column as it was exported, or empty")
    })
}
