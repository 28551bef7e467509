//! What the settings say of the reranker, checked without opening it.

use crate::models::fields;
use crate::models::local::{LocalModel, RERANKER_FIELDS};
use crate::nearest;
use crate::settings::{Model, Resolved, SettingsError};

/// Where the reranker stands in the settings.
pub(crate) const PATH: &str = "reranking.model";

/// Its providers.
const PROVIDERS: [&str; 3] = ["http", "llm", "local"];

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
    model.is_some_and(|model| PROVIDERS.contains(&model.provider.as_str()))
}

/// What the reranker of the settings is. Refuses one that there is not, or that nothing is said of, and settings that mean
/// nothing for it.
pub(crate) fn check(resolved: &Resolved) -> Result<Kind, SettingsError> {
    let Some(model) = &resolved.settings.reranking.model else {
        return Err(resolved.bad_value(PATH, &"there is none"));
    };
    let bad = |field: &str, message: &str| resolved.bad_value(&format!("{PATH}.{field}"), &message);
    let provider = resolved.settings.providers.get(&model.provider);
    let address = provider.and_then(|provider| provider.base_url.as_ref());
    let kind = match model.provider.as_str() {
        "http" if model.base_url.is_none() && address.is_none() => Err(bad(
            "base_url",
            "it has to be the address of a server, to which `/rerank` is appended",
        )),
        "http" => Ok(Kind::Http(model.clone())),
        "llm" => match chat_model(model) {
            Some(chat) => Ok(Kind::Llm(chat)),
            None => Err(bad(
                "name",
                "a chat model is named by its provider too, as in `ollama:qwen3`",
            )),
        },
        "local" => {
            return LocalModel::reranker(resolved, model).map(|_| Kind::Local(model.clone()));
        }
        other => Err(bad("provider", &unknown(other))),
    }?;
    let fields = model.set_fields();
    match fields.iter().find(|field| !takes(&kind, field)) {
        Some(field) => Err(bad(field, &untaken(&kind, model, field))),
        None => Ok(kind),
    }
}

/// The chat model that a reranker of `llm` names; `None` where it is none, or not named as `PROVIDER:NAME`.
pub(crate) fn chat_model(reranker: &Model) -> Option<Model> {
    let (provider, name) = reranker.name.split_once(':')?;
    let is_one = reranker.provider == "llm" && !provider.is_empty() && !name.is_empty();
    is_one.then(|| Model {
        provider: provider.to_owned(),
        name: name.to_owned(),
        ..reranker.clone()
    })
}

/// Whether a setting means something for a reranker.
fn takes(kind: &Kind, field: &str) -> bool {
    match kind {
        Kind::Http(_) => fields::SERVED.contains(&field),
        Kind::Llm(model) => fields::of_chat(model, field),
        Kind::Local(_) => RERANKER_FIELDS.contains(&field),
    }
}

/// Why a setting is refused, and which rerankers have it.
fn untaken(kind: &Kind, model: &Model, field: &str) -> String {
    let chat = |provider: &str| Kind::Llm(Model::named(provider, ""));
    let others = [
        ("`local`", Kind::Local(model.clone())),
        ("`http`", Kind::Http(model.clone())),
        ("`llm` with a model of Ollama", chat("ollama")),
        (
            "`llm` with a model behind OpenAI's protocol",
            chat("openai"),
        ),
    ];
    let this = match kind {
        Kind::Llm(chat) => format!("`llm` with a model of `{}`", chat.provider),
        Kind::Http(_) | Kind::Local(_) => format!("`{}`", model.provider),
    };
    let knowing: Vec<&str> = others
        .iter()
        .filter(|(_, other)| takes(other, field))
        .map(|(name, _)| *name)
        .collect();
    let known = match knowing.as_slice() {
        [] => "no reranker has it".to_owned(),
        knowing => format!("a reranker of {} has it", knowing.join(" or ")),
    };
    format!("a reranker of {this} has no such setting; {known}")
}

/// What to say of a provider that there is not.
fn unknown(provider: &str) -> String {
    let suggestion = nearest::of(provider, PROVIDERS).map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    });
    format!(
        "there are no rerankers of `{provider}`; there are `http`, `llm` and `local`{suggestion}"
    )
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

    #[test]
    fn a_misspelt_provider_is_told_the_nearest() {
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
                "instruction`: a reranker of `http` has no such setting; a reranker of `local` has it",
            ),
            (
                format!("{{{http}, dtype: int8}}"),
                "dtype`: a reranker of `http` has no such setting; a reranker of `local` has it",
            ),
            (
                format!("{{{http}, temperature: 0}}"),
                "temperature`: a reranker of `http` has no such setting; a reranker of `llm` with a model of Ollama or `llm` with \
                 a model behind OpenAI's protocol has it",
            ),
            (
                format!("{{{llm}, instruction: x}}"),
                "instruction`: a reranker of `llm` with a model of `ollama` has no such setting; a reranker of `local` has it",
            ),
            (
                format!("{{{llm}, reasoning_effort: low}}"),
                "reasoning_effort`: a reranker of `llm` with a model of `ollama` has no such setting; a reranker of `llm` with a \
                 model behind OpenAI's protocol has it",
            ),
            (
                format!("{{{llm}, vector_dim: 5}}"),
                "vector_dim`: a reranker of `llm` with a model of `ollama` has no such setting; no reranker has it",
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
