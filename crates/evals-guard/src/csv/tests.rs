//! Records of valid and invalid CSV, read with buffers of any size.

use std::io::{BufReader, Cursor};

use proptest::prelude::*;

use super::records::Records;
use super::*;

/// A record's line and fields.
type Found = (u64, Vec<String>);

/// The records with their lines, or the line and fault at which reading ends. `buffer` bytes come at a time, so that
/// every state meets the end of a buffer.
fn read(text: &[u8], separator: u8, buffer: usize) -> Result<Vec<Found>, (u64, CsvFault)> {
    let mut records = Records::new(
        BufReader::with_capacity(buffer, Cursor::new(text)),
        separator,
    );
    collect(&mut records)
}

fn collect<R: BufRead>(records: &mut Records<R>) -> Result<Vec<Found>, (u64, CsvFault)> {
    let mut record = Record::default();
    let mut found = Vec::new();
    loop {
        match records.read(&mut record) {
            Ok(true) => {
                let field = |index| String::from_utf8_lossy(record.field(index)).into_owned();
                found.push((record.line(), (0..record.len()).map(field).collect()));
            }
            Ok(false) => return Ok(found),
            Err(CsvError::Fault { line, fault }) => return Err((line, fault)),
            Err(CsvError::Io(error)) => panic!("{error}"),
        }
    }
}

fn rows(text: &str) -> Vec<(u64, Vec<String>)> {
    let whole = read(text.as_bytes(), b',', 1 << 16).unwrap();
    assert_eq!(whole, read(text.as_bytes(), b',', 1).unwrap());
    whole
}

fn fault(text: &str) -> (u64, CsvFault) {
    read(text.as_bytes(), b',', 1 << 16).unwrap_err()
}

fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
    (line, fields.iter().map(|&field| field.to_owned()).collect())
}

#[test]
fn every_line_end_counts_once() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["a,b", "", "\"c\",", "d,\"e\""].join(end);
        let expected = [row(1, &["a", "b"]), row(3, &["c", ""]), row(4, &["d", "e"])];
        assert_eq!(rows(&text), expected, "{end:?}");
        assert_eq!(
            rows(&format!("{text}{end}")),
            expected,
            "{end:?} at the end"
        );
    }
    assert_eq!(
        rows("a,\"1\r\n2\r\n\"\r\nb,c\r\n"),
        [row(1, &["a", "1\r\n2\r\n"]), row(4, &["b", "c"])]
    );
}

#[test]
fn quotes_inside_unquoted_fields_are_characters() {
    assert_eq!(
        rows("a,5\" screen,\"6\"\" screen\",\"\"\n"),
        [row(1, &["a", "5\" screen", "6\" screen", ""])]
    );
    assert_eq!(rows("a\0b,\u{1}\n"), [row(1, &["a\0b", "\u{1}"])]);
}

#[test]
fn an_unclosed_quote_is_refused_with_its_line() {
    assert_eq!(
        fault("id,text\n1,\"one\n2,two\n"),
        (2, CsvFault::UnclosedQuote)
    );
    assert_eq!(
        fault("id,text\n1,\"one\n\",\"two"),
        (3, CsvFault::UnclosedQuote)
    );
    // The quote of a later field closes the one that was forgotten.
    assert_eq!(
        fault("id,text\n1,\"one\n2,two\n3,\"three\"\n"),
        (2, CsvFault::TextAfterQuote { closed: 4 })
    );
    assert_eq!(
        fault("id,text\n1,\"a \"quoted\" word\"\n"),
        (2, CsvFault::TextAfterQuote { closed: 2 })
    );
}

#[test]
fn rows_have_a_size_limit() {
    for (text, expected) in [
        (
            "a,b\n1,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
            (2, false),
        ),
        (
            "a,b\n1,\"\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            (2, true),
        ),
        ("a,b\n,,,,,,,,,,,,,,\n", (2, false)),
    ] {
        let mut records = Records::new(BufReader::with_capacity(4, text.as_bytes()), b',');
        records.limit = 40;
        let (line, fault) = collect(&mut records).unwrap_err();
        let CsvFault::TooLong { in_quotes } = fault else {
            panic!("{fault:?}");
        };
        assert_eq!((line, in_quotes), expected, "{text}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_reported_with_their_line_inside_a_row() {
    let mut records = Records::new(&b"a,\"1\n2\n\xff\",c"[..], b',');
    let mut record = Record::default();
    assert!(records.read(&mut record).unwrap());
    assert_eq!(record.text(0).unwrap(), "a");
    let error = record.text(1).unwrap_err().to_string();
    assert_eq!(error, "line 3: the text is not UTF-8");
}

/// Fields made of the characters that matter to a reader.
fn table() -> impl Strategy<Value = Vec<Vec<String>>> {
    let field = "[a,;\"\r\n é]{0,6}";
    (1_usize..4).prop_flat_map(move |width| {
        prop::collection::vec(prop::collection::vec(field, width..=width), 1..6)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_another_writer_wrote_is_read(
        table in table(),
        crlf in any::<bool>(),
        always in any::<bool>(),
        semicolons in any::<bool>(),
        buffer in 1_usize..9,
    ) {
        let separator = if semicolons { b';' } else { b',' };
        let mut writer = csv::WriterBuilder::new()
            .delimiter(separator)
            .terminator(if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') })
            .quote_style(if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary })
            .from_writer(Vec::new());
        for fields in &table {
            writer.write_record(fields).unwrap();
        }
        let text = writer.into_inner().unwrap();
        let found = read(&text, separator, buffer).unwrap();
        let fields: Vec<Vec<String>> = found.iter().map(|(_, fields)| fields.clone()).collect();
        prop_assert_eq!(&fields, &table);
        // A record begins behind the line ends of all records before it and of their fields.
        let mut line = 1;
        for ((found, _), fields) in found.iter().zip(&table) {
            prop_assert_eq!(*found, line);
            line += 1 + fields.iter().map(|field| field.matches('\n').count() as u64).sum::<u64>();
        }
    }

    #[test]
    fn what_is_not_refused_is_what_another_reader_gives(
        text in "[ab,\"\n\r]{0,24}",
        buffer in 1_usize..9,
    ) {
        let Ok(found) = read(text.as_bytes(), b',', buffer) else { return Ok(()) };
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let expected: Vec<Vec<String>> = reader
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        let fields: Vec<Vec<String>> = found.into_iter().map(|(_, fields)| fields).collect();
        prop_assert_eq!(fields, expected);
    }
}
