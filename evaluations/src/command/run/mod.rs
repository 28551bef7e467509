//! `evaluations run`: one run of a dataset, or one for each variant of its settings.

mod figures;
mod variants;

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::options::RunArgs;
use evals_pipeline::run;
use evals_pipeline::session::Session;

pub(super) fn execute(session: &Session<'_>, arguments: &RunArgs) -> Result<Exit> {
    let mut manifest = session.manifest(&arguments.dataset)?;
    if let Some(key) = &arguments.results.cluster {
        manifest.cluster = Some(key.clone());
    }
    let mut resolved = run::resolve(session, arguments, &manifest)?;
    if let Some(variants) = variants::of(arguments, &resolved)? {
        return variants::execute(session, arguments, &variants);
    }
    resolved.settings.matrix.clear();
    let figures = figures::folder(arguments)?;
    let exit = run::one(session, arguments, manifest, resolved)?;
    match figures {
        Some(folder) if matches!(exit, Exit::Done | Exit::CheckFailed) => {
            figures::draw(session, arguments, folder)?;
        }
        _ => {}
    }
    Ok(exit)
}
