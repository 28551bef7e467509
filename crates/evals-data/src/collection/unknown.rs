//! Judged ids that are missing from the corpus: where they are written, and what their author may have meant.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use evals_messages::nearest;
use evals_rag::Question;

use super::documents::Mapping;
use super::{cells, judged};
use crate::error::{DataError, Place, UnknownDocument};
use crate::manifest::{Column, DocumentColumns};
use crate::reader::{Row, TableFile};

/// How to write several ids in one cell.
const LIST: &str =
    "write it as a JSON array, `[\"a\", \"b\"]`, in a field of CSV as `\"[\"\"a\"\", \"\"b\"\"]\"`";

/// The most unknown documents that are named with their places.
const NAMED: usize = 5;

/// The cells that judgements come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct JudgedCells<'a> {
    pub(super) files: &'a [TableFile],
    pub(super) columns: &'a [Column],
    /// The column that tells which question a row is about: its text, or in a judgements table its id.
    pub(super) question: &'a Column,
    /// Whether a cell may hold a list. In a judgements table it may not.
    pub(super) takes_lists: bool,
}

impl JudgedCells<'_> {
    /// The error for an unknown id that starts with `[`: the cell is neither a JSON array nor a document's id.
    pub(super) fn broken_list(
        &self,
        unknown: &BTreeSet<&str>,
    ) -> Result<Option<DataError>, DataError> {
        let broken = unknown.iter().find(|id| id.trim_start().starts_with('['));
        let Some(id) = broken.filter(|_| self.takes_lists) else {
            return Ok(None);
        };
        let written = self.first(id, None)?;
        Ok(written.map(|(place, column)| {
            let cell = cells::shortened(&serde_json::Value::from(*id));
            place.fails(format!(
                "column `{column}` starts with `[` but is not a JSON array: {cell}; {LIST}"
            ))
        }))
    }

    /// The first unknown documents in the order of the questions, each with the first question that names it, its place, and the documents that
    /// it may mean. `left_out` says why a file is not in the corpus.
    pub(super) fn named_unknown(
        &self,
        unknown: &BTreeSet<&str>,
        questions: &[Question],
        corpus: &Corpus<'_>,
        left_out: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<UnknownDocument>, DataError> {
        let mut named: Vec<(&str, &Question)> = Vec::new();
        let judged = questions.iter().flat_map(|question| {
            let ids = question.relevant.iter().map(|(id, _)| id);
            ids.map(move |id| (id, question))
        });
        for (id, question) in judged.filter(|(id, _)| unknown.contains(id)) {
            if named.len() < NAMED && named.iter().all(|(known, _)| *known != id) {
                named.push((id, question));
            }
        }
        let ids: Vec<&str> = named.iter().map(|(id, _)| *id).collect();
        let left_out = ids.iter().map(|id| left_out(id));
        let nearest = corpus.nearest(&ids)?;
        let named = named.into_iter().zip(left_out).zip(nearest);
        let named = named.map(|(((id, question), left_out), nearest)| {
            self.unknown(id, question, nearest, left_out)
        });
        named.collect()
    }

    fn unknown(
        &self,
        id: &str,
        question: &Question,
        nearest: Vec<String>,
        left_out: Option<String>,
    ) -> Result<UnknownDocument, DataError> {
        let written = if self.takes_lists {
            &question.text
        } else {
            &question.id
        };
        let looks_like_list = id.trim().contains([',', ';', '|', ' ', '\t', '\n']);
        let advice = if self.takes_lists {
            LIST
        } else {
            "write a row for each document"
        };
        let nearest = match left_out {
            Some(_) => Vec::new(),
            None => nearest,
        };
        Ok(UnknownDocument {
            id: id.to_owned(),
            question: question.id.clone(),
            place: self.first(id, Some(written))?.map(|(place, _)| place),
            nearest,
            advice: (looks_like_list && left_out.is_none()).then_some(advice),
            left_out,
        })
    }

    /// The place and the column of the first cell that names a document. Only rows about the question, if one is given.
    fn first(
        &self,
        id: &str,
        question: Option<&str>,
    ) -> Result<Option<(Place, &Column)>, DataError> {
        let mut wanted = vec![self.question.clone()];
        wanted.extend_from_slice(self.columns);
        for file in self.files {
            for row in file.rows(&wanted)? {
                let Row { place, cells: read } = row?;
                // Cells that cannot be read are in rows that `where` leaves out.
                let asked = cells::text(&read[0], self.question, &place).ok();
                if question.is_some() && question != asked.flatten().as_deref() {
                    continue;
                }
                for (column, cell) in self.columns.iter().zip(&read[1..]) {
                    let named = judged::of_cell(cell, column, &place).unwrap_or_default();
                    if named.iter().any(|(named, _)| named == id) {
                        return Ok(Some((place, column)));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// The most documents that are suggested.
const NEAREST: usize = 3;

/// Where the ids of the documents come from.
pub(super) enum Corpus<'c> {
    /// The files, which are read.
    Files {
        columns: &'c DocumentColumns,
        files: &'c [TableFile],
    },
    /// The ids of all documents, which somebody has who read the files before. Stops where the callback breaks.
    Ids(&'c EachId<'c>),
}

/// Calls back with the id of each document, until the callback breaks.
pub(super) type EachId<'c> = dyn Fn(&mut dyn FnMut(&str) -> ControlFlow<()>) + 'c;

/// The result of a search for documents.
#[derive(Debug, Default)]
pub(super) struct Searched {
    /// Rows read.
    pub(super) rows: u64,
    /// Whether the corpus has any document, as far as it was read.
    pub(super) any: bool,
}

/// The documents that an unknown id may mean.
#[derive(Debug, Clone, Default)]
struct Nearest {
    /// Those of the same name in a different folder.
    elsewhere: Vec<String>,
    /// Those of similar names.
    similar: Vec<String>,
}

impl Nearest {
    fn is_complete(&self) -> bool {
        self.elsewhere.len() >= NEAREST
    }

    fn consider(&mut self, unknown: &str, id: &str) {
        if self.is_complete() {
            return;
        }
        if is_path_end(id, unknown) || is_path_end(unknown, id) {
            self.elsewhere.push(id.to_owned());
        } else if nearest::of(unknown, [id]).is_some() {
            self.similar.push(id.to_owned());
            let nearest = nearest::all(unknown, self.similar.iter().map(String::as_str));
            self.similar = nearest.into_iter().map(str::to_owned).collect();
        }
    }
}

impl Corpus<'_> {
    /// Removes from `sought` the ids of documents that the corpus contains: those that the filter keeps and that have a text or a title.
    /// Stops reading when all are found.
    pub(super) fn remove_found(&self, sought: &mut BTreeSet<&str>) -> Result<Searched, DataError> {
        if sought.is_empty() {
            return Ok(Searched::default());
        }
        let mut any = false;
        let rows = self.each(&mut |id| {
            any = true;
            sought.remove(id);
            if sought.is_empty() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(Searched { rows, any })
    }

    /// For each of several ids that the corpus does not contain, the nearest ids of its documents, three at most: documents of the same name in a
    /// different folder, or else those of similar names. Reads the corpus once.
    fn nearest(&self, unknown: &[&str]) -> Result<Vec<Vec<String>>, DataError> {
        let mut found = vec![Nearest::default(); unknown.len()];
        self.each(&mut |id| {
            for (unknown, nearest) in unknown.iter().zip(&mut found) {
                nearest.consider(unknown, id);
            }
            if found.iter().all(Nearest::is_complete) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        let names = |it: Nearest| {
            [it.elsewhere, it.similar]
                .into_iter()
                .find(|it| !it.is_empty())
        };
        Ok(found
            .into_iter()
            .map(|it| names(it).unwrap_or_default())
            .collect())
    }

    /// Hands out the ids of documents until `take` breaks. Returns the number of rows read.
    fn each(&self, take: &mut dyn FnMut(&str) -> ControlFlow<()>) -> Result<u64, DataError> {
        match self {
            Self::Files { columns, files } => each_in_files(columns, files, take),
            Self::Ids(each) => {
                each(take);
                Ok(0)
            }
        }
    }
}

/// Whether a path ends with all of another one.
fn is_path_end(path: &str, end: &str) -> bool {
    let folder = path.strip_suffix(end);
    folder.is_some_and(|folder| folder.ends_with('/'))
}

fn each_in_files(
    columns: &DocumentColumns,
    files: &[TableFile],
    take: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<u64, DataError> {
    let mut columns = columns.clone();
    columns.metadata.clear();
    let mapping = Mapping::new(columns);
    let mut rows = 0;
    for file in files {
        for row in file.rows(&mapping.wanted)? {
            rows += 1;
            for document in mapping.documents(&row?)?.into_iter().flatten() {
                let has_text = !document.text.is_empty() || document.title.is_some();
                if has_text && take(&document.uri).is_break() {
                    return Ok(rows);
                }
            }
        }
    }
    Ok(rows)
}
