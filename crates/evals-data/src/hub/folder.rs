//! Listing the files below a folder.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The paths of all files below a folder, with slashes, in order. A folder that does not exist has none.
///
/// Links are followed, except a link to a folder that the path already went through, which would never end.
pub(crate) fn files_below(folder: &Path) -> io::Result<Vec<String>> {
    let mut files = BTreeSet::new();
    walk(folder, folder, &mut Vec::new(), &mut files)?;
    Ok(files.into_iter().collect())
}

/// `entered` are the resolved folders on the way from the top to here.
fn walk(
    top: &Path,
    folder: &Path,
    entered: &mut Vec<PathBuf>,
    files: &mut BTreeSet<String>,
) -> io::Result<()> {
    let real = match folder.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        real => real?,
    };
    if entered.contains(&real) {
        return Ok(());
    }
    entered.push(real);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        // A link whose target is gone is neither, so its file counts as missing.
        if path.is_dir() {
            walk(top, &path, entered, files)?;
        } else if path.is_file() {
            files.extend(path.strip_prefix(top).ok().map(with_slashes));
        }
    }
    entered.pop();
    Ok(())
}

fn with_slashes(path: &Path) -> String {
    let parts = path.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_string_lossy()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_with_slashes_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("b/c")).unwrap();
        for file in ["b/c/2", "b/1", "a"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        assert_eq!(files_below(folder.path()).unwrap(), ["a", "b/1", "b/c/2"]);
        assert!(
            files_below(&folder.path().join("absent"))
                .unwrap()
                .is_empty()
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_not_in_circles() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir_all(at("a")).unwrap();
        std::fs::create_dir_all(at("b")).unwrap();
        std::fs::write(at("a/1"), "").unwrap();
        symlink(at("b"), at("a/to-b")).unwrap();
        symlink(at("a"), at("b/to-a")).unwrap();
        symlink(folder.path(), at("b/up")).unwrap();
        assert_eq!(
            files_below(folder.path()).unwrap(),
            ["a/1", "b/to-a/1"],
            "each way to a file once"
        );
    }
}
