//! The errors of Python's `json.loads`.

/// Deeper values are not read.
const MOST_LEVELS: usize = 128;

/// Describes the first mistake in a text as Python's `json.loads` does. `None` if Python reads the text, which may hold `NaN`,
/// `Infinity` and `-Infinity`, and for values of more than 128 levels.
pub(crate) fn json_error(text: &str) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let reader = Reader { letters: &letters };
    let mistake = match reader.document() {
        Err(Stop::Mistake(mistake)) => mistake,
        Ok(()) | Err(Stop::TooDeep) => return None,
    };
    let before = &letters[..mistake.at.min(letters.len())];
    let line = before.iter().filter(|letter| **letter == '\n').count() + 1;
    let last_break = before.iter().rposition(|letter| *letter == '\n');
    let column = mistake.at - last_break.map_or(0, |at| at + 1) + 1;
    Some(format!(
        "{}: line {line} column {column} (char {})",
        mistake.message, mistake.at
    ))
}

/// Why the reader stops early.
enum Stop {
    Mistake(Mistake),
    TooDeep,
}

struct Mistake {
    message: &'static str,
    at: usize,
}

/// Where the text goes on after what was read.
type Read = Result<usize, Stop>;

struct Reader<'a> {
    letters: &'a [char],
}

fn mistake(message: &'static str, at: usize) -> Stop {
    Stop::Mistake(Mistake { message, at })
}

impl Reader<'_> {
    fn document(&self) -> Result<(), Stop> {
        if self.at(0) == Some('\u{feff}') {
            let message = "Unexpected UTF-8 BOM (decode using utf-8-sig)";
            return Err(mistake(message, 0));
        }
        let end = self.blanks(self.value(self.blanks(0), 0)?);
        if end < self.letters.len() {
            return Err(mistake("Extra data", end));
        }
        Ok(())
    }

    fn at(&self, at: usize) -> Option<char> {
        self.letters.get(at).copied()
    }

    fn blanks(&self, from: usize) -> usize {
        let blanks = self.letters[from..]
            .iter()
            .take_while(|letter| matches!(letter, ' ' | '\t' | '\n' | '\r'));
        from + blanks.count()
    }

    fn value(&self, at: usize, level: usize) -> Read {
        if level > MOST_LEVELS {
            return Err(Stop::TooDeep);
        }
        match self.at(at) {
            Some('"') => self.string(at + 1),
            Some('{') => self.object(at + 1, level + 1),
            Some('[') => self.array(at + 1, level + 1),
            _ => self
                .word(at)
                .or_else(|| self.number(at))
                .ok_or_else(|| mistake("Expecting value", at)),
        }
    }

    fn word(&self, at: usize) -> Option<usize> {
        let words = ["null", "true", "false", "NaN", "Infinity", "-Infinity"];
        let found = words.into_iter().find(|word| {
            let letters = word.chars().enumerate();
            letters
                .into_iter()
                .all(|(offset, letter)| self.at(at + offset) == Some(letter))
        });
        found.map(|word| at + word.len())
    }

    fn number(&self, at: usize) -> Option<usize> {
        let digits = |from: usize| {
            let digits = self.letters[from.min(self.letters.len())..]
                .iter()
                .take_while(|letter| letter.is_ascii_digit());
            from + digits.count()
        };
        let first = if self.at(at) == Some('-') { at + 1 } else { at };
        let mut end = match self.at(first)? {
            '0' => first + 1,
            '1'..='9' => digits(first),
            _ => return None,
        };
        if self.at(end) == Some('.') && digits(end + 1) > end + 1 {
            end = digits(end + 1);
        }
        if matches!(self.at(end), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.at(end + 1), Some('+' | '-')));
            let exponent = end + 1 + sign;
            if digits(exponent) > exponent {
                end = digits(exponent);
            }
        }
        Some(end)
    }

    /// Reads a string from behind its first quote.
    fn string(&self, start: usize) -> Read {
        let mut at = start;
        loop {
            let unterminated = || mistake("Unterminated string starting at", start - 1);
            match self.at(at).ok_or_else(unterminated)? {
                '"' => return Ok(at + 1),
                '\\' => match self.at(at + 1).ok_or_else(unterminated)? {
                    'u' => at = self.code_point(at + 1)?,
                    '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => at += 2,
                    _ => return Err(mistake("Invalid \\escape", at)),
                },
                letter if letter < ' ' => return Err(mistake("Invalid control character at", at)),
                _ => at += 1,
            }
        }
    }

    /// Reads four hexadecimal digits behind a `u`.
    fn code_point(&self, u: usize) -> Read {
        let digits = (1..=4).filter_map(|offset| self.at(u + offset));
        if digits.filter(char::is_ascii_hexdigit).count() == 4 && self.at(u + 5).is_some() {
            return Ok(u + 5);
        }
        Err(mistake("Invalid \\uXXXX escape", u))
    }

    fn object(&self, from: usize, level: usize) -> Read {
        let quoted = "Expecting property name enclosed in double quotes";
        let mut at = self.blanks(from);
        if self.at(at) == Some('}') {
            return Ok(at + 1);
        }
        loop {
            if self.at(at) != Some('"') {
                return Err(mistake(quoted, at));
            }
            let colon = self.blanks(self.string(at + 1)?);
            if self.at(colon) != Some(':') {
                return Err(mistake("Expecting ':' delimiter", colon));
            }
            let end = self.blanks(self.value(self.blanks(colon + 1), level)?);
            match self.at(end) {
                Some('}') => return Ok(end + 1),
                Some(',') => at = self.blanks(end + 1),
                _ => return Err(mistake("Expecting ',' delimiter", end)),
            }
        }
    }

    fn array(&self, from: usize, level: usize) -> Read {
        let mut at = self.blanks(from);
        if self.at(at) == Some(']') {
            return Ok(at + 1);
        }
        loop {
            let end = self.blanks(self.value(at, level)?);
            match self.at(end) {
                Some(']') => return Ok(end + 1),
                Some(',') => at = self.blanks(end + 1),
                _ => return Err(mistake("Expecting ',' delimiter", end)),
            }
        }
    }
}
