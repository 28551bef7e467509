//! The CSV file in which people review the questions of a test set.

use anyhow::{Result, bail};
use csv::Writer;
use evals::render::csv::{guarded, unguarded};
use evals_guard::csv::{Table, separator, without_mark};
use evals_questions::review::{Review, ReviewVerdict, current};
use evals_questions::{Item, set_folder};

use crate::annotations::checked_labeller;
use crate::filled_table::{refuse, titles, torn};

/// The columns: what a person reads, what the person fills in, and what names the set.
const COLUMNS: &str = "id kind question answer evidence document verdict defect new_question new_answer author time set seed";

/// The CSV file in which people review the questions of `sample`, with the reviews so far. `seed` is that of the drawing; `None` if nothing was
/// drawn, because `sample` is the whole `set`. A cell that a spreadsheet would run as a formula begins with an apostrophe.
pub fn export(
    sample: &[&Item],
    set: &[Item],
    reviews: &[Review],
    seed: Option<u64>,
) -> Result<Vec<u8>> {
    let current = current(reviews);
    let digest = short_digest(set);
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.split(' '))?;
    for item in sample {
        let evidence = item.evidence.iter();
        let quotes: Vec<&str> = evidence.clone().map(|span| span.quote.as_str()).collect();
        let documents: Vec<&str> = evidence.map(|span| span.document.as_str()).collect();
        let shown = [
            item.id.clone(),
            item.kind.to_string(),
            item.question.clone(),
            item.answer.clone(),
            quotes.join("\n…\n"),
            documents.join("\n"),
        ];
        let said = current.get(item.id.as_str()).map(|review| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            [
                review.verdict.to_string(),
                text(&review.defect),
                text(&review.question),
                text(&review.answer),
                review.author.clone(),
                review.time.clone(),
            ]
        });
        let seed = seed.map(|seed| seed.to_string()).unwrap_or_default();
        let row = shown.into_iter().chain(said.unwrap_or_default());
        writer.write_record(row.chain([digest.clone(), seed]).map(guarded))?;
    }
    Ok(writer.into_inner()?)
}

/// Begins with letters, so that no spreadsheet takes it for a number.
fn short_digest(set: &[Item]) -> String {
    format!("sha-{}", &set_folder::digest(set)[..16])
}

/// How to read a filled file.
#[derive(Debug)]
pub struct Import<'i> {
    /// The name of the file, for messages.
    pub file: String,
    /// The set that it has to be about.
    pub set: &'i [Item],
    /// The reviews of the set so far.
    pub known: &'i [Review],
    /// Who reviewed the rows that do not say it.
    pub author: String,
    /// The time of rows that do not have one, in RFC 3339.
    pub time: String,
}

/// The column of a wrong cell, and what is wrong with it.
type Wrong = (&'static str, String);

impl Import<'_> {
    /// The reviews of a file, in its order. Rows without a verdict are left out, and columns that it does not know are ignored.
    ///
    /// # Errors
    ///
    /// Names each of the first ten cells that are wrong. Nothing of the file is then to be imported.
    pub fn read(&self, bytes: &[u8]) -> Result<Vec<Review>> {
        let torn = |error| torn(&self.file, error);
        let text = without_mark(bytes)?;
        let mut table = Table::open(text, separator(bytes)).map_err(torn)?;
        let header = table.header().to_vec();
        let titles = titles(&self.file, &header)?;
        let place = |column: &str| titles.iter().position(|it| it.eq_ignore_ascii_case(column));
        let needed = ["id", "verdict", "set"].into_iter();
        if let Some(column) = needed.clone().find(|it| place(it).is_none()) {
            bail!(
                "`{}` has no column `{column}`; export the sample again, and fill in that file",
                self.file
            );
        }
        let digest = short_digest(self.set);
        let (mut reviews, mut wrong) = (Vec::new(), Vec::new());
        while let Some(record) = table.row().map_err(torn)? {
            let cells = record.texts().map_err(torn)?;
            let cell = |column: &str| {
                let text = place(column).map_or("", |place| cells[place].trim());
                unguarded(text).to_owned()
            };
            if cell("verdict").is_empty() {
                continue;
            }
            let review = if cell("set") == digest {
                self.review(cell)
            } else {
                let what = format!(
                    "the row is not of this set, which is `{digest}`; export a new file from it"
                );
                Err(("set", what))
            };
            match review {
                Ok(review) => reviews.push(review),
                Err((column, what)) => {
                    wrong.push((record.line(), place(column).unwrap_or_default(), what));
                }
            }
        }
        let wrong = wrong
            .iter()
            .map(|(line, place, what)| (*line, *place, &**what));
        refuse(&self.file, "review", &titles, wrong)?;
        Ok(reviews)
    }

    /// The review of a row with a verdict.
    fn review(&self, cell: impl Fn(&str) -> String) -> Result<Review, Wrong> {
        let filled = |column| Some(cell(column)).filter(|text| !text.is_empty());
        let id = cell("id");
        let item = self.set.iter().find(|item| item.id == id);
        let item = item.ok_or_else(|| ("id", format!("there is no question `{id}`")))?;
        let verdict = cell("verdict");
        let verdict = match verdict.to_lowercase().as_str() {
            "keep" => ReviewVerdict::Keep,
            "edit" => ReviewVerdict::Edit,
            "drop" => ReviewVerdict::Drop,
            _ => {
                let what =
                    format!("`{verdict}` is not a verdict; write keep, edit or drop, or nothing");
                return Err(("verdict", what));
            }
        };
        let seed = filled("seed").map(|seed| seed.parse()).transpose();
        let author = filled("author").unwrap_or_else(|| self.author.clone());
        let review = Review {
            id,
            verdict,
            defect: filled("defect"),
            question: filled("new_question"),
            answer: filled("new_answer"),
            author: author_of(&author)?,
            time: filled("time").unwrap_or_else(|| self.time.clone()),
            seed: seed.map_err(|_| ("seed", "leave it as it was exported, or empty".to_owned()))?,
        };
        let review = review
            .checked(item)
            .map_err(|what| ("verdict", what.to_owned()))?;
        let (mut is_known, mut is_same) = (false, false);
        for it in self.known.iter().filter(|it| it.id == review.id) {
            let is_one = it.author == review.author && it.time == review.time;
            is_known |= is_one;
            let seed = it.seed;
            is_same |= is_one
                && *it
                    == Review {
                        seed,
                        ..review.clone()
                    };
        }
        if is_known && !is_same {
            // Somebody changed what was exported, so that it is no longer what its author said at that time.
            let (author, time) = (author_of(&self.author)?, self.time.clone());
            return Ok(Review {
                author,
                time,
                ..review
            });
        }
        Ok(review)
    }
}

fn author_of(name: &str) -> Result<String, Wrong> {
    let name = checked_labeller(name);
    let name = name.map_err(|error| ("author", format!("{error}, or pass `--labeller NAME`")));
    name.map(str::to_owned)
}

#[cfg(test)]
mod tests;
