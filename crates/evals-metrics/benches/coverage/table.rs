//! Tables in Markdown.

use std::fmt::{self, Display, Formatter};

/// A table with text in its first columns and shares in the others.
pub(crate) struct Table {
    pub(crate) title: &'static str,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(title: &'static str, header: &[&str]) -> Self {
        Self {
            title,
            header: header.iter().map(|&cell| cell.to_owned()).collect(),
            rows: Vec::new(),
        }
    }
}

impl Display for Table {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "| {} |", self.header.join(" | "))?;
        let rules: Vec<&str> = self.header.iter().map(|_| "---").collect();
        writeln!(formatter, "|{}|", rules.join("|"))?;
        for row in &self.rows {
            writeln!(formatter, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

/// How often something happened, and how often it could not be computed.
#[derive(Default, Clone, Copy)]
pub(crate) struct Share {
    yes: usize,
    no: usize,
    undefined: usize,
    width: f64,
}

impl Share {
    pub(crate) fn add(&mut self, result: Option<bool>) {
        match result {
            Some(true) => self.yes += 1,
            Some(false) => self.no += 1,
            None => self.undefined += 1,
        }
    }

    /// Counts whether an interval contains the truth, and its width.
    pub(crate) fn cover(&mut self, interval: Option<evals_metrics::Interval>, truth: f64) {
        self.add(interval.map(|interval| interval.low <= truth && truth <= interval.high));
        self.width += interval.map_or(0.0, |interval| interval.high - interval.low);
    }

    /// In percent: `94.8`, with the share of undefined results if there are any.
    pub(crate) fn percent(&self) -> String {
        let defined = self.yes + self.no;
        if defined == 0 {
            return "–".to_owned();
        }
        let share = percent_of(self.yes, defined);
        if self.undefined == 0 {
            format!("{share:.1}")
        } else {
            let undefined = percent_of(self.undefined, defined + self.undefined);
            format!("{share:.1} ({undefined:.1} undefined)")
        }
    }

    /// The mean width of the intervals.
    pub(crate) fn mean_width(&self) -> String {
        format!("{:.3}", self.width / as_f64(self.yes + self.no))
    }
}

fn percent_of(part: usize, whole: usize) -> f64 {
    100.0 * as_f64(part) / as_f64(whole)
}

pub(crate) fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("counts of a simulation are small"))
}
