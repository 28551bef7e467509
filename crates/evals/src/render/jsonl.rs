//! JSON Lines: one JSON object on each line.

use std::io::{self, Write};

use crate::{Domain, Report};

/// Writes one line for each case, in the format of the report's JSON.
pub fn report<D: Domain>(mut out: impl Write, report: &Report<D>) -> io::Result<()> {
    for case in &report.cases {
        serde_json::to_writer(&mut out, case)?;
        writeln!(out)?;
    }
    Ok(())
}
