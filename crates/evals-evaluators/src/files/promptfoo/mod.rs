//! Tables of promptfoo.

mod check;
mod kinds;

use evals::EvaluatorSpec;
use evals_guard::csv::{CsvError, Table};
use evals_messages::nearest;
use evals_yaml::Place;
use serde_json::{Map, Value};

use self::check::parts;
use crate::files::dataset_file::{FileCase, SpecForm};
use crate::files::problem::{Findings, Problem};
use crate::files::{grammar, spec};

/// What a column means.
enum ColumnRole {
    Input(String),
    Expected(String),
    Name,
    Metadata(String),
    Ignored,
}

/// Reads a table. Every faulty cell is reported; places are the first characters of rows.
pub(in crate::files) fn read(
    text: &str,
    findings: &mut Findings,
) -> Result<Vec<FileCase>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut table = Table::open(text.as_bytes(), b',').map_err(unreadable)?;
    let columns = columns(table.header(), findings);
    let mut cases = Vec::new();
    while let Some(row) = table.row().map_err(unreadable)? {
        let place = place(row.line());
        let cells = row.texts().map_err(unreadable)?;
        cases.push(case(&columns, &cells, place, findings));
    }
    grammar::name_by_inputs(&mut cases);
    if let Some(first) = cases.first()
        && !columns
            .iter()
            .any(|column| matches!(column, ColumnRole::Expected(_)))
    {
        findings.warning(
            first.place,
            "no column is called `__expected`, so nothing judges the outputs",
        );
    }
    Ok(cases)
}

fn columns(headers: &[String], findings: &mut Findings) -> Vec<ColumnRole> {
    let mut seen: Vec<&str> = Vec::new();
    let mut columns = Vec::new();
    for header in headers.iter().map(|header| header.trim()) {
        if seen.contains(&header) {
            findings.error(
                Place::START,
                format!("more than one column is called `{header}`"),
            );
        }
        seen.push(header);
        columns.push(column(header, findings));
    }
    if !columns
        .iter()
        .any(|column| matches!(column, ColumnRole::Input(_)))
    {
        findings.error(
            Place::START,
            "no column holds inputs; every column whose name does not begin with `__` does",
        );
    }
    columns
}

fn column(header: &str, findings: &mut Findings) -> ColumnRole {
    let Some(name) = header.strip_prefix("__") else {
        return ColumnRole::Input(header.to_owned());
    };
    let is_expected = name
        .strip_prefix("expected")
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_expected {
        return ColumnRole::Expected(header.to_owned());
    }
    if let Some(key) = name.strip_prefix("metadata:") {
        return ColumnRole::Metadata(key.to_owned());
    }
    if name == "description" {
        return ColumnRole::Name;
    }
    let near = nearest::did_you_mean(nearest::all(
        header,
        ["__expected", "__description", "__metadata:"],
    ));
    findings.error(
        Place::START,
        format!("the column `{header}` of promptfoo is not understood{near}; understood are `__expected`, `__expected1` …, `__description` and `__metadata:KEY`"),
    );
    ColumnRole::Ignored
}

fn case(columns: &[ColumnRole], row: &[&str], place: Place, findings: &mut Findings) -> FileCase {
    let mut case = FileCase::new(place);
    let mut inputs = Map::new();
    let mut metadata = Map::new();
    for (column, &cell) in columns.iter().zip(row) {
        match column {
            ColumnRole::Input(name) => {
                inputs.insert(name.clone(), cell.into());
            }
            ColumnRole::Expected(name) => match check::read(cell.trim()) {
                Ok(specs) => case.evaluators.extend(specs.into_iter().map(
                    |EvaluatorSpec { name, arguments }| {
                        spec::written(&name, arguments, place, SpecForm::Short)
                    },
                )),
                Err(reason) => findings.error(place, format!("column `{name}`: {reason}")),
            },
            ColumnRole::Name if !cell.is_empty() => case.name = Some(cell.to_owned()),
            ColumnRole::Metadata(key) if !cell.is_empty() => {
                let (key, value) = match key.strip_suffix("[]") {
                    Some(key) => (key, Value::from(parts(cell))),
                    None => (key.as_str(), Value::from(cell)),
                };
                metadata.insert(key.to_owned(), value);
            }
            ColumnRole::Name | ColumnRole::Metadata(_) | ColumnRole::Ignored => {}
        }
    }
    case.inputs = Value::Object(inputs);
    if !metadata.is_empty() {
        case.metadata = Value::Object(metadata);
    }
    case
}

fn place(line: u64) -> Place {
    Place { line, column: 1 }
}

fn unreadable(error: CsvError) -> Problem {
    match error {
        CsvError::Io(error) => Problem::new(Place::START, error.to_string()),
        CsvError::Fault { line, fault } => Problem::new(place(line), fault.to_string()),
    }
}
