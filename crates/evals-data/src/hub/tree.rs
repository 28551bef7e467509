//! The hub's listing of a repository's files, and globs that choose files of a repository or a folder.

use std::cmp::Reverse;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::verify::Expected;
use super::{HubError, Repository};

/// A file as the hub lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListedFile {
    pub(super) path: String,
    pub(super) size: u64,
    /// Known for large files only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
    /// The name of its blob in the cache.
    pub(super) etag: String,
}

impl ListedFile {
    /// Facts known about its content. Without a SHA-256, the blob's name is git's digest of the file.
    pub(super) fn expected(&self) -> Expected {
        let git = is_hex(&self.etag, GIT_DIGITS).then(|| self.etag.clone());
        Expected {
            size: Some(self.size),
            git: git.filter(|_| self.sha256.is_none()),
            sha256: self.sha256.clone(),
        }
    }

    /// Why it cannot be a file of a repository, if it cannot.
    pub(super) fn fault(&self) -> Option<String> {
        if !is_inside(&self.path) || !is_inside(&self.etag) {
            return Some(format!("`{}` is not a path inside a repository", self.path));
        }
        (self.size > MAX_SIZE).then(|| format!("`{}` has {} bytes", self.path, self.size))
    }
}

/// A thousand times the hub's limit for a file. Sums of smaller sizes do not overflow.
const MAX_SIZE: u64 = 1 << 49;

/// The digits of git's digests, of blobs and of commits.
pub(super) const GIT_DIGITS: usize = 40;

/// Whether a text is a number of so many hexadecimal digits.
pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The listed files that match, ordered by path. Each required glob must match at least one.
pub(super) fn wanted(
    repo: &Repository,
    commit: &str,
    globs: &Globs,
    mut listed: Vec<ListedFile>,
) -> Result<Vec<ListedFile>, HubError> {
    listed.sort_by(|left, right| left.path.cmp(&right.path));
    let paths: Vec<&str> = listed.iter().map(|file| file.path.as_str()).collect();
    if let Some(glob) = globs.first_without_match(&paths) {
        return Err(HubError::NoFileMatches {
            repo: repo.clone(),
            commit: commit.to_owned(),
            glob: glob.to_owned(),
            files: largest(&listed),
        });
    }
    listed.retain(|file| globs.matches(&file.path));
    Ok(listed)
}

/// The paths of the ten largest files, in order. The user more likely looked for one of these than for a small file of metadata.
fn largest(listed: &[ListedFile]) -> Vec<String> {
    let mut files: Vec<&ListedFile> = listed.iter().collect();
    files.sort_by_key(|file| Reverse(file.size));
    let mut paths: Vec<String> = files
        .iter()
        .take(10)
        .map(|file| file.path.clone())
        .collect();
    paths.sort();
    paths
}

/// An entry in the hub's list of files, with the fields that are needed.
#[derive(Deserialize)]
struct TreeEntry {
    r#type: String,
    path: String,
    #[serde(default)]
    size: u64,
    oid: String,
    lfs: Option<LargeFile>,
}

/// A large file's SHA-256 is called `oid` in the list, and `sha256` in other answers of the hub and from some mirrors.
#[derive(Deserialize)]
struct LargeFile {
    #[serde(alias = "sha256")]
    oid: String,
    size: u64,
}

/// The files on one page of a list; `Err` is a defect of the page.
pub(super) fn read_page(body: &[u8]) -> Result<Vec<ListedFile>, String> {
    let entries: Vec<TreeEntry> =
        serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let files: Vec<ListedFile> = entries
        .into_iter()
        .filter(|entry| entry.r#type == "file")
        .map(listed)
        .collect();
    match files.iter().find_map(ListedFile::fault) {
        Some(fault) => Err(fault),
        None => Ok(files),
    }
}

fn listed(entry: TreeEntry) -> ListedFile {
    match entry.lfs {
        Some(large) => ListedFile {
            path: entry.path,
            size: large.size,
            etag: large.oid.clone(),
            sha256: Some(large.oid),
        },
        None => ListedFile {
            path: entry.path,
            size: entry.size,
            etag: entry.oid,
            sha256: None,
        },
    }
}

/// Whether a path stays inside the folder that it is joined to. This also holds on Windows, where `\` separates folders and `:` leads to
/// another drive or stream.
pub(super) fn is_inside(path: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part != "." && part != "..";
    !path.contains(['\\', ':']) && path.split('/').all(is_name)
}

/// Globs over paths with slashes: `*` stays within a folder, `**` crosses folders, `{a,b}` is either.
#[derive(Debug, Clone)]
pub(crate) struct Globs {
    /// Each must match at least one path.
    required: Vec<GlobMatcher>,
    optional: Vec<GlobMatcher>,
}

impl Globs {
    pub(crate) fn new(patterns: &[impl AsRef<str>]) -> Result<Self, globset::Error> {
        Ok(Self {
            required: compiled(patterns)?,
            optional: Vec::new(),
        })
    }

    /// Adds globs that may match nothing.
    pub(crate) fn with_optional(self, patterns: &[&str]) -> Result<Self, globset::Error> {
        Ok(Self {
            optional: compiled(patterns)?,
            ..self
        })
    }

    fn all(&self) -> impl Iterator<Item = &GlobMatcher> {
        self.required.iter().chain(&self.optional)
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        self.all().any(|glob| glob.is_match(path))
    }

    /// Whether one of the globs is exactly this path, so that it matches nothing else.
    pub(crate) fn names(&self, path: &str) -> bool {
        self.all().any(|glob| glob.glob().glob() == path)
    }

    /// The first required glob that matches none of the paths.
    pub(crate) fn first_without_match<S: AsRef<str>>(&self, paths: &[S]) -> Option<&str> {
        let unmatched =
            |glob: &&GlobMatcher| !paths.iter().any(|path| glob.is_match(path.as_ref()));
        self.required
            .iter()
            .find(unmatched)
            .map(|glob| glob.glob().glob())
    }
}

fn compiled(patterns: &[impl AsRef<str>]) -> Result<Vec<GlobMatcher>, globset::Error> {
    let patterns = patterns.iter().map(|pattern| {
        let mut glob = GlobBuilder::new(pattern.as_ref());
        let glob = glob.literal_separator(true).build()?;
        Ok(glob.compile_matcher())
    });
    patterns.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_names_of_a_large_files_digest_are_read() {
        for key in ["oid", "sha256"] {
            let entry = format!(
                r#"{{"type":"file","path":"a.parquet","oid":"git","size":134,"lfs":{{"{key}":"abc","size":9,"pointerSize":134}}}}"#
            );
            let file = listed(serde_json::from_str(&entry).unwrap());
            assert_eq!(
                (file.size, file.etag.as_str(), file.sha256.as_deref()),
                (9, "abc", Some("abc"))
            );
        }
    }

    #[test]
    fn sizes_that_no_file_has_are_refused() {
        let page = |size: &str| {
            read_page(
                format!(r#"[{{"type":"file","path":"a","oid":"0","size":{size}}}]"#).as_bytes(),
            )
        };
        assert_eq!(page("9").unwrap()[0].size, 9);
        assert_eq!(
            page("18446744073709551615").unwrap_err(),
            "`a` has 18446744073709551615 bytes"
        );
        for other in ["18446744073709551616", "-1", "1e3", "null"] {
            assert!(page(other).is_err(), "{other}");
        }
    }

    #[test]
    fn of_many_files_the_largest_are_named() {
        let listed: Vec<ListedFile> = (0..12)
            .map(|number| ListedFile {
                path: format!("{number:02}"),
                size: if number < 2 { 1 } else { 100 - number },
                sha256: None,
                etag: "e".to_owned(),
            })
            .collect();
        let named: Vec<String> = (2..12).map(|number| format!("{number:02}")).collect();
        assert_eq!(largest(&listed), named);
    }

    #[test]
    fn paths_that_leave_the_cache_are_not_inside() {
        assert!(is_inside("data/test-0.parquet"));
        for path in [
            "../x",
            "/etc/passwd",
            "a/../../b",
            "a//b",
            "",
            "a\\..\\b",
            "C:x",
            "a/b:c",
        ] {
            assert!(!is_inside(path), "{path}");
        }
    }
}

#[cfg(test)]
mod globs_tests {
    use super::*;

    #[test]
    fn a_star_stays_within_its_folder() {
        let globs = Globs::new(&["corpus/*.parquet", "**/test*.parquet"]).unwrap();
        assert!(globs.matches("corpus/a.parquet"));
        assert!(!globs.matches("corpus/deep/a.parquet"));
        assert!(globs.matches("test-0.parquet"));
        assert!(globs.matches("data/deep/test-0.parquet"));
        assert_eq!(
            globs.first_without_match(&["corpus/a.parquet"]),
            Some("**/test*.parquet")
        );
    }

    #[test]
    fn an_optional_glob_is_never_missed() {
        let globs = Globs::new(&["{a,b}"]).unwrap();
        let globs = globs.with_optional(&["*/c"]).unwrap();
        assert!(globs.matches("x/c") && globs.matches("b"));
        assert_eq!(globs.first_without_match(&["b"]), None);
        assert_eq!(globs.first_without_match(&["x/c"]), Some("{a,b}"));
    }
}
