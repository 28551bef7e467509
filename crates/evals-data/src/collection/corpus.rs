//! The ids of a corpus's documents, to look for the judged ones among them.

use std::collections::BTreeSet;

use super::mapping::Mapping;
use crate::error::DataError;
use crate::manifest::DocumentColumns;
use crate::reader::TableFile;

/// Where the ids of the documents come from.
pub(super) enum Corpus<'c> {
    /// The files, which are read.
    Files {
        columns: &'c DocumentColumns,
        files: &'c [TableFile],
    },
    /// A search of the ids of all documents, which somebody has who read the files before.
    Ids(&'c dyn Fn(&mut BTreeSet<&str>) -> Searched),
}

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
        match self {
            Self::Files { columns, files } => search_files(columns, files, sought),
            Self::Ids(search) => Ok(search(sought)),
        }
    }
}

/// Removes from `sought` those ids that are among `ids`.
pub(super) fn search_ids<'i>(
    ids: impl Iterator<Item = &'i str>,
    sought: &mut BTreeSet<&str>,
) -> Searched {
    let mut searched = Searched::default();
    for id in ids {
        searched.any = true;
        if sought.is_empty() {
            break;
        }
        sought.remove(id);
    }
    searched
}

fn search_files(
    columns: &DocumentColumns,
    files: &[TableFile],
    sought: &mut BTreeSet<&str>,
) -> Result<Searched, DataError> {
    let mut columns = columns.clone();
    columns.metadata.clear();
    let mapping = Mapping::new(columns);
    let mut searched = Searched::default();
    for file in files {
        for row in file.rows(&mapping.wanted)? {
            if sought.is_empty() {
                return Ok(searched);
            }
            searched.rows += 1;
            for document in mapping.documents(&row?)?.into_iter().flatten() {
                if !document.text.is_empty() || document.title.is_some() {
                    searched.any = true;
                    sought.remove(document.uri.as_str());
                }
            }
        }
    }
    Ok(searched)
}
