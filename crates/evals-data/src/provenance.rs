//! Which bytes a dataset was read from, for the manifest of a run.

use serde::{Deserialize, Serialize};

use crate::format;
use crate::hub::sha256;

/// Increases whenever the same bytes and columns give other documents, questions or judgements than before.
const READING_VERSION: u32 = 2;

/// Which bytes a dataset was read from, and how.
///
/// Goes into the manifest of a run: two runs with the same [`fingerprint`](Self::fingerprint) saw the same data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The dataset's name.
    pub dataset: String,
    /// The corpus.
    pub documents: TableProvenance,
    /// The questions.
    pub questions: TableProvenance,
    /// The judgements, if they are a table of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgements: Option<TableProvenance>,
}

/// Which bytes a table was read from, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableProvenance {
    /// The repository, for a table from the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The revision asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The commit that the revision pointed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The files, ordered by path.
    pub files: Vec<FileProvenance>,
    /// The digest of what people edited and dropped in their review, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviews: Option<String>,
    /// The columns and filters, as in the manifest.
    pub columns: serde_json::Value,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProvenance {
    /// Its path in the repository, in the folder that the manifest names, or in the bundle. For a single file on disk, its name.
    pub path: String,
    /// Its bytes.
    pub size: u64,
    /// Its digest, in hexadecimal.
    pub sha256: String,
}

impl Provenance {
    /// The files of all tables, each once, in the order documents, questions, judgements.
    pub fn files(&self) -> Vec<&FileProvenance> {
        let mut files: Vec<&FileProvenance> = Vec::new();
        for file in self.tables().flat_map(|table| &table.files) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    /// A digest of the commits, the file digests, the columns, and the version of the rules for reading them. It does not depend on the
    /// dataset's name or on where the files are, so that a copy of the same files elsewhere counts as the same data. The paths of text
    /// files below the source's folder count, because they are ids of documents.
    pub fn fingerprint(&self) -> String {
        let tables: Vec<String> = self.tables().map(TableProvenance::fingerprint).collect();
        sha256(tables.join("\n").as_bytes())
    }

    /// A digest of the corpus alone. An index depends on nothing else of a dataset: other questions about the same documents use the
    /// same index.
    pub fn documents_fingerprint(&self) -> String {
        self.documents.fingerprint()
    }

    fn tables(&self) -> impl Iterator<Item = &TableProvenance> {
        [&self.documents, &self.questions]
            .into_iter()
            .chain(&self.judgements)
    }
}

impl TableProvenance {
    fn fingerprint(&self) -> String {
        let digests = self.files.iter().map(identity);
        let digests: Vec<String> = digests.chain(self.reviews.clone()).collect();
        let commit = self.commit.as_deref().unwrap_or_default();
        let columns = &self.columns;
        let digests = digests.join("\n");
        sha256(format!("reading {READING_VERSION}\n{commit}\n{digests}\n{columns}").as_bytes())
    }
}

/// Identifies the content of a file: by its digest and, for a text file, also by its path, which is the id of its document.
fn identity(file: &FileProvenance) -> String {
    if format::is_text(&file.path) {
        format!("{} {}", file.sha256, file.path)
    } else {
        file.sha256.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fingerprint_covers_the_rules_of_reading() {
        let file = |sha256: &str| FileProvenance {
            path: "a".to_owned(),
            size: 1,
            sha256: sha256.to_owned(),
        };
        let table = TableProvenance {
            repo: None,
            revision: None,
            commit: None,
            files: vec![file("aa"), file("bb")],
            reviews: None,
            columns: json!({"uri": "id"}),
        };
        // printf 'reading 2\n\naa\nbb\n{"uri":"id"}' | sha256sum
        assert_eq!(
            table.fingerprint(),
            "9efae1d467db90d8fb081fd7e6222327c51e38d6272c7fbf3b32ed92cdd65eac"
        );
    }
}
