//! The parts of `OpenAI`'s protocol that a server takes, learned from what it refuses.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::classify::Refusal;
use crate::settings::MaxTokensField;

/// A part of requests that the server refused, and that later requests leave out or replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Concession {
    /// The budget is sent under its other name.
    MaxTokensField,
    /// The temperature is not sent.
    Temperature,
    /// The seed is not sent.
    Seed,
    /// The reasoning effort is not sent.
    ReasoningEffort,
    /// The schema is sent beside `json_object`. Some servers take it there, others ignore it.
    SchemaInObject,
    /// Replies have to be JSON, but not to follow their schema.
    JsonObject,
    /// Replies may have any format.
    AnyFormat,
}

impl fmt::Display for Concession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::MaxTokensField => "the token budget is sent under its other name (`max_tokens`, `max_completion_tokens`)",
            Self::Temperature => "the server takes no temperature",
            Self::Seed => "the server takes no seed",
            Self::ReasoningEffort => "the server takes no reasoning effort",
            Self::SchemaInObject => {
                "the reply schema is sent beside `json_object`, where the server may ignore it"
            }
            Self::JsonObject => "the server enforces JSON replies, but no schema",
            Self::AnyFormat => "the server enforces no reply format",
        })
    }
}

/// The parts of the protocol that a server takes, as far as its refusals have shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Whether the token budget is sent as `max_completion_tokens` at first.
    completion_tokens: bool,
    /// Whether the user set the field of the budget, so that it may not change.
    field_is_set: bool,
    conceded: BTreeSet<Concession>,
}

/// How a server can hold replies to a format, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaFormat {
    /// `json_schema`, as `OpenAI` has it.
    Schema,
    /// `json_object` with the schema beside it, as `llama-cpp-python` has it.
    SchemaInObject,
    JsonObject,
    /// Not at all.
    Free,
}

impl Dialect {
    /// The dialect that a model probably takes, by its name.
    pub(super) fn guess(model: &str, field: MaxTokensField) -> Self {
        Self {
            completion_tokens: match field {
                MaxTokensField::MaxCompletionTokens => true,
                MaxTokensField::Auto => reasons(model),
                MaxTokensField::MaxTokens => false,
            },
            field_is_set: field != MaxTokensField::Auto,
            conceded: BTreeSet::new(),
        }
    }

    /// Whether the server takes a part of requests, as far as it is known.
    pub(super) fn takes(&self, part: Concession) -> bool {
        !self.conceded.contains(&part)
    }

    /// The field that holds the token budget of a reply.
    pub(super) fn budget_field(&self) -> &'static str {
        let is_renamed = !self.takes(Concession::MaxTokensField);
        if self.completion_tokens == is_renamed {
            "max_tokens"
        } else {
            "max_completion_tokens"
        }
    }

    pub(super) fn format(&self) -> SchemaFormat {
        match self.conceded.last() {
            Some(Concession::AnyFormat) => SchemaFormat::Free,
            Some(Concession::JsonObject) => SchemaFormat::JsonObject,
            Some(Concession::SchemaInObject) => SchemaFormat::SchemaInObject,
            _ => SchemaFormat::Schema,
        }
    }

    /// The part that the server refused. `None` where the refusal is about something else, or this dialect leaves that part out.
    pub(super) fn concede(&self, refusal: &Refusal) -> Option<Concession> {
        if !matches!(refusal.stands_for, 400 | 422) {
            return None;
        }
        let about_format = ["response_format", "json_schema", "json_object"];
        let is_about_format = about_format
            .into_iter()
            .any(|field| refusal.body.is_about(field));
        let unsupported = speaks_of_support(refusal);
        // The names are words of prose, too, so the message has to name them as fields.
        let refused = |field: &str| unsupported && refusal.body.names(field);
        let looser = match self.format() {
            SchemaFormat::Schema if is_about_format => Some(Concession::SchemaInObject),
            SchemaFormat::SchemaInObject if is_about_format || refused("schema") => {
                Some(Concession::JsonObject)
            }
            SchemaFormat::JsonObject if is_about_format => Some(Concession::AnyFormat),
            _ => None,
        };
        // An unknown level is an error of the settings, not an unknown field.
        let level = refusal.body.is_any(&["unsupported_value", "invalid_value"]);
        let field = (self.budget_field(), !self.field_is_set);
        let fields = [
            (Concession::MaxTokensField, field),
            (Concession::Temperature, ("temperature", true)),
            (Concession::ReasoningEffort, ("reasoning_effort", !level)),
            (Concession::Seed, ("seed", true)),
        ];
        looser.or_else(|| {
            let mut fields = fields.into_iter();
            let found = fields
                .find(|(part, (field, may_go))| *may_go && self.takes(*part) && refused(field));
            found.map(|(part, _)| part)
        })
    }
}

/// The dialect of one model as learned so far, shared by all requests to it.
#[derive(Debug)]
pub(super) struct LearnedDialect(Mutex<Dialect>);

impl LearnedDialect {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self(Mutex::new(dialect))
    }

    pub(super) fn current(&self) -> Dialect {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// All concessions so far, in the order of [`Concession`].
    pub(super) fn concessions(&self) -> Vec<Concession> {
        self.current().conceded.into_iter().collect()
    }

    /// Adds a concession. Two requests under way at once may make different ones.
    pub(super) fn record(&self, concession: Concession) {
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned.conceded.insert(concession);
    }
}

/// Whether a model's name is that of one of `OpenAI`'s reasoning models: `o3-mini`, `gpt-5`, `openai/gpt-5.2-chat`.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    ["o1", "o3", "o4", "gpt-5"].iter().any(|family| {
        let rest = name.strip_prefix(family);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', ':']))
    })
}

/// Whether a refusal says that the server does not know a field, and not that it refuses the field's value.
fn speaks_of_support(refusal: &Refusal) -> bool {
    let phrases = [
        "unsupported",
        "not support",
        "unknown",
        "unrecognized",
        "unexpected",
        "not permitted",
        "not allowed",
        "not available",
        "extra inputs",
        "extra fields",
    ];
    refusal.body.says_any(&phrases)
        || refusal.body.is_any(&[
            "unsupported_parameter",
            "unsupported_value",
            "unknown_parameter",
        ])
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use reqwest::header::HeaderMap;

    use super::*;
    use crate::classify::classify;

    fn refused(message: &str) -> Refusal {
        let body = format!(r#"{{"error":{{"message":"{message}"}}}}"#);
        classify(
            400,
            &HeaderMap::new(),
            body.as_bytes(),
            SystemTime::UNIX_EPOCH,
        )
    }

    /// The dialect without the part that a refusal is about.
    fn without(dialect: Dialect, refusal: &Refusal, expected: Concession) -> Dialect {
        assert_eq!(dialect.concede(refusal), Some(expected));
        let learned = LearnedDialect::new(dialect);
        learned.record(expected);
        learned.current()
    }

    #[test]
    fn reasoning_models_are_known_by_name() {
        let field = |model| Dialect::guess(model, MaxTokensField::Auto).budget_field();
        for model in [
            "o1",
            "o3-mini",
            "o4-mini-2025-04-16",
            "gpt-5",
            "openai/gpt-5.2",
        ] {
            assert_eq!(field(model), "max_completion_tokens", "{model}");
        }
        for model in ["gpt-4o", "gpt-50", "o10", "qwen3:8b", "meta/o-llama"] {
            assert_eq!(field(model), "max_tokens", "{model}");
        }
    }

    #[test]
    fn the_budget_changes_its_name_once() {
        let refusal = refused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        );
        let dialect = Dialect::guess("gpt-next", MaxTokensField::Auto);
        let dialect = without(dialect, &refusal, Concession::MaxTokensField);
        assert_eq!(dialect.budget_field(), "max_completion_tokens");
        assert_eq!(dialect.concede(&refusal), None);
        let set = Dialect::guess("gpt-next", MaxTokensField::MaxTokens);
        assert_eq!(set.concede(&refusal), None);
    }

    #[test]
    fn a_budget_that_is_too_large_keeps_its_name() {
        let refusal = refused("max_tokens is too large: 99999");
        let dialect = Dialect::guess("gpt-4o", MaxTokensField::Auto);
        assert_eq!(dialect.concede(&refusal), None);
    }

    #[test]
    fn only_a_field_that_is_named_and_not_supported_is_given_up() {
        let dialect = Dialect::guess("gpt-4o", MaxTokensField::Auto);
        for message in [
            "max_tokens is too large: 99999. This model supports at most 16384 completion tokens",
            "Input about the temperature of stars is not supported",
            "'temperature' must be less than or equal to 2",
            "this model has no seed and does not support tools",
        ] {
            assert_eq!(dialect.concede(&refused(message)), None, "{message}");
        }
        let body = br#"{"error":{"message":"This value does not support 0.3","param":"temperature","code":"unsupported_value"}}"#;
        let refusal = classify(400, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);
        assert_eq!(dialect.concede(&refusal), Some(Concession::Temperature));
    }

    #[test]
    fn formats_loosen_step_by_step() {
        let refusal = refused("'response_format.type' must be 'text'");
        let dialect = Dialect::guess("llama", MaxTokensField::Auto);
        let dialect = without(dialect, &refusal, Concession::SchemaInObject);
        let unknown = refused("body.response_format.schema: Extra inputs are not permitted");
        let dialect = without(dialect, &unknown, Concession::JsonObject);
        let dialect = without(dialect, &refusal, Concession::AnyFormat);
        assert_eq!(dialect.format(), SchemaFormat::Free);
        assert_eq!(dialect.concede(&refusal), None);
    }

    #[test]
    fn an_effort_that_a_server_does_not_take_is_left_out_and_a_wrong_level_is_not() {
        let dialect = Dialect::guess("gpt-4o", MaxTokensField::Auto);
        let refusal = refused("Unrecognized request argument supplied: reasoning_effort");
        let conceded = without(dialect.clone(), &refusal, Concession::ReasoningEffort);
        assert_eq!(conceded.concede(&refusal), None);
        let body = br#"{"error":{"message":"This value does not support xhigh","param":"reasoning_effort","code":"unsupported_value"}}"#;
        let level = classify(400, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);
        assert_eq!(dialect.concede(&level), None);
    }

    #[test]
    fn concessions_of_requests_under_way_together_add_up() {
        let learned = LearnedDialect::new(Dialect::guess("llama", MaxTokensField::Auto));
        let start = learned.current();
        for message in ["temperature is not supported", "seed is not supported"] {
            let concession = start.concede(&refused(message)).unwrap();
            learned.record(concession);
            learned.record(concession);
        }
        assert_eq!(
            learned.concessions(),
            [Concession::Temperature, Concession::Seed]
        );
    }
}
