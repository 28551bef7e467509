//! Damaged parquet files.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, DictionaryArray, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
    StructArray,
};
use arrow::datatypes::Int32Type;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;

use super::*;

/// A table with every kind of storage that datasets use.
fn whole(compression: Compression, version: WriterVersion) -> Vec<u8> {
    let rows = 40;
    let texts: Vec<Option<String>> = (0..rows)
        .map(|row| (row % 7 != 0).then(|| format!("text {} of some length", row % 11)))
        .collect();
    let mut tags = ListBuilder::new(StringBuilder::new());
    for row in 0..rows {
        tags.append_value((0..row % 4).map(|tag| Some(format!("tag {tag}"))));
    }
    let topics: DictionaryArray<Int32Type> = (0..rows)
        .map(|row| if row % 2 == 0 { "even" } else { "odd" })
        .collect();
    let titles: ArrayRef = Arc::new(StringArray::from(texts.clone()));
    let batch = RecordBatch::try_from_iter([
        (
            "id",
            Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef,
        ),
        ("text", Arc::new(StringArray::from(texts))),
        ("tags", Arc::new(tags.finish())),
        ("topic", Arc::new(topics)),
        (
            "context",
            Arc::new(StructArray::try_from(vec![("title", titles)]).unwrap()),
        ),
    ])
    .unwrap();
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_writer_version(version)
        .set_max_row_group_row_count(Some(16))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Reads to the end, or as far as it goes; the number of rows, or the error.
fn read(bytes: Vec<u8>) -> Result<usize, String> {
    // A damaged file may claim too many rows to wait for.
    const ENOUGH: usize = 10_000;
    let table = TableFile {
        name: "a.parquet".to_owned(),
        uri: "a.parquet".to_owned(),
        content: FileContent::InMemory(Bytes::from(bytes)),
    };
    let wanted = columns(&["id", "text", "tags", "topic", "context.title"]);
    let mut read = 0;
    for row in table
        .rows(&wanted)
        .map_err(|error| error.to_string())?
        .take(ENOUGH)
    {
        row.map_err(|error| error.to_string())?;
        read += 1;
    }
    Ok(read)
}

fn files() -> [Vec<u8>; 4] {
    [
        whole(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0),
        whole(Compression::SNAPPY, WriterVersion::PARQUET_1_0),
        whole(Compression::SNAPPY, WriterVersion::PARQUET_2_0),
        whole(
            Compression::ZSTD(ZstdLevel::default()),
            WriterVersion::PARQUET_2_0,
        ),
    ]
}

/// Damage to a file at an offset from its end, where most of the fragile parts are.
#[derive(Debug, Clone)]
enum Damage {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Remove(prop::sample::Index, u8),
    Cut(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>;
    let byte = prop_oneof![
        Just(0xff_u8),
        Just(0x7f),
        Just(0x00),
        Just(0x80),
        any::<u8>()
    ];
    prop_oneof![
        4 => (place(), byte).prop_map(|(place, byte)| Damage::Set(place, byte)),
        4 => (place(), 0..8_u8).prop_map(|(place, bit)| Damage::Flip(place, bit)),
        1 => (place(), 1..20_u8).prop_map(|(place, bytes)| Damage::Remove(place, bytes)),
        1 => place().prop_map(Damage::Cut),
    ]
}

/// Half of all damage is in the footer.
fn damaged(mut bytes: Vec<u8>, damages: &[Damage], in_footer: bool) -> Vec<u8> {
    for damage in damages {
        let from = if in_footer { bytes.len() / 2 } else { 0 };
        let length = bytes.len() - from;
        if length == 0 {
            break;
        }
        match damage {
            Damage::Set(place, byte) => bytes[from + place.index(length)] = *byte,
            Damage::Flip(place, bit) => bytes[from + place.index(length)] ^= 1 << bit,
            Damage::Remove(place, count) => {
                let first = from + place.index(length);
                let last = bytes.len().min(first + usize::from(*count));
                bytes.drain(first..last);
            }
            Damage::Cut(place) => bytes.truncate(from + place.index(length)),
        }
    }
    bytes
}

#[test]
fn intact_files_are_read() {
    for bytes in files() {
        assert_eq!(read(bytes), Ok(40));
    }
}

#[test]
fn a_footer_of_nonsense_is_an_error() {
    let whole = whole(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    let tail = whole.len() - 8;
    for length in [u32::MAX, u32::MAX / 2, u32::MAX / 2 + 1, 0, 1] {
        let mut bytes = whole.clone();
        bytes[tail..tail + 4].copy_from_slice(&length.to_le_bytes());
        assert!(read(bytes).is_err(), "{length}");
    }
    for cut in 0..whole.len() {
        assert!(read(whole[..cut].to_vec()).is_err(), "{cut}");
    }
}

proptest! {
    // PROPTEST_CASES tries more.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_gives_rows_or_an_error(
        which in 0..4_usize,
        damages in prop::collection::vec(damage(), 1..4),
        in_footer in any::<bool>(),
    ) {
        let bytes = damaged(files()[which].clone(), &damages, in_footer);
        // Neither a panic nor an abort. The values may differ, because a flipped bit of a text is still text.
        if let Err(message) = read(bytes) {
            prop_assert!(message.contains("a.parquet"), "{message}");
        }
    }
}
