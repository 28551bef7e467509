//! Rows of JSON Lines: an object on each line.

use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;

use super::{OutputRow, RowProblem};
use crate::Mapping;

/// The most bytes of one line; a file without line ends would otherwise fill the memory.
const LINE_LIMIT: u64 = 128 << 20;

/// Hands each row of a file to `take`. Blank lines are skipped.
pub(super) fn read(
    file: &mut impl Read,
    mut take: impl FnMut(Result<OutputRow, RowProblem>),
) -> io::Result<()> {
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let mut bounded = file.by_ref().take(LINE_LIMIT + 1);
        if bounded.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let place = format!("line {number}");
        if line.len() as u64 > LINE_LIMIT {
            let what = format!("it has more than {} MB", LINE_LIMIT / 1_000_000);
            take(Err(RowProblem { place, what }));
            break;
        }
        let bytes = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        let bytes = bytes.trim_ascii_end();
        if bytes.is_empty() {
            continue;
        }
        take(match parse(bytes) {
            Ok(Value::Object(fields)) => Ok(OutputRow { place, fields }),
            Ok(_) => Err(RowProblem {
                place,
                what: "it is not a JSON object".to_owned(),
            }),
            Err(what) => Err(RowProblem { place, what }),
        });
    }
    Ok(())
}

fn parse(line: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8 text".to_owned())?;
    Mapping::parse(text).map_err(|error| {
        let error = error
            .to_string()
            .replace(" at line 1 column ", " at column ");
        error.replace("the reply", "it")
    })
}
