//! The identity of a run: the part of its manifest that must be equal to resume it.

use evals::Difference;
use serde_json::{Map, Value};

use crate::settings::Role;

/// Members of a manifest that describe when, how fast or from where a run was started. They do not affect its results.
const CIRCUMSTANCES: &[&str] = &[
    "started",
    "command_line",
    "settings_from",
    "concurrency",
    MERGED,
];

/// The member of a manifest that lists the shards that a run was merged from.
pub(crate) const MERGED: &str = "merged";

/// Members of the index's record that do not affect search results.
const INDEX_CIRCUMSTANCES: &[&str] = &["uri", "build", "statistics"];

/// Settings of a provider or a model that affect how requests are sent, but not the replies.
const TRAFFIC: &[&str] = &[
    "api_key_env",
    "max_attempts",
    "max_concurrency",
    "requests_per_minute",
    "timeout",
    "tokens_per_minute",
];

/// The part of a manifest that must be equal to resume a run.
pub(crate) fn identity(manifest: &Value) -> Value {
    let mut identity = manifest.clone();
    remove(identity.as_object_mut(), CIRCUMSTANCES);
    remove(
        identity.get_mut("index").and_then(Value::as_object_mut),
        INDEX_CIRCUMSTANCES,
    );
    if let Some(settings) = identity.get_mut("settings") {
        strip_settings(settings);
    }
    identity
}

fn strip_settings(settings: &mut Value) {
    // These settings do not change results: prices only give the costs at the end, batches give the same replies as direct calls, and `store`
    // only says how to reach an index.
    remove(settings.as_object_mut(), &["prices", "batch", "store"]);
    let evaluations = settings.get_mut("evaluations");
    remove(
        evaluations.and_then(Value::as_object_mut),
        &["concurrency", "case_timeout"],
    );
    // The parameters of an answerer that searches by itself state these, and other answerers ignore them.
    remove(
        settings.get_mut("qa").and_then(Value::as_object_mut),
        &["mode", "agent"],
    );
    let search = settings.get_mut("search");
    remove(search.and_then(Value::as_object_mut), &["latency_sample"]);
    let reranking = settings.get_mut("reranking");
    remove(reranking.and_then(Value::as_object_mut), &["batch_size"]);
    let providers = settings.get_mut("providers").and_then(Value::as_object_mut);
    for provider in providers.into_iter().flat_map(Map::values_mut) {
        remove(provider.as_object_mut(), TRAFFIC);
    }
    let target = settings.get_mut("target").and_then(Value::as_object_mut);
    remove(target, TRAFFIC);
    for role in Role::ALL {
        let pointer = format!("/{}", role.path().replace('.', "/"));
        let model = settings.pointer_mut(&pointer);
        remove(model.and_then(Value::as_object_mut), TRAFFIC);
    }
}

fn remove(object: Option<&mut Map<String, Value>>, members: &[&str]) {
    if let Some(object) = object {
        object.retain(|member, _| !members.contains(&member.as_str()));
    }
}

/// The differences of two identities as `path: old -> new`, in the order of the new one. A missing member counts as null.
pub(crate) fn differences(old: &Value, new: &Value) -> Vec<String> {
    let is_real = |it: &Difference| {
        let sides = [&it.old, &it.new];
        sides
            .iter()
            .any(|value| value.as_ref().is_some_and(|value| !value.is_null()))
    };
    let found = evals::differences(old, new);
    found
        .iter()
        .filter(|it| is_real(it))
        .map(ToString::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Value {
        json!({
            "benchmark": "qa", "started": "now", "command_line": ["x"], "seed": 0, "concurrency": 4,
            "index": {"uri": "/a", "table": "t", "build": {"wall": 1.0}},
            "settings": {
                "qa": {"model": {"provider": "openai", "name": "m", "api_key_env": "KEY"}},
                "evaluations": {"concurrency": 4, "judge": {"name": "j"}},
                "search": {"latency_sample": 100},
                "providers": {"openai": {"base_url": "http://a", "timeout": 5.0}},
                "prices": {},
            },
        })
    }

    #[test]
    fn time_speed_and_keys_are_not_part_of_the_identity() {
        let mut other = manifest();
        other["started"] = json!("later");
        other["concurrency"] = json!(32);
        other["index"]["build"] = json!(null);
        other["settings"]["evaluations"]["concurrency"] = json!(32);
        other["settings"]["search"]["latency_sample"] = json!(null);
        other["settings"]["providers"]["openai"]["timeout"] = json!(60.0);
        other["settings"]["qa"]["model"]["api_key_env"] = json!("OTHER");
        other["settings"]["batch"] = json!({"enabled": true});
        other["settings"]["prices"]["m"] = json!({"input": 1.0, "output": 2.0});
        assert_eq!(identity(&manifest()), identity(&other));
    }

    #[test]
    fn other_differences_are_listed_with_both_values() {
        let mut other = manifest();
        other["seed"] = json!(1);
        other["settings"]["qa"]["model"]["name"] = json!("n");
        other["settings"]["qa"]["model"]["temperature"] = json!(0.5);
        let found = differences(&identity(&manifest()), &identity(&other));
        assert_eq!(
            found,
            [
                "seed: 0 -> 1",
                "settings.qa.model.name: \"m\" -> \"n\"",
                "settings.qa.model.temperature: not set -> 0.5",
            ]
        );
        let back = differences(&identity(&other), &identity(&manifest()));
        assert_eq!(
            back.len(),
            3,
            "a removed member is a difference too: {back:?}"
        );
    }
}
