//! Reads the openings of documents from the index of a run.

use std::collections::BTreeSet;

use evals::Report;
use evals_html::page::Passage;
use evals_index::{Identity, Index, IndexError, Store};
use evals_pages::ComparedRuns;
use evals_pages::page::{Documents, HasPage};
use evals_runs::run_record::{IndexRecord, RunRecord};
use evals_runs::stored_runs::StoredReport;
use serde::Deserialize as _;

/// The longest opening in characters.
const LONGEST: usize = 600;
/// Documents that are read at a time.
const AT_A_TIME: usize = 1_000;
/// The most text that is kept, in bytes. A page stops at about this size too.
const MOST: usize = 64_000_000;

/// Reads what the pages of these reports show from the index that they searched.
pub async fn of_index<D: HasPage>(index: &Index, reports: &[&Report<D>]) -> Documents {
    match read(index, &lacking(reports)).await {
        Ok(read) => read,
        Err(error) => Documents::absent(format!("the index cannot be read: {error}")),
    }
}

/// The texts that the page of a report of any benchmark shows and the report does not hold, from the index of its run.
pub async fn of_report(report: &StoredReport, record: Option<&RunRecord>) -> Documents {
    match report {
        StoredReport::Retrieval(report) => of_stored(report, record).await,
        StoredReport::Qa(_) | StoredReport::Eval(_) => Documents::none(),
    }
}

/// Reads what the page of a stored report shows from the index of its run, if that still is where its record says.
pub async fn of_stored<D: HasPage>(report: &Report<D>, record: Option<&RunRecord>) -> Documents {
    if lacking(&[report]).is_empty() {
        return Documents::none();
    }
    let Some(record) = record else {
        return Documents::absent(
            "a report without its run's folder does not say where its index is",
        );
    };
    let Some(index) = record.index() else {
        // The documents of somebody else's system.
        return Documents::none();
    };
    match stored_index(index).await {
        Ok(Some(index)) => of_index(&index, &[report]).await,
        Ok(None) if is_of_network(&index.uri) => Documents::absent(
            "the index of the run is on a different machine, and pages read only this one",
        ),
        Ok(None) => Documents::absent("the index of the run is gone"),
        Err(error) => Documents::absent(format!("the index of the run cannot be read: {error}")),
    }
}

/// The texts that the page of a comparison shows and its reports do not hold.
pub async fn of_compared(compared: &ComparedRuns<'_>) -> Documents {
    let mut all = Vec::new();
    for (report, record) in compared.rankings() {
        all.push(of_stored(report, record).await);
    }
    Documents::merged(&all)
}

/// The index of a record. An index behind an address of the network is not opened for a page.
async fn stored_index(record: &IndexRecord) -> Result<Option<Index>, IndexError> {
    let identity = Identity::deserialize(&record.identity);
    let (Ok(identity), false) = (identity, is_of_network(&record.uri)) else {
        return Ok(None);
    };
    if !std::path::Path::new(&record.uri).is_dir() {
        return Ok(None);
    }
    let store = Store::open(&record.uri).await?;
    Index::find_identity(&store, identity).await
}

/// Whether an address leads to another machine: a URL, or a share of Windows, which is contacted as soon as somebody asks whether it is a
/// folder.
fn is_of_network(uri: &str) -> bool {
    // The long form of a path of this machine, such as `\\?\C:\index`.
    if let Some(path) = uri.strip_prefix(r"\\?\") {
        return path
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case(r"UNC\"));
    }
    let is_separator = |byte: &u8| matches!(byte, b'/' | b'\\');
    let start = uri.as_bytes().get(..2);
    uri.contains("://") || start.is_some_and(|start| start.iter().all(is_separator))
}

/// The documents whose texts the reports lack, in the order in which they are first found.
fn lacking<'r, D: HasPage>(reports: &[&'r Report<D>]) -> Vec<&'r str> {
    let mut seen = BTreeSet::new();
    let cases = reports.iter().flat_map(|report| &report.cases);
    cases
        .flat_map(D::lacking)
        .filter(|id| seen.insert(*id))
        .collect()
}

/// Reads the texts of the first documents until there are [`MOST`] bytes of them.
async fn read(index: &Index, ids: &[&str]) -> Result<Documents, IndexError> {
    let mut documents = Documents::none();
    let mut bytes = 0;
    for ids in ids.chunks(AT_A_TIME) {
        if bytes > MOST {
            let left_out = ids.iter().map(ToString::to_string);
            documents.left_out.extend(left_out);
            continue;
        }
        for chunk in index.openings(ids).await? {
            let text = cut(&chunk.text);
            bytes += text.len();
            documents.openings.insert(
                chunk.document.clone(),
                Passage {
                    document: chunk.document,
                    title: chunk.title.unwrap_or_default(),
                    text,
                },
            );
        }
    }
    Ok(documents)
}

/// The beginning of a text, cut between words.
fn cut(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(LONGEST) else {
        return text.to_owned();
    };
    let beginning = &text[..end];
    let words = beginning.rfind(char::is_whitespace);
    // A text without blanks is cut anywhere.
    let kept = words.filter(|place| *place > end / 2).unwrap_or(end);
    format!("{}…", beginning[..kept].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_another_machine_is_not_opened() {
        for uri in [
            "s3://bucket/index",
            r"\\host\share\index",
            "//host/share/index",
            r"\\?\UNC\host\share",
            r"\/host\share",
        ] {
            assert!(is_of_network(uri), "{uri}");
        }
        for uri in ["/data/index", "index", r"C:\data\index", r"\\?\C:\data"] {
            assert!(!is_of_network(uri), "{uri}");
        }
    }

    #[test]
    fn an_opening_ends_between_words() {
        assert_eq!(cut("short"), "short");
        let words = "wörter und ".repeat(100);
        let cut_words = cut(&words);
        assert!(
            cut_words.ends_with("und…") || cut_words.ends_with("wörter…"),
            "{cut_words}"
        );
        assert!(cut_words.chars().count() <= LONGEST + 1);
        let one = "ö".repeat(5_000);
        assert_eq!(cut(&one).chars().count(), LONGEST + 1);
    }
}
