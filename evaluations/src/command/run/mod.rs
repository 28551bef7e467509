//! `evaluations run`: one run of a dataset, or one for each variant of its settings.

mod figures;
mod variants;

use anyhow::Result;
use evals_data::Origin;
use evals_pipeline::exit::Exit;
use evals_pipeline::options::RunArgs;
use evals_pipeline::run;
use evals_pipeline::session::Session;
use evals_pipeline::settings_files;
use evals_settings::Tune;

pub(super) fn execute(session: &Session<'_>, arguments: &RunArgs) -> Result<Exit> {
    let mut manifest = session.manifest(&arguments.dataset)?;
    if let Some(key) = &arguments.results.cluster {
        manifest.cluster = Some(key.clone());
    }
    let mut resolved = run::resolve(session, arguments, &manifest)?;
    let dataset = match &manifest.origin {
        Origin::File(path) => Some(path.as_path()),
        Origin::Bundled(_) | Origin::Memory => None,
    };
    settings_files::note(session, &resolved, dataset);
    if let Some(variants) = variants::of(arguments, &resolved)? {
        return variants::execute(session, arguments, &variants);
    }
    resolved.settings.matrix.clear();
    resolved.settings.tune = Tune::default();
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
