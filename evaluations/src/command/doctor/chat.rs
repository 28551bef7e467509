//! Checks chat models: the one that answers, the judge, and those that rerank and rewrite.

use std::num::NonZeroU32;

use evals_models::{ChatRequest, Message};
use evals_pipeline::choices;
use evals_pipeline::models::{ConfiguredChat, Servers};

use super::finding::Finding;
use crate::settings::Resolved;

/// Limit on the reply to the request that only checks whether a model answers, in tokens.
const PROBE_TOKENS: u32 = 16;

/// Asks a model behind a server for one word.
pub(super) async fn check(
    servers: &mut Servers<'_>,
    role: &str,
    model: &ConfiguredChat,
) -> Finding {
    let mut request = ChatRequest::new(vec![Message::user("Reply with the word ok.")]);
    request.max_tokens = NonZeroU32::new(PROBE_TOKENS);
    let asked = async {
        let chat = servers.chat(model).await?;
        anyhow::Ok(chat.chat(&request).await?)
    };
    match asked.await {
        Ok(reply) => Finding::Good(format!(
            "{role}: {model} answers within {:.1} s",
            reply.served.service_time.as_secs_f64()
        )),
        Err(error) => Finding::Bad {
            what: format!("{role}: {error:#}"),
            remedy: format!(
                "check the settings `{}` and `providers.{}`",
                model.role.path(),
                model.settings.provider
            ),
        },
    }
}

/// Checks the name of an embedded model as a run does.
pub(super) fn check_embedded(role: &str, resolved: &Resolved, model: &ConfiguredChat) -> Finding {
    match model.check_embedded_name(resolved) {
        Ok(()) => Finding::Good(format!("{role}: {model}, part of this program")),
        Err(error) => Finding::Bad {
            what: format!("{role}: {error}"),
            remedy: "use that model, or a model behind a server".to_owned(),
        },
    }
}

/// A note if the settings have no price for a model.
pub(super) fn check_price(
    role: &str,
    resolved: &Resolved,
    model: &ConfiguredChat,
) -> Option<Finding> {
    let price = choices::prices(resolved).of(&model.identity());
    let is_unknown = price.input.is_none() || price.output.is_none();
    is_unknown.then(|| {
        Finding::Note(format!(
            "{role}: no price for `{}`, so its cost is unknown; set one under `prices`",
            model.settings.name
        ))
    })
}
