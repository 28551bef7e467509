//! Which settings of a model mean something for its provider and its place. What would be ignored is refused, and so is an
//! embedded model that there is not.

use crate::choices::{is_embedded, is_local};
use crate::settings::{Model, Resolved, SettingsError};

/// What settings call the embedded answerer and the embedded judge.
const EXTRACTIVE: &str = "extractive";
pub(crate) const OVERLAP: &str = "overlap";

/// Of every model behind a server.
pub(crate) const SERVED: [&str; 5] = [
    "base_url",
    "api_key_env",
    "timeout",
    "max_concurrency",
    "extra_body",
];
/// Of every model that writes.
const WRITES: [&str; 3] = ["temperature", "max_tokens", "seed"];
/// Of every model that embeds behind a server.
const EMBEDS: [&str; 4] = [
    "vector_dim",
    "max_tokens",
    "query_prefix",
    "document_prefix",
];

/// Refuses settings of the answering model, the judge and the embedding model that mean nothing for them.
pub(crate) fn check(resolved: &Resolved) -> Result<(), SettingsError> {
    let settings = &resolved.settings;
    check_chat(resolved, "qa.model", &settings.qa.model)?;
    check_chat(resolved, "evaluations.judge", &settings.evaluations.judge)?;
    let embedding = &settings.embeddings.model;
    // The kinds that run in this process are checked where they are opened.
    if is_embedded(embedding) || is_local(embedding) {
        return Ok(());
    }
    let own: &[&str] = match embedding.provider.as_str() {
        "ollama" => &["keep_alive"],
        _ => &[],
    };
    refuse(
        resolved,
        "embeddings.model",
        embedding,
        &[&SERVED, &EMBEDS, own],
    )
}

/// Refuses an embedded answering model that there is not. A run that answers nothing does not ask.
pub(crate) fn check_answerer(resolved: &Resolved) -> Result<(), SettingsError> {
    check_embedded(
        resolved,
        "qa.model",
        &resolved.settings.qa.model,
        EXTRACTIVE,
    )
}

/// The same of the judge.
pub(crate) fn check_judge(resolved: &Resolved) -> Result<(), SettingsError> {
    let judge = &resolved.settings.evaluations.judge;
    check_embedded(resolved, "evaluations.judge", judge, OVERLAP)
}

fn check_embedded(
    resolved: &Resolved,
    path: &str,
    model: &Model,
    only: &str,
) -> Result<(), SettingsError> {
    if is_embedded(model) && model.name != only {
        let message = format!("the only embedded one is `{only}`");
        return Err(resolved.bad_value(&format!("{path}.name"), &message));
    }
    Ok(())
}

/// Refuses settings of the model that writes at `path` that mean nothing for it.
fn check_chat(resolved: &Resolved, path: &str, model: &Model) -> Result<(), SettingsError> {
    if is_embedded(model) {
        return refuse(resolved, path, model, &[]);
    }
    refuse(
        resolved,
        path,
        model,
        &[&SERVED, &WRITES, own_of_chat(model)],
    )
}

/// Whether a setting means something for a chat model.
pub(crate) fn of_chat(model: &Model, field: &str) -> bool {
    [&SERVED[..], &WRITES, own_of_chat(model)]
        .iter()
        .any(|some| some.contains(&field))
}

/// What only chat models of this one's provider have.
fn own_of_chat(model: &Model) -> &'static [&'static str] {
    match model.provider.as_str() {
        "ollama" => &["num_ctx", "keep_alive", "think"],
        _ => &["reasoning_effort"],
    }
}

fn refuse(
    resolved: &Resolved,
    path: &str,
    model: &Model,
    known: &[&[&str]],
) -> Result<(), SettingsError> {
    let fields = model.set_fields();
    let is_known = |field: &str| known.iter().any(|some| some.contains(&field));
    match fields.iter().find(|field| !is_known(field)) {
        Some(field) => {
            let message = format!("a model of `{}` has no such setting here", model.provider);
            Err(resolved.bad_value(&format!("{path}.{field}"), &message))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, resolve};

    fn checked(path: &str, provider: &str, field: &str) -> Result<(), String> {
        let assignments = [
            format!("{path}.provider={provider}"),
            format!("{path}.name=m"),
            format!("{path}.{field}"),
        ];
        let layer = Layer::assignments(&assignments).unwrap();
        let resolved = resolve(layer.into_iter().collect()).unwrap();
        check(&resolved).map_err(|error| error.to_string())
    }

    #[test]
    fn what_would_be_ignored_is_refused_by_its_path() {
        let cases = [
            ("qa.model", "openai", "num_ctx=8192"),
            ("qa.model", "groq", "query_prefix=x"),
            ("qa.model", "ollama", "reasoning_effort=low"),
            ("qa.model", "embedded", "temperature=0"),
            ("evaluations.judge", "openai", "think=true"),
            ("embeddings.model", "openai", "temperature=0"),
            ("embeddings.model", "openai", "keep_alive=5m"),
            ("embeddings.model", "ollama", "num_ctx=8192"),
        ];
        for (path, provider, field) in cases {
            let name = field.split('=').next().unwrap();
            assert_eq!(
                checked(path, provider, field),
                Err(format!(
                    "`--set`: bad value for `{path}.{name}`: a model of `{provider}` has no such setting here"
                ))
            );
        }
    }

    #[test]
    fn what_means_something_is_taken() {
        let cases = [
            ("qa.model", "openai", "reasoning_effort=low"),
            ("qa.model", "ollama", "num_ctx=8192"),
            ("evaluations.judge", "groq", "extra_body={top_p: 1}"),
            ("embeddings.model", "ollama", "keep_alive=5m"),
            ("embeddings.model", "openai", "max_tokens=512"),
            ("embeddings.model", "local", "dtype=int8"),
        ];
        for (path, provider, field) in cases {
            assert_eq!(checked(path, provider, field), Ok(()), "{path} {field}");
        }
    }
}
