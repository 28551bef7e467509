//! Python's regular expressions, as far as `fancy-regex` reads them.

use fancy_regex::Regex;
use serde::Deserialize;
use thiserror::Error;

/// A regular expression in Python's syntax.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
}

/// Where a pattern has to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum MatchPlace {
    /// Anywhere, as in `re.search`.
    #[serde(rename = "search")]
    Anywhere,
    /// From the start of the text on, as in `re.match`.
    #[serde(rename = "match")]
    Start,
    /// The whole text, as in `re.fullmatch`.
    #[serde(rename = "full")]
    Whole,
}

/// The flags that change what the pattern's own letters mean.
#[derive(Clone, Copy, Debug)]
struct Flags {
    /// `m`: `$` matches at the end of each line.
    multi_line: bool,
    /// `x`: white space and comments do not count.
    verbose: bool,
}

/// Why a pattern cannot be matched.
#[derive(Debug, Error)]
pub(crate) enum PatternError {
    /// It is no regular expression.
    #[error("`{pattern}` is not a regular expression: {source}")]
    Syntax {
        pattern: String,
        source: Box<fancy_regex::Error>,
    },
    /// A letter is no flag.
    #[error("`{0}` is not a flag; flags are `i`, `m`, `s` and `x`")]
    Flag(char),
    /// It takes too many steps for a text: a million, without an end in sight.
    #[error("the regular expression takes too many steps for this text: {0}")]
    Match(#[source] Box<fancy_regex::Error>),
}

impl Pattern {
    /// Reads a pattern. The flags are letters, as in `(?im)`.
    pub(crate) fn new(written: &str, place: MatchPlace, flags: &str) -> Result<Self, PatternError> {
        if let Some(unknown) = flags.chars().find(|flag| !"imsx".contains(*flag)) {
            return Err(PatternError::Flag(unknown));
        }
        let translated = Translation::of(written, flags);
        let (before, after) = match place {
            // A closing bracket too many must not close the group around the pattern.
            _ if !translated.is_balanced => ("", ""),
            MatchPlace::Anywhere => ("(?:", ")"),
            MatchPlace::Start => (r"\A(?:", ")"),
            MatchPlace::Whole => (r"\A(?:", r")\z"),
        };
        let flags = if flags.is_empty() {
            String::new()
        } else {
            format!("(?{flags})")
        };
        // A comment may end a verbose pattern.
        let line_break = if translated.flags.verbose { "\n" } else { "" };
        let pattern = &translated.pattern;
        let regex = Regex::new(&format!("{before}{flags}{pattern}{line_break}{after}"));
        let regex = regex.map_err(|source| PatternError::Syntax {
            pattern: written.to_owned(),
            source: Box::new(source),
        })?;
        Ok(Self { regex })
    }

    /// Whether the pattern matches in its place.
    pub(crate) fn is_match(&self, text: &str) -> Result<bool, PatternError> {
        let found = self.regex.is_match(text);
        found.map_err(|error| PatternError::Match(Box::new(error)))
    }
}

/// Writes what the two languages write differently: `$` and `\Z`, brackets and set operators inside a class, and braces that
/// repeat nothing.
struct Translation {
    pattern: String,
    /// The flags of the groups around, the innermost last.
    groups: Vec<Flags>,
    flags: Flags,
    /// Whether every bracket that closes a group has one that opens it.
    is_balanced: bool,
}

impl Translation {
    fn of(written: &str, flags: &str) -> Self {
        let flags = Flags {
            multi_line: flags.contains('m'),
            verbose: flags.contains('x'),
        };
        let mut translation = Self {
            pattern: String::with_capacity(written.len()),
            groups: Vec::new(),
            flags,
            is_balanced: true,
        };
        let mut rest = written;
        while let Some(letter) = rest.chars().next() {
            let read = translation.item(letter, rest);
            rest = &rest[read..];
        }
        translation
    }

    /// Translates the item that `rest` starts with, and returns its length.
    fn item(&mut self, letter: char, rest: &str) -> usize {
        match letter {
            '\\' => return self.escape(rest),
            '[' => return self.class(rest),
            '(' => return self.group(rest),
            '#' if self.flags.verbose => {
                let end = rest.find('\n').unwrap_or(rest.len());
                self.pattern.push_str(&rest[..end]);
                return end;
            }
            ')' => {
                match self.groups.pop() {
                    Some(flags) => self.flags = flags,
                    None => self.is_balanced = false,
                }
                self.pattern.push(')');
            }
            '$' if !self.flags.multi_line => self.pattern.push_str(r"(?=\n?\z)"),
            '{' => return self.braces(rest),
            '}' => self.pattern.push_str(r"\}"),
            other => self.pattern.push(other),
        }
        letter.len_utf8()
    }

    /// Copies braces that repeat, as in `{2}`, `{2,}`, `{,3}`, `{2,3}` or `{,}`. Other braces are letters.
    fn braces(&mut self, rest: &str) -> usize {
        let inside = rest[1..].split_once('}').map(|(inside, _)| inside);
        let repeats = |inside: &&str| {
            let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            !inside.is_empty() && digits(least) && digits(most)
        };
        let Some(inside) = inside.filter(repeats) else {
            self.pattern.push_str(r"\{");
            return 1;
        };
        let least = if inside.starts_with(',') { "0" } else { "" };
        self.pattern.extend(["{", least, inside, "}"]);
        inside.len() + 2
    }

    fn escape(&mut self, rest: &str) -> usize {
        let Some(letter) = rest[1..].chars().next() else {
            self.pattern.push('\\');
            return 1;
        };
        match letter {
            'Z' => self.pattern.push_str(r"\z"),
            '<' | '>' => self.pattern.push(letter),
            other => {
                self.pattern.push('\\');
                self.pattern.push(other);
            }
        }
        1 + letter.len_utf8()
    }

    /// Copies a class. A bracket in it is a letter, as are two equal signs, which would be an operator.
    fn class(&mut self, rest: &str) -> usize {
        let start = if rest.starts_with("[^") { "[^" } else { "[" };
        self.pattern.push_str(start);
        let mut at = start.len();
        while let Some(letter) = rest[at..].chars().next() {
            // The first bracket does not end the class.
            if letter == ']' && at > start.len() {
                self.pattern.push(']');
                return at + 1;
            }
            at += self.class_letter(&rest[at..]);
            let ends_range = rest[at..].strip_prefix('-');
            if ends_range.is_some_and(|end| !end.is_empty() && !end.starts_with(']')) {
                self.pattern.push('-');
                at += 1 + self.class_letter(&rest[at + 1..]);
            }
        }
        rest.len()
    }

    /// Copies a letter of a class, or an escape, and returns its length.
    fn class_letter(&mut self, rest: &str) -> usize {
        let mut letters = rest.chars();
        let letter = letters.next();
        if letter == Some('\\') {
            let escaped = letters.next();
            self.pattern.push('\\');
            self.pattern.extend(escaped);
            return 1 + escaped.map_or(0, char::len_utf8);
        }
        if matches!(letter, Some('[' | ']' | '&' | '~' | '-' | '^')) {
            self.pattern.push('\\');
        }
        self.pattern.extend(letter);
        letter.map_or(0, char::len_utf8)
    }

    /// Copies the start of a group, and follows its flags.
    fn group(&mut self, rest: &str) -> usize {
        if let Some(comment) = rest.strip_prefix("(?#") {
            return comment.find(')').map_or(rest.len(), |end| end + 4);
        }
        let Some((length, flags, is_scoped)) = self.flags_in(rest) else {
            self.groups.push(self.flags);
            self.pattern.push('(');
            return 1;
        };
        if is_scoped {
            self.groups.push(self.flags);
        }
        self.flags = flags;
        self.pattern.push_str(&rest[..length]);
        length
    }

    /// The flags at the start of `rest`, as `(?i)` or `(?m-s:`: their length, the flags that hold after them, and whether they
    /// hold for a group.
    fn flags_in(&self, rest: &str) -> Option<(usize, Flags, bool)> {
        let written = rest.strip_prefix("(?")?;
        let mut flags = self.flags;
        let mut on = true;
        for (at, letter) in written.char_indices() {
            match letter {
                'm' => flags.multi_line = on,
                'x' => flags.verbose = on,
                'i' | 's' | 'u' => {}
                '-' => on = false,
                ')' | ':' => return Some((at + 3, flags, letter == ':')),
                _ => return None,
            }
        }
        None
    }
}
