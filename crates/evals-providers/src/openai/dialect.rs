use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::MaxTokensField;
use crate::classify::Refusal;

/// Something of a request that a server refused, so that requests go without it since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Concession {
    /// The budget is sent under its other name.
    MaxTokensField,
    /// The temperature is not sent.
    Temperature,
    /// The seed is not sent.
    Seed,
    /// How much the model reasons is not said.
    ReasoningEffort,
    /// The schema is sent beside `json_object`, where some servers take it and others ignore it.
    SchemaInObject,
    /// Replies are held to be JSON, but not to their schema.
    JsonObject,
    /// Replies are held to no format at all.
    AnyFormat,
}

impl fmt::Display for Concession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::MaxTokensField => "the budget of tokens goes by its other name",
            Self::Temperature => "the server takes no temperature",
            Self::Seed => "the server takes no seed",
            Self::ReasoningEffort => "the server takes no reasoning effort",
            Self::SchemaInObject => {
                "the schema of replies is sent beside `json_object`, which servers may ignore"
            }
            Self::JsonObject => "the server holds replies to JSON, but to no schema",
            Self::AnyFormat => "the server holds replies to no format",
        })
    }
}

/// The parts of the protocol that a server takes, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The field that holds the budget of tokens.
    pub(super) max_tokens_field: &'static str,
    /// Whether the field was exchanged for the other one.
    exchanged: bool,
    pub(super) takes: Takes,
    pub(super) format: Format,
}

/// The settings that a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Takes {
    pub(super) temperature: bool,
    pub(super) seed: bool,
    pub(super) effort: bool,
}

/// How replies can be held to a format, from the best way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Format {
    /// `json_schema`, as `OpenAI` has it.
    Schema,
    /// `json_object` with the schema beside it, as `llama-cpp-python` has it.
    SchemaInObject,
    JsonObject,
    Unheld,
}

impl Dialect {
    /// What a model is thought to take before it has said anything.
    pub(super) fn guessed(model: &str, field: MaxTokensField) -> Self {
        let max_tokens_field = match field {
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
            MaxTokensField::Auto if reasons(model) => "max_completion_tokens",
            MaxTokensField::Auto | MaxTokensField::MaxTokens => "max_tokens",
        };
        Self {
            max_tokens_field,
            // A field that was set is not exchanged.
            exchanged: field != MaxTokensField::Auto,
            takes: Takes {
                temperature: true,
                seed: true,
                effort: true,
            },
            format: Format::Schema,
        }
    }

    /// What to send after a refusal, and what that gives up; `None` where the refusal is about something else.
    pub(super) fn conceding(self, refusal: &Refusal) -> Option<(Self, Concession)> {
        let about = |field: &str| refusal.body.is_about(field);
        let unsupported = speaks_of_support(refusal);
        // Words that prose may hold as well have to be named as fields.
        let refused = |field: &str| unsupported && refusal.body.names(field);
        if !matches!(refusal.stands_for, 400 | 422) {
            return None;
        }
        let about_format = ["response_format", "json_schema", "json_object"];
        let about_schema = self.format == Format::SchemaInObject && refused("schema");
        if (about_schema || about_format.into_iter().any(about)) && self.format != Format::Unheld {
            return Some(self.with_looser_format());
        }
        if refused(self.max_tokens_field) && !self.exchanged {
            let exchanged = Self {
                max_tokens_field: other_field(self.max_tokens_field),
                exchanged: true,
                ..self
            };
            return Some((exchanged, Concession::MaxTokensField));
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
        // A level that the server does not know is for the user to change.
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
            Format::JsonObject | Format::Unheld => (Format::Unheld, Concession::AnyFormat),
        };
        (Self { format, ..self }, concession)
    }

    /// What is left after the concessions of two requests that were under way together.
    fn and(self, other: Self) -> Self {
        let exchanged = if other.exchanged { other } else { self };
        Self {
            max_tokens_field: exchanged.max_tokens_field,
            exchanged: exchanged.exchanged,
            takes: Takes {
                temperature: self.takes.temperature && other.takes.temperature,
                seed: self.takes.seed && other.takes.seed,
                effort: self.takes.effort && other.takes.effort,
            },
            format: self.format.max(other.format),
        }
    }
}

/// The dialect that one model was found to speak, shared by all requests to it.
pub(super) struct Learnt(Mutex<(Dialect, Vec<Concession>)>);

impl Learnt {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self(Mutex::new((dialect, Vec::new())))
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Everything given up so far, in the order of [`Concession`].
    pub(super) fn concessions(&self) -> Vec<Concession> {
        let mut learnt = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learnt.1.sort_unstable();
        learnt.1.clone()
    }

    pub(super) fn concede(&self, dialect: Dialect, concession: Concession) {
        let mut learnt = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learnt.0 = learnt.0.and(dialect);
        if !learnt.1.contains(&concession) {
            learnt.1.push(concession);
        }
    }
}

impl fmt::Debug for Learnt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.dialect(), formatter)
    }
}

/// Whether a model is one of `OpenAI`'s that reason, by its name: `o3-mini`, `gpt-5`, `openai/gpt-5.2-chat`.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    ["o1", "o3", "o4", "gpt-5"].iter().any(|family| {
        let rest = name.strip_prefix(family);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', ':']))
    })
}

/// Whether a refusal says that a field may not be there at all, rather than that its value is too large.
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

fn other_field(field: &str) -> &'static str {
    match field {
        "max_tokens" => "max_completion_tokens",
        _ => "max_tokens",
    }
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
        let field = |model| Dialect::guessed(model, MaxTokensField::Auto).max_tokens_field;
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
        let dialect = Dialect::guessed("gpt-next", MaxTokensField::Auto);
        let (dialect, concession) = dialect.conceding(&refusal).unwrap();
        assert_eq!(concession, Concession::MaxTokensField);
        assert_eq!(dialect.max_tokens_field, "max_completion_tokens");
        assert_eq!(dialect.conceding(&refusal), None);
        let set = Dialect::guessed("gpt-next", MaxTokensField::MaxTokens);
        assert_eq!(set.conceding(&refusal), None);
    }

    #[test]
    fn a_budget_that_is_too_large_keeps_its_name() {
        let refusal = refused("max_tokens is too large: 99999");
        let dialect = Dialect::guessed("gpt-4o", MaxTokensField::Auto);
        assert_eq!(dialect.conceding(&refusal), None);
    }

    #[test]
    fn only_a_field_that_is_named_and_not_supported_is_given_up() {
        let dialect = Dialect::guessed("gpt-4o", MaxTokensField::Auto);
        for message in [
            "max_tokens is too large: 99999. This model supports at most 16384 completion tokens",
            "Input about the temperature of stars is not supported",
            "'temperature' must be less than or equal to 2",
            "this model has no seed and does not support tools",
        ] {
            assert_eq!(dialect.conceding(&refused(message)), None, "{message}");
        }
        let body = br#"{"error":{"message":"This value does not support 0.3","param":"temperature","code":"unsupported_value"}}"#;
        let refusal = classify(400, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);
        let (_, concession) = dialect.conceding(&refusal).unwrap();
        assert_eq!(concession, Concession::Temperature);
    }

    #[test]
    fn formats_loosen_step_by_step() {
        let refusal = refused("'response_format.type' must be 'text'");
        let dialect = Dialect::guessed("llama", MaxTokensField::Auto);
        let (dialect, first) = dialect.conceding(&refusal).unwrap();
        let unknown = refused("body.response_format.schema: Extra inputs are not permitted");
        let (dialect, second) = dialect.conceding(&unknown).unwrap();
        let (dialect, third) = dialect.conceding(&refusal).unwrap();
        assert_eq!(
            [first, second, third],
            [
                Concession::SchemaInObject,
                Concession::JsonObject,
                Concession::AnyFormat
            ]
        );
        assert_eq!(dialect.format, Format::Unheld);
        assert_eq!(dialect.conceding(&refusal), None);
    }

    #[test]
    fn an_effort_that_a_server_does_not_take_is_left_out_and_a_wrong_level_is_not() {
        let dialect = Dialect::guessed("gpt-4o", MaxTokensField::Auto);
        let refusal = refused("Unrecognized request argument supplied: reasoning_effort");
        let (without, concession) = dialect.conceding(&refusal).unwrap();
        assert_eq!(concession, Concession::ReasoningEffort);
        assert!(!without.takes.effort);
        assert_eq!(without.conceding(&refusal), None);
        let body = br#"{"error":{"message":"This value does not support xhigh","param":"reasoning_effort","code":"unsupported_value"}}"#;
        let level = classify(400, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);
        assert_eq!(dialect.conceding(&level), None);
    }

    #[test]
    fn concessions_of_requests_under_way_together_add_up() {
        let learnt = Learnt::new(Dialect::guessed("llama", MaxTokensField::Auto));
        let start = learnt.dialect();
        for message in ["temperature is not supported", "seed is not supported"] {
            let (dialect, concession) = start.conceding(&refused(message)).unwrap();
            learnt.concede(dialect, concession);
            learnt.concede(dialect, concession);
        }
        let dialect = learnt.dialect();
        assert!(!dialect.takes.temperature && !dialect.takes.seed);
        assert_eq!(
            learnt.concessions(),
            [Concession::Temperature, Concession::Seed]
        );
    }
}
