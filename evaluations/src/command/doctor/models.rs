//! Checks the models of the settings, and lists those that their servers have.

use evals_messages::{quantity, visible};
use evals_pipeline::models::{ConfiguredModels, Servers};
use evals_pipeline::session::Session;

use super::finding::Finding;
use super::{chat, embedder, reranker};
use crate::settings::{Resolved, Role};

/// Most models of a server that are named.
const LISTED: usize = 8;

/// Most characters of a model's name in the list of its server. A server may send any text as a name.
const LISTED_NAME: usize = 100;

/// Opens every model and sends it a short request.
pub(super) async fn check(
    session: &Session<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
    pull: bool,
) -> Vec<Finding> {
    let mut servers = Servers::new(resolved, models, session.printer, 0)
        .without_retries()
        .pulling(pull);
    let mut findings = vec![embedder::check(session, &mut servers, resolved, models).await];
    findings.extend(reranker::check(session.printer, &mut servers, resolved, models).await);
    let rewriter = models.rewriter.iter();
    let rewriter = rewriter.filter(|it| it.role == Role::Rewriter && !it.is_embedded());
    let user = models.user.iter();
    let user = user.filter(|it| it.role == Role::User && !it.is_embedded());
    let chats = [
        ("answering model", &models.answerer),
        ("judge", &models.judge),
    ];
    for (role, model) in chats
        .into_iter()
        .chain(rewriter.map(|it| ("rewriting model", it)))
        .chain(user.map(|it| ("simulated user", it)))
    {
        if model.is_embedded() {
            findings.push(chat::check_embedded(role, resolved, model));
        } else {
            findings.push(chat::check(&mut servers, role, model).await);
            findings.extend(chat::check_price(role, resolved, model));
        }
    }
    if !models.answerer.is_embedded() && !resolved.sets("evaluations.judge") {
        findings.push(Finding::Bad {
            what: "judge: not set, but answers of a chat model need one".to_owned(),
            remedy: "set it in the settings file, such as `evaluations: {judge: \"ollama:NAME\"}`"
                .to_owned(),
        });
    }
    findings.extend(
        servers
            .listings()
            .await
            .iter()
            .map(|(server, models)| listing(server, models)),
    );
    findings
}

/// The models of a server, in one line.
fn listing(server: &str, models: &[String]) -> Finding {
    let (shown, more) = models.split_at(models.len().min(LISTED));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if models.is_empty() {
        return Finding::Note(format!("`{server}` has no models"));
    }
    let shown: Vec<String> = shown.iter().map(|name| listed_name(name)).collect();
    Finding::Good(format!(
        "`{server}` has {}: {}{more}",
        quantity::of(models.len(), "model"),
        shown.join(", ")
    ))
}

/// A name from a server on one line, cut if it is too long.
fn listed_name(name: &str) -> String {
    let name = visible::line(name);
    match name.char_indices().nth(LISTED_NAME) {
        Some((cut, _)) => format!("{}…", &name[..cut]),
        None => name,
    }
}
