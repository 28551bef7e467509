//! Says that a file of the working folder names the target of a run, and which files beside its dataset the run does not use.

use std::path::Path;

use evals_settings::{Resolved, SettingsFile};

use crate::session::Session;
use crate::targets;

/// Notes where settings come from that nobody named: the same command in a different folder may test a different system.
pub fn note(session: &Session<'_>, resolved: &Resolved, dataset: Option<&Path>) {
    let (printer, working) = (session.printer, &session.directories.working);
    let origins = resolved.origins();
    if resolved.file_of_target("address") == Some(targets::FILE) {
        printer.note(&format!("target from ./{}", targets::FILE));
    } else if resolved.depends_on(targets::FILE) {
        printer.note(&format!("settings of the target from ./{}", targets::FILE));
    }
    let Some(dataset) = dataset else {
        return;
    };
    let is_used = |file: &Path| origins.contains(&file.display().to_string());
    let note_unread = |name: &str, option: &str| {
        let file = SettingsFile::beside(dataset, working, name);
        if let Some(file) = file.filter(|file| !is_used(file)) {
            let folder = file.parent().unwrap_or(working);
            printer.note(&format!(
                "{} is not used, because settings are read from the working folder: run the command in `{}`, or add `{option}`",
                file.display(),
                folder.display()
            ));
        }
    };
    if !resolved.sets("target.address") {
        note_unread(targets::FILE, "--target ADDRESS");
    }
    note_unread(SettingsFile::NAME, "--config PATH");
}
