//! The CSV file in which people review the questions of a test set.

use anyhow::Result;
use csv::Writer;
use evals::render::csv::{guarded, unguarded};
use evals_questions::check::Update;
use evals_questions::review::{Review, ReviewVerdict, current};
use evals_questions::{Item, set_folder};

use crate::annotations::checked_labeller;
use crate::filled_table::{self, Row, Wrong};

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
    let digest = cell_of(&set_folder::digest(set));
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

/// The digest of a set in the column `set`. It begins with letters, so that no spreadsheet takes it for a number.
fn cell_of(digest: &str) -> String {
    format!("sha-{}", digest.get(..16).unwrap_or(digest))
}

/// How to read a filled file.
#[derive(Debug)]
pub struct Import<'i> {
    /// The set that it has to be about.
    pub set: &'i [Item],
    /// The earlier versions of the set, which it may also be about.
    pub history: &'i [Update],
    /// The reviews of the set so far.
    pub known: &'i [Review],
    /// Who reviewed the rows that do not say it.
    pub author: String,
    /// The time of rows that do not have one, in RFC 3339.
    pub time: String,
}

/// The reviews of a file, in its order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The reviews.
    pub reviews: Vec<Review>,
    /// The ids in the rows about an earlier version of the set whose questions have changed since, or are not in the set any more.
    pub left_out: Vec<String>,
}

impl Import<'_> {
    /// The reviews of the file with this name and these bytes. Rows without a verdict are left out, and columns that it does not know are
    /// ignored.
    ///
    /// # Errors
    ///
    /// Names each of the first ten cells that are wrong. Nothing of the file is then to be imported.
    pub fn read(&self, file: (&str, &[u8])) -> Result<Imported> {
        let digest = cell_of(&set_folder::digest(self.set));
        let former: Vec<String> = self.history.iter().map(|it| cell_of(&it.from)).collect();
        let mut left_out = Vec::new();
        let advice = "export the sample again, and fill in that file";
        let form = ("review", &["id", "verdict", "set"][..], advice);
        let reviews = filled_table::rows(file, form, |row| {
            if row.text("verdict").is_empty() {
                return Ok(None);
            }
            let set = row.text("set");
            let is_former = set != digest && former.iter().any(|it| it == set);
            if set != digest && !is_former {
                let what = format!(
                    "the row is not of this set, which is `{digest}`; export a new file from it"
                );
                return Err(("set", what));
            }
            match self.item(row) {
                Ok(item) => self.review(item, row).map(Some),
                Err(_) if is_former => {
                    left_out.push(row.text("id").to_owned());
                    Ok(None)
                }
                Err(wrong) => Err(wrong),
            }
        })?;
        Ok(Imported { reviews, left_out })
    }

    /// The question of a row, which shows its texts as they are.
    fn item(&self, row: &Row<'_>) -> Result<&Item, Wrong> {
        let id = row.text("id");
        let item = self.set.iter().find(|item| item.id == id);
        let item = item.ok_or_else(|| ("id", format!("there is no question `{id}`")))?;
        for (column, text) in [("question", &item.question), ("answer", &item.answer)] {
            let is_changed = |cell: &str| {
                let text = unguarded(text).split_whitespace();
                !unguarded(cell).split_whitespace().eq(text)
            };
            if row.whole(column).is_some_and(is_changed) {
                let what = format!(
                    "it is not the {column} of `{id}`; to change that, write it into `new_{column}`, with the verdict edit"
                );
                return Err((column, what));
            }
        }
        Ok(item)
    }

    /// The review of a row with a verdict.
    fn review(&self, item: &Item, row: &Row<'_>) -> Result<Review, Wrong> {
        let filled = |column| row.filled(column);
        let verdict = row.text("verdict");
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
            id: item.id.clone(),
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
        let key = |it: &Review| (it.id.clone(), it.author.clone(), it.time.clone());
        let known = self.known.iter().filter(|it| key(it) == key(&review));
        let mut known = known.peekable();
        let seeded = |seed| Review {
            seed,
            ..review.clone()
        };
        if known.peek().is_some() && known.all(|it| *it != seeded(it.seed)) {
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
