//! One layer of settings: a file, a dataset's manifest, or options of the command line.

use evals_yaml::{Entry, Tree};
use std::fmt::Display;

use serde_json::{Value, json};

use super::error::SettingsError;
use super::known::take_unknown;
use super::model::Role;
use super::sections::json_schema;
use crate::redaction;

/// One source of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The name of the layer in errors: a file's path, a dataset or an option.
    pub origin: String,
    /// The settings, each with its line.
    pub tree: Tree,
    /// Whether the user wrote it on the command line.
    pub is_option: bool,
    /// Whether setting a reranker is enough to use it, as in haiku.rag.
    pub reranks: bool,
}

impl Layer {
    /// A layer written for this program.
    pub fn new(origin: impl Into<String>, mut tree: Tree) -> Self {
        expand_models(&mut tree);
        Self {
            origin: origin.into(),
            tree,
            is_option: false,
            reranks: false,
        }
    }

    /// The same layer as one of the command line.
    fn of_command_line(self) -> Self {
        Self {
            is_option: true,
            ..self
        }
    }

    /// The `settings` of a dataset's manifest. They may not decide which servers get the user's texts and keys.
    pub fn dataset(manifest: impl Display, settings: &Tree) -> Result<Self, SettingsError> {
        let layer = Self::checked(manifest.to_string(), settings.clone())?;
        let Some((path, line)) = reserved_for_users("", &layer.tree) else {
            return Ok(layer);
        };
        let origin = match line {
            Some(line) => format!("{}:{line}", layer.origin),
            None => layer.origin,
        };
        Err(SettingsError::NotForDatasets { origin, path })
    }

    /// Every `--set KEY=VALUE` of a command line as one layer, so that their order matters only if they set the same key. A value is
    /// YAML, such as `null`, `3`, `[a]` or `text`; a model may be `PROVIDER:NAME`.
    pub fn assignments(arguments: &[String]) -> Result<Option<Self>, SettingsError> {
        Self::assigned_by("--set", arguments)
    }

    /// The same for another option than `--set`.
    pub fn assigned_by(option: &str, arguments: &[String]) -> Result<Option<Self>, SettingsError> {
        let mut all = Tree::Mapping(Vec::new());
        for argument in arguments {
            let mut shown = redaction::argument(argument);
            if let Some((cut, _)) = shown.char_indices().nth(MOST_SHOWN) {
                shown.replace_range(cut.., "…");
            }
            let origin = format!("`{option} {shown}`");
            let bad = |message: String| SettingsError::BadOption {
                origin: origin.clone(),
                message,
            };
            let written = assignment(argument).map_err(bad)?;
            // The error of an unknown key does not repeat the value, which may be a credential.
            let key = argument.split('=').next().unwrap_or_default();
            let checked = Self::checked(format!("`{option} {key}=…`"), written.clone())?;
            if checked.tree != written {
                // In a file a null is an empty section. Here the user wrote it.
                return Err(bad("the setting cannot be null".to_owned()));
            }
            all.merge(checked.tree);
        }
        let layer = Self::new(format!("`{option}`"), all).of_command_line();
        Ok((!arguments.is_empty()).then_some(layer))
    }

    /// A model that a command line option names, such as `--model ollama:gpt-oss` for `qa.model`.
    pub fn model(option: &str, path: &str, provider: &str, name: &str) -> Self {
        let model = Tree::from_value(&json!({"provider": provider, "name": name}));
        Self::option(format!("`{option} {provider}:{name}`"), path, model)
    }

    /// The value of a command line option, at a dotted path.
    pub fn option(origin: impl Into<String>, path: &str, value: Tree) -> Self {
        Self::value(origin, path, value).of_command_line()
    }

    /// One value at a dotted path.
    pub fn value(origin: impl Into<String>, path: &str, value: Tree) -> Self {
        Self::new(origin, Tree::at(path, value))
    }

    /// The text of a file that holds the section at a dotted path alone, with or without its name.
    pub fn section(origin: &str, path: &str, text: &str) -> Result<Self, SettingsError> {
        let section = Tree::parse(text).map_err(|error| SettingsError::Syntax {
            origin: origin.to_owned(),
            error,
        })?;
        let is_named = matches!(&section, Tree::Mapping(entries) if matches!(&entries[..], [only] if only.key == path));
        let tree = if is_named {
            section
        } else {
            Tree::at(path, section)
        };
        Self::checked(origin.to_owned(), tree)
    }

    fn checked(origin: String, mut tree: Tree) -> Result<Self, SettingsError> {
        let keys = take_unknown(&mut tree, json_schema());
        if keys.is_empty() {
            Ok(Self::new(origin, tree))
        } else {
            Err(SettingsError::UnknownKeys { origin, keys })
        }
    }
}

/// The first setting of `tree` that names the address of a model or an index, or the key for it, with its line.
fn reserved_for_users(prefix: &str, tree: &Tree) -> Option<(String, Option<u64>)> {
    let Tree::Mapping(entries) = tree else {
        return None;
    };
    entries.iter().find_map(|entry| {
        let path = match prefix {
            "" => entry.key.clone(),
            _ => format!("{prefix}.{}", entry.key),
        };
        match entry.key.as_str() {
            "providers" | "store" if prefix.is_empty() => Some((path, entry.line)),
            "base_url" | "api_key_env" => Some((path, entry.line)),
            // These fields are the server's, whatever their names.
            "extra_body" => None,
            // A dataset may bring the system that it was made for, which is what it tests then.
            "target" if prefix.is_empty() => None,
            _ => reserved_for_users(&path, &entry.value),
        }
    })
}

/// Most parts of a key. A setting has at most four, and fields of `extra_body` may nest deeper. A key of thousands of parts would become
/// a tree too deep for the stack.
const MOST_PARTS: usize = 64;

/// Most characters of an argument that an error shows.
const MOST_SHOWN: usize = 100;

/// Writes every model of the form `PROVIDER:NAME` as the mapping that it stands for.
fn expand_models(tree: &mut Tree) {
    for role in Role::ALL {
        let Some(entry) = tree.get_mut(role.path()) else {
            continue;
        };
        let named = entry.value.text().and_then(|text| text.split_once(':'));
        let Some((provider, name)) = named.filter(|it| !it.0.is_empty() && !it.1.is_empty()) else {
            continue;
        };
        let line = entry.line;
        let part = |(key, value): (&str, &str)| Entry {
            key: key.to_owned(),
            line,
            value: Tree::Leaf(value.into()),
        };
        let parts = [("provider", provider), ("name", name)].map(part);
        entry.value = Tree::Mapping(parts.into());
    }
}

/// The tree of one `KEY=VALUE`, or what is wrong with it.
fn assignment(argument: &str) -> Result<Tree, String> {
    let (path, text) = argument
        .split_once('=')
        .filter(|(path, _)| !path.is_empty())
        .ok_or("not of the form KEY=VALUE, e.g. `search.limit=10`")?;
    let parts = path.split('.').count();
    if parts > MOST_PARTS {
        return Err(format!(
            "the key has {parts} parts, and at most {MOST_PARTS} are allowed"
        ));
    }
    let value = if text.trim().is_empty() {
        Value::String(String::new())
    } else {
        let tree = Tree::parse(text);
        let tree = tree.map_err(|error| format!("the value is not valid YAML: {error}"))?;
        tree.to_value()
    };
    // The tree is built without lines, because lines within an option would mislead.
    let mut tree = Tree::at(path, Tree::from_value(&value));
    expand_models(&mut tree);
    Ok(tree)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::resolve;

    /// The layer of a manifest in whose line 6 the settings begin.
    pub(crate) fn dataset(settings: &str) -> Result<Layer, SettingsError> {
        let text = format!("name: mine\n\n\n\nsettings:\n  {settings}\n");
        let manifest = Tree::parse(&text).unwrap();
        Layer::dataset("sets/mine.yaml", &manifest.get("settings").unwrap().value)
    }

    pub(crate) fn set(arguments: &[&str]) -> Layer {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        Layer::assignments(&arguments).unwrap().unwrap()
    }

    #[test]
    fn a_key_of_more_parts_than_settings_have_is_refused() {
        let nested = |parts: usize| {
            let field = "qa.model.extra_body".to_owned() + &".a".repeat(parts - 3);
            let model = "qa.model={provider: openai, name: m}".to_owned();
            Layer::assignments(&[model, format!("{field}=1")])
        };
        let layer = nested(64).unwrap().unwrap();
        assert!(resolve(vec![layer]).is_ok());
        for parts in [65, 60_000] {
            let error = nested(parts).unwrap_err().to_string();
            let expected = format!("the key has {parts} parts, and at most 64 are allowed");
            assert!(error.ends_with(&expected), "{error}");
            assert!(error.len() < 200, "{error}");
        }
    }

    #[test]
    fn a_dataset_says_nothing_of_servers_and_keys() {
        let refused = |settings| dataset(settings).unwrap_err().to_string();
        assert_eq!(
            refused(
                "qa:\n    model: {provider: openai, name: m}\n  providers:\n    openai: {timeout: 5}"
            ),
            "sets/mine.yaml:8: a dataset may not set `providers`; set it in a settings file"
        );
        assert_eq!(
            refused("qa:\n    model:\n      base_url: https://evil.example/v1"),
            "sets/mine.yaml:8: a dataset may not set `qa.model.base_url`; set it in a settings file"
        );
        assert_eq!(
            refused("evaluations:\n    judge: {api_key_env: AWS_SECRET_ACCESS_KEY}"),
            "sets/mine.yaml:7: a dataset may not set `evaluations.judge.api_key_env`; set it in a settings file"
        );
        assert_eq!(
            refused("store: {endpoint: \"https://evil.example\"}"),
            "sets/mine.yaml:6: a dataset may not set `store`; set it in a settings file"
        );
        let field = "qa: {model: {extra_body: {base_url: x}}}";
        assert!(dataset(field).is_ok());
    }

    #[test]
    fn a_model_may_be_provider_and_name_in_a_file_as_in_an_option() {
        let model = |written: &str| {
            let tree = Tree::parse(written).unwrap();
            let settings = resolve(vec![Layer::new("evaluations.yaml", tree)]);
            settings.map(|it| it.settings.qa.model)
        };
        let [short, long] = [
            "qa:\n  model: ollama:qwen3:4b",
            "qa: {model: {provider: ollama, name: \"qwen3:4b\"}}",
        ];
        assert_eq!(model(short).unwrap(), model(long).unwrap());
        let set = resolve(vec![set(&["qa.model=ollama:qwen3:4b"])]).unwrap();
        assert_eq!(model(short).unwrap(), set.settings.qa.model);
        let refused = |written: &str| model(written).unwrap_err().to_string();
        assert!(refused("qa:\n  model: qwen3").starts_with("evaluations.yaml:2: bad value"));
        let schema = &json_schema()["$defs"]["ChatModel"];
        assert_eq!(schema["type"], json!(["object", "string"]));
    }

    #[test]
    fn an_assignment_is_checked_like_a_file() {
        let refused = |argument: &str| {
            Layer::assignments(&[argument.to_owned()])
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused("search.limt=3"),
            "`--set search.limt=…`: unknown setting `search.limt`; did you mean `search.limit`?"
        );
        assert_eq!(
            refused("search.limit"),
            "`--set search.limit`: not of the form KEY=VALUE, e.g. `search.limit=10`"
        );
    }

    #[test]
    fn what_is_assigned_to_a_wrong_key_is_not_repeated() {
        for argument in [
            "providers.openai.api_key=hunter2-and-more",
            "providers.openai={api_kye: hunter2-and-more}",
            "qa.model.apikey=hunter2-and-more",
            "OPENAI_API_KEY=hunter2-and-more",
            "providers.openai.api_key={hunter2-and-more",
            "providers.openai.api_key=null # hunter2-and-more",
        ] {
            let message = Layer::assignments(&[argument.to_owned()])
                .unwrap_err()
                .to_string();
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn a_null_that_a_setting_does_not_take_is_refused() {
        assert_eq!(
            Layer::assignments(&["search.limit=null".to_owned()])
                .unwrap_err()
                .to_string(),
            "`--set search.limit=null`: the setting cannot be null"
        );
    }
}
