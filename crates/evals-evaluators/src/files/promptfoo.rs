//! Tables of promptfoo: each row is a case, `__expected` and `__expected1` … are its checks, other columns its inputs.

use csv::{ReaderBuilder, StringRecord, Trim};
use evals::{EvaluatorSpec, SpecArguments};
use evals_messages::nearest;
use evals_yaml::Place;
use serde_json::{Map, Value, json};

use super::grammar::{Written, WrittenCase};
use super::problem::{Findings, Problem};
use super::spec::{Form, WrittenSpec};

/// The checks that are understood, as `__expected` writes them.
const UNDERSTOOD: &str = "`equals:`, `contains:`, `icontains:`, `contains-all:`, `icontains-all:`, `contains-any:`, `icontains-any:`, `starts-with:`, `regex:`, `llm-rubric:` and `grade:`";

/// What promptfoo calls its checks beside those, so that a check is not taken for the text that is expected.
const NOT_UNDERSTOOD: [&str; 56] = [
    "agent-rubric",
    "answer-relevance",
    "assert-set",
    "bleu",
    "classifier",
    "contains-html",
    "contains-json",
    "contains-sql",
    "contains-xml",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "conversation-relevance",
    "cost",
    "eval",
    "factuality",
    "file",
    "finish-reason",
    "fn",
    "g-eval",
    "gleu",
    "guardrails",
    "human",
    "is-html",
    "is-json",
    "is-refusal",
    "is-sql",
    "is-valid-function-call",
    "is-valid-openai-function-call",
    "is-valid-openai-tools-call",
    "is-xml",
    "javascript",
    "latency",
    "levenshtein",
    "max-score",
    "meteor",
    "model-graded-closedqa",
    "model-graded-factuality",
    "moderation",
    "perplexity",
    "perplexity-score",
    "pi",
    "python",
    "rouge-n",
    "ruby",
    "search-rubric",
    "select-best",
    "similar",
    "skill-used",
    "tool-call-f1",
    "trace-error-spans",
    "trace-span-count",
    "trace-span-duration",
    "trajectory",
    "webhook",
    "word-count",
];

/// What a column means.
enum Column {
    Input(String),
    Expected(String),
    Name,
    Metadata(String),
    Ignored,
}

/// Reads a table. Every faulty cell is reported; places are the first characters of rows.
pub(super) fn read(text: &str, findings: &mut Findings) -> Result<Written, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ReaderBuilder::new()
        .trim(Trim::Headers)
        .from_reader(text.as_bytes());
    let headers = reader
        .headers()
        .map_err(|error| unreadable(&error))?
        .clone();
    let columns = columns(&headers, findings);
    let mut cases = Vec::new();
    let mut row = StringRecord::new();
    while reader
        .read_record(&mut row)
        .map_err(|error| unreadable(&error))?
    {
        let place = place(row.position());
        cases.push(case(&columns, &row, place, findings));
    }
    if let Some(first) = cases.first()
        && !columns
            .iter()
            .any(|column| matches!(column, Column::Expected(_)))
    {
        findings.warning(
            first.place,
            "no column is called `__expected`, so nothing judges the outputs",
        );
    }
    Ok(Written {
        cases,
        ..Written::default()
    })
}

fn columns(headers: &StringRecord, findings: &mut Findings) -> Vec<Column> {
    let mut seen: Vec<&str> = Vec::new();
    let mut columns = Vec::new();
    for header in headers {
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
        .any(|column| matches!(column, Column::Input(_)))
    {
        findings.error(
            Place::START,
            "no column holds inputs; every column whose name does not begin with `__` does",
        );
    }
    columns
}

fn column(header: &str, findings: &mut Findings) -> Column {
    let Some(name) = header.strip_prefix("__") else {
        return Column::Input(header.to_owned());
    };
    let is_expected = name
        .strip_prefix("expected")
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_expected {
        return Column::Expected(header.to_owned());
    }
    if let Some(key) = name.strip_prefix("metadata:") {
        return Column::Metadata(key.to_owned());
    }
    if name == "description" {
        return Column::Name;
    }
    let near = nearest::did_you_mean(nearest::all(
        header,
        ["__expected", "__description", "__metadata:"],
    ));
    findings.error(
        Place::START,
        format!("the column `{header}` of promptfoo is not understood{near}; understood are `__expected`, `__expected1` …, `__description` and `__metadata:KEY`"),
    );
    Column::Ignored
}

fn case(
    columns: &[Column],
    row: &StringRecord,
    place: Place,
    findings: &mut Findings,
) -> WrittenCase {
    let mut case = WrittenCase::new(place);
    let mut inputs = Map::new();
    let mut metadata = Map::new();
    for (column, cell) in columns.iter().zip(row) {
        match column {
            Column::Input(name) => {
                inputs.insert(name.clone(), cell.into());
            }
            Column::Expected(name) => match checks(cell.trim()) {
                Ok(specs) => case
                    .evaluators
                    .extend(specs.into_iter().map(|spec| written(spec, place))),
                Err(reason) => findings.error(place, format!("column `{name}`: {reason}")),
            },
            Column::Name if !cell.is_empty() => case.name = Some(cell.to_owned()),
            Column::Metadata(key) if !cell.is_empty() => {
                let (key, value) = match key.strip_suffix("[]") {
                    Some(key) => (key, Value::from(parts(cell))),
                    None => (key.as_str(), Value::from(cell)),
                };
                metadata.insert(key.to_owned(), value);
            }
            Column::Name | Column::Metadata(_) | Column::Ignored => {}
        }
    }
    case.inputs = Value::Object(inputs);
    if !metadata.is_empty() {
        case.metadata = Value::Object(metadata);
    }
    case
}

fn written(spec: EvaluatorSpec, place: Place) -> WrittenSpec {
    WrittenSpec {
        spec,
        place,
        form: Form::Short,
        arguments: Vec::new(),
    }
}

/// The evaluators that a cell means.
fn checks(cell: &str) -> Result<Vec<EvaluatorSpec>, String> {
    if cell.is_empty() {
        return Ok(Vec::new());
    }
    let (kind, argument) = match cell.split_once(':') {
        Some((kind, argument)) => (kind.trim(), argument.trim()),
        None => (cell, ""),
    };
    let positional =
        |name: &str, argument: &str| vec![spec(name, SpecArguments::Positional([argument.into()]))];
    let is_list = kind.ends_with("-all") || kind.ends_with("-any");
    let ignoring_case = |argument: &str| {
        named(
            "Contains",
            &json!({"value": argument, "case_sensitive": false}),
        )
    };
    let is_empty = argument.is_empty() || (is_list && parts(argument).is_empty());
    if kind != cell && is_empty && is_understood(kind) {
        return Err(format!("nothing follows `{kind}:`"));
    }
    Ok(match kind {
        _ if kind == cell && is_understood(kind) => {
            return Err(format!(
                "`{kind}` needs a colon and a text after it; write `equals: {kind}` for the text itself"
            ));
        }
        "equals" => positional("Equals", argument),
        "contains" => positional("Contains", argument),
        "icontains" => vec![ignoring_case(argument)],
        "contains-all" => parts(argument)
            .iter()
            .flat_map(|part| positional("Contains", part))
            .collect(),
        "icontains-all" => parts(argument)
            .iter()
            .map(|part| ignoring_case(part))
            .collect(),
        "contains-any" => positional("Regex", &any_of(argument)),
        "icontains-any" => vec![named(
            "Regex",
            &json!({"pattern": any_of(argument), "flags": "i"}),
        )],
        "starts-with" => positional("Regex", &format!("^{}", literal(argument))),
        "regex" => positional("Regex", argument),
        "llm-rubric" | "grade" => positional("LLMJudge", argument),
        _ if is_known(kind) => {
            return Err(format!(
                "`{kind}` of promptfoo is not understood; understood are a plain text and {UNDERSTOOD}; for the text itself write `equals: {kind}…`"
            ));
        }
        _ => positional("Equals", cell),
    })
}

fn is_understood(kind: &str) -> bool {
    UNDERSTOOD.contains(&format!("`{kind}:`"))
}

/// Whether promptfoo has a check of this name, negated or with a threshold in brackets too.
fn is_known(kind: &str) -> bool {
    let name = kind.split_once('(').map_or(kind, |(name, _)| name).trim();
    let bare = name.strip_prefix("not-").unwrap_or(name);
    NOT_UNDERSTOOD.contains(&bare) || is_understood(bare)
}

/// The parts of a list, as promptfoo separates them.
fn parts(text: &str) -> Vec<String> {
    text.split(',')
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect()
}

/// A pattern that matches every part of a list.
fn any_of(list: &str) -> String {
    let parts: Vec<String> = parts(list).iter().map(|part| literal(part)).collect();
    parts.join("|")
}

/// A pattern that matches a text and nothing else.
fn literal(text: &str) -> String {
    text.chars().fold(String::new(), |mut pattern, character| {
        if r"\.+*?()|[]{}^$".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
        pattern
    })
}

fn spec(name: &str, arguments: SpecArguments) -> EvaluatorSpec {
    let name = name.to_owned();
    EvaluatorSpec { name, arguments }
}

fn named(name: &str, arguments: &Value) -> EvaluatorSpec {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    spec(name, SpecArguments::Named(arguments))
}

fn place(position: Option<&csv::Position>) -> Place {
    let line = position.map_or(1, csv::Position::line);
    Place { line, column: 1 }
}

fn unreadable(error: &csv::Error) -> Problem {
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("the row has {len} cells, and the first line {expected_len}")
        }
        _ => error.to_string(),
    };
    Problem::new(place(error.position()), message)
}
