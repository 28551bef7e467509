//! The parts of a measure's text, before checking that name and parameters match.

use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;

use crate::measures::{Gain, Gains, MinimumGrade, RecallLevels};
use crate::{Decimal, ParseMeasureError};

/// What follows `@`, or stands after the name of `trec_eval`. It is the parameter that the measure is at.
const AT: &str = "cutoff";
const WHOLE: &str = "a whole number from 1";

/// A measure's name, and its parameters as far as they are not taken yet.
pub(crate) struct MeasureText<'t> {
    pub(crate) text: &'t str,
    pub(crate) name: &'t str,
    parameters: Vec<(&'t str, &'t str)>,
}

impl<'t> MeasureText<'t> {
    pub(crate) fn parse(text: &'t str) -> Result<Self, ParseMeasureError> {
        let mut it = Self {
            text,
            name: "",
            parameters: Vec::new(),
        };
        if let Some((name, pairs)) = split_pairs(text) {
            it.name = name;
            return it.set_all(pairs);
        }
        let (head, at) = split_at(text);
        let (name, parameters) = split_parameters(head).ok_or_else(|| it.syntax())?;
        it.name = name;
        if let Some(at) = at {
            it.parameters.push((AT, at.trim()));
        }
        it.set_all(parameters)
    }

    fn set_all(mut self, parameters: &'t str) -> Result<Self, ParseMeasureError> {
        // The syntax is Python's, which allows a comma after the last parameter.
        let mut rest = parameters.strip_suffix(',').unwrap_or(parameters).trim();
        if parameters.is_empty() {
            return Ok(self);
        }
        loop {
            let end = end_of_parameter(rest);
            let (key, value) = rest[..end].split_once('=').ok_or_else(|| self.syntax())?;
            self.parameters.push((key.trim(), value.trim()));
            match rest.get(end + 1..) {
                Some(more) => rest = more,
                None => return Ok(self),
            }
        }
    }

    /// Takes a parameter, which is given once at most.
    fn take(&mut self, key: &'static str) -> Result<Option<&'t str>, ParseMeasureError> {
        let mut values = self.parameters.extract_if(.., |(name, _)| *name == key);
        let first = values.next();
        let second = values.next();
        drop(values);
        match second {
            None => Ok(first.map(|(_, value)| value)),
            Some(_) => Err(ParseMeasureError::RepeatedParameter {
                measure: self.text.to_owned(),
                parameter: key,
            }),
        }
    }

    fn parsed<N: FromStr>(
        &mut self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<Option<N>, ParseMeasureError> {
        let Some(value) = self.take(key)? else {
            return Ok(None);
        };
        let parsed = value.parse();
        parsed
            .map(Some)
            .map_err(|_| self.invalid(key, value, expected))
    }

    pub(crate) fn cutoff(&mut self) -> Result<Option<NonZeroUsize>, ParseMeasureError> {
        self.parsed(AT, WHOLE)
    }

    pub(crate) fn required_cutoff(&mut self) -> Result<NonZeroUsize, ParseMeasureError> {
        let missing = ParseMeasureError::MissingCutoff {
            measure: self.text.to_owned(),
        };
        self.cutoff()?.ok_or(missing)
    }

    pub(crate) fn rel(&mut self) -> Result<MinimumGrade, ParseMeasureError> {
        Ok(self.optional_rel()?.unwrap_or_default())
    }

    pub(crate) fn optional_rel(&mut self) -> Result<Option<MinimumGrade>, ParseMeasureError> {
        let rel = self.parsed::<NonZeroU32>("rel", WHOLE)?;
        Ok(rel.map(MinimumGrade::new))
    }

    pub(crate) fn max_rel(&mut self) -> Result<Option<u16>, ParseMeasureError> {
        const EXPECTED: &str = "a whole number from 1 to 1000";
        let Some(value) = self.take("max_rel")? else {
            return Ok(None);
        };
        match value.parse() {
            Ok(grade @ 1..=1000) => Ok(Some(grade)),
            _ => Err(self.invalid("max_rel", value, EXPECTED)),
        }
    }

    /// Accepts `min_rel=0`, the only value that is supported and the default of ir-measures.
    pub(crate) fn reject_min_rel(&mut self) -> Result<(), ParseMeasureError> {
        match self.take("min_rel")? {
            None | Some("0") => Ok(()),
            Some(value) => Err(self.invalid("min_rel", value, "`0`")),
        }
    }

    pub(crate) fn persistence(&mut self) -> Result<Option<Decimal>, ParseMeasureError> {
        self.number("p", "a number from 0 to below 1", |p| {
            (0.0..1.0).contains(&p)
        })
    }

    /// A parameter that only this measure takes, or the number that it writes in the place of a cutoff.
    fn number(
        &mut self,
        key: &'static str,
        expected: &'static str,
        is_valid: impl FnOnce(f64) -> bool,
    ) -> Result<Option<Decimal>, ParseMeasureError> {
        let text = match (self.take(key)?, self.is_at(key)) {
            (None, true) => self.take(AT)?,
            (text, _) => text,
        };
        let Some(text) = text else {
            return Ok(None);
        };
        match text.parse::<Decimal>() {
            Ok(number) if is_valid(number.get()) => Ok(Some(number)),
            _ => Err(self.invalid(key, text, expected)),
        }
    }

    /// Whether the number after `@`, or after the name of `trec_eval`, is this parameter.
    fn is_at(&self, key: &str) -> bool {
        match key {
            "recall" | "multiple" => true,
            // `set_F_0.5` of trec_eval; ir-measures writes `SetF(beta=0.5)`.
            "beta" => self.name.contains('_'),
            _ => false,
        }
    }

    /// The level of recall of `IPrec@0.1`.
    pub(crate) fn recall(&mut self) -> Result<Decimal, ParseMeasureError> {
        let missing = self.missing("recall", "IPrec@0.1");
        let recall = self.number("recall", "a number from 0 to 1", |it| {
            (0.0..=1.0).contains(&it)
        })?;
        recall.ok_or(missing)
    }

    /// The multiple of `Rprec_mult@0.5`.
    pub(crate) fn multiple(&mut self) -> Result<Decimal, ParseMeasureError> {
        let missing = self.missing("multiple", "Rprec_mult@0.5");
        let multiple = self.number("multiple", "a number above 0", |it| it > 0.0)?;
        multiple.ok_or(missing)
    }

    /// The weight of recall in `SetF`; 1 if there is none.
    pub(crate) fn beta(&mut self) -> Result<Decimal, ParseMeasureError> {
        let beta = self.number("beta", "a number from 0", |it| it >= 0.0)?;
        Ok(beta.unwrap_or(Decimal::ONE))
    }

    pub(crate) fn missing(
        &self,
        parameter: &'static str,
        example: &'static str,
    ) -> ParseMeasureError {
        ParseMeasureError::MissingParameter {
            measure: self.text.to_owned(),
            parameter,
            example,
        }
    }

    /// `relative` of `SetP`: `True` or `False`, as Python writes them; absent means `False`.
    pub(crate) fn is_relative(&mut self) -> Result<bool, ParseMeasureError> {
        match self.take("relative")? {
            None | Some("False") => Ok(false),
            Some("True") => Ok(true),
            Some(value) => Err(self.invalid("relative", value, "`True` or `False`")),
        }
    }

    /// The gain of nDCG: `dcg`, or gains by grade.
    pub(crate) fn gain(&mut self) -> Result<Gain, ParseMeasureError> {
        let dcg = match self.take("dcg")? {
            None => None,
            Some("'log2'" | "\"log2\"") => Some(Gain::Linear),
            Some("'exp-log2'" | "\"exp-log2\"") => Some(Gain::Exponential),
            Some(value) => return Err(self.invalid("dcg", value, "`'log2'` or `'exp-log2'`")),
        };
        let gains = self.gains()?;
        match dcg {
            Some(Gain::Exponential) if !gains.is_empty() => {
                Err(self.invalid("gains", &gains.to_string(), "none with `dcg='exp-log2'`"))
            }
            Some(gain) if gains.is_empty() => Ok(gain),
            None if gains.is_empty() => Ok(Gain::Linear),
            _ => Ok(Gain::Chosen(gains)),
        }
    }

    /// Gains by grade: `gains={0:0,1:3}`, or the pairs `1=3` of `trec_eval`.
    pub(crate) fn gains(&mut self) -> Result<Gains, ParseMeasureError> {
        const EXPECTED: &str = "up to 8 different grades with their gains, such as `{1:1,2:3.5}`";
        let is_grade = |key: &str| key.bytes().all(|byte| byte.is_ascii_digit());
        let given = self.take("gains")?;
        let listed: Vec<(&str, &str)> = match given {
            Some(text) => {
                let inside = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
                let pairs = inside.map(|it| it.split(',').map(|pair| pair.split_once(':')));
                pairs
                    .and_then(Iterator::collect)
                    .ok_or_else(|| self.invalid("gains", text, EXPECTED))?
            }
            None => self
                .parameters
                .extract_if(.., |(key, _)| !key.is_empty() && is_grade(key))
                .collect(),
        };
        let pairs: Option<Vec<(u32, Decimal)>> = listed
            .iter()
            .map(|(grade, gain)| Some((grade.trim().parse().ok()?, gain.trim().parse().ok()?)))
            .collect();
        pairs
            .and_then(Gains::new)
            .ok_or_else(|| self.invalid("gains", given.unwrap_or(self.text), EXPECTED))
    }

    /// Levels of recall: `levels={0.25,0.5}`.
    pub(crate) fn levels(&mut self) -> Result<Option<RecallLevels>, ParseMeasureError> {
        const EXPECTED: &str = "up to 21 ascending numbers from 0 to 1, such as `{0.2,0.5,0.8}`";
        let Some(text) = self.take("levels")? else {
            return Ok(None);
        };
        let inside = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        let levels: Option<Vec<Decimal>> = inside.and_then(|it| {
            it.split(',')
                .map(|level| level.trim().parse().ok())
                .collect()
        });
        let levels = levels.and_then(RecallLevels::new);
        levels
            .map(Some)
            .ok_or_else(|| self.invalid("levels", text, EXPECTED))
    }

    /// Checks that every parameter was taken.
    pub(crate) fn finish(self) -> Result<(), ParseMeasureError> {
        match self.parameters.first() {
            None => Ok(()),
            Some(&(AT, _)) => Err(ParseMeasureError::UnexpectedCutoff {
                measure: self.text.to_owned(),
            }),
            Some(&(parameter, _)) => Err(ParseMeasureError::UnknownParameter {
                measure: self.text.to_owned(),
                parameter: parameter.to_owned(),
            }),
        }
    }

    fn syntax(&self) -> ParseMeasureError {
        ParseMeasureError::Syntax {
            measure: self.text.to_owned(),
        }
    }

    fn invalid(
        &self,
        parameter: &'static str,
        value: &str,
        expected: &'static str,
    ) -> ParseMeasureError {
        ParseMeasureError::InvalidValue {
            measure: self.text.to_owned(),
            parameter,
            value: value.to_owned(),
            expected,
        }
    }
}

/// Splits `ndcg.1=3,2=9` and `rbp_p=0.8` of `trec_eval` into name and pairs.
fn split_pairs(text: &str) -> Option<(&str, &str)> {
    if text.contains(['@', '(']) {
        return None;
    }
    let (before, _) = text.split_once('=')?;
    let separator = before.rfind(['.', '_'])?;
    Some((&text[..separator], &text[separator + 1..]))
}

/// Splits `name@10`, or `trec_eval`'s `name_10`, `name.10` and `name_0.10`, into name and number.
fn split_at(text: &str) -> (&str, Option<&str>) {
    if let Some((head, at)) = text.rsplit_once('@') {
        return (head, Some(at));
    }
    text.match_indices(['_', '.'])
        .map(|(at, _)| (&text[..at], &text[at + 1..]))
        .find(|(_, number)| is_number(number))
        .map_or((text, None), |(head, number)| (head, Some(number)))
}

/// Splits `name(parameters)` into name and parameters, which may be absent; `None` for any other
/// form.
fn split_parameters(head: &str) -> Option<(&str, &str)> {
    let (name, parameters) = match head.split_once('(') {
        None => (head, ""),
        Some((name, rest)) => (name, rest.trim_end().strip_suffix(')')?),
    };
    let name = name.trim();
    name.chars()
        .all(|c| c.is_alphanumeric() || c == '_')
        .then_some((name, parameters.trim()))
}

/// Where the first parameter ends: at a comma that is not inside of braces.
fn end_of_parameter(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

fn is_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole) && is_digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}
