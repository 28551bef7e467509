//! Files that `PyTorch` 2.15 wrote (`tests/local/make_pytorch_files.py`), whole and damaged.

use std::error::Error;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::super::file::TensorFile;
use super::super::located::Located;
use super::*;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/local/pytorch")
        .join(name)
}

fn opened(name: &str) -> (TensorFile, BTreeMap<String, Located>) {
    let file = TensorFile::open(path(name)).unwrap();
    let tensors = locate(&file).unwrap();
    (file, tensors)
}

/// The error about a file, without its name.
fn refusal(name: &str) -> String {
    let error = locate(&TensorFile::open(path(name)).unwrap()).unwrap_err();
    assert!(error.to_string().contains(name), "{error}");
    error.source().unwrap().to_string()
}

#[test]
fn tensors_are_read_by_their_strides_and_offsets() {
    for name in ["numbers.bin", "numbers-protocol-4.bin"] {
        let (file, tensors) = opened(name);
        let read = |name: &str| {
            let tensor = &tensors[name];
            (tensor.shape.clone(), tensor.read(name, &file).unwrap())
        };
        let rising = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(read("f32"), (vec![2, 3], rising.clone()));
        assert_eq!(read("f16"), (vec![2, 3], rising.clone()));
        assert_eq!(read("bf16"), (vec![2, 3], rising));
        let turned = vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0];
        assert_eq!(read("transposed"), (vec![3, 2], turned));
        let later = vec![4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        assert_eq!(read("later"), (vec![6], later));
        assert_eq!(read("single"), (vec![], vec![1.5]));
        let error = tensors["i64"].read("i64", &file).unwrap_err();
        assert_eq!(
            error.source().unwrap().to_string(),
            "`i64` holds `I64`; weights are `F32`, `F16` or `BF16`"
        );
    }
}

#[test]
fn the_attributes_of_a_table_are_left_aside() {
    let (_, tensors) = opened("module.bin");
    assert_eq!(tensors.keys().collect::<Vec<_>>(), ["bias", "weight"]);
}

#[test]
fn code_is_refused_by_name() {
    assert_eq!(
        refusal("code.bin"),
        "the pickle `data.pkl` refers to `posix.system`, which does not belong to a table of tensors"
    );
}

#[test]
fn the_format_before_archives_is_refused_with_the_way_out() {
    assert_eq!(
        refusal("legacy.bin"),
        "it is in the format that PyTorch wrote before version 1.6; convert it with \
         `torch.save(torch.load(file, weights_only=True), file)`"
    );
}

#[test]
fn a_tensor_larger_than_its_storage_may_be_there_but_not_be_read() {
    let (file, tensors) = opened("expanded.bin");
    assert_eq!(tensors["a"].shape, [1 << 20, 1 << 20]);
    for tensor in [&tensors["a"], &tensors["a"].row(5).unwrap()] {
        let error = tensor.read("a", &file).unwrap_err();
        assert_eq!(
            error.source().unwrap().to_string(),
            "`a` has more values than the file stores of it"
        );
    }
}

#[test]
fn rows_are_read_by_themselves() {
    let (file, tensors) = opened("numbers.bin");
    let row = |name: &str, index| Some(tensors[name].row(index)?.read(name, &file).unwrap());
    assert_eq!(row("f32", 1), Some(vec![3.0, 4.0, 5.0]));
    assert_eq!(row("bf16", 0), Some(vec![0.0, 1.0, 2.0]));
    assert_eq!(row("transposed", 2), Some(vec![2.0, 5.0]));
    assert_eq!(row("later", 5), Some(vec![9.0]));
    assert_eq!(row("f32", 2), None);
    assert_eq!(row("single", 0), None);
}

/// Reads all that a damaged file says it has. Whatever it is, no more values come out of it than it has room for.
fn read_all(path: &Path, length: usize) {
    let file = TensorFile::open(path.to_owned()).unwrap();
    let Ok(tensors) = locate(&file) else {
        return;
    };
    for (name, tensor) in &tensors {
        if let Ok(values) = tensor.read(name, &file) {
            assert!(values.len() <= length / 2, "{name}: {}", values.len());
        }
    }
}

#[test]
fn no_change_of_a_byte_does_harm() {
    for name in ["numbers.bin", "numbers-protocol-4.bin"] {
        let whole = fs::read(path(name)).unwrap();
        let mut copy = NamedTempFile::new().unwrap();
        copy.write_all(&whole).unwrap();
        let mut write = |at: usize, byte: u8| {
            copy.as_file_mut().seek(SeekFrom::Start(at as u64)).unwrap();
            copy.as_file_mut().write_all(&[byte]).unwrap();
            copy.path().to_owned()
        };
        for (at, kept) in whole.iter().enumerate() {
            for other in [kept ^ 1, kept ^ 0x80, kept.wrapping_add(1), 0xff] {
                read_all(&write(at, other), whole.len());
            }
            write(at, *kept);
        }
    }
}

#[test]
fn no_end_of_a_file_does_harm() {
    let whole = fs::read(path("numbers.bin")).unwrap();
    let copy = NamedTempFile::new().unwrap();
    fs::write(copy.path(), &whole).unwrap();
    for length in (0..whole.len()).rev() {
        copy.as_file().set_len(length as u64).unwrap();
        let file = TensorFile::open(copy.path().to_owned()).unwrap();
        let error = locate(&file).unwrap_err();
        let source = error.source().unwrap().to_string();
        assert!(
            source.starts_with("the archive is damaged: "),
            "{length} bytes: {source}"
        );
    }
}

#[test]
fn pickles_that_only_grow_are_given_up() {
    let tuples = b")".repeat(2 << 20);
    let marks = b"(".repeat(2 << 20);
    let recalls = [b")q\x00".to_vec(), b"h\x00".repeat(2 << 20)].concat();
    for pickle in [tuples, marks, recalls] {
        let error = pickle::entries(&pickle).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the pickle `data.pkl` is damaged: it creates more values than a table of tensors has"
        );
    }
    // Each tuple holds the one before: letting go of them must not take a stack as deep.
    let nested = [b")".to_vec(), vec![0x85; 1 << 19], b".".to_vec()].concat();
    let error = pickle::entries(&nested).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the pickle `data.pkl` is damaged: it is not a table of tensors"
    );
}
