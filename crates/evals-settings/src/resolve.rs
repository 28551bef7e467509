//! Lays layers of settings over each other, and keeps the result together with where each value comes from.

use std::fmt::Display;

use evals_models::ModelIdentity;
use evals_targets::TargetAddress;
use evals_yaml::Tree;
use serde_json::{Map, Value};

use super::error::SettingsError;
use super::known::misplaced_list;
use super::layer::Layer;
use super::model::Role;
use super::sections::{RERANK, Settings, json_schema};
use super::withheld::{Withheld, withhold};
use crate::redaction;

/// Settings with every layer applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The settings that count.
    pub settings: Settings,
    /// Weakest first, above the built-in defaults.
    layers: Vec<Layer>,
    /// The parts of requests to the target that do not count.
    pub withheld: Vec<Withheld>,
    /// The models whose calls all go in batches. `batches::plan` enters them.
    pub batched: Vec<ModelIdentity>,
}

impl Resolved {
    /// The layers' names, weakest first.
    pub fn origins(&self) -> Vec<String> {
        self.layers
            .iter()
            .map(|layer| layer.origin.clone())
            .collect()
    }

    /// The file that sets a key of the target; `None` if an option does, or nothing.
    pub fn file_of_target(&self, key: &str) -> Option<&str> {
        let path = format!("target.{key}");
        let mut layers = self.layers.iter().rev();
        let layer = layers.find(|layer| layer.tree.get(&path).is_some())?;
        (!layer.is_option).then_some(layer.origin.as_str())
    }

    /// Whether any setting would be different without the layer of this name.
    pub fn depends_on(&self, origin: &str) -> bool {
        let others = self.layers.iter().filter(|layer| layer.origin != origin);
        let without = resolve(others.cloned().collect());
        without.map_or(true, |without| without.settings != self.settings)
    }

    /// Whether any layer sets `path`, even to its default.
    pub fn sets(&self, path: &str) -> bool {
        self.layers
            .iter()
            .any(|layer| layer.tree.get(path).is_some())
    }

    /// Refuses a key in place of the name of its environment variable, because settings are stored and printed.
    fn check_key_variables(&self) -> Result<(), SettingsError> {
        let settings = &self.settings;
        let of_models = settings.connections().filter_map(|(role, its)| {
            let name = its.api_key_env.as_deref()?;
            Some((format!("{}.api_key_env", role.path()), name))
        });
        let of_providers = settings.providers.iter().filter_map(|(provider, its)| {
            let name = its.api_key_env.as_deref()?;
            Some((format!("providers.{provider}.api_key_env"), name))
        });
        let of_store = settings.store.variables();
        let of_store = of_store.map(|(key, name)| (format!("store.{key}"), name));
        let mut named = of_models.chain(of_providers).chain(of_store);
        match named.find(|(_, name)| !is_variable(name)) {
            Some((path, _)) => Err(self.bad_value(
                &path,
                &"must be the name of an environment variable that holds the key, not the key itself",
            )),
            None => Ok(()),
        }
    }

    /// Whether the default profile is reranked, because a layer for haiku.rag sets a reranker and nobody chose a profile.
    fn reranks_unasked(&self) -> bool {
        self.layers.iter().any(|layer| layer.reranks)
            && self.settings.reranking.model.is_some()
            && !self.sets("search.profile")
    }

    /// The error of a value that has the right type and still cannot be used.
    pub fn bad_value(&self, path: &str, message: &dyn Display) -> SettingsError {
        bad_value(&self.layers, path.to_owned(), &message.to_string())
    }
}

/// Whether a text can be the name of an environment variable and does not look like a key.
fn is_variable(name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let starts = name.starts_with(|first: char| is_part(first) && !first.is_ascii_digit());
    let is_name = starts && name.chars().all(is_part);
    is_name && (!redaction::looks_like_key(name) || std::env::var_os(name).is_some())
}

/// Lays `layers`, weakest first, over the defaults.
pub fn resolve(mut layers: Vec<Layer>) -> Result<Resolved, SettingsError> {
    let defaults = serde_json::to_value(Settings::default()).expect("settings are plain data");
    let Value::Object(mut merged) = defaults else {
        unreachable!("settings are a mapping")
    };
    let withheld = withhold(&mut layers);
    for layer in &layers {
        if let Value::Object(upper) = layer.tree.to_value() {
            overlay(&mut merged, upper);
        }
    }
    let merged = Value::Object(merged);
    if let Some(path) = misplaced_list(json_schema(), &merged) {
        return Err(bad_value(&layers, path, "expected a mapping, found a list"));
    }
    for role in Role::ALL {
        role.check(&merged).map_err(|misfit| {
            let path = format!("{}.{}", role.path(), misfit.key);
            bad_value(
                &layers,
                path.trim_end_matches('.').to_owned(),
                &misfit.message,
            )
        })?;
    }
    let settings = serde_path_to_error::deserialize(merged).map_err(|error| {
        let path = error.path().to_string();
        // `?` stands for the wrong key of a map, which the message names.
        let path = path.strip_suffix(".?").unwrap_or(&path).to_owned();
        bad_value(&layers, path, &error.into_inner().to_string())
    })?;
    let mut resolved = Resolved {
        settings,
        layers,
        withheld,
        batched: Vec::new(),
    };
    resolved.check_key_variables()?;
    if resolved.reranks_unasked() {
        resolved.settings.search.profile.push_str(RERANK);
    }
    Ok(resolved)
}

/// The error of the value at `path`. It names the layer that sets it, with the line if there is one: of the layers that set most
/// of the path, the strongest. Layers below one that chooses the model of the path do not count, as it may have replaced theirs.
fn bad_value(layers: &[Layer], path: String, message: &str) -> SettingsError {
    let keys: Vec<&str> = path.split('.').collect();
    let chooses_model = |layer: &Layer| {
        (1..keys.len()).any(|length| {
            let model = [&keys[..length], &["provider"]].concat();
            depth(&layer.tree, &model) == model.len()
        })
    };
    let weakest = layers.iter().rposition(chooses_model).unwrap_or(0);
    let place = layers[weakest..]
        .iter()
        .filter_map(|layer| Some((layer, layer.tree.deepest(&keys)?)))
        // The last of several maxima is the strongest layer.
        .max_by_key(|(layer, _)| depth(&layer.tree, &keys))
        .map(|(layer, entry)| match entry.line {
            Some(line) => format!("{}:{line}", layer.origin),
            None => layer.origin.clone(),
        });
    SettingsError::BadValue {
        origin: place.unwrap_or_else(|| "settings".to_owned()),
        path,
        message: redaction::quoted(&evals_yaml::in_plain_words(message)),
    }
}

/// How many keys of a path a tree has, from its first on.
fn depth(tree: &Tree, path: &[&str]) -> usize {
    let (Tree::Mapping(entries), Some((first, rest))) = (tree, path.split_first()) else {
        return 0;
    };
    let entry = entries.iter().find(|entry| entry.key == *first);
    entry.map_or(0, |entry| 1 + depth(&entry.value, rest))
}

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
    use super::super::layer::tests::{dataset, set};
    use super::*;
    use crate::EmbedderKind;

    fn file(text: &str) -> Layer {
        Layer::new("evaluations.yaml", Tree::parse(text).unwrap())
    }

    #[test]
    fn no_layers_give_the_defaults() {
        assert_eq!(resolve(Vec::new()).unwrap().settings, Settings::default());
    }

    #[test]
    fn a_reranker_of_haiku_rag_is_used_unless_somebody_says_otherwise() {
        let foreign = Layer {
            reranks: true,
            ..file("reranking: {model: {provider: local, name: a/b}}")
        };
        let profile = |layers: Vec<Layer>| resolve(layers).unwrap().settings.search.profile;
        assert_eq!(profile(vec![foreign.clone()]), "hybrid+rerank");
        let without = set(&["reranking.model=null"]);
        assert_eq!(profile(vec![foreign.clone(), without]), "hybrid");
        let named = set(&["search.profile=bm25"]);
        assert_eq!(profile(vec![foreign.clone(), named]), "bm25");
        let own = Layer {
            reranks: false,
            ..foreign
        };
        assert_eq!(profile(vec![own]), "hybrid");
    }

    #[test]
    fn settings_depend_on_a_layer_unless_others_replace_all_of_it() {
        let foreign = || Layer {
            origin: "target.yaml".to_owned(),
            ..file("target: {address: \"http://a/ask\", method: PUT}")
        };
        let depends = |options: &[&str]| {
            let resolved = resolve(vec![foreign(), set(options)]).unwrap();
            resolved.depends_on("target.yaml")
        };
        assert!(depends(&["search.limit=3"]));
        let address = "target.address=http://b/ask";
        assert!(depends(&[address]));
        assert!(!depends(&[address, "target.method=GET"]));
        assert!(!depends(&["target.address=exec:sh"]), "a different kind");
    }

    #[test]
    fn a_bad_value_is_found_in_its_file_though_an_option_sets_a_neighbour() {
        let judge = Layer::model("--judge", "evaluations.judge", "embedded", "overlap");
        let resolved = resolve(vec![file("evaluations:\n  case_timeout: -1\n"), judge]).unwrap();
        let error = resolved.bad_value("evaluations.case_timeout", &"must be more than 0 seconds");
        assert!(error.to_string().contains("evaluations.yaml:2"), "{error}");
        let replaced = resolved.bad_value("evaluations.judge.base_url", &"must be set");
        assert!(replaced.to_string().contains("--judge"), "{replaced}");
    }

    #[test]
    fn the_strongest_layer_wins() {
        let chunks = dataset("processing: {chunk_size: null}").unwrap();
        let chunk_size =
            |layers: Vec<Layer>| resolve(layers).unwrap().settings.processing.chunk_size;
        assert_eq!(chunk_size(vec![chunks.clone()]), None);
        let stronger = file("processing: {chunk_size: 128}");
        assert_eq!(
            chunk_size(vec![chunks, stronger, set(&["search.limit=7"])]).map(usize::from),
            Some(128)
        );
    }

    fn message(layers: Vec<Layer>) -> String {
        resolve(layers).unwrap_err().to_string()
    }

    #[test]
    fn a_bad_value_names_file_line_and_key_in_plain_words() {
        let text = "search:\n  limit: many\n";
        assert_eq!(
            message(vec![file(text)]),
            "evaluations.yaml:2: bad value for `search.limit`: expected a whole number of at least 1, \
             found the text \"many\""
        );
        assert_eq!(
            message(vec![file("search: 7\n")]),
            "evaluations.yaml:1: bad value for `search`: expected a mapping, found `7`"
        );
        assert_eq!(
            message(vec![file("search:\n  fusion:\n    - rrf\n")]),
            "evaluations.yaml:2: bad value for `search.fusion`: expected a mapping, found a list"
        );
        let message = message(vec![
            file("search:\n  limit: 5\n"),
            set(&["search.limit=0"]),
        ]);
        assert!(
            message.starts_with("`--set`: bad value for `search.limit`"),
            "{message}"
        );
    }

    #[test]
    fn the_settings_of_a_manifest_are_placed_in_its_file() {
        assert_eq!(
            dataset("processing:\n    chunk_sise: 9")
                .unwrap_err()
                .to_string(),
            "sets/mine.yaml:7: unknown setting `processing.chunk_sise`; did you mean `processing.chunk_size`?"
        );
        let layer = dataset("processing:\n    chunk_size: many").unwrap();
        assert_eq!(
            message(vec![layer]),
            "sets/mine.yaml:7: bad value for `processing.chunk_size`: expected a whole number of at least 1, \
             found the text \"many\""
        );
    }

    #[test]
    fn a_value_of_the_right_type_is_placed_too() {
        let resolved = resolve(vec![file("search:\n  profile: splade\n")]).unwrap();
        assert_eq!(
            resolved
                .bad_value("search.profile", &"no such profile")
                .to_string(),
            "evaluations.yaml:2: bad value for `search.profile`: no such profile"
        );
    }

    #[test]
    fn a_key_in_place_of_its_variable_is_refused_and_not_repeated() {
        for (argument, path) in [
            (
                "qa.model={provider: openai, name: m, api_key_env: sk-hunter2-and-more}",
                "qa.model",
            ),
            (
                "providers.openai.api_key_env=sk_hunter2_and_more",
                "providers.openai",
            ),
            (
                "providers.mine.api_key_env=\"hunter2 and more\"",
                "providers.mine",
            ),
        ] {
            assert_eq!(
                message(vec![set(&[argument])]),
                format!(
                    "`--set`: bad value for `{path}.api_key_env`: must be the name of an environment variable that holds \
                     the key, not the key itself"
                )
            );
        }
        assert!(resolve(vec![set(&["providers.openai.api_key_env=MY_KEY"])]).is_ok());
        let typed = message(vec![set(&["providers.openai=sk-hunter2-and-more"])]);
        assert!(!typed.contains("hunter2"), "{typed}");
    }

    #[test]
    fn an_assignment_takes_null_and_text() {
        let layer = set(&["processing.chunk_size=null", "search.profile=bm25"]);
        let settings = resolve(vec![layer]).unwrap().settings;
        assert_eq!(settings.processing.chunk_size, None);
        assert_eq!(settings.search.profile, "bm25");
    }

    #[test]
    fn the_order_of_assignments_does_not_matter() {
        let [name, provider] = [
            "embeddings.model.name=qwen3-embedding",
            "embeddings.model.provider=ollama",
        ];
        for layer in [set(&[name, provider]), set(&[provider, name])] {
            let model = resolve(vec![layer]).unwrap().settings.embeddings.model;
            assert_eq!(
                (model.provider.as_str(), model.name.as_str()),
                ("ollama", "qwen3-embedding")
            );
            let EmbedderKind::Ollama(ollama) = model.kind else {
                panic!("{:?}", model.kind)
            };
            assert_eq!(
                ollama.texts.vector_dim, None,
                "the embedded model's dimension is not this one's"
            );
        }
    }
}

#[cfg(test)]
mod overlay_tests {
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
