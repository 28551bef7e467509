//! The parts of `OpenAI`'s protocol that a server takes, learned from what it refuses.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) budget_field: BudgetField,
    /// Whether `budget_field` may not change any more: it did already, or the user set it.
    field_is_final: bool,
    pub(super) takes: Takes,
    pub(super) format: Format,
}

/// The field that holds the token budget of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BudgetField {
    MaxTokens,
    MaxCompletionTokens,
}

impl BudgetField {
    fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// The settings that a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Takes {
    pub(super) temperature: bool,
    pub(super) seed: bool,
    pub(super) effort: bool,
}

/// How a server can hold replies to a format, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Format {
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
        let budget_field = match field {
            MaxTokensField::MaxCompletionTokens => BudgetField::MaxCompletionTokens,
            MaxTokensField::Auto if reasons(model) => BudgetField::MaxCompletionTokens,
            MaxTokensField::Auto | MaxTokensField::MaxTokens => BudgetField::MaxTokens,
        };
        Self {
            budget_field,
            field_is_final: field != MaxTokensField::Auto,
            takes: Takes {
                temperature: true,
                seed: true,
                effort: true,
            },
            format: Format::Schema,
        }
    }

    /// The dialect without the part that the server refused, and the name of that part. `None` where the refusal is about something
    /// else.
    pub(super) fn concede(self, refusal: &Refusal) -> Option<(Self, Concession)> {
        let about = |field: &str| refusal.body.is_about(field);
        let unsupported = speaks_of_support(refusal);
        // The names are words of prose, too, so the message has to name them as fields.
        let refused = |field: &str| unsupported && refusal.body.names(field);
        if !matches!(refusal.stands_for, 400 | 422) {
            return None;
        }
        let about_format = ["response_format", "json_schema", "json_object"];
        let about_schema = self.format == Format::SchemaInObject && refused("schema");
        if (about_schema || about_format.into_iter().any(about)) && self.format != Format::Free {
            return Some(self.with_looser_format());
        }
        if refused(self.budget_field.name()) && !self.field_is_final {
            let renamed = Self {
                budget_field: self.budget_field.other(),
                field_is_final: true,
                ..self
            };
            return Some((renamed, Concession::MaxTokensField));
        }
        if refused("temperature") && self.takes.temperature {
            let without = Self {
                takes: Takes {
                    temperature: false,
                    ..self.takes
                },
                ..self
            };
            return Some((without, Concession::Temperature));
        }
        // An unknown level is an error of the settings, not an unknown field.
        let level = refusal.body.is_any(&["unsupported_value", "invalid_value"]);
        if refused("reasoning_effort") && self.takes.effort && !level {
            let without = Self {
                takes: Takes {
                    effort: false,
                    ..self.takes
                },
                ..self
            };
            return Some((without, Concession::ReasoningEffort));
        }
        let without = Self {
            takes: Takes {
                seed: false,
                ..self.takes
            },
            ..self
        };
        (refused("seed") && self.takes.seed).then_some((without, Concession::Seed))
    }

    fn with_looser_format(self) -> (Self, Concession) {
        let (format, concession) = match self.format {
            Format::Schema => (Format::SchemaInObject, Concession::SchemaInObject),
            Format::SchemaInObject => (Format::JsonObject, Concession::JsonObject),
            Format::JsonObject | Format::Free => (Format::Free, Concession::AnyFormat),
        };
        (Self { format, ..self }, concession)
    }

    /// The dialect that both take: two requests under way at once may have made different concessions.
    fn and(self, other: Self) -> Self {
        let of_field = if other.field_is_final { other } else { self };
        Self {
            budget_field: of_field.budget_field,
            field_is_final: of_field.field_is_final,
            takes: Takes {
                temperature: self.takes.temperature && other.takes.temperature,
                seed: self.takes.seed && other.takes.seed,
                effort: self.takes.effort && other.takes.effort,
            },
            format: self.format.max(other.format),
        }
    }
}

/// The dialect of one model as learned so far, shared by all requests to it.
pub(super) struct LearnedDialect(Mutex<(Dialect, Vec<Concession>)>);

impl LearnedDialect {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self(Mutex::new((dialect, Vec::new())))
    }

    pub(super) fn current(&self) -> Dialect {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// All concessions so far, in the order of [`Concession`].
    pub(super) fn concessions(&self) -> Vec<Concession> {
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned.1.sort_unstable();
        learned.1.clone()
    }

    pub(super) fn record(&self, dialect: Dialect, concession: Concession) {
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned.0 = learned.0.and(dialect);
        if !learned.1.contains(&concession) {
            learned.1.push(concession);
        }
    }
}

impl fmt::Debug for LearnedDialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.current(), formatter)
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

    #[test]
    fn reasoning_models_are_known_by_name() {
        let field = |model| Dialect::guess(model, MaxTokensField::Auto).budget_field;
        for model in [
            "o1",
            "o3-mini",
            "o4-mini-2025-04-16",
            "gpt-5",
            "openai/gpt-5.2",
        ] {
            assert_eq!(field(model), BudgetField::MaxCompletionTokens, "{model}");
        }
        for model in ["gpt-4o", "gpt-50", "o10", "qwen3:8b", "meta/o-llama"] {
            assert_eq!(field(model), BudgetField::MaxTokens, "{model}");
        }
    }

    #[test]
    fn the_budget_changes_its_name_once() {
        let refusal = refused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        );
        let dialect = Dialect::guess("gpt-next", MaxTokensField::Auto);
        let (dialect, concession) = dialect.concede(&refusal).unwrap();
        assert_eq!(concession, Concession::MaxTokensField);
        assert_eq!(dialect.budget_field, BudgetField::MaxCompletionTokens);
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
        let (_, concession) = dialect.concede(&refusal).unwrap();
        assert_eq!(concession, Concession::Temperature);
    }

    #[test]
    fn formats_loosen_step_by_step() {
        let refusal = refused("'response_format.type' must be 'text'");
        let dialect = Dialect::guess("llama", MaxTokensField::Auto);
        let (dialect, first) = dialect.concede(&refusal).unwrap();
        let unknown = refused("body.response_format.schema: Extra inputs are not permitted");
        let (dialect, second) = dialect.concede(&unknown).unwrap();
        let (dialect, third) = dialect.concede(&refusal).unwrap();
        assert_eq!(
            [first, second, third],
            [
                Concession::SchemaInObject,
                Concession::JsonObject,
                Concession::AnyFormat
            ]
        );
        assert_eq!(dialect.format, Format::Free);
        assert_eq!(dialect.concede(&refusal), None);
    }

    #[test]
    fn an_effort_that_a_server_does_not_take_is_left_out_and_a_wrong_level_is_not() {
        let dialect = Dialect::guess("gpt-4o", MaxTokensField::Auto);
        let refusal = refused("Unrecognized request argument supplied: reasoning_effort");
        let (without, concession) = dialect.concede(&refusal).unwrap();
        assert_eq!(concession, Concession::ReasoningEffort);
        assert!(!without.takes.effort);
        assert_eq!(without.concede(&refusal), None);
        let body = br#"{"error":{"message":"This value does not support xhigh","param":"reasoning_effort","code":"unsupported_value"}}"#;
        let level = classify(400, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);
        assert_eq!(dialect.concede(&level), None);
    }

    #[test]
    fn concessions_of_requests_under_way_together_add_up() {
        let learned = LearnedDialect::new(Dialect::guess("llama", MaxTokensField::Auto));
        let start = learned.current();
        for message in ["temperature is not supported", "seed is not supported"] {
            let (dialect, concession) = start.concede(&refused(message)).unwrap();
            learned.record(dialect, concession);
            learned.record(dialect, concession);
        }
        let dialect = learned.current();
        assert!(!dialect.takes.temperature && !dialect.takes.seed);
        assert_eq!(
            learned.concessions(),
            [Concession::Temperature, Concession::Seed]
        );
    }
}
