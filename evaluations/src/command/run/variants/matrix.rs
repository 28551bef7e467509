//! The combinations of settings that one command runs.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use evals_messages::quantity;

use crate::redaction;
use crate::settings::{Layer, Resolved, Tree};
use evals_pipeline::options::{RunArgs, VariantArgs};
use evals_pipeline::tune::short_name;

/// Most variants of a command: more do not fit into a table, and take longer than a user expects.
const MOST: usize = 20;

/// One combination of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::command::run) struct Variant {
    /// The settings that differ between variants, such as `chunk_size=64,limit=3`. It is the name of the variant's runs.
    pub(super) title: String,
    /// Each setting as `KEY=VALUE`.
    assignments: Vec<String>,
}

/// A setting with the values to try.
#[derive(Debug, PartialEq, Eq)]
struct Axis {
    key: String,
    values: Vec<String>,
}

/// The variants of `--set-each`, or else of the setting `matrix`; `None` without either.
pub(in crate::command::run) fn of(
    arguments: &RunArgs,
    resolved: &Resolved,
) -> Result<Option<Vec<Variant>>> {
    let axes = if arguments.variants.each.is_empty() {
        of_settings(resolved)?
    } else {
        let each = arguments.variants.each.iter();
        each.map(|it| Axis::parse(it)).collect::<Result<_>>()?
    };
    if axes.is_empty() {
        return Ok(None);
    }
    for (place, axis) in axes.iter().enumerate() {
        axis.check()?;
        if axes[..place].iter().any(|it| it.key == axis.key) {
            bail!(
                "`--set-each {}` is there twice; list all values in one option",
                axis.key
            );
        }
        let is_set = |it: &&String| it.split('=').next() == Some(axis.key.as_str());
        if let Some(set) = arguments.settings.assignments.iter().find(is_set) {
            bail!(
                "`--set {}` and `--set-each {}=…` set the same key; leave one of them out",
                redaction::argument(set),
                axis.key
            );
        }
    }
    let count = axes
        .iter()
        .try_fold(1_usize, |count, axis| count.checked_mul(axis.values.len()));
    if count.is_none_or(|count| count > MOST) {
        let sizes: Vec<String> = axes.iter().map(|it| it.values.len().to_string()).collect();
        bail!(
            "{} values make more than {}; run fewer values in one command, and `evaluations compare` the runs of several",
            sizes.join(" × "),
            quantity::of(MOST, "variant")
        );
    }
    Ok(Some(product(&axes, arguments.control.name.as_deref())))
}

/// The axes of the settings file.
fn of_settings(resolved: &Resolved) -> Result<Vec<Axis>> {
    let axes = resolved.settings.matrix.iter();
    let axes = axes.map(|(key, values)| {
        if values.is_empty() {
            bail!("the setting `matrix` has no values for `{key}`");
        }
        let values = values.iter().map(|value| match value.as_str() {
            Some(text) => text.to_owned(),
            // JSON is YAML.
            None => value.to_string(),
        });
        Ok(Axis {
            key: key.clone(),
            values: values.collect(),
        })
    });
    axes.collect()
}

impl Axis {
    fn parse(argument: &str) -> Result<Self> {
        let shown = redaction::argument(argument);
        let Some((key, text)) = argument.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            bail!(
                "`--set-each {shown}` is not of the form KEY=A,B,…, e.g. `--set-each processing.chunk_size=64,128`"
            );
        };
        let values: Vec<String> = split(text)
            .into_iter()
            .map(|it| it.trim().to_owned())
            .collect();
        if values.iter().any(String::is_empty) {
            bail!("`--set-each {shown}`: a value is empty; write `''` for an empty text");
        }
        Ok(Self {
            key: key.to_owned(),
            values,
        })
    }

    /// Refuses an unknown key, a value that is not YAML, and a value that is there twice.
    fn check(&self) -> Result<()> {
        let mut seen = BTreeSet::new();
        for value in &self.values {
            let argument = format!("{}={value}", self.key);
            let Ok(tree) = Tree::parse(value) else {
                bail!(
                    "`--set-each {}`: the value is not valid YAML",
                    redaction::argument(&argument)
                );
            };
            Layer::assigned_by("--set-each", std::slice::from_ref(&argument))?;
            if !seen.insert(tree.to_value().to_string()) {
                bail!(
                    "`--set-each {}`: the value is there twice",
                    redaction::argument(&argument)
                );
            }
        }
        Ok(())
    }
}

/// Splits values at commas outside of brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let mut values = Vec::new();
    let (mut depth, mut quote, mut start) = (0_usize, None, 0);
    for (place, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                values.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    values.push(&text[start..]);
    values
}

/// Every combination; the last axis varies fastest.
fn product(axes: &[Axis], name: Option<&str>) -> Vec<Variant> {
    let mut variants = vec![(Vec::new(), Vec::new())];
    for axis in axes {
        let keys: Vec<&str> = axes.iter().map(|it| it.key.as_str()).collect();
        let label = short_name(&axis.key, &keys);
        variants = variants
            .iter()
            .flat_map(|(titles, assignments): &(Vec<String>, Vec<String>)| {
                axis.values.iter().map(|value| {
                    let title = redaction::argument(&format!("{label}={value}"));
                    let assignment = format!("{}={value}", axis.key);
                    let with = |list: &[String], last: String| {
                        list.iter().cloned().chain([last]).collect::<Vec<_>>()
                    };
                    (with(titles, title), with(assignments, assignment))
                })
            })
            .collect();
    }
    let variants = variants.into_iter().map(|(titles, assignments)| Variant {
        title: name
            .map(str::to_owned)
            .into_iter()
            .chain(titles)
            .collect::<Vec<_>>()
            .join(","),
        assignments,
    });
    variants.collect()
}

impl Variant {
    /// The command line of this variant alone. Its results are compared with those of the others, and not printed or written.
    pub(super) fn arguments(&self, all: &RunArgs) -> RunArgs {
        let mut own = all.clone();
        own.settings
            .assignments
            .extend(self.assignments.iter().cloned());
        own.control.name = Some(self.title.clone());
        own.results.out.clear();
        own.variants = VariantArgs::default();
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(options: &[&str]) -> Vec<String> {
        let axes: Vec<Axis> = options.iter().map(|it| Axis::parse(it).unwrap()).collect();
        let variants = product(&axes, None);
        variants.into_iter().map(|it| it.title).collect()
    }

    #[test]
    fn a_title_names_only_what_differs() {
        assert_eq!(
            titles(&["processing.chunk_size=64,128", "search.limit=3,5"]),
            [
                "chunk_size=64,limit=3",
                "chunk_size=64,limit=5",
                "chunk_size=128,limit=3",
                "chunk_size=128,limit=5"
            ]
        );
        assert_eq!(
            titles(&["embeddings.model=ollama:a,embedded:b"]),
            ["embeddings=ollama:a", "embeddings=embedded:b"]
        );
        assert_eq!(
            titles(&["a.limit=1", "b.limit=2"]),
            ["a.limit=1,b.limit=2"],
            "the last part alone would name both"
        );
    }

    #[test]
    fn commas_in_brackets_and_quotes_belong_to_a_value() {
        assert_eq!(split("a,b"), ["a", "b"]);
        assert_eq!(
            split("{x: 1, y: [2, 3]},'a,b',null"),
            ["{x: 1, y: [2, 3]}", "'a,b'", "null"]
        );
        assert_eq!(split("a"), ["a"]);
    }

    #[test]
    fn bad_options_are_refused() {
        let parsed = |text: &str| Axis::parse(text).unwrap_err().to_string();
        assert!(parsed("chunk_size").contains("is not of the form KEY=A,B,…"));
        assert!(parsed("search.limit=1,,2").contains("a value is empty"));
        let checked = |text: &str| Axis::parse(text).unwrap().check().unwrap_err().to_string();
        assert_eq!(
            checked("procesing.chunk_size=64,128"),
            "`--set-each procesing.chunk_size=…`: unknown setting `procesing`; did you mean `processing`?"
        );
        assert_eq!(
            checked("search.limit=5,5"),
            "`--set-each search.limit=5`: the value is there twice"
        );
        assert!(
            Axis::parse("processing.chunk_size=64,null")
                .unwrap()
                .check()
                .is_ok()
        );
    }
}
