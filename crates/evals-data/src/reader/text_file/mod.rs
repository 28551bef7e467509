//! A text file as a table of one row: markdown, HTML or plain text.

mod html;
mod markdown;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::Read;

use serde_json::{Map, Value};

use super::json_objects::lookup;
use super::{ROW_LIMIT, Row, Rows, TableFile};
use crate::error::{DataError, Place};
use crate::format::TextFormat;
use crate::manifest::Column;

/// The columns that every text file has. The fields of its front matter are further ones.
pub(super) const COLUMNS: [&str; 3] = ["uri", "title", "text"];

/// The content of a text file.
#[derive(Debug, Default, PartialEq)]
struct TextContent {
    title: Option<String>,
    text: String,
    front_matter: Map<String, Value>,
}

/// The row of a file: its path below the manifest's folder (`uri`), its title and text, and the fields of its front matter. A field
/// that the file lacks is null, because front matter differs from file to file.
pub(super) fn rows(file: &TableFile, columns: &[Column], format: TextFormat) -> Rows {
    let file = file.clone();
    let columns = columns.to_vec();
    Box::new(std::iter::once_with(move || row(&file, &columns, format)))
}

fn row(file: &TableFile, columns: &[Column], format: TextFormat) -> Result<Row, DataError> {
    let text = read(file)?;
    let TextContent {
        title,
        text,
        front_matter,
    } = match format {
        TextFormat::Plain => TextContent {
            text,
            ..TextContent::default()
        },
        TextFormat::Markdown => markdown::content(&text).map_err(|(line, what)| {
            let problem = format!("the front matter is not valid YAML: {what}");
            Place::line(&file.name, line).fails(problem)
        })?,
        TextFormat::Html => html::content(&text),
    };
    let mut fields = front_matter.clone();
    for (column, value) in COLUMNS.into_iter().zip([
        Value::from(file.uri.as_str()),
        Value::from(title),
        Value::from(text),
    ]) {
        fields.insert(column.to_owned(), value);
    }
    let cells = columns
        .iter()
        .map(|column| {
            if column.is_all_others() {
                Value::Object(front_matter.clone())
            } else {
                lookup(&fields, column)
                    .map(Cow::into_owned)
                    .unwrap_or_default()
            }
        })
        .collect();
    Ok(Row {
        place: Place::line(&file.name, 1),
        cells,
    })
}

/// The whole text of a file, with line ends as Unix writes them.
fn read(file: &TableFile) -> Result<String, DataError> {
    let mut bytes = Vec::new();
    let mut bounded = file.text(false)?.take(ROW_LIMIT as u64 + 1);
    bounded
        .read_to_end(&mut bytes)
        .map_err(|source| file.unreadable(source))?;
    if bytes.len() > ROW_LIMIT {
        return Err(DataError::file(
            &file.name,
            "is larger than 128 MiB, too large for one document; split it, or leave it out of `files`",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
        Place::line(&file.name, line).not_utf8()
    })?;
    Ok(if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text
    })
}
