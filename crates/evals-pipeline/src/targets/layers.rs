//! Finds the target that the user means: an option, the settings, a dataset's manifest, or `target.yaml`.

use anyhow::{Result, bail};
use evals_guard::regular_file;
use evals_settings::{Layer, Resolved, SettingsError, Tree};
use evals_targets::{SettingsProblem, TargetAddress, TargetSettings};
use serde_json::Value;

use super::lancedb;
use crate::options::TargetArgs;
use crate::session::Session;

/// A file in the working folder that holds the section `target` alone.
pub(crate) const FILE: &str = "target.yaml";

/// The section of the settings.
const SECTION: &str = "target";

/// The size limit of the file, in bytes.
const LARGEST: u64 = 1_000_000;

/// The layers of settings that name a target.
#[derive(Debug)]
pub struct TargetLayers {
    /// That of `target.yaml`, which is weaker than the settings file.
    pub file: Option<Layer>,
    /// Those of the options, which are stronger.
    pub options: Vec<Layer>,
}

/// The layers of `target.yaml` and of the options.
pub fn layers(session: &Session<'_>, arguments: &TargetArgs) -> Result<TargetLayers> {
    let path = session.directories.working.join(FILE);
    let file = if path.is_file() {
        let text = regular_file::read_named(&path, LARGEST)?;
        Some(Layer::section(FILE, SECTION, &text)?)
    } else {
        None
    };
    let address = arguments.target.as_ref().map(ToString::to_string);
    let options = [
        ("--target", "target.address", address),
        (
            "--target-version",
            "target.version",
            arguments.target_version.clone(),
        ),
    ];
    let options = options.into_iter().filter_map(|(option, path, value)| {
        let value = Tree::Leaf(Value::String(value?));
        Some(Layer::option(format!("`{option}`"), path, value))
    });
    Ok(TargetLayers {
        file,
        options: options.collect(),
    })
}

/// The target of the settings, checked; `None` if there is none and our own pipeline is tested.
pub fn chosen<'r>(
    resolved: &'r Resolved,
    arguments: &TargetArgs,
) -> Result<Option<&'r TargetSettings>> {
    let Some(target) = &resolved.settings.target else {
        return Ok(None);
    };
    if target.address.is_none() && arguments.target_version.is_some() {
        bail!("`--target-version` needs a target; name it with `--target`");
    }
    check(resolved)?;
    Ok(Some(target))
}

/// Checks the settings of the target, if they name one. Nothing is opened.
pub fn check(resolved: &Resolved) -> Result<(), SettingsError> {
    let Some(target) = &resolved.settings.target else {
        return Ok(());
    };
    let checked = target.check().and_then(|()| match &target.address {
        Some(TargetAddress::LanceDb { .. }) => lancedb::search(target).map(drop),
        _ => Ok(()),
    });
    checked.map_err(|problem| located(resolved, &problem))
}

/// The error of a setting of the target, with its place.
pub(crate) fn located(resolved: &Resolved, problem: &SettingsProblem) -> SettingsError {
    let path = match problem.key.as_str() {
        "" => SECTION.to_owned(),
        key => format!("{SECTION}.{key}"),
    };
    resolved.bad_value(&path, &problem.message)
}
