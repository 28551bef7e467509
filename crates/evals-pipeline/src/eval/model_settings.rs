//! `model_settings` of an evaluator in the words of pydantic-ai, as settings of the model and fields of its requests.

use evals_messages::mismatch;
use evals_settings::{ChatKind, Model, ModelKind as _};
use serde_json::{Map, Value, json};

/// Names of pydantic-ai that are settings of the model here.
const OWN: [&str; 4] = ["temperature", "max_tokens", "timeout", "seed"];

/// Names of pydantic-ai, with the fields that ask for the same in both protocols. Ollama takes them among its `options`.
const SAMPLING: [(&str, &str); 4] = [
    ("top_p", "top_p"),
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
    ("stop_sequences", "stop"),
];

/// Names of pydantic-ai, with the fields of OpenAI's protocol. Of two names for one field, the later one counts.
const OPENAI: [(&str, &str); 9] = [
    ("logit_bias", "logit_bias"),
    ("service_tier", "service_tier"),
    ("openai_service_tier", "service_tier"),
    ("openai_user", "user"),
    ("openai_store", "store"),
    ("openai_prediction", "prediction"),
    ("openai_text_verbosity", "verbosity"),
    ("openai_prompt_cache_key", "prompt_cache_key"),
    ("openai_prompt_cache_retention", "prompt_cache_retention"),
];

/// Names of pydantic-ai that change nothing about the verdict of a judge, which is asked one thing, without tools. Retries and limits
/// are those of the settings.
const WITHOUT_EFFECT: [&str; 6] = [
    "tool_choice",
    "parallel_tool_calls",
    "openai_logprobs",
    "openai_top_logprobs",
    "max_retries",
    "request_timeout",
];

/// Beginnings of names that pydantic-ai keeps for other providers. It ignores them, too.
const OTHER_PROVIDERS: [&str; 10] = [
    "anthropic_",
    "bedrock_",
    "cerebras_",
    "cohere_",
    "google_",
    "groq_",
    "huggingface_",
    "mistral_",
    "openrouter_",
    "xai_",
];

/// Applies settings in the words of pydantic-ai. Returns those that change nothing.
///
/// # Errors
///
/// A setting has a wrong type, or would change what the model does and cannot be sent.
pub(super) fn apply(
    model: &mut Model<ChatKind>,
    settings: &Map<String, Value>,
) -> Result<Vec<String>, String> {
    if let ChatKind::Embedded(_) = model.kind {
        // It is refused where it is asked. Until then, its settings are checked like those of any other model.
        return apply(&mut Model::named("openai", &model.name), settings);
    }
    let is_ollama = matches!(model.kind, ChatKind::Ollama(_));
    let Sorted {
        mut own,
        mut body,
        options,
        ignored,
        extra_body,
    } = sorted(settings, is_ollama)?;
    if !is_ollama {
        for (name, field) in OPENAI {
            if let Some(value) = settings.get(name).filter(|value| !value.is_null()) {
                body.insert(field.to_owned(), value.clone());
            }
        }
    }
    own.extend(effort(settings, is_ollama)?);
    if !options.is_empty() {
        body.insert("options".to_owned(), Value::Object(options));
    }
    set(model, own)?;
    let Some((connection, _)) = model.kind.served_mut() else {
        return Ok(ignored);
    };
    for (field, value) in body.into_iter().chain(extra_body.into_iter().flatten()) {
        match (connection.extra_body.get_mut(&field), value) {
            (Some(Value::Object(old)), Value::Object(new)) if field == "options" => old.extend(new),
            (_, value) => drop(connection.extra_body.insert(field, value)),
        }
    }
    Ok(ignored)
}

/// Settings by where they go.
#[derive(Default)]
struct Sorted {
    /// Settings of the model here.
    own: Map<String, Value>,
    /// Fields of the request.
    body: Map<String, Value>,
    /// Fields of Ollama's `options`.
    options: Map<String, Value>,
    /// Names without an effect.
    ignored: Vec<String>,
    extra_body: Option<Map<String, Value>>,
}

fn sorted(settings: &Map<String, Value>, is_ollama: bool) -> Result<Sorted, String> {
    let mut sorted = Sorted::default();
    for (name, value) in settings.iter().filter(|(_, value)| !value.is_null()) {
        let name = name.as_str();
        let has_name = |pair: &&(&str, &str)| pair.0 == name;
        if OWN.contains(&name) {
            sorted.own.insert(name.to_owned(), value.clone());
        } else if let Some((_, field)) = SAMPLING.iter().find(has_name) {
            let fields = if is_ollama {
                &mut sorted.options
            } else {
                &mut sorted.body
            };
            fields.insert((*field).to_owned(), value.clone());
        } else if name == "top_k" && is_ollama {
            sorted.options.insert(name.to_owned(), value.clone());
        } else if name == "openai_reasoning_effort" || name == "thinking" {
            // They are read together in `effort`.
        } else if name == "extra_body" {
            let fields = value.as_object();
            let fields = fields.ok_or("`model_settings.extra_body` is not a mapping")?;
            sorted.extra_body = Some(fields.clone());
        } else if !is_ollama && OPENAI.iter().any(|pair| pair.0 == name) {
            // They are read in the order of the table.
        } else if is_without_effect(name, is_ollama) {
            sorted.ignored.push(name.to_owned());
        } else if name == "extra_headers" {
            if value.as_object().is_none_or(|headers| !headers.is_empty()) {
                return Err(
                    "`model_settings.extra_headers` cannot be sent; `extra_body` takes fields of the request, and \
                            `providers.NAME.api_key_env` names a key"
                        .to_owned(),
                );
            }
        } else {
            return Err(format!(
                "`model_settings.{name}` is not supported; `extra_body` takes further fields of the request"
            ));
        }
    }
    Ok(sorted)
}

fn is_without_effect(name: &str, is_ollama: bool) -> bool {
    // pydantic-ai does not send `top_k` over OpenAI's protocol, and Ollama has none of the fields of the table.
    let is_of_openai = OPENAI.iter().any(|pair| pair.0 == name);
    WITHOUT_EFFECT.contains(&name)
        || name == "top_k"
        || is_ollama && is_of_openai
        || OTHER_PROVIDERS
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// How much the model reasons: `openai_reasoning_effort`, or else `thinking`.
fn effort(
    settings: &Map<String, Value>,
    is_ollama: bool,
) -> Result<Option<(String, Value)>, String> {
    let written = ["openai_reasoning_effort", "thinking"].map(|name| {
        let value = settings.get(name).filter(|value| !value.is_null());
        value.map(|value| (name, value))
    });
    let Some((name, value)) = written.into_iter().flatten().next() else {
        return Ok(None);
    };
    let wrong = || format!("`model_settings.{name}` is `{value}`, which is not an effort");
    let (field, value) = if is_ollama {
        let think = match value {
            Value::Bool(_) => value.clone(),
            Value::String(level) => match level.as_str() {
                "none" => json!(false),
                "minimal" => json!("low"),
                "xhigh" | "max" => json!("high"),
                level => json!(level),
            },
            _ => return Err(wrong()),
        };
        ("think", think)
    } else {
        let effort = match value {
            Value::Bool(true) => json!("medium"),
            Value::Bool(false) => json!("none"),
            Value::String(level) if level == "max" && name == "thinking" => json!("xhigh"),
            Value::String(level) => json!(level),
            _ => return Err(wrong()),
        };
        ("reasoning_effort", effort)
    };
    Ok(Some((field.to_owned(), value)))
}

/// Sets fields of the model by name.
fn set(model: &mut Model<ChatKind>, fields: Map<String, Value>) -> Result<(), String> {
    if fields.is_empty() {
        return Ok(());
    }
    let mut written = serde_json::to_value(&*model).map_err(|error| error.to_string())?;
    if let Some(object) = written.as_object_mut() {
        object.extend(fields);
    }
    let changed: Model<ChatKind> = serde_json::from_value(written).map_err(|error| {
        let message = mismatch::in_yaml(&error.to_string());
        format!("`model_settings`: {message}")
    })?;
    let before = std::mem::replace(model, changed);
    // Credentials in these are not written, so they are put back.
    let (before, after) = (before.kind.connection(), model.kind.served_mut());
    if let (Some((_, before)), Some((after, _))) = (before, after) {
        after.extra_body.clone_from(&before.extra_body);
        after.base_url.clone_from(&before.base_url);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model as settings write it, and the settings without effect.
    fn applied(provider: &str, settings: &Value) -> Result<(Value, Vec<String>), String> {
        let mut model = Model::named(provider, "m");
        let ignored = apply(&mut model, settings.as_object().unwrap())?;
        Ok((serde_json::to_value(model).unwrap(), ignored))
    }

    #[test]
    fn settings_become_fields_of_the_protocol() {
        let settings = json!({
            "temperature": 0.5, "stop_sequences": ["END"], "top_p": 0.9, "thinking": "high", "service_tier": "flex",
            "openai_user": "me", "tool_choice": "auto", "seed": null, "extra_body": {"top_p": 0.1, "options": {"mirostat": 1}},
            "openai_logprobs": true, "anthropic_metadata": {},
        });
        let (model, ignored) = applied("openai", &settings).unwrap();
        assert_eq!(model["temperature"], 0.5);
        assert_eq!(model["reasoning_effort"], "high");
        let expected = json!({
            "stop": ["END"], "service_tier": "flex", "user": "me", "top_p": 0.1, "options": {"mirostat": 1},
        });
        assert_eq!(model["extra_body"], expected);
        let without_effect = ["tool_choice", "openai_logprobs", "anthropic_metadata"];
        assert_eq!(ignored, without_effect);

        let (model, ignored) = applied("ollama", &settings).unwrap();
        assert_eq!(model["think"], "high");
        let expected = json!({
            "options": {"stop": ["END"], "top_p": 0.9, "mirostat": 1}, "top_p": 0.1,
        });
        assert_eq!(model["extra_body"], expected);
        assert!(ignored.contains(&"service_tier".to_owned()), "{ignored:?}");
    }

    #[test]
    fn the_names_of_one_provider_win_over_the_common_ones() {
        let settings = json!({
            "openai_service_tier": "priority", "service_tier": "flex", "thinking": true, "openai_reasoning_effort": "low",
        });
        let (model, _) = applied("openai", &settings).unwrap();
        assert_eq!(model["extra_body"]["service_tier"], "priority");
        assert_eq!(model["reasoning_effort"], "low");
        // As pydantic-ai 2.62.0 writes them.
        for (thinking, effort) in [
            (json!(true), "medium"),
            (json!(false), "none"),
            (json!("max"), "xhigh"),
        ] {
            let (model, _) = applied("openai", &json!({ "thinking": thinking })).unwrap();
            assert_eq!(model["reasoning_effort"], effort);
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        for (settings, start) in [
            (
                json!({"extra_headers": {"x": "y"}}),
                "`model_settings.extra_headers` cannot be sent",
            ),
            (
                json!({"tempereture": 1}),
                "`model_settings.tempereture` is not supported",
            ),
            (
                json!({"thinking": 3}),
                "`model_settings.thinking` is `3`, which is not an effort",
            ),
            (
                json!({"extra_body": 3}),
                "`model_settings.extra_body` is not a mapping",
            ),
            (json!({"seed": "x"}), "`model_settings`: "),
        ] {
            let message = applied("openai", &settings).unwrap_err();
            assert!(message.starts_with(start), "{message}");
        }
        assert!(applied("openai", &json!({"extra_headers": {}})).is_ok());
    }
}
