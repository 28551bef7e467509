//! The rules of a gate in a YAML file.

use std::fmt;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use evals::{Allowance, GateBound, Rule};
use evals_guard::regular_file;
use evals_messages::nearest;
use evals_yaml::{Entry, Tree};
use serde_json::Value;

use crate::cli::{gate_quantity, least_kappa};

/// The largest file of rules that is read.
const LARGEST: u64 = 1_000_000;

/// The least kappa of judges with people.
const REQUIRED: &str = "require_calibrated_judge";

const KEYS: [&str; 8] = [
    "max_drop", "min", "max", "strict", "bound", "level", "allow", REQUIRED,
];
const BOUNDS: [(&str, GateBound); 3] = [
    ("point", GateBound::Point),
    ("pessimistic", GateBound::Pessimistic),
    ("optimistic", GateBound::Optimistic),
];

/// What a file of rules sets.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RulesFile {
    pub(super) rules: Vec<WrittenRule>,
    pub(super) strict: Option<bool>,
    pub(super) bound: Option<GateBound>,
    pub(super) level: Option<f64>,
    pub(super) allowed: Vec<Allowance>,
    pub(super) least_kappa: Option<f64>,
}

/// A rule with its place in the file, such as `gate.yaml:3`.
#[derive(Debug, PartialEq)]
pub(super) struct WrittenRule {
    pub(super) rule: Rule,
    pub(super) place: String,
}

/// A place in the file, for errors.
struct FileLine<'p> {
    path: &'p Path,
    line: Option<u64>,
}

impl fmt::Display for FileLine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        match self.line {
            Some(line) => write!(formatter, ":{line}"),
            None => Ok(()),
        }
    }
}

impl RulesFile {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = regular_file::read(path, LARGEST)?;
        let Ok(text) = String::from_utf8(bytes) else {
            bail!("`{}` is not UTF-8 text", path.display());
        };
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let tree = match Tree::parse(text) {
            Ok(tree) => tree,
            Err(error) => bail!(
                "{}:{}:{}: {error}",
                path.display(),
                error.line,
                error.column
            ),
        };
        let Tree::Mapping(entries) = tree else {
            bail!(
                "{}: rules are a mapping such as `max_drop: {{nDCG@10: 0.02}}`",
                path.display()
            );
        };
        let mut file = Self::default();
        for entry in &entries {
            let place = FileLine {
                path,
                line: entry.line,
            };
            file.set(entry, &place)?;
        }
        Ok(file)
    }

    fn set(&mut self, entry: &Entry, place: &FileLine<'_>) -> Result<()> {
        let value = entry.value.to_value();
        match entry.key.as_str() {
            "max_drop" => self.limits(entry, place, |measure, tolerance| Rule::MaxDrop {
                measure,
                tolerance,
            }),
            "min" => self.limits(entry, place, |measure, floor| Rule::Min { measure, floor }),
            "max" => self.limits(entry, place, |quantity, ceiling| Rule::Max {
                quantity,
                ceiling,
            }),
            "strict" => {
                let Some(strict) = value.as_bool() else {
                    bail!("{place}: `strict` is true or false");
                };
                self.strict = Some(strict);
                Ok(())
            }
            "bound" => {
                let words = BOUNDS.map(|(word, _)| word);
                let bound = BOUNDS.iter().find(|(word, _)| value == *word);
                let Some((_, bound)) = bound else {
                    bail!("{place}: `bound` is one of {}", words.join(", "));
                };
                self.bound = Some(*bound);
                Ok(())
            }
            "level" => {
                let Some(level) = value.as_f64() else {
                    bail!("{place}: `level` is a number such as 0.95");
                };
                self.level = Some(level);
                Ok(())
            }
            "allow" => self.allow(&value, place),
            REQUIRED => {
                let least = required(&value);
                let least = least.map_err(|why| anyhow!("{place}: `{REQUIRED}`: {why}"))?;
                self.least_kappa = Some(least);
                Ok(())
            }
            other => {
                let suggestion = nearest::did_you_mean(nearest::of(other, KEYS));
                bail!(
                    "{place}: unknown key `{other}`; known are {}{suggestion}",
                    KEYS.join(", ")
                )
            }
        }
    }

    fn limits(
        &mut self,
        entry: &Entry,
        place: &FileLine<'_>,
        rule: impl Fn(String, f64) -> Rule,
    ) -> Result<()> {
        let Tree::Mapping(limits) = &entry.value else {
            bail!("{place}: `{}` is a mapping of names to numbers", entry.key);
        };
        for limit in limits {
            let place = FileLine {
                path: place.path,
                line: limit.line,
            };
            let value = match limit.value.to_value() {
                Value::Number(number) => number.as_f64().ok_or_else(|| "too large".to_owned()),
                Value::String(text) => gate_quantity(&limit.key, &text),
                other => Err(format!("`{other}` is not a number, such as 0.02")),
            };
            match value {
                Ok(value) => self.rules.push(WrittenRule {
                    rule: rule(limit.key.clone(), value),
                    place: place.to_string(),
                }),
                Err(why) => bail!("{place}: bad limit of `{}`: {why}", limit.key),
            }
        }
        Ok(())
    }

    fn allow(&mut self, value: &Value, place: &FileLine<'_>) -> Result<()> {
        let words = Allowance::ALL.map(Allowance::word);
        let Value::Array(items) = value else {
            bail!("{place}: `allow` is a list of {}", words.join(", "));
        };
        for item in items {
            let known = Allowance::ALL.into_iter().find(|it| item == it.word());
            let Some(known) = known else {
                let written = item
                    .as_str()
                    .map_or_else(|| item.to_string(), str::to_owned);
                let suggestion = nearest::did_you_mean(nearest::of(&written, words));
                bail!(
                    "{place}: cannot allow `{written}`; known are {}{suggestion}",
                    words.join(", ")
                );
            };
            self.allowed.push(known);
        }
        Ok(())
    }
}

/// The least kappa, as the option writes it, or as a mapping.
fn required(value: &Value) -> Result<f64, String> {
    match value {
        Value::String(text) => least_kappa(text),
        Value::Object(entries) if entries.len() == 1 => {
            let written = entries
                .iter()
                .map(|(name, value)| format!("{name}={value}"));
            least_kappa(&written.collect::<String>())
        }
        other => least_kappa(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RulesFile> {
        RulesFile::parse(Path::new("gate.yaml"), text)
    }

    #[test]
    fn a_file_has_the_rules_of_the_options() {
        let text = "max_drop:\n  nDCG@10: 0.02\nmin: {accuracy: 0.8}\nmax:\n  latency.search.p95: 200ms\n  cost: 1\n\
                    strict: true\nbound: pessimistic\nlevel: 0.9\nallow: [changed-judge]\n";
        let found = parse(text).unwrap();
        let limits: Vec<(&str, &str, f64)> = found
            .rules
            .iter()
            .map(|WrittenRule { rule, .. }| (rule.kind(), rule.name(), rule.limit()))
            .collect();
        assert_eq!(
            limits,
            [
                ("max-drop", "nDCG@10", 0.02),
                ("min", "accuracy", 0.8),
                ("max", "latency.search.p95", 0.2),
                ("max", "cost", 1.0),
            ]
        );
        assert_eq!(found.rules[2].place, "gate.yaml:5");
        assert_eq!((found.strict, found.level), (Some(true), Some(0.9)));
        assert_eq!(found.bound, Some(GateBound::Pessimistic));
        assert_eq!(found.allowed, [Allowance::ChangedJudge]);
    }

    #[test]
    fn a_file_asks_for_a_calibrated_judge_as_the_option_does() {
        for text in ["κ=0.6", "{κ: 0.6}", "{kappa: 0.6}", "kappa=0.6"] {
            let file = parse(&format!("require_calibrated_judge: {text}\n")).unwrap();
            assert_eq!(
                (file.least_kappa, file.rules.len()),
                (Some(0.6), 0),
                "{text}"
            );
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, message) in [
            (
                "min: {a: 1}\nrequire_calibrated_judge: 0.6\n",
                "gate.yaml:2: `require_calibrated_judge`: `0.6` is not of the form `κ=0.6` or `kappa=0.6`",
            ),
            (
                "min: {a: 1}\nmax-drop: {a: 1}\n",
                "gate.yaml:2: unknown key `max-drop`; known are max_drop, min, max, strict, bound, level, allow, require_calibrated_judge; did you mean `max_drop`?",
            ),
            (
                "max_drop:\n  a: 0.1\n  b: 2%\n",
                "gate.yaml:3: bad limit of `b`: `2%` is not a number; write a share, such as 0.02 for two points of 100",
            ),
            (
                "max_drop: 0.02\n",
                "gate.yaml:1: `max_drop` is a mapping of names to numbers",
            ),
            (
                "allow: [changed-dataste]\n",
                "gate.yaml:1: cannot allow `changed-dataste`; known are changed-dataset, changed-judge, lower-coverage, \
                 missing-measure; did you mean `changed-dataset`?",
            ),
            (
                "- a\n",
                "gate.yaml: rules are a mapping such as `max_drop: {nDCG@10: 0.02}`",
            ),
            (
                "",
                "gate.yaml: rules are a mapping such as `max_drop: {nDCG@10: 0.02}`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
        let twice = parse("min: {a: 1}\nmin: {b: 1}\n").unwrap_err().to_string();
        assert!(
            twice.starts_with("gate.yaml:2:") && twice.contains("duplicate key"),
            "{twice}"
        );
    }
}

#[cfg(test)]
mod fuzz {
    use evals_fuzz::Target;

    use super::*;

    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

    #[test]
    fn a_file_of_rules_is_refused_by_name_or_read() {
        Target::new("gate-rules", CORPUS)
            .seed("max_drop: {nDCG@10: 0.02}\nmin:\n  accuracy: 0.8\nmax: {latency.p95: 200ms, cost: 1}\n")
            .seed("require_calibrated_judge: {κ: 0.6}\n")
            .seed("strict: true\nbound: pessimistic\nlevel: 0.9\nallow: [changed-judge, lower-coverage]\n")
            .dictionary(["~", "1e999", ".nan", "-1", "%", "ms", "s", ": ", "\n  ", "&a ", "*a", "[]", "{}", "allow: "])
            .run(|input| {
                let Ok(text) = std::str::from_utf8(input) else {
                    return;
                };
                match RulesFile::parse(Path::new("gate.yaml"), text) {
                    Ok(file) => assert!(file.rules.iter().all(|it| it.rule.limit().is_finite())),
                    Err(error) => assert!(error.to_string().starts_with("gate.yaml"), "{error}"),
                }
            });
    }
}
