//! Globs that choose files of a repository or a folder.

use globset::{GlobBuilder, GlobMatcher};

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
