//! What the settings say of the reranker, checked without opening it.

use crate::local_models::LocalModel;
use crate::settings::{Model, Resolved, SettingsError};

/// Where the reranker stands in the settings.
pub(crate) const PATH: &str = "reranking.model";

/// The ways in which a model can rerank.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// Behind a server's endpoint `/rerank`.
    Http(Model),
    /// A chat model, which is what this names.
    Llm(Model),
    /// A cross-encoder or a model of late interaction in this process.
    Local(Model),
}

/// Whether the provider of the settings' reranker is one that there is; other programs' settings may name others.
pub(crate) fn is_known(resolved: &Resolved) -> bool {
    let model = resolved.settings.reranking.model.as_ref();
    model.is_some_and(|model| matches!(model.provider.as_str(), "http" | "llm" | "local"))
}

/// What the reranker of the settings is. Refuses one that there is not, or that nothing is said of.
pub(crate) fn check(resolved: &Resolved) -> Result<Kind, SettingsError> {
    let Some(model) = &resolved.settings.reranking.model else {
        return Err(resolved.bad_value(PATH, &"there is none"));
    };
    let bad = |field: &str, message: &str| resolved.bad_value(&format!("{PATH}.{field}"), &message);
    let provider = resolved.settings.providers.get(&model.provider);
    let address = provider.and_then(|provider| provider.base_url.as_ref());
    match model.provider.as_str() {
        "http" if model.base_url.is_none() && address.is_none() => Err(bad(
            "base_url",
            "it has to be the address of a server, to which `/rerank` is appended",
        )),
        "http" => Ok(Kind::Http(model.clone())),
        "llm" => match model.name.split_once(':') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => {
                Ok(Kind::Llm(Model {
                    provider: provider.to_owned(),
                    name: name.to_owned(),
                    ..model.clone()
                }))
            }
            _ => Err(bad(
                "name",
                "a chat model is named by its provider too, as in `ollama:qwen3`",
            )),
        },
        "local" => LocalModel::reranker(resolved, model).map(|_| Kind::Local(model.clone())),
        other => Err(bad(
            "provider",
            &format!("there are no rerankers of `{other}`; there are `http`, `llm` and `local`"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, resolve};

    fn checked(reranker: &str) -> Result<Kind, String> {
        let set = [format!("reranking.model={reranker}")];
        let layers = Layer::assignments(&set).unwrap().into_iter().collect();
        check(&resolve(layers).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_chat_model_is_named_with_its_provider() {
        let Ok(Kind::Llm(model)) = checked("{provider: llm, name: \"ollama:qwen3:4b\"}") else {
            panic!("it is a chat model")
        };
        assert_eq!(
            (model.provider.as_str(), model.name.as_str()),
            ("ollama", "qwen3:4b")
        );
        assert_eq!(
            checked("{provider: llm, name: qwen3}").unwrap_err(),
            "`--set`: bad value for `reranking.model.name`: a chat model is named by its provider too, as in `ollama:qwen3`"
        );
    }

    #[test]
    fn a_server_has_an_address() {
        let address = "{provider: http, name: bge, base_url: \"http://localhost:8080\"}";
        assert!(matches!(checked(address), Ok(Kind::Http(_))));
        assert_eq!(
            checked("{provider: http, name: bge}").unwrap_err(),
            "`--set`: bad value for `reranking.model.base_url`: it has to be the address of a server, to which `/rerank` is \
             appended"
        );
    }

    #[test]
    fn other_providers_are_refused_with_those_that_there_are() {
        assert_eq!(
            checked("{provider: mxbai, name: mxbai-rerank-base-v2}").unwrap_err(),
            "`--set`: bad value for `reranking.model.provider`: there are no rerankers of `mxbai`; there are `http`, `llm` and \
             `local`"
        );
    }
}
