//! Where baselines are: a path, or a name that stands for a file in `baselines`.

use std::path::{Path, PathBuf};

/// The folder of baselines that are named without a path.
const FOLDER: &str = "baselines";

/// The file that an argument of `runs baseline` names: `main` stands for `baselines/main.json`, and everything with a folder or an extension for
/// itself.
pub fn path_of(written: &Path) -> PathBuf {
    standing_for(written).unwrap_or_else(|| written.to_owned())
}

/// The file that a bare name stands for; `None` for a path.
pub fn standing_for(written: &Path) -> Option<PathBuf> {
    let is_bare = written.components().count() == 1
        && written.extension().is_none()
        && written.file_name().is_some();
    is_bare.then(|| Path::new(FOLDER).join(written).with_extension("json"))
}

/// The bare name that stands for a file; `None` for a file without such a name.
pub(super) fn shorthand(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    let is_named = standing_for(Path::new(name)).is_some_and(|file| file == path);
    is_named.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_stands_for_a_file_in_the_folder() {
        let path = |written: &str| path_of(Path::new(written)).display().to_string();
        assert_eq!(path("main"), "baselines/main.json");
        assert_eq!(path("main.json"), "main.json");
        assert_eq!(path("ci/main"), "ci/main");
        assert_eq!(path("."), ".");
        let short = |path: &str| shorthand(Path::new(path));
        assert_eq!(short("baselines/main.json").as_deref(), Some("main"));
        assert_eq!(short("ci/main.json"), None);
        assert_eq!(short("main.json"), None);
    }
}
