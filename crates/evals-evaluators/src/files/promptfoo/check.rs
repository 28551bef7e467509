//! A check: the evaluators that a cell of `__expected` means.

use evals::{EvaluatorSpec, SpecArguments};
use evals_yaml::{Document, yaml11};
use serde_json::{Map, Value, json};

use super::kinds::{UNDERSTOOD, is_known, is_understood, nearest_evaluator};

/// A check as it is written: `not-KIND(THRESHOLD): ARGUMENT`.
#[derive(Debug)]
struct PromptfooCheck<'c> {
    /// What stands before the colon.
    head: &'c str,
    negated: bool,
    kind: &'c str,
    threshold: Option<&'c str>,
    /// What follows the colon, without white space around it.
    argument: Option<&'c str>,
}

/// The evaluators that a cell means.
pub(super) fn read(cell: &str) -> Result<Vec<EvaluatorSpec>, String> {
    if cell.is_empty() {
        return Ok(Vec::new());
    }
    let Some(check) = PromptfooCheck::parse(cell)? else {
        return Ok(vec![positional("Equals", cell)]);
    };
    let specs = check.specs()?;
    Ok(if check.negated {
        specs.iter().map(not).collect()
    } else {
        specs
    })
}

impl<'c> PromptfooCheck<'c> {
    /// `None` for a text that begins like no check of promptfoo.
    fn parse(cell: &'c str) -> Result<Option<Self>, String> {
        let (head, argument) = match cell.split_once(':') {
            Some((head, argument)) => (head.trim(), Some(argument.trim())),
            None => (cell, None),
        };
        let (name, threshold) = match head.split_once('(') {
            Some((name, rest)) => (name.trim(), Some(rest)),
            None => (head, None),
        };
        let negated = name.strip_prefix("not-");
        let kind = negated.unwrap_or(name);
        if !is_known(kind) {
            return Ok(None);
        }
        let threshold = match threshold {
            None => None,
            Some(rest) => match rest.strip_suffix(')') {
                Some(threshold) => Some(threshold.trim()),
                // A remark in brackets, in the middle of a text.
                None if rest.contains(')') => return Ok(None),
                None => {
                    return Err(format!(
                        "no `)` closes the bracket after `{name}`; for the text itself write `equals: {head}…`"
                    ));
                }
            },
        };
        Ok(Some(Self {
            head,
            negated: negated.is_some(),
            kind,
            threshold,
            argument,
        }))
    }

    fn specs(&self) -> Result<Vec<EvaluatorSpec>, String> {
        let kind = self.kind;
        if !is_understood(kind) {
            return Err(self.not_understood());
        }
        if kind == "latency" {
            return Ok(vec![self.latency()?]);
        }
        if let Some(threshold) = self.threshold {
            return Err(format!(
                "`{kind}` takes no threshold, and `({threshold})` would have no effect; write `{kind}: …`"
            ));
        }
        if matches!(kind, "is-json" | "contains-json") {
            let schema = schema(kind, self.argument.unwrap_or_default())?;
            let parse = if kind == "is-json" {
                json!(true)
            } else {
                json!("inside")
            };
            let arguments = json!({"schema": schema, "parse": parse});
            return Ok(vec![named("JsonSchema", arguments)]);
        }
        let argument = self.text()?;
        Ok(match kind {
            "equals" => vec![positional("Equals", argument)],
            "contains" => vec![positional("Contains", argument)],
            "icontains" => vec![ignoring_case(argument)],
            "contains-all" | "icontains-all" if self.negated => {
                vec![regex(&all_of(argument), kind.starts_with('i'))]
            }
            "contains-all" => parts(argument)
                .iter()
                .map(|part| positional("Contains", part.as_str()))
                .collect(),
            "icontains-all" => parts(argument)
                .iter()
                .map(|part| ignoring_case(part))
                .collect(),
            "contains-any" | "icontains-any" => {
                vec![regex(&any_of(argument), kind.starts_with('i'))]
            }
            "starts-with" => vec![regex(&format!("^{}", literal(argument)), false)],
            "ends-with" => vec![regex(&format!(r"{}\Z", literal(argument)), false)],
            "regex" => vec![regex(argument, false)],
            _ => vec![positional("LLMJudge", argument)],
        })
    }

    /// The text after the colon.
    fn text(&self) -> Result<&'c str, String> {
        let Self { kind, .. } = self;
        let not = if self.negated { "not-" } else { "" };
        let Some(argument) = self.argument else {
            return Err(format!(
                "`{not}{kind}` needs a colon and a text after it; write `equals: {not}{kind}` for the text itself"
            ));
        };
        let is_list = kind.ends_with("-all") || kind.ends_with("-any");
        if argument.is_empty() || (is_list && parts(argument).is_empty()) {
            return Err(format!("nothing follows `{not}{kind}:`"));
        }
        Ok(argument)
    }

    /// The threshold is in milliseconds.
    fn latency(&self) -> Result<EvaluatorSpec, String> {
        if let Some(argument) = self.argument.filter(|argument| !argument.is_empty()) {
            return Err(format!(
                "`latency` takes its limit in brackets, and `{argument}` would have no effect; write `latency(2000)` for two seconds"
            ));
        }
        let milliseconds = self
            .threshold
            .and_then(|threshold| threshold.parse::<f64>().ok())
            .filter(|milliseconds| milliseconds.is_finite() && *milliseconds > 0.0);
        let milliseconds = milliseconds.ok_or_else(|| {
            "`latency` needs a limit in milliseconds; write `latency(2000)` for two seconds"
                .to_owned()
        })?;
        Ok(positional("MaxDuration", milliseconds / 1000.0))
    }

    fn not_understood(&self) -> String {
        let Self { kind, .. } = self;
        let nearest = nearest_evaluator(kind).map_or_else(String::new, |it| format!("; {it}"));
        format!(
            "`{kind}` of promptfoo is not understood{nearest}; understood are a plain text and `{}`, each also as `not-…`; for the \
             text itself write `equals: {}…`",
            UNDERSTOOD.join("`, `"),
            self.head
        )
    }
}

/// The schema after `is-json:`: JSON, YAML or a file of JSON; without one, any JSON is valid.
fn schema(kind: &str, written: &str) -> Result<Value, String> {
    if written.is_empty() {
        return Ok(true.into());
    }
    if let Some(path) = written.strip_prefix("file://") {
        if !path.to_ascii_lowercase().ends_with(".json") {
            return Err(format!(
                "`{kind}`: the schema `{path}` is not a JSON file by its name, and only JSON is read"
            ));
        }
        return Ok(path.into());
    }
    let read = yaml11::read(written).and_then(|Document { root, errors, .. }| {
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(root.to_value()),
        }
    });
    match read {
        Ok(schema @ (Value::Object(_) | Value::Bool(_))) => Ok(schema),
        Ok(_) => Err(format!(
            "`{kind}`: `{written}` is not a JSON Schema; it is a mapping, `true`, `false` or `file://PATH.json`"
        )),
        Err(error) => Err(format!(
            "`{kind}`: the schema cannot be read: {}",
            error.message
        )),
    }
}

/// The parts of a list, as promptfoo separates them.
pub(super) fn parts(text: &str) -> Vec<String> {
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

/// A pattern that matches texts with all parts of a list.
fn all_of(list: &str) -> String {
    let parts = parts(list);
    let ahead = parts
        .iter()
        .map(|part| format!(r"(?=[\s\S]*{})", literal(part)));
    format!(r"\A{}", ahead.collect::<String>())
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

fn regex(pattern: &str, ignores_case: bool) -> EvaluatorSpec {
    if ignores_case {
        named("Regex", json!({"pattern": pattern, "flags": "i"}))
    } else {
        positional("Regex", pattern)
    }
}

fn ignoring_case(text: &str) -> EvaluatorSpec {
    named("Contains", json!({"value": text, "case_sensitive": false}))
}

fn not(spec: &EvaluatorSpec) -> EvaluatorSpec {
    let EvaluatorSpec { name, arguments } = spec;
    let evaluator: Value = match arguments {
        SpecArguments::None => name.clone().into(),
        SpecArguments::Positional([argument]) => json!({ name: argument }),
        SpecArguments::Named(named) => json!({ name: named }),
    };
    named("Not", json!({ "evaluator": evaluator }))
}

fn positional(name: &str, argument: impl Into<Value>) -> EvaluatorSpec {
    let arguments = SpecArguments::Positional([argument.into()]);
    EvaluatorSpec {
        name: name.to_owned(),
        arguments,
    }
}

fn named(name: &str, arguments: Value) -> EvaluatorSpec {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    EvaluatorSpec {
        name: name.to_owned(),
        arguments: SpecArguments::Named(arguments),
    }
}
