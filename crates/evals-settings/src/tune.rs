//! The section `tune:`: which settings `evaluations tune` tries, and what it looks for.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What `evaluations tune` tries; see `docs/tune.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tune {
    /// The measure to improve: a rank measure such as `nDCG@10`, or a measure of answers.
    pub objective: String,
    /// The settings to try, by dotted key: a list of values, or `{from: 0.1, to: 0.9}` for numbers in between.
    pub space: BTreeMap<String, Knob>,
    /// What the chosen settings may take: `latency.mean` or `latency.p95` (of any percentile) as `300ms` or in seconds, and
    /// `cost_per_question` in USD.
    pub limits: BTreeMap<String, Amount>,
    /// When the search ends early.
    pub budget: TuneBudget,
    /// The share of the questions that the search does not see.
    pub holdout: f64,
    /// Most settings that are tried. A larger space is sampled.
    pub trials: NonZeroUsize,
}

impl Default for Tune {
    fn default() -> Self {
        Self {
            objective: "nDCG@10".to_owned(),
            space: BTreeMap::new(),
            limits: BTreeMap::new(),
            budget: TuneBudget::default(),
            holdout: 1.0 / 3.0,
            trials: NonZeroUsize::new(64).expect("64 is not 0"),
        }
    }
}

/// When a search ends early. The held-out questions are asked in any case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TuneBudget {
    /// What the calls of models may cost, in USD; needs `prices`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// How long the search may take, such as `30m`, or in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Amount>,
}

/// The values of one setting that are tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Knob {
    /// Each of these.
    Values(Vec<Value>),
    /// Numbers between two bounds; whole ones if both bounds are.
    Range {
        /// The least.
        from: f64,
        /// The greatest.
        to: f64,
        /// Whether only whole numbers are tried.
        whole: bool,
    },
}

impl Knob {
    /// The values of a list.
    pub fn values(&self) -> Option<&[Value]> {
        match self {
            Self::Values(values) => Some(values),
            Self::Range { .. } => None,
        }
    }
}

impl JsonSchema for Knob {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Knob".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A list of values, or `{from: A, to: B}` for numbers in between.",
            "anyOf": [{"type": "array"}, {
                "type": "object",
                "properties": {"from": {"type": "number"}, "to": {"type": "number"}},
                "required": ["from", "to"]
            }]
        })
    }
}

impl TryFrom<Value> for Knob {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let form = "write a list of values, or `{from: A, to: B}` with two numbers";
        match value {
            Value::Array(values) => Ok(Self::Values(values)),
            Value::Object(bounds) => {
                if let Some(unknown) = bounds.keys().find(|key| *key != "from" && *key != "to") {
                    return Err(format!("a range has no `{unknown}`: {form}"));
                }
                let bound = |name| bounds.get(name).filter(|it| it.is_number());
                let (Some(from), Some(to)) = (bound("from"), bound("to")) else {
                    return Err(format!("a range needs `from` and `to`: {form}"));
                };
                Ok(Self::Range {
                    from: from.as_f64().unwrap_or_default(),
                    to: to.as_f64().unwrap_or_default(),
                    whole: !from.is_f64() && !to.is_f64(),
                })
            }
            other => Err(format!("`{other}` is one value: {form}")),
        }
    }
}

impl From<Knob> for Value {
    fn from(knob: Knob) -> Self {
        match knob {
            Knob::Values(values) => Self::Array(values),
            Knob::Range { from, to, whole } => {
                #[expect(clippy::cast_possible_truncation, reason = "a whole bound")]
                let bound = |it: f64| if whole { (it as i64).into() } else { it.into() };
                let bounds = [("from", bound(from)), ("to", bound(to))];
                let bounds: Vec<(String, Self)> =
                    bounds.map(|(name, it)| (name.to_owned(), it)).into();
                Self::Object(bounds.into_iter().collect())
            }
        }
    }
}

/// A number, or a time with its unit: `300ms`, `2s`, `30m` or `1h`. Times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Amount(pub f64);

impl JsonSchema for Amount {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": ["number", "string"]})
    }
}

impl TryFrom<Value> for Amount {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let amount = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => seconds(text.trim()),
            _ => None,
        };
        let amount = amount.filter(|it| it.is_finite() && *it > 0.0);
        amount.map(Self).ok_or_else(|| {
            format!("`{value}` is no amount above 0: write a number, or a time such as `300ms`, `2s`, `30m` or `1h`")
        })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

fn seconds(text: &str) -> Option<f64> {
    let units = [
        ("ms", 0.001),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
        ("", 1.0),
    ];
    units.iter().find_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some(number * factor)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_knob_is_a_list_or_a_range() {
        let knob =
            |value: Value| serde_json::from_value::<Knob>(value).map_err(|it| it.to_string());
        assert_eq!(
            knob(json!([1, "a"])).unwrap(),
            Knob::Values(vec![json!(1), json!("a")])
        );
        for (value, whole) in [
            (json!({"from": 1, "to": 9}), true),
            (json!({"from": 0.1, "to": 9}), false),
        ] {
            let range = knob(value.clone()).unwrap();
            assert!(matches!(range, Knob::Range { whole: it, .. } if it == whole));
            assert_eq!(
                Value::from(range),
                if whole {
                    value
                } else {
                    json!({"from": 0.1, "to": 9.0})
                }
            );
        }
        assert!(
            knob(json!({"from": 1}))
                .unwrap_err()
                .contains("needs `from` and `to`")
        );
        assert!(
            knob(json!({"from": 1, "too": 2}))
                .unwrap_err()
                .contains("no `too`")
        );
        assert!(knob(json!(3)).unwrap_err().contains("`3` is one value"));
    }

    #[test]
    fn amounts_of_time_may_have_a_unit() {
        let amount = |value: Value| serde_json::from_value::<Amount>(value).map(|it| it.0);
        assert!((amount(json!("300ms")).unwrap() - 0.3).abs() < 1e-12);
        assert!((amount(json!("30m")).unwrap() - 1800.0).abs() < 1e-12);
        assert!((amount(json!(0.002)).unwrap() - 0.002).abs() < 1e-12);
        for bad in [
            json!("fast"),
            json!(0),
            json!("-1s"),
            json!(null),
            json!("1e999"),
        ] {
            amount(bad).unwrap_err();
        }
    }
}
