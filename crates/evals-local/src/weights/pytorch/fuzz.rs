//! Fuzzes the reader of pickles: any bytes either describe tensors with names that the bytes contain, or are refused.

use std::fs;

use evals_fuzz::Target;

use super::pickle::entries;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

fn is_within(pickle: &[u8], text: &str) -> bool {
    text.is_empty()
        || pickle
            .windows(text.len())
            .any(|piece| piece == text.as_bytes())
}

#[test]
fn pickles_of_any_bytes_are_tables_or_refused() {
    let numbers = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/local/pytorch/numbers.bin"
    );
    let archive = fs::read(numbers).unwrap();
    let begin = archive
        .windows(2)
        .position(|two| two == [0x80, 0x02])
        .unwrap();
    let end = archive
        .windows(3)
        .position(|three| three == *b"ub.")
        .map_or(archive.len(), |at| at + 3);
    Target::new("pickle", CORPUS)
        .seed(&archive[begin..end])
        .seed(*b"\x80\x02}q\x00X\x01\x00\x00\x00aK\x01s.")
        .dictionary([
            b"(".as_slice(),
            b")",
            b"}",
            b"]",
            b"t",
            b"u",
            b"s",
            b"e",
            b"a",
            b"R",
            b"Q",
            b".",
            b"0",
            b"b",
            b"N",
            b"q\x00",
            b"h\x00",
            b"\x94",
            b"\x85",
            b"\x86",
            b"\x87",
            b"\x93",
            b"cos\nsystem\n",
            b"ccollections\nOrderedDict\n",
            b"ctorch._utils\n_rebuild_tensor_v2\n",
            b"T\xff\xff\xff\xff",
            b"\x8a\xff",
        ])
        .run(|input| {
            let Ok(tensors) = entries(input) else { return };
            for (name, tensor) in &tensors {
                assert!(name.len() <= 1024 && is_within(input, name), "{name}");
                assert!(
                    tensor.shape.len() <= 8 && tensor.strides.len() <= 8,
                    "{tensor:?}"
                );
                assert!(is_within(input, &tensor.storage.key), "{tensor:?}");
            }
        });
}
