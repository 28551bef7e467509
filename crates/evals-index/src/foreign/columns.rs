//! Which column of a table holds what.

use arrow::datatypes::{DataType, Field, Schema};
use evals_messages::nearest;
use evals_targets::ColumnSettings;

/// The usual names of the column with the id of the document, best first.
const DOCUMENT: [&str; 9] = [
    DOCUMENT_ID,
    "doc_id",
    "document",
    "document_uri",
    "uri",
    "source",
    "url",
    "path",
    "id",
];
const TITLE: [&str; 1] = ["title"];
const TEXT: [&str; 6] = [
    "text",
    "content",
    "page_content",
    "chunk",
    "passage",
    "body",
];

/// The column that may refer to a table of documents.
pub(super) const DOCUMENT_ID: &str = "document_id";

/// The columns of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) document: Option<String>,
    pub(super) title: Option<String>,
    pub(super) text: Option<String>,
    pub(super) vector: Option<Vectors>,
    /// Without vectors: a column that would have them if its lists had one length, and how to write it, as the end of a sentence.
    pub(super) unfixed: Option<String>,
}

/// A column of vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Vectors {
    pub(super) column: String,
    pub(super) dimension: usize,
}

/// A column that cannot be used: what it should hold, and the problem as the end of a sentence about the table.
pub(super) type Unusable = (&'static str, String);

/// Finds the columns in a table with this schema. A column that was not asked for is chosen by its name, or for vectors by its type.
pub(super) fn find(asked: &ColumnSettings, schema: &Schema) -> Result<Columns, Unusable> {
    let vector = vectors(schema, asked.vector.as_deref())?;
    let mut fields = schema.fields().iter().filter(|_| vector.is_none());
    let columns = Columns {
        unfixed: fields.find_map(|field| of_any_length(field)),
        document: named(
            schema,
            "document",
            asked.document.as_deref(),
            &DOCUMENT,
            is_id,
        )?,
        title: named(schema, "title", asked.title.as_deref(), &TITLE, is_text)?,
        text: named(schema, "text", asked.text.as_deref(), &TEXT, is_text)?,
        vector,
    };
    if columns.document.is_none() && columns.text.is_none() {
        let names = names(schema.fields().iter().map(|field| field.name().as_str()));
        let problem = format!(
            "has no column with ids of documents and none with texts; name them. It has {names}"
        );
        return Err(("document", problem));
    }
    Ok(columns)
}

fn is_text(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

fn is_id(kind: &DataType) -> bool {
    is_text(kind) || kind.is_integer()
}

/// The length of vectors of this type.
fn dimension(kind: &DataType) -> Option<usize> {
    match kind {
        DataType::FixedSizeList(item, length) if item.data_type().is_floating() => {
            usize::try_from(*length).ok()
        }
        _ => None,
    }
}

/// How to write a column of lists of numbers whose length is not fixed, as Python's lists become without a schema.
fn of_any_length(field: &Field) -> Option<String> {
    let (DataType::List(item) | DataType::LargeList(item)) = field.data_type() else {
        return None;
    };
    item.data_type().is_floating().then(|| {
        format!(
            "the column `{}` has lists of variable length, and vectors need a fixed one; write it with the type `pa.list_(pa.float32(), N)` of \
             pyarrow, where `N` is their number of dimensions",
            field.name()
        )
    })
}

/// The column that the user named, or the first with a usual name, if its type fits.
fn named(
    schema: &Schema,
    role: &'static str,
    asked: Option<&str>,
    usual: &[&str],
    fits: impl Fn(&DataType) -> bool,
) -> Result<Option<String>, Unusable> {
    if let Some(asked) = asked {
        let field = field(schema, role, asked)?;
        if !fits(field.data_type()) {
            let problem = format!(
                "has no {role} in the column `{asked}`, which is of type {}",
                field.data_type()
            );
            return Err((role, problem));
        }
        return Ok(Some(asked.to_owned()));
    }
    let mut fields = usual
        .iter()
        .filter_map(|name| schema.field_with_name(name).ok());
    let found = fields.find(|field| fits(field.data_type()));
    Ok(found.map(|field| field.name().clone()))
}

/// The column of vectors that the user named, or the only one.
fn vectors(schema: &Schema, asked: Option<&str>) -> Result<Option<Vectors>, Unusable> {
    const ROLE: &str = "vector";
    let of = |field: &Field| {
        let dimension = dimension(field.data_type())?;
        let column = field.name().clone();
        Some(Vectors { column, dimension })
    };
    if let Some(asked) = asked {
        let field = field(schema, ROLE, asked)?;
        let problem = || match of_any_length(field) {
            Some(advice) => format!("has no vectors to search: {advice}"),
            None => format!(
                "has no vectors in the column `{asked}`: it is of type {}, and a search needs lists of floating-point numbers of one fixed length",
                field.data_type()
            ),
        };
        return of(field).map(Some).ok_or_else(|| (ROLE, problem()));
    }
    let found: Vec<Vectors> = schema
        .fields()
        .iter()
        .filter_map(|field| of(field))
        .collect();
    if found.len() > 1 {
        let listed: Vec<String> = found
            .iter()
            .map(|it| format!("`{}` ({} dimensions)", it.column, it.dimension))
            .collect();
        return Err((
            ROLE,
            format!(
                "has several columns of vectors; name one of {}",
                listed.join(", ")
            ),
        ));
    }
    Ok(found.into_iter().next())
}

fn field<'s>(schema: &'s Schema, role: &'static str, name: &str) -> Result<&'s Field, Unusable> {
    schema.field_with_name(name).map_err(|_| {
        let known: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        let similar = nearest::did_you_mean(nearest::of(name, known.iter().copied()));
        (
            role,
            format!("has no column `{name}`; it has {}{similar}", names(known)),
        )
    })
}

fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn schema(columns: &[(&str, DataType)]) -> Schema {
        let fields = columns
            .iter()
            .map(|(name, kind)| Field::new(*name, kind.clone(), true));
        Schema::new(fields.collect::<Vec<_>>())
    }

    fn floats(length: i32) -> DataType {
        DataType::FixedSizeList(
            Arc::new(Field::new("item", DataType::Float32, true)),
            length,
        )
    }

    #[test]
    fn usual_names_and_the_only_vectors_are_found() {
        let schema = schema(&[
            ("id", DataType::Utf8),
            ("document_id", DataType::Int64),
            ("content", DataType::LargeUtf8),
            // A title of another type is none.
            ("title", DataType::Int32),
            ("embedding", floats(3)),
            (
                "codes",
                DataType::FixedSizeList(Arc::new(Field::new("item", DataType::UInt8, true)), 3),
            ),
        ]);
        let found = find(&ColumnSettings::default(), &schema).unwrap();
        let column = |name: &str| Some(name.to_owned());
        let expected = Columns {
            document: column("document_id"),
            title: None,
            text: column("content"),
            vector: Some(Vectors {
                column: "embedding".to_owned(),
                dimension: 3,
            }),
            unfixed: None,
        };
        assert_eq!(found, expected);
        let named = ColumnSettings {
            document: column("id"),
            ..ColumnSettings::default()
        };
        assert_eq!(find(&named, &schema).unwrap().document, column("id"));
    }

    #[test]
    fn what_cannot_be_used_says_what_there_is() {
        let list = DataType::List(Arc::new(Field::new("item", DataType::Float32, true)));
        let schema = schema(&[
            ("a", floats(2)),
            ("b", floats(4)),
            ("text", DataType::Utf8),
            ("c", list),
        ]);
        let refused = |columns: ColumnSettings| find(&columns, &schema).unwrap_err();
        assert_eq!(
            refused(ColumnSettings::default()),
            ("vector", "has several columns of vectors; name one of `a` (2 dimensions), `b` (4 dimensions)".to_owned())
        );
        let vector = |name: &str| ColumnSettings {
            vector: Some(name.to_owned()),
            ..ColumnSettings::default()
        };
        assert!(
            refused(vector("c")).1.starts_with(
                "has no vectors to search: the column `c` has lists of variable length"
            )
        );
        assert!(
            refused(vector("text"))
                .1
                .starts_with("has no vectors in the column `text`: it is of type Utf8")
        );
        assert_eq!(
            refused(vector("embedding")).1,
            "has no column `embedding`; it has `a`, `b`, `text`, `c`"
        );
        let found = find(&vector("b"), &schema).unwrap();
        assert_eq!(found.vector.unwrap().dimension, 4);
        let title = ColumnSettings {
            title: Some("a".to_owned()),
            ..vector("a")
        };
        assert!(
            refused(title)
                .1
                .starts_with("has no title in the column `a`, which is of type")
        );
        let (role, _) = find(&ColumnSettings::default(), &Schema::empty()).unwrap_err();
        assert_eq!(role, "document");
    }
}
