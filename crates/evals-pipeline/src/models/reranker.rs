//! Checks the reranker of the settings.

use evals_settings::{RerankerKind, Resolved, Role, SettingsError};

use super::configured::{ConfiguredModels, ConfiguredReranker};
use super::local::LocalModel;

/// Returns the reranker of the settings. Refuses one that cannot be opened. Opens nothing and asks no server.
pub fn check<'m>(
    resolved: &Resolved,
    models: &'m ConfiguredModels,
) -> Result<&'m ConfiguredReranker, SettingsError> {
    let Some(model) = &models.reranker else {
        return Err(resolved.bad_value(Role::Reranker.path(), &"no reranker is set"));
    };
    match &model.settings.kind {
        RerankerKind::Local(local) => LocalModel::reranker(resolved, model, local).map(drop)?,
        RerankerKind::Http(connection) => {
            let provider = resolved.settings.providers.get(&model.settings.provider);
            let address = provider.and_then(|provider| provider.base_url.as_ref());
            if connection.base_url.is_none() && address.is_none() {
                let message = "set the address of the server, to which `/rerank` is appended";
                return Err(model.bad_field(resolved, "base_url", &message));
            }
        }
        RerankerKind::Llm(_) => {}
    }
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::RanIn;
    use evals_settings::{Layer, Protocol, resolve};

    fn checked(reranker: &str) -> Result<ConfiguredReranker, String> {
        let set = [format!("reranking.model={reranker}")];
        let layers = Layer::assignments(&set).unwrap().into_iter().collect();
        let resolved = resolve(layers).unwrap();
        let models = ConfiguredModels::of(&resolved.settings);
        let reranker = check(&resolved, &models);
        reranker.cloned().map_err(|error| error.to_string())
    }

    #[test]
    fn a_reranker_is_a_chat_model_of_its_provider() {
        let model = checked("{provider: llm, name: \"ollama:qwen3:4b\"}").unwrap();
        assert_eq!(model.server().unwrap().protocol, Protocol::Ollama);
        assert_eq!(model.to_string(), "ollama:qwen3:4b");
        assert_eq!(model.identity(), model.chat().unwrap().identity());
        let other = checked("{provider: llm, name: \"groq:m\"}").unwrap();
        assert_eq!(other.server().unwrap().protocol, Protocol::OpenAi);
    }

    #[test]
    fn a_server_has_an_address() {
        let address = "{provider: http, name: bge, base_url: \"http://localhost:8080\"}";
        assert!(checked(address).unwrap().chat().is_none());
        assert_eq!(
            checked("{provider: http, name: bge}").unwrap_err(),
            "`--set`: bad value for `reranking.model.base_url`: set the address of the server, to which `/rerank` is appended"
        );
    }

    #[test]
    fn an_identity_says_where_its_model_ran() {
        let ran_in = |provider| RanIn::of(&evals_models::ModelIdentity::new(provider, "m"));
        assert_eq!(ran_in("embedded"), RanIn::Program);
        assert_eq!(ran_in("local"), RanIn::Process);
        for provider in ["ollama", "http", "groq"] {
            assert_eq!(ran_in(provider), RanIn::Server);
        }
    }
}
