//! Checks the system under test.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use evals_messages::quantity;
use evals_pipeline::models::{ConfiguredChat, ConfiguredModels, Servers, embedder, prompted};
use evals_targets::{EmbeddingTarget, Reply, Request, Target, TargetAddress, TargetSettings};
use evals_terminal::Printer;

use super::finding::Finding;
use crate::settings::Resolved;

/// The question that a system under test is asked.
const PROBE: &str = "What do you know?";

/// Asks the system under test one question.
pub(super) async fn check(
    printer: &Printer,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    settings: &TargetSettings,
    folder: &Path,
) -> Finding {
    let Some(address) = &settings.address else {
        unreachable!("checked settings have an address");
    };
    match ask(printer, servers, resolved, settings, folder, address).await {
        Ok(None) => Finding::Note(format!(
            "target: `{address}` is not behind a server; a run with `--limit 1` tries it"
        )),
        Ok(Some(reply)) => {
            let time = reply.duration().map_or(0.0, |it| it.as_secs_f64());
            let is_given = reply.answer.is_some_and(|answer| !answer.is_null());
            let answer = if is_given { "an answer" } else { "no answer" };
            let documents = reply.documents.map_or_else(
                || "no documents".to_owned(),
                |documents| quantity::of(documents.len(), "document"),
            );
            Finding::Good(format!(
                "target: `{address}` replies within {time:.1} s with {answer} and {documents}"
            ))
        }
        Err(error) => Finding::Bad {
            what: format!("target: {error:#}"),
            remedy: "docs/targets-reference.md describes the requests to a target and its replies"
                .to_owned(),
        },
    }
}

/// The reply to the question; `None` if nothing serves the target.
async fn ask(
    printer: &Printer,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    settings: &TargetSettings,
    folder: &Path,
    address: &TargetAddress,
) -> anyhow::Result<Option<Reply>> {
    let mut uses_vector = settings.uses_vector();
    let mut target: Arc<dyn Target> = match address {
        TargetAddress::Postgres(_) => {
            let database = servers
                .database(settings, NonZeroUsize::MIN, folder)
                .await?;
            uses_vector = database.uses_vector();
            Arc::new(database)
        }
        TargetAddress::Http(_) => servers.service(settings, NonZeroUsize::MIN)?,
        TargetAddress::Chat { provider, name } => {
            let model = ConfiguredChat::under_test(&resolved.settings, provider, name);
            prompted(servers.chat(&model).await?, settings, folder)?
        }
        TargetAddress::Exec(_)
        | TargetAddress::Outputs(_)
        | TargetAddress::Trec(_)
        | TargetAddress::LanceDb { .. } => {
            return Ok(None);
        }
    };
    if uses_vector {
        let model = ConfiguredModels::of(&resolved.settings).embedder;
        let embedder = embedder::open(printer, resolved, &model, servers).await?;
        target = Arc::new(EmbeddingTarget::new(target, embedder));
    }
    let mut request = Request::question("doctor", PROBE);
    request.k = Some(resolved.settings.search.limit.get());
    Ok(Some(target.ask(&request).await?))
}
