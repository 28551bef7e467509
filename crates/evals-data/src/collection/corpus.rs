//! The ids of a corpus's documents, to look for the judged ones among them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use evals_messages::nearest;

use super::mapping::Mapping;
use crate::error::DataError;
use crate::manifest::DocumentColumns;
use crate::reader::TableFile;

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

    /// The documents of the corpus whose ids are nearest to one that it does not contain, three at most: documents of the same name in another
    /// folder, or else those of similar names.
    pub(super) fn nearest(&self, unknown: &str) -> Result<Vec<String>, DataError> {
        let (mut elsewhere, mut similar) = (Vec::new(), Vec::new());
        self.each(&mut |id| {
            if is_path_end(id, unknown) || is_path_end(unknown, id) {
                elsewhere.push(id.to_owned());
            } else if nearest::of(unknown, [id]).is_some() {
                similar.push(id.to_owned());
                let nearest = nearest::all(unknown, similar.iter().map(String::as_str));
                similar = nearest.into_iter().map(str::to_owned).collect();
            }
            if elsewhere.len() < NEAREST {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(if elsewhere.is_empty() {
            similar
        } else {
            elsewhere
        })
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
