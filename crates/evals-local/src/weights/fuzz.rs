//! Fuzzes the readers of weights: no file yields more values than it holds, whatever its header claims.

use std::fs;
use std::path::Path;

use evals_fuzz::Target;
use tempfile::NamedTempFile;

use super::WeightsFormat;
use super::file::TensorFile;
use super::located::{Located, count};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

/// Reads all tensors of a file, and each of their first rows.
fn read_all(path: &Path, length: usize, format: WeightsFormat) {
    let file = TensorFile::open(path.to_owned()).unwrap();
    let Ok(tensors) = format.locate(&file) else {
        return;
    };
    for (name, tensor) in &tensors {
        if let Ok(values) = tensor.read(name, &file) {
            assert!(values.len() <= length / 2, "{name}: {}", values.len());
            assert_eq!(count(&tensor.shape), Some(values.len()), "{name}");
            assert_first_row(name, tensor, &values, &file);
        }
    }
}

fn assert_first_row(name: &str, tensor: &Located, values: &[f32], file: &TensorFile) {
    let Some(row) = tensor.row(0) else { return };
    let Ok(read) = row.read(name, file) else {
        // The stored values of a row may lie further apart than those of the whole tensor are many.
        assert!(row.strides.is_some(), "{name}");
        return;
    };
    let bits = |values: &[f32]| {
        values
            .iter()
            .map(|value| value.to_bits())
            .collect::<Vec<_>>()
    };
    assert_eq!(bits(&read), bits(&values[..read.len()]), "{name}");
}

fn run(target: Target, format: WeightsFormat) {
    let file = NamedTempFile::new().unwrap();
    target.run(|input| {
        fs::write(file.path(), input).unwrap();
        read_all(file.path(), input.len(), format);
    });
}

fn safetensors() -> Vec<u8> {
    let header = r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[24,28]}}"#;
    let data = (0..28).collect();
    let length = (header.len() as u64).to_le_bytes().to_vec();
    [length, header.as_bytes().to_vec(), data].concat()
}

#[test]
fn safetensors_hold_what_they_say() {
    let target = Target::new("safetensors", CORPUS)
        .seed(safetensors())
        .dictionary([
            "F16",
            "F64",
            "I8",
            "null",
            "-1",
            "0",
            "1e3",
            "4294967296",
            "9223372036854775808",
            "18446744073709551615",
            "[",
            "{\"a\":",
            "\"shape\":[],",
            "\\ud800",
            ",1",
        ]);
    run(target, WeightsFormat::Safetensors);
}

#[test]
fn archives_of_pytorch_hold_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/local/pytorch");
    let seed = |name: &str| fs::read(folder.join(name)).unwrap();
    let target = Target::new("pytorch", CORPUS)
        .seed(seed("numbers.bin"))
        .seed(seed("numbers-protocol-4.bin"))
        .seed(seed("expanded.bin"))
        .dictionary([
            "PK\x01\x02".as_bytes(),
            b"PK\x03\x04",
            b"PK\x05\x06",
            b"PK\x06\x06",
            b"PK\x06\x07",
            b"data.pkl",
            &[0xff; 4],
            &[0xff; 8],
            b"K\x01",
            b"J\xff\xff\xff\x7f",
            b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\x86",
            b"R",
            b"q\x01",
            b"h\x01",
        ]);
    run(target, WeightsFormat::PyTorch);
}
