//! Lays one tree of settings over another.

use evals_targets::TargetAddress;
use serde_json::{Map, Value};

/// Settings of a model that are facts about its weights, and therefore wrong for another model of the same provider.
const OF_WEIGHTS: &[&str] = &[
    "revision",
    "pooling",
    "rerank_prompt",
    "vector_dim",
    "query_prefix",
    "document_prefix",
];

/// Puts `upper` over `lower`, key by key. A model of another provider replaces the whole model, because the dimension or the address
/// of one model is wrong for another. A model of another name replaces what is true of the weights alone, such as the dimension. A target
/// of another kind replaces the whole target.
pub(crate) fn overlay(lower: &mut Map<String, Value>, upper: Map<String, Value>) {
    for (key, value) in upper {
        match (lower.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above))
                if !changes_provider(below, &above) && !changes_target(below, &above) =>
            {
                if changes_name(below, &above) {
                    below.retain(|key, _| !OF_WEIGHTS.contains(&key.as_str()));
                }
                overlay(below, above);
            }
            (_, value) => {
                lower.insert(key, value);
            }
        }
    }
}

/// Whether `below` is a model and `above` names another provider.
fn changes_provider(below: &Map<String, Value>, above: &Map<String, Value>) -> bool {
    changes(below, above, "provider")
}

/// Whether `below` is a model and `above` names another one.
fn changes_name(below: &Map<String, Value>, above: &Map<String, Value>) -> bool {
    changes(below, above, "name")
}

fn changes(below: &Map<String, Value>, above: &Map<String, Value>, key: &str) -> bool {
    let is_model = below.contains_key("provider") && below.contains_key("name");
    is_model
        && above
            .get(key)
            .is_some_and(|value| Some(value) != below.get(key))
}

/// Whether `below` is a target and `above` names one of another kind, such as a command in place of a service.
fn changes_target(below: &Map<String, Value>, above: &Map<String, Value>) -> bool {
    let kind = |target: &Map<String, Value>| {
        let address: TargetAddress = target.get("address")?.as_str()?.parse().ok()?;
        Some(address.scheme())
    };
    kind(below)
        .zip(kind(above))
        .is_some_and(|(below, above)| below != above)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn overlaid(lower: Value, upper: Value) -> Value {
        let (Value::Object(mut lower), Value::Object(upper)) = (lower, upper) else {
            panic!("two mappings")
        };
        overlay(&mut lower, upper);
        Value::Object(lower)
    }

    #[test]
    fn an_upper_layer_wins_key_by_key_and_null_counts() {
        let merged = overlaid(
            json!({"search": {"limit": 5, "profile": "hybrid"}, "processing": {"chunk_size": 256}}),
            json!({"search": {"limit": 9}, "processing": {"chunk_size": null}}),
        );
        assert_eq!(
            merged,
            json!({"search": {"limit": 9, "profile": "hybrid"}, "processing": {"chunk_size": null}})
        );
    }

    #[test]
    fn a_target_of_another_kind_replaces_the_whole_target() {
        let service = json!({"target": {"address": "http://a/ask", "method": "PUT"}});
        let elsewhere = overlaid(
            service.clone(),
            json!({"target": {"address": "https://b/ask"}}),
        );
        assert_eq!(
            elsewhere,
            json!({"target": {"address": "https://b/ask", "method": "PUT"}})
        );
        let command = json!({"target": {"address": "exec:./rag"}});
        assert_eq!(overlaid(service, command.clone()), command);
    }

    #[test]
    fn another_provider_replaces_the_whole_model() {
        let below =
            json!({"model": {"provider": "embedded", "name": "static-minilm", "vector_dim": 256}});
        let other = json!({"model": {"provider": "ollama", "name": "qwen3-embedding"}});
        assert_eq!(overlaid(below.clone(), other.clone()), other);
        let same = json!({"model": {"provider": "embedded"}});
        assert_eq!(overlaid(below.clone(), same), below);
        let smaller = overlaid(below, json!({"model": {"vector_dim": 128}}));
        assert_eq!(
            smaller,
            json!({"model": {"provider": "embedded", "name": "static-minilm", "vector_dim": 128}})
        );
    }

    #[test]
    fn another_name_replaces_what_is_true_of_the_weights() {
        let below = json!({"model": {
            "provider": "openai", "name": "small", "vector_dim": 1536, "query_prefix": "query: ",
            "base_url": "http://127.0.0.1:1/v1", "timeout": 5,
        }});
        let other = json!({"model": {"provider": "openai", "name": "large"}});
        assert_eq!(
            overlaid(below.clone(), other),
            json!({"model": {
                "provider": "openai", "name": "large", "base_url": "http://127.0.0.1:1/v1", "timeout": 5,
            }})
        );
        let both = json!({"model": {"name": "large", "vector_dim": 3072}});
        assert_eq!(overlaid(below.clone(), both)["model"]["vector_dim"], 3072);
        let same = json!({"model": {"provider": "openai", "name": "small"}});
        assert_eq!(overlaid(below.clone(), same), below);
    }
}
