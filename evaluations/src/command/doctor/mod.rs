//! `evaluations doctor`: checks everything that a run needs.

mod chat;
mod disk;
mod embedder;
mod finding;
mod hub;
mod models;
mod reranker;
mod store;
mod target;

use anyhow::{Context as _, Result};
use evals_data::HubSettings;
use evals_pipeline::choices::Choices;
use evals_pipeline::exit::Exit;
use evals_pipeline::models::Servers;
use evals_pipeline::session::{Session, named_models};
use evals_pipeline::targets;
use evals_settings::redaction::printable;

use self::finding::Finding;
use crate::cli::DoctorArgs;
use crate::settings::{self, Resolved};

pub(super) fn execute(session: &Session<'_>, arguments: &DoctorArgs) -> Result<Exit> {
    let mut findings = check_settings(session, arguments)?;
    let data = &session.directories.data;
    findings.extend(disk::check_data(data));
    findings.push(disk::indexes(data));
    findings.extend(hub::check(&HubSettings::from_env())?);
    let text: String = findings.iter().map(ToString::to_string).collect();
    session.printer.result(&printable(&text))?;
    Ok(if findings.iter().any(Finding::is_bad) {
        Exit::CheckFailed
    } else {
        Exit::Done
    })
}

fn check_settings(session: &Session<'_>, arguments: &DoctorArgs) -> Result<Vec<Finding>> {
    let resolved = resolve(session, arguments).and_then(|resolved| {
        let models = Choices::of(&resolved)?.models;
        Ok((resolved, models))
    });
    let (resolved, models) = match resolved {
        Ok(resolved) => resolved,
        Err(error) => {
            return Ok(vec![Finding::Bad {
                what: format!("settings: {error:#}"),
                remedy: "correct the file, or name a different one with --config".to_owned(),
            }]);
        }
    };
    let origins = resolved.origins();
    let from = if origins.is_empty() {
        "built-in defaults".to_owned()
    } else {
        origins.join(", ")
    };
    let mut findings = vec![Finding::Good(format!("settings: {from}"))];
    let withheld = resolved.withheld.iter();
    findings.extend(withheld.map(|withheld| Finding::Note(withheld.to_string())));
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    findings.extend(runtime.block_on(check_database(session, &resolved, arguments)));
    let checks = models::check(session, &resolved, &models, arguments.pull);
    findings.extend(runtime.block_on(checks));
    if let Some(target) = &resolved.settings.target {
        let mut servers = Servers::new(&resolved, &models, session.printer, 0).without_retries();
        let folder = &session.directories.working;
        findings.push(runtime.block_on(target::check(
            session.printer,
            &mut servers,
            &resolved,
            target,
            folder,
        )));
    }
    Ok(findings)
}

/// Checks the database that `--db` names. The settings of a store alone do not say which address to ask.
async fn check_database(
    session: &Session<'_>,
    resolved: &Resolved,
    arguments: &DoctorArgs,
) -> Vec<Finding> {
    match &arguments.db {
        Some(uri) if uri.contains("://") && !uri.starts_with("file://") => {
            store::check(session.printer, resolved, uri).await
        }
        Some(uri) => disk::check_database(uri),
        None if resolved.sets("store") => vec![Finding::Note(
            "store: not checked; `--db` with the address of a database checks it".to_owned(),
        )],
        None => Vec::new(),
    }
}

fn resolve(session: &Session<'_>, arguments: &DoctorArgs) -> Result<Resolved> {
    let models = named_models(arguments.model.as_ref(), arguments.judge.as_ref());
    let target = targets::layers(session, &arguments.target)?;
    let mut layers: Vec<_> = target.file.into_iter().collect();
    let options = models.into_iter().chain(target.options);
    layers.extend(session.user_layers(&arguments.settings, options)?);
    let resolved = settings::resolve(layers)?;
    session.warn_of_matrix(&resolved);
    targets::chosen(&resolved, &arguments.target)?;
    Ok(resolved)
}
