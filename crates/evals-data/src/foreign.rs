//! Doors for tests that feed foreign bytes, such as fuzzers. Not part of the library's interface.

use bytes::Bytes;
use serde_json::Value;

use crate::error::DataError;
use crate::manifest::Column;
use crate::reader::{Content, TableFile};

/// The cells of a table's rows; the name's extension tells the format, as it does of a file.
pub fn rows(
    name: &str,
    bytes: impl Into<Bytes>,
    columns: &[Column],
) -> Result<impl Iterator<Item = Result<Vec<Value>, DataError>>, DataError> {
    let table = TableFile {
        name: name.to_owned(),
        content: Content::InMemory(bytes.into()),
    };
    let rows = table.rows(columns)?;
    Ok(rows.map(|row| row.map(|row| row.cells)))
}

/// The paths and sizes on one page of a hub's list of files; `Err` says why it is none.
pub fn hub_page(body: &[u8]) -> Result<Vec<(String, u64)>, String> {
    crate::hub::listed_files(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_files_are() {
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
