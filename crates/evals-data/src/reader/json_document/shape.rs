//! The shape of a JSON document: where its rows are.

use serde_json::{Map, Value};

use super::scanner::Scanner;
use super::{KEY, VALUE};
use crate::error::{DataError, Place};
use crate::manifest::Column;
use crate::reader::TableFile;
use crate::reader::json_objects::{SAMPLE, lookup};

/// Where the rows of a document are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `[{…}, …]`
    Array,
    /// `{"queries": [{…}, …]}`: the member of that name is the array.
    Member(String),
    /// `{"q1": {…}, "q2": {…}}`: each member is a row.
    Keyed,
    /// JSON Lines under another name: an object on each line.
    Lines,
}

/// An array of objects in a member.
struct ArrayMember {
    name: String,
    /// Whether its objects have all wanted columns.
    fits: bool,
}

impl Shape {
    pub(super) fn of(
        file: &TableFile,
        columns: &[Column],
        compressed: bool,
    ) -> Result<Self, DataError> {
        let mut scanner = Scanner::open(file, compressed)?;
        match scanner.peek()? {
            Some(b'[') => {
                scanner.enter_array()?;
                while scanner.next_element()? {
                    scanner.skip_value()?;
                }
                scanner.expect_end()?;
                Ok(Self::Array)
            }
            Some(b'{') => Self::of_object(&mut scanner, columns),
            // As an empty file of JSON Lines.
            None => Ok(Self::Lines),
            Some(_) => Err(scanner.fails("it must start with `[` or `{`")),
        }
    }

    fn of_object(scanner: &mut Scanner, columns: &[Column]) -> Result<Self, DataError> {
        let start = scanner.place();
        scanner.enter_object()?;
        let mut keys = Map::new();
        let mut tables = Vec::new();
        let mut members = 0_usize;
        while let Some(key) = scanner.next_key()? {
            members += 1;
            match scanner.peek()? {
                Some(b'[') => {
                    if let Some(fits) = examine(scanner, columns)? {
                        tables.push(ArrayMember {
                            name: key.clone(),
                            fits,
                        });
                    }
                }
                _ => scanner.skip_value()?,
            }
            if keys.len() < SAMPLE {
                keys.insert(key, Value::Null);
            }
        }
        if scanner.peek()? == Some(b'{') {
            return Ok(Self::Lines);
        }
        scanner.expect_end()?;
        let is_row = columns.iter().all(|column| {
            keys.contains_key(&column.segments()[0]) || keys.contains_key(&column.path())
        });
        if is_row && !columns.is_empty() {
            return Ok(Self::Lines);
        }
        let fitting: Vec<&ArrayMember> = tables.iter().filter(|table| table.fits).collect();
        let names_keys = columns
            .iter()
            .any(|column| [KEY, VALUE].contains(&column.segments()[0].as_str()));
        match (fitting.as_slice(), tables.as_slice()) {
            ([one], _) => Ok(Self::Member(one.name.clone())),
            ([], _) if names_keys => Ok(Self::Keyed),
            ([], [one]) => Ok(Self::Member(one.name.clone())),
            (_, several) if several.is_empty() || several.len() == members => Ok(Self::Keyed),
            (_, several) => Err(ambiguous(&start, several.iter().map(|table| &table.name))),
        }
    }
}

fn ambiguous<'n>(place: &Place, names: impl Iterator<Item = &'n String>) -> DataError {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    place.is_no_json(format!(
        "several lists of objects could be the table: {names}; keep each in a file of its own"
    ))
}

/// Reads an array to its end. `None` if its elements are no objects, else whether they have all columns.
fn examine(scanner: &mut Scanner, columns: &[Column]) -> Result<Option<bool>, DataError> {
    scanner.enter_array()?;
    let mut unseen: Vec<&Column> = columns.iter().collect();
    let mut objects = 0_usize;
    let mut others = false;
    while scanner.next_element()? {
        if scanner.peek()? != Some(b'{') {
            others = true;
            scanner.skip_value()?;
        } else if objects < SAMPLE {
            objects += 1;
            if let (_, Value::Object(object)) = scanner.value()? {
                unseen.retain(|column| lookup(&object, column).is_none());
            }
        } else {
            scanner.skip_value()?;
        }
    }
    // The object around the array goes on.
    scanner.leave();
    Ok((objects > 0 && !others).then_some(unseen.is_empty()))
}
