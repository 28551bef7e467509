//! Writes a page, for a file or for the local viewer.

use std::io::Write;

use serde::Serialize;

use super::body::{Body, Counted, write_block};
use super::worst::{WORST, WorstCase};
use super::{
    Case, CaseRows, Contents, Opening, PageError, Sides, Texts, assets, omission, template,
};

/// A page without its cases, which come while it is written.
#[derive(Clone, Debug)]
pub struct Page<'p> {
    /// What a reader sees first.
    pub opening: &'p Opening,
    /// The table of cases; empty for a page without cases.
    pub table: &'p CaseRows,
    /// Whether the page holds texts.
    pub texts: Texts,
    /// Where the page is read.
    pub place: Place,
    /// The names of the sides of a comparison.
    pub sides: Option<Sides>,
    /// From this size of the file on, in bytes, no more passages are added. Usually [`PASSAGES_UNTIL`](Self::PASSAGES_UNTIL).
    pub passages_until: u64,
}

/// Where a page is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In a file, which links to nothing outside.
    #[default]
    File,
    /// In the local viewer. Links above the page lead to the list of runs, to the trends, and to further pages.
    Viewer {
        /// The way from the page [`up`](crate::view::up) to the list of runs.
        up: String,
        /// The further pages.
        links: Vec<PlaceLink>,
    },
}

/// A link above a page in the local viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceLink {
    /// What the reader sees.
    pub title: String,
    /// Where it leads, from the list of runs.
    pub address: String,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The size of the file in bytes.
    pub bytes: u64,
    /// How often a document of a ranking lacks a passage because the file would have become too large.
    pub passages_left_out: usize,
}

impl Written {
    /// Browsers open larger files slowly. In bytes.
    pub const LARGE: u64 = 25_000_000;

    /// Whether the file is [`LARGE`](Self::LARGE).
    pub fn is_large(&self) -> bool {
        self.bytes > Self::LARGE
    }
}

impl Place {
    /// The way up and the further links of a page in the local viewer; `None` in a file.
    pub(super) fn viewer(&self) -> Option<(&str, &[PlaceLink])> {
        match self {
            Self::File => None,
            Self::Viewer { up, links } => Some((up, links)),
        }
    }
}

impl<'p> Page<'p> {
    /// The size of a file, in bytes, from which on a page adds no more passages.
    pub const PASSAGES_UNTIL: u64 = 50_000_000;

    /// A file with all texts.
    pub fn new(opening: &'p Opening, table: &'p CaseRows) -> Self {
        Self {
            opening,
            table,
            texts: Texts::Kept,
            place: Place::File,
            sides: None,
            passages_until: Self::PASSAGES_UNTIL,
        }
    }

    /// Writes the page. The cases come in the order of the table's rows, and one block of them is in memory at a time. Equal
    /// pages give equal bytes.
    ///
    /// # Errors
    ///
    /// If the cases are not those of the table, a column does not fit the table, or writing fails.
    pub fn write(
        &self,
        cases: impl IntoIterator<Item = Case>,
        out: impl Write,
    ) -> Result<Written, PageError> {
        self.check_columns()?;
        let mut out = Counted::new(out);
        let mut cases = cases.into_iter();
        // The head shows them, and they come again in their place.
        let first: Vec<Case> = cases.by_ref().take(WORST).collect();
        self.write_head(&first, &mut out)?;
        let mut body = Body::new(&mut out, self.passages_until);
        if !self.table.ids.is_empty() {
            self.write_table(body.out())?;
        }
        let mut cases = first.into_iter().chain(cases);
        for (row, expected) in self.table.ids.iter().enumerate() {
            body.add(self.shown(expect(row, expected, cases.next())?))?;
        }
        if let Some(case) = cases.next() {
            return Err(PageError::Excess {
                rows: self.table.ids.len(),
                found: case.id,
            });
        }
        let (passages, passages_left_out) = body.finish()?;
        let contents = Contents {
            format: Contents::FORMAT,
            title: self.opening.title.clone(),
            cases: self.table.ids.len(),
            passages,
            passages_left_out,
            texts: self.texts,
            sides: self.sides.clone(),
        };
        write_end(&contents, &mut out)?;
        Ok(Written {
            bytes: out.bytes(),
            passages_left_out,
        })
    }

    fn check_columns(&self) -> Result<(), PageError> {
        let rows = self.table.ids.len();
        for column in &self.table.columns {
            if column.cells.len() != rows {
                return Err(PageError::Column {
                    key: column.key.clone(),
                    cells: column.cells.len(),
                    rows,
                });
            }
        }
        Ok(())
    }

    fn write_head(&self, first: &[Case], out: &mut impl Write) -> Result<(), PageError> {
        let rows = self.table.ids.len();
        // The table shows as few cases at once.
        let shown = first.iter().filter(|_| rows > WORST).enumerate();
        let worst =
            shown.map(|(row, case)| WorstCase::of(row, &self.shown(case.clone()), self.table));
        template::write_head(self, &worst.collect::<Vec<_>>(), out)
    }

    fn write_table(&self, out: &mut impl Write) -> Result<(), PageError> {
        match self.texts {
            Texts::Kept => write_block("table", self.table, out),
            Texts::Omitted => write_block("table", &omission::table(self.table), out),
        }
    }

    fn shown(&self, case: Case) -> Case {
        match self.texts {
            Texts::Kept => case,
            Texts::Omitted => omission::case(case),
        }
    }
}

fn expect(row: usize, expected: &str, found: Option<Case>) -> Result<Case, PageError> {
    match found {
        Some(case) if case.id == expected => Ok(case),
        other => Err(PageError::Case {
            row,
            expected: expected.to_owned(),
            found: other.map(|case| case.id),
        }),
    }
}

fn write_end(contents: &Contents, out: &mut impl Write) -> Result<(), PageError> {
    // JSON has `<` only inside of strings, and none of it may end the element.
    let json = serde_json::to_string(contents)?.replace('<', "\\u003c");
    writeln!(
        out,
        r#"<script type="application/json" id="page">{json}</script>"#
    )?;
    writeln!(out, "<script>{}</script>\n</body>\n</html>", assets::SCRIPT)?;
    out.flush()?;
    Ok(())
}
