//! The limits of a server: how many requests and tokens it is sent, and how often a request is retried.

use evals_providers::TrafficSettings;
use evals_settings::{Protocol, SettingsError};

use super::served_model::{ServedModel, duration};
use crate::models::configured::ConfiguredModels;

/// The limits of the server that `model` is behind. Pauses between attempts are drawn from `seed`.
///
/// Those of `models` that are at the same server share its traffic. The strictest limit of any of them holds, whichever is opened
/// first.
pub(super) fn traffic_settings(
    models: &ConfiguredModels,
    model: &ServedModel<'_>,
    seed: u64,
) -> Result<TrafficSettings, SettingsError> {
    let defaults = match model.model.protocol {
        Protocol::Ollama => TrafficSettings::ollama(),
        Protocol::OpenAi => TrafficSettings::default(),
    };
    let resolved = model.resolved;
    let others: Vec<ServedModel<'_>> = models
        .served()
        .filter_map(|other| ServedModel::of(resolved, other).ok())
        .filter(|other| share_server(other, model))
        .collect();
    let here = || others.iter().chain([model]);
    let mut settings = TrafficSettings {
        max_concurrency: here().filter_map(ServedModel::max_concurrency).min(),
        requests_per_minute: here()
            .filter_map(|model| model.provider.requests_per_minute)
            .min(),
        tokens_per_minute: here()
            .filter_map(|model| model.provider.tokens_per_minute)
            .min(),
        max_attempts: here()
            .filter_map(|model| model.provider.max_attempts)
            .min()
            .unwrap_or(defaults.max_attempts),
        seed,
        ..defaults
    };
    let case_timeout = resolved.settings.evaluations.case_timeout;
    settings.call_deadline = duration(case_timeout).ok_or_else(|| {
        resolved.bad_value("evaluations.case_timeout", &"must be more than 0 seconds")
    })?;
    Ok(settings)
}

/// Whether two models share their traffic.
fn share_server(one: &ServedModel<'_>, other: &ServedModel<'_>) -> bool {
    one.model.protocol == other.model.protocol
        && one.base_url.to_string() == other.base_url.to_string()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::models::configured::Behind;
    use evals_settings::{Layer, resolve};

    /// The limits of the models that `chosen` picks. Each model is treated as if it were opened first.
    fn traffic<const N: usize>(
        chosen: impl Fn(&ConfiguredModels) -> [Option<Behind<'_>>; N],
        set: &[&str],
    ) -> [TrafficSettings; N] {
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let layer = Layer::assignments(&set).unwrap();
        let resolved = resolve(layer.into_iter().collect()).unwrap();
        let models = ConfiguredModels::of(&resolved.settings);
        chosen(&models).map(|model| {
            let served = ServedModel::of(&resolved, model.unwrap()).unwrap();
            traffic_settings(&models, &served, 0).unwrap()
        })
    }

    #[test]
    fn models_at_one_server_share_the_smallest_concurrency() {
        let at_once = |more: &[&str]| {
            let both = [
                "qa.model.provider=openai",
                "qa.model.name=m",
                "evaluations.judge.provider=openai",
                "evaluations.judge.name=j",
                "qa.model.max_concurrency=64",
            ];
            let set = [&both[..], more].concat();
            let [settings] = traffic(|models| [models.answerer.server()], &set);
            settings.max_concurrency.map(NonZeroUsize::get)
        };
        assert_eq!(at_once(&[]), Some(64));
        let judge = "evaluations.judge.max_concurrency=8";
        assert_eq!(at_once(&[judge]), Some(8));
        let elsewhere = "evaluations.judge.base_url=http://localhost:1/v1";
        assert_eq!(at_once(&[judge, elsewhere]), Some(64));
    }

    #[test]
    fn limits_do_not_depend_on_which_model_is_opened_first() {
        let settings = traffic(
            |models| {
                let reranker = models.reranker.as_ref().unwrap();
                [
                    models.embedder.server(),
                    reranker.server(),
                    models.answerer.server(),
                ]
            },
            &[
                "embeddings.model={provider: mine, name: e}",
                "reranking.model={provider: llm, name: \"openai:r\", base_url: \"http://localhost:1/v1\", max_concurrency: 2}",
                "qa.model={provider: other, name: q}",
                "providers.mine={base_url: \"http://localhost:1/v1\", requests_per_minute: 60, max_attempts: 3}",
                "providers.other={base_url: \"http://localhost:1/v1/\", requests_per_minute: 90, tokens_per_minute: 7}",
            ],
        );
        for one in settings {
            assert_eq!(one.max_concurrency.map(NonZeroUsize::get), Some(2));
            assert_eq!(
                one.requests_per_minute.map(std::num::NonZero::get),
                Some(60)
            );
            assert_eq!(one.tokens_per_minute.map(std::num::NonZero::get), Some(7));
            assert_eq!(one.max_attempts.get(), 3);
        }
    }
}
