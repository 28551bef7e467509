//! Rules that turn the ids of a system into those of the corpus.

use regex::Regex;
use thiserror::Error;

/// A rule that turns an id of a system into one of the corpus.
#[derive(Debug, Clone)]
pub enum IdRule {
    /// The part of the id after its last `/` or `\`, without a query or a fragment; with its extension, or else without.
    LastPathSegment,
    /// The first group of a regular expression, or the whole match if it has no group.
    Pattern(Regex),
}

/// A text that is no rule.
#[derive(Debug, Error)]
pub enum IdRuleError {
    /// It is not a regular expression.
    #[error("`{written}` is neither `last path segment` nor a regular expression")]
    NotARule {
        /// The text.
        written: String,
        /// The error of the regular expression.
        source: regex::Error,
    },
    /// It has several groups.
    #[error(
        "`{written}` has {groups} groups, but only one can be the id; write the others as `(?:…)`"
    )]
    SeveralGroups {
        /// The text.
        written: String,
        /// How many groups it has.
        groups: usize,
    },
}

impl IdRule {
    const LAST_PATH_SEGMENT: &str = "last path segment";

    /// Reads `last path segment` or a regular expression.
    pub fn parse(written: &str) -> Result<Self, IdRuleError> {
        if written.trim() == Self::LAST_PATH_SEGMENT {
            return Ok(Self::LastPathSegment);
        }
        let pattern = Regex::new(written).map_err(|source| IdRuleError::NotARule {
            written: written.to_owned(),
            source,
        })?;
        // The whole match is the first one.
        match pattern.captures_len() {
            0..=2 => Ok(Self::Pattern(pattern)),
            groups => Err(IdRuleError::SeveralGroups {
                written: written.to_owned(),
                groups: groups - 1,
            }),
        }
    }

    /// The ids that the corpus may have in place of `id`, the likeliest first.
    pub(super) fn apply<'i>(&self, id: &'i str) -> Vec<&'i str> {
        match self {
            Self::LastPathSegment => {
                let path = id.split(['?', '#']).next().unwrap_or(id);
                let path = path.trim_end_matches(['/', '\\']);
                let segment = path.rsplit(['/', '\\']).next().unwrap_or(path);
                let stem = segment.rsplit_once('.').map(|(stem, _)| stem);
                let stem = stem.filter(|stem| !stem.is_empty());
                [segment].into_iter().chain(stem).collect()
            }
            Self::Pattern(pattern) => {
                let Some(captures) = pattern.captures(id) else {
                    return Vec::new();
                };
                let group = usize::from(pattern.captures_len() > 1);
                captures
                    .get(group)
                    .map(|it| it.as_str())
                    .into_iter()
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_path_segment_comes_with_and_without_its_extension() {
        let rule = IdRule::parse("last path segment").unwrap();
        assert_eq!(rule.apply("docs/news/a.b.md"), ["a.b.md", "a.b"]);
        assert_eq!(rule.apply("https://x.org/doc7?page=2#top"), ["doc7"]);
        assert_eq!(rule.apply(r"C:\docs\7.txt"), ["7.txt", "7"]);
        assert_eq!(rule.apply("docs/folder/"), ["folder"]);
        assert_eq!(rule.apply(".hidden"), [".hidden"]);
    }

    #[test]
    fn a_pattern_gives_its_group_or_its_match() {
        let group = IdRule::parse(r"^(.+)#chunk-\d+$").unwrap();
        assert_eq!(group.apply("doc 1#chunk-12"), ["doc 1"]);
        assert_eq!(group.apply("doc 1"), Vec::<&str>::new());
        let whole = IdRule::parse(r"\d+").unwrap();
        assert_eq!(whole.apply("doc-31-4"), ["31"]);
    }

    #[test]
    fn a_pattern_of_several_groups_or_none_at_all_is_refused() {
        let error = IdRule::parse("(a)(b)").unwrap_err().to_string();
        assert!(error.contains("2 groups"), "{error}");
        assert!(matches!(
            IdRule::parse("("),
            Err(IdRuleError::NotARule { .. })
        ));
    }
}
