use globset::{GlobBuilder, GlobMatcher};

/// Globs over paths with slashes: `*` stays within a folder, `**` crosses folders, `{a,b}` is either.
#[derive(Debug, Clone)]
pub(crate) struct Globs {
    globs: Vec<GlobMatcher>,
}

impl Globs {
    pub(crate) fn new<'a>(
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, globset::Error> {
        let compile = |pattern: &str| {
            Ok(GlobBuilder::new(pattern)
                .literal_separator(true)
                .build()?
                .compile_matcher())
        };
        Ok(Self {
            globs: patterns
                .into_iter()
                .map(compile)
                .collect::<Result<_, globset::Error>>()?,
        })
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.is_match(path))
    }

    /// Whether a glob is this very path, so that it matches nothing else.
    pub(crate) fn names(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.glob().glob() == path)
    }

    /// The first glob that matches none of the paths.
    pub(crate) fn first_without_match<S: AsRef<str>>(&self, paths: &[S]) -> Option<&str> {
        let unmatched =
            |glob: &&GlobMatcher| !paths.iter().any(|path| glob.is_match(path.as_ref()));
        self.globs
            .iter()
            .find(unmatched)
            .map(|glob| glob.glob().glob())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_within_its_folder() {
        let globs = Globs::new(["corpus/*.parquet", "**/test*.parquet"]).unwrap();
        assert!(globs.matches("corpus/a.parquet"));
        assert!(!globs.matches("corpus/deep/a.parquet"));
        assert!(globs.matches("test-0.parquet"));
        assert!(globs.matches("data/deep/test-0.parquet"));
        assert_eq!(
            globs.first_without_match(&["corpus/a.parquet"]),
            Some("**/test*.parquet")
        );
    }
}
