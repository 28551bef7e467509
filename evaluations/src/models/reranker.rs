//! Checks the reranker of the settings.

use evals_messages::nearest;

use super::configured::{ConfiguredModel, ConfiguredModels};
use super::fields;
use super::kind::ModelKind;
use super::local::LocalModel;
use crate::settings::{Resolved, Role, SettingsError};

/// The providers of rerankers.
const PROVIDERS: [&str; 3] = ["http", "llm", "local"];

/// Whether the settings name a reranker of a provider that this program has. A file of haiku.rag may name others.
pub(crate) fn is_known(models: &ConfiguredModels) -> bool {
    let kind = models.reranker.as_ref().map(|reranker| reranker.kind);
    kind.is_some_and(|kind| match kind {
        ModelKind::Local | ModelKind::HttpReranker | ModelKind::LlmReranker(_) => true,
        ModelKind::Embedded | ModelKind::Ollama | ModelKind::OpenAi => false,
    })
}

/// Returns the reranker of the settings. Refuses one that cannot be opened. Opens nothing and asks no server.
pub(crate) fn check<'m>(
    resolved: &Resolved,
    models: &'m ConfiguredModels,
) -> Result<&'m ConfiguredModel, SettingsError> {
    let Some(model) = &models.reranker else {
        return Err(resolved.bad_value(Role::Reranker.path(), &"no reranker is set"));
    };
    let settings = &model.settings;
    match model.kind {
        ModelKind::Local => return LocalModel::of(resolved, model).map(|_| model),
        ModelKind::HttpReranker => {
            let provider = resolved.settings.providers.get(&settings.provider);
            let address = provider.and_then(|provider| provider.base_url.as_ref());
            if settings.base_url.is_none() && address.is_none() {
                let message = "set the address of the server, to which `/rerank` is appended";
                return Err(model.bad_field(resolved, "base_url", &message));
            }
        }
        ModelKind::LlmReranker(_) => {
            if settings.provider.is_empty() || settings.name.is_empty() {
                let message = "name the provider of the chat model too, as in `ollama:qwen3`";
                return Err(model.bad_field(resolved, "name", &message));
            }
        }
        ModelKind::Embedded | ModelKind::Ollama | ModelKind::OpenAi => {
            return Err(unknown(resolved, model));
        }
    }
    fields::check(resolved, model)?;
    Ok(model)
}

/// The error of a provider that has no rerankers.
pub(crate) fn unknown(resolved: &Resolved, model: &ConfiguredModel) -> SettingsError {
    let provider = &model.settings.provider;
    let suggestion = nearest::did_you_mean(nearest::of(provider, PROVIDERS));
    let message =
        format!("unknown reranker provider `{provider}`; use `http`, `llm` or `local`{suggestion}");
    model.bad_field(resolved, "provider", &message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::kind::Protocol;
    use crate::settings::{Layer, resolve};

    fn checked(reranker: &str) -> Result<ConfiguredModel, String> {
        let set = [format!("reranking.model={reranker}")];
        let layers = Layer::assignments(&set).unwrap().into_iter().collect();
        let resolved = resolve(layers).unwrap();
        let models = ConfiguredModels::of(&resolved.settings);
        let reranker = check(&resolved, &models);
        reranker.cloned().map_err(|error| error.to_string())
    }

    #[test]
    fn a_chat_model_is_named_with_its_provider() {
        let model = checked("{provider: llm, name: \"ollama:qwen3:4b\"}").unwrap();
        assert_eq!(model.kind, ModelKind::LlmReranker(Protocol::Ollama));
        assert_eq!(
            (
                model.settings.provider.as_str(),
                model.settings.name.as_str()
            ),
            ("ollama", "qwen3:4b")
        );
        assert_eq!(
            checked("{provider: llm, name: qwen3}").unwrap_err(),
            "`--set`: bad value for `reranking.model.name`: name the provider of the chat model too, as in `ollama:qwen3`"
        );
    }

    #[test]
    fn a_server_has_an_address() {
        let address = "{provider: http, name: bge, base_url: \"http://localhost:8080\"}";
        assert_eq!(checked(address).unwrap().kind, ModelKind::HttpReranker);
        assert_eq!(
            checked("{provider: http, name: bge}").unwrap_err(),
            "`--set`: bad value for `reranking.model.base_url`: set the address of the server, to which `/rerank` is appended"
        );
    }

    #[test]
    fn other_providers_are_refused_with_those_that_there_are() {
        assert_eq!(
            checked("{provider: mxbai, name: mxbai-rerank-base-v2}").unwrap_err(),
            "`--set`: bad value for `reranking.model.provider`: unknown reranker provider `mxbai`; use `http`, `llm` or \
             `local`"
        );
    }

    #[test]
    fn a_misspelt_provider_gets_a_suggestion() {
        let message = checked("{provider: lokal, name: a/b}").unwrap_err();
        assert!(
            message.ends_with("`local`; did you mean `local`?"),
            "{message}"
        );
    }

    #[test]
    fn what_would_be_ignored_is_refused_with_the_rerankers_that_have_it() {
        let refused = |written: &str| {
            let message = checked(written).unwrap_err();
            message
                .strip_prefix("`--set`: bad value for `reranking.model.")
                .unwrap()
                .to_owned()
        };
        let http = "provider: http, name: m, base_url: \"http://localhost:1\"";
        let llm = "provider: llm, name: \"ollama:m\"";
        for (written, expected) in [
            (
                format!("{{{http}, instruction: x}}"),
                "instruction`: rerankers of `http` do not have this setting; those of `local` do",
            ),
            (
                format!("{{{http}, dtype: int8}}"),
                "dtype`: rerankers of `http` do not have this setting; those of `local` do",
            ),
            (
                format!("{{{http}, temperature: 0}}"),
                "temperature`: rerankers of `http` do not have this setting; those of `llm` (ollama) and `llm` (openai) do",
            ),
            (
                format!("{{{llm}, instruction: x}}"),
                "instruction`: rerankers of `llm` (ollama) do not have this setting; those of `local` do",
            ),
            (
                format!("{{{llm}, reasoning_effort: low}}"),
                "reasoning_effort`: rerankers of `llm` (ollama) do not have this setting; those of `llm` (openai) do",
            ),
            (
                format!("{{{llm}, vector_dim: 5}}"),
                "vector_dim`: no rerankers have this setting",
            ),
        ] {
            assert_eq!(refused(&written), expected);
        }
        assert!(
            checked(&format!(
                "{{{llm}, num_ctx: 8192, timeout: 5, max_tokens: 100}}"
            ))
            .is_ok()
        );
        assert!(
            checked(&format!(
                "{{{http}, max_concurrency: 2, extra_body: {{a: 1}}}}"
            ))
            .is_ok()
        );
    }
}
