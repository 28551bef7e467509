//! Rows from JSON objects, for every format that has them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Row, Rows, TableFile};
use crate::error::{DataError, Place};
use crate::manifest::Column;

/// The number of objects that determine a file's columns. One is not enough, because JSON objects may omit null values.
pub(super) const SAMPLE: usize = 100;

/// An object with its place in the file.
pub(super) type Object = (Place, Map<String, Value>);

/// The rows of objects. A column is null in objects that lack it.
pub(super) fn object_rows(
    objects: impl Iterator<Item = Result<Object, DataError>> + Send + 'static,
    columns: &[Column],
) -> Rows {
    let columns = columns.to_vec();
    Box::new(objects.map(move |object| {
        let (place, object) = object?;
        let cells = columns.iter().map(|column| lookup(&object, column));
        let cells = cells
            .map(|cell| cell.map(Cow::into_owned).unwrap_or_default())
            .collect();
        Ok(Row { place, cells })
    }))
}

/// Checks that each column is in one of the first hundred objects.
pub(super) fn check_columns(
    file: &TableFile,
    columns: &[Column],
    objects: impl Iterator<Item = Result<Object, DataError>>,
) -> Result<(), DataError> {
    let mut unseen: Vec<&Column> = columns.iter().collect();
    let mut names: Vec<String> = Vec::new();
    let mut is_empty = true;
    for object in objects.take(SAMPLE) {
        let (_, object) = object?;
        is_empty = false;
        unseen.retain(|column| lookup(&object, column).is_none());
        if unseen.is_empty() {
            return Ok(());
        }
        for name in object.keys() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    match unseen.first() {
        Some(column) if !is_empty => Err(file.missing(column, &names, "")),
        _ => Ok(()),
    }
}

/// The value of a column: of the field with its whole name, or else of the nested field that its name spells with dots.
pub(super) fn lookup<'o>(
    object: &'o Map<String, Value>,
    column: &Column,
) -> Option<Cow<'o, Value>> {
    if let Some(value) = object.get(&column.path()) {
        return Some(Cow::Borrowed(value));
    }
    let (first, rest) = column.segments().split_first()?;
    descend(object.get(first)?, rest)
}

/// The nested field of a value. A list has the fields of its elements, as a list: null for an element that lacks it.
pub(super) fn descend<'v>(value: &'v Value, names: &[String]) -> Option<Cow<'v, Value>> {
    let Some((first, rest)) = names.split_first() else {
        return Some(Cow::Borrowed(value));
    };
    let Value::Array(elements) = value else {
        return descend(value.get(first)?, rest);
    };
    let fields: Vec<Option<Cow<'_, Value>>> =
        elements.iter().map(|it| descend(it, names)).collect();
    if !fields.is_empty() && fields.iter().all(Option::is_none) {
        return None;
    }
    let fields = fields.into_iter();
    let fields = fields.map(|field| field.map(Cow::into_owned).unwrap_or_default());
    Some(Cow::Owned(fields.collect()))
}
