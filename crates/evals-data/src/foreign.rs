//! Entry points for tests such as fuzzers that feed arbitrary bytes. Not part of the library's interface.

use bytes::Bytes;
use serde_json::Value;

use crate::error::DataError;
use crate::manifest::Column;
use crate::reader::{FileContent, TableFile};

/// The cells of a table's rows. The extension of `name` tells the format, as for a file.
pub fn rows(
    name: &str,
    bytes: impl Into<Bytes>,
    columns: &[Column],
) -> Result<impl Iterator<Item = Result<Vec<Value>, DataError>>, DataError> {
    let table = TableFile {
        name: name.to_owned(),
        uri: name.to_owned(),
        content: FileContent::InMemory(bytes.into()),
    };
    let rows = table.rows(columns)?;
    Ok(rows.map(|row| row.map(|row| row.cells)))
}

/// The paths and sizes on one page of a hub's list of files; `Err` is a defect of the page.
pub fn hub_page(body: &[u8]) -> Result<Vec<(String, u64)>, String> {
    crate::hub::listed_files(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_like_files() {
        let columns = ["id".parse().unwrap()];
        let read = |name: &str, text: &'static str| -> Vec<Vec<Value>> {
            let rows = rows(name, text, &columns).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        };
        assert_eq!(read("a.csv", "id\n1\n"), [[Value::from("1")]]);
        assert_eq!(read("a.jsonl", "{\"id\": 1}\n"), [[Value::from(1)]]);
        let page = br#"[{"type":"file","path":"a","oid":"0","size":9}]"#;
        assert_eq!(hub_page(page), Ok(vec![("a".to_owned(), 9)]));
    }
}
